#include "threading/transport/mpi/mpi_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

static_assert(sizeof(MPI_Request) <= sizeof(std::uintptr_t) &&
                  std::is_trivially_copyable_v<MPI_Request>,
              "an EndpointRequest holds an MPI request");

std::uintptr_t to_handle(MPI_Request request) noexcept {
  std::uintptr_t handle = 0;
  std::memcpy(&handle, &request, sizeof(request));
  return handle;
}

MPI_Request to_request(std::uintptr_t handle) noexcept {
  MPI_Request request;
  std::memcpy(&request, &handle, sizeof(request));
  return request;
}

/// A message as MPI counts it. Beyond INT_MAX bytes it is a datatype of blocks and a rest, freed
/// with this object.
class Bytes {
 public:
  explicit Bytes(std::size_t size_bytes) {
    if (size_bytes <= INT_MAX) {
      count_ = static_cast<int>(size_bytes);
      return;
    }
    constexpr std::size_t kBlockBytes = std::size_t{1} << 30;
    MPI_Datatype block = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(static_cast<int>(kBlockBytes), MPI_BYTE, &block),
              "MPI_Type_contiguous");
    const std::array<int, 2> lengths = {static_cast<int>(size_bytes / kBlockBytes),
                                        static_cast<int>(size_bytes % kBlockBytes)};
    const std::array<MPI_Aint, 2> offsets = {
        0, static_cast<MPI_Aint>(size_bytes / kBlockBytes * kBlockBytes)};
    const std::array<MPI_Datatype, 2> types = {block, MPI_BYTE};
    check_mpi(MPI_Type_create_struct(2, lengths.data(), offsets.data(), types.data(), &type_),
              "MPI_Type_create_struct");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
    check_mpi(MPI_Type_free(&block), "MPI_Type_free");
    count_ = 1;
  }
  ~Bytes() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);  // pending operations keep it alive
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  int count() const noexcept { return count_; }
  MPI_Datatype type() const noexcept { return type_; }

 private:
  int count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
};

int checked_int(std::size_t count) {
  if (count > INT_MAX) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("native exchange: count {} exceeds what MPI_Allreduce can take ({}); choose "
                    "another exchange, or more lanes",
                    count, INT_MAX));
  }
  return static_cast<int>(count);
}

}  // namespace

namespace {

/// What hycoll asserts of the messages on its communicators.
class Assertions {
 public:
  Assertions() {
    check_mpi(MPI_Info_create(&info_), "MPI_Info_create");
    for (const char* assertion : {"mpi_assert_no_any_tag", "mpi_assert_no_any_source"}) {
      check_mpi(MPI_Info_set(info_, assertion, "true"), "MPI_Info_set");
    }
  }
  ~Assertions() { MPI_Info_free(&info_); }
  Assertions(const Assertions&) = delete;
  Assertions& operator=(const Assertions&) = delete;
  MPI_Info handle() const noexcept { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Some of a communicator's processes.
class ProcessesOf {
 public:
  ProcessesOf(MPI_Comm communicator, std::span<const int> ranks) {
    check_mpi(MPI_Comm_group(communicator, &all_), "MPI_Comm_group");
    check_mpi(MPI_Group_incl(all_, static_cast<int>(ranks.size()), ranks.data(), &some_),
              "MPI_Group_incl");
  }
  ~ProcessesOf() {
    MPI_Group_free(&some_);
    MPI_Group_free(&all_);
  }
  ProcessesOf(const ProcessesOf&) = delete;
  ProcessesOf& operator=(const ProcessesOf&) = delete;
  MPI_Group handle() const noexcept { return some_; }
  bool has_this() const {
    int rank = MPI_UNDEFINED;
    check_mpi(MPI_Group_rank(some_, &rank), "MPI_Group_rank");
    return rank != MPI_UNDEFINED;
  }

 private:
  MPI_Group all_ = MPI_GROUP_NULL;
  MPI_Group some_ = MPI_GROUP_NULL;
};

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  return rank;
}

}  // namespace

void MpiCommunicator::return_errors() const {
  if (handle_ == MPI_COMM_NULL) return;
  check_mpi(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

MpiCommunicator::MpiCommunicator(JointSetup& setup, MPI_Comm parent) {
  const Assertions assertions;
  setup.meet();
  check_mpi(MPI_Comm_dup_with_info(parent, assertions.handle(), &handle_),
            "MPI_Comm_dup_with_info");
  return_errors();
}

MpiCommunicator::MpiCommunicator(JointSetup& setup, MPI_Comm parent, int color)
    : MpiCommunicator(setup, parent, color, rank_in(parent)) {}

MpiCommunicator::MpiCommunicator(JointSetup& setup, MPI_Comm parent, int color, int key) {
  setup.meet();
  check_mpi(MPI_Comm_split(parent, color, key, &handle_), "MPI_Comm_split");
  return_errors();
}

std::shared_ptr<const MpiCommunicator> MpiCommunicator::of_machine(JointSetup& setup,
                                                                   MPI_Comm parent) {
  const std::shared_ptr<MpiCommunicator> made(new MpiCommunicator);
  setup.meet();
  check_mpi(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made->handle_),
            "MPI_Comm_split_type");
  made->return_errors();
  return made;
}

std::shared_ptr<const MpiCommunicator> MpiCommunicator::among(JointSetup& setup, MPI_Comm parent,
                                                              std::span<const int> ranks) {
  const std::shared_ptr<MpiCommunicator> made(new MpiCommunicator);
  const ProcessesOf some(parent, ranks);
  const bool is_one = some.has_this();
  setup.meet();
  if (!is_one) return nullptr;
  check_mpi(MPI_Comm_create_group(parent, some.handle(), 0, &made->handle_),
            "MPI_Comm_create_group");
  made->return_errors();
  return made;
}

std::shared_ptr<const MpiCommunicator> MpiCommunicator::borrowed(MPI_Comm communicator) {
  const std::shared_ptr<MpiCommunicator> made(new MpiCommunicator);
  made->handle_ = communicator;
  made->is_borrowed_ = true;
  return made;
}

MpiCommunicator::~MpiCommunicator() {
  if (is_borrowed_) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
}

LaneCommunicators::LaneCommunicators(JointSetup& setup, MPI_Comm parent, int lane_count,
                                     int maximum_count)
    : lane_count_(lane_count) {
  for (int made = 0; made < std::min(lane_count, maximum_count); ++made) {
    communicators_.push_back(std::make_shared<const MpiCommunicator>(setup, parent));
  }
}

MpiEndpoint::MpiEndpoint(std::shared_ptr<const MpiCommunicator> messages,
                         std::shared_ptr<const MpiCommunicator> leaders, int lane, int lane_count,
                         PeerNames peer_names)
    : messages_(std::move(messages)),
      leaders_(std::move(leaders)),
      lane_(lane),
      lane_count_(lane_count),
      peer_names_(std::move(peer_names)) {
  check_mpi(MPI_Comm_rank(messages_->handle(), &rank_), "MPI_Comm_rank");
  int* upper_bound = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(messages_->handle(), MPI_TAG_UB, &upper_bound, &found),
            "MPI_Comm_get_attr");
  tag_count_ = (found != 0 ? *upper_bound : 32767) / kTagEpochs / lane_count_;
}

EndpointRequest MpiEndpoint::send(int peer, int tag, const void* source, std::size_t size_bytes) {
  const Bytes bytes(size_bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(source, bytes.count(), bytes.type(), peer, own_tag(tag), messages_->handle(),
                      &request),
            "MPI_Isend");
  return {.handle = to_handle(request), .detail = 0};
}

EndpointRequest MpiEndpoint::receive(int peer, int tag, void* destination, std::size_t size_bytes) {
  const Bytes bytes(size_bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Irecv(destination, bytes.count(), bytes.type(), peer, own_tag(tag),
                      messages_->handle(), &request),
            "MPI_Irecv");
  return {.handle = to_handle(request), .detail = size_bytes};
}

EndpointRequest MpiEndpoint::allreduce(int /*tag*/, const void* source, void* destination,
                                       std::size_t count, DataType type, Operator op) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(
      MPI_Iallreduce(source == destination ? MPI_IN_PLACE : source, destination, checked_int(count),
                     mpi_type_of(type), mpi_operator_of(op), leaders_->handle(), &request),
      "MPI_Iallreduce");
  return {.handle = to_handle(request), .detail = 0};
}

void MpiEndpoint::blocking_allreduce(int /*tag*/, const void* source, void* destination,
                                     std::size_t count, DataType type, Operator op) {
  check_mpi(
      MPI_Allreduce(source == destination ? MPI_IN_PLACE : source, destination, checked_int(count),
                    mpi_type_of(type), mpi_operator_of(op), leaders_->handle()),
      "MPI_Allreduce");
}

bool MpiEndpoint::test(EndpointRequest& request) {
  MPI_Request mpi_request = to_request(request.handle);
  MPI_Status status;
  int done = 0;
  check_mpi(MPI_Test(&mpi_request, &done, &status), "MPI_Test");  // an error ends the request, too
  if (done == 0) return false;
  const std::size_t expected_bytes = request.detail;
  request = {};
  if (expected_bytes == 0) return true;
  MPI_Count received_bytes = 0;
  check_mpi(MPI_Get_elements_x(&status, MPI_BYTE, &received_bytes), "MPI_Get_elements_x");
  if (static_cast<std::size_t>(received_bytes) != expected_bytes) {
    throw_short(status.MPI_SOURCE, static_cast<std::size_t>(received_bytes), expected_bytes);
  }
  return true;
}

void MpiEndpoint::throw_short(int peer, std::size_t received_bytes,
                              std::size_t expected_bytes) const {
  if (received_bytes == 0) {
    throw Error(
        ErrorKind::mismatch,
        fmt::format("{} has failed in this call, and its error says why", describe_peer(peer)));
  }
  throw Error(ErrorKind::mismatch,
              fmt::format("expected {} bytes from {} and got {}; all members must pass the same "
                          "count and type. HYCOLL_CHECK=1 names them",
                          expected_bytes, describe_peer(peer), received_bytes));
}

bool MpiEndpoint::cancel(EndpointRequest& request) {
  MPI_Request mpi_request = to_request(request.handle);
  request = {};
  check_mpi(MPI_Cancel(&mpi_request), "MPI_Cancel");
  MPI_Status status;
  // A message that does not fit has arrived nevertheless.
  if (MPI_Wait(&mpi_request, &status) != MPI_SUCCESS) return false;
  int is_cancelled = 0;
  check_mpi(MPI_Test_cancelled(&status, &is_cancelled), "MPI_Test_cancelled");
  return is_cancelled != 0;
}

void MpiEndpoint::leave_alone(EndpointRequest& request) {
  MPI_Request mpi_request = to_request(request.handle);
  request = {};
  check_mpi(MPI_Request_free(&mpi_request), "MPI_Request_free");
}

void MpiEndpoint::send_failure(int peer, int tag) {
  EndpointRequest request = send(peer, tag, nullptr, 0);
  leave_alone(request);
}

void MpiEndpoint::discard(int peer, int tag, std::size_t size_bytes) {
  end_discards();
  // With room for the message: MPI libraries do not survive one that is too long, whatever the
  // error handler. In memory of its own, since buffers of receives must not overlap.
  discards_.push_back({.room = std::make_unique_for_overwrite<std::byte[]>(size_bytes),
                       .request = MPI_REQUEST_NULL});
  Discard& discard = discards_.back();
  discard.request = to_request(receive(peer, tag, discard.room.get(), size_bytes).handle);
}

void MpiEndpoint::end_discards() {
  std::erase_if(discards_, [](const Discard& discard) {
    MPI_Request request = discard.request;
    int is_over = 0;
    return MPI_Test(&request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_over != 0;
  });
}

MpiEndpoint::~MpiEndpoint() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  for (Discard& discard : discards_) {
    if (discard.request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&discard.request);
    MPI_Wait(&discard.request, MPI_STATUS_IGNORE);
  }
}

void MpiEndpoint::progress() {
  int arrived = 0;
  // Any call that looks at the network drives it. Nobody sends to itself, so this one has no effect
  // of its own.
  check_mpi(MPI_Iprobe(rank_, 0, messages_->handle(), &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

std::string MpiEndpoint::describe_peer(int peer) const {
  return peer_names_ ? peer_names_(peer) : fmt::format("process {}", peer);
}

}  // namespace hycoll
