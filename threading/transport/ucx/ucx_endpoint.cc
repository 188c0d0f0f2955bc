#include "threading/transport/ucx/ucx_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

/// In EndpointRequest::detail: the request is not MPI's. Its handle is an Operation, or 0 if the
/// message was sent or received at once.
constexpr auto kOverUcx = ~std::uintptr_t{0};

/// How long messages of a peer that has gone may still be on their way, over another connection
/// than the one that has been closed; and what is under way when a lane ends.
constexpr std::chrono::seconds kConnectionPatience = UcxWorker::kPatience;

/// How long a message that nobody waits for may take to leave at once; else it leaves when the lane
/// is used again, or with its end.
constexpr std::chrono::milliseconds kBriefPatience{2};

/// The length of a message that is longer than its receive.
constexpr std::size_t kTooLong = std::numeric_limits<std::size_t>::max();

/// Messages match by kind, lanes, sender and tag, in so many bits of 64.
constexpr int kSenderBits = 22;
constexpr int kTagBits = 20;
constexpr int kGenerationBits = 63 - kSenderBits - kTagBits;
constexpr ucp_tag_t kAcknowledges = ucp_tag_t{1} << 63;

}  // namespace

UcxEndpoint::UcxEndpoint(const UcxContext& context, std::shared_ptr<const MpiCommunicator> messages,
                         std::shared_ptr<const MpiCommunicator> leaders, int lane, int lane_count,
                         PeerNames peer_names, UcxPeers peers)
    : MpiEndpoint(std::move(messages), std::move(leaders), lane, lane_count, std::move(peer_names)),
      context_(&context),
      are_(std::move(peers)),
      worker_(are_.drives_lane ? UcxWorker::take(context) : nullptr),
      may_land_(context.has_puts()) {}

int UcxEndpoint::tag_count() const {
  return std::min(MpiEndpoint::tag_count(), (1 << kTagBits) / kTagEpochs) - 1;
}

UcxEndpoint::Operation& UcxEndpoint::take_operation(Peer& peer, int tag) {
  if (idle_operations_.empty()) {
    idle_operations_.push_back(&operations_.emplace_back());
    // What UCX calls must not throw: these have room for all operations.
    idle_operations_.reserve(operations_.size());
    to_acknowledge_.reserve(operations_.size());
  }
  Operation& operation = *idle_operations_.back();
  idle_operations_.pop_back();
  operation.endpoint = this;
  operation.peer = &peer;
  operation.tag = tag;
  operation.open_parts = 1;
  return operation;
}

ucp_tag_t UcxEndpoint::ucx_tag(int tag, int sender) const {
  const ucp_tag_t lanes = are_.generation % (1u << kGenerationBits);
  return (lanes << kSenderBits | static_cast<ucp_tag_t>(sender)) << kTagBits |
         static_cast<ucp_tag_t>(tag);
}

ucp_tag_t UcxEndpoint::ucx_tag(const Operation& operation, int sender) const {
  return (operation.acknowledges == nullptr ? 0 : kAcknowledges) | ucx_tag(operation.tag, sender);
}

void UcxEndpoint::give_back(Operation& operation) {
  if (operation.request != nullptr) ucx().request_free(operation.request);
  if (operation.is_listed) std::erase(operation.peer->near->long_ones, &operation);
  operation = {};
  idle_operations_.push_back(&operation);
}

void UcxEndpoint::end_part(Operation& operation, ucs_status_t status) {
  if (operation.status == UCS_OK) operation.status = status;
  if (--operation.open_parts > 0) return;
  if (Operation* const whose = operation.acknowledges; whose != nullptr) {
    whose->acknowledgement = nullptr;
    give_back(operation);
    end_part(*whose, status);
  } else if (operation.is_left_alone) {
    give_back(operation);
  }
}

void UcxEndpoint::on_sent(void* /*request*/, ucs_status_t status, void* operation) {
  auto& sent = *static_cast<Operation*>(operation);
  sent.endpoint->end_part(sent, status);
}

void UcxEndpoint::on_received(void* /*request*/, ucs_status_t status,
                              const ucp_tag_recv_info_t* info, void* operation) {
  auto& received = *static_cast<Operation*>(operation);
  const bool is_too_long = status == UCS_ERR_MESSAGE_TRUNCATED;
  if (is_too_long) status = UCS_OK;
  if (status == UCS_OK) received.received_bytes = is_too_long ? kTooLong : info->length;
  if (received.received_bytes >= UcxContext::kLongBytes) {
    ++received.open_parts;
    received.peer->uses_landing = false;
    received.endpoint->to_acknowledge_.push_back(&received);
  } else if (received.received_bytes == sizeof(LandingNotice)) {
    received.endpoint->read_landed(received);
  }
  received.endpoint->end_part(received, status);
}

void UcxEndpoint::send_acknowledgements() {
  while (!to_acknowledge_.empty()) {
    Operation& received = *to_acknowledge_.back();
    make_room(received.peer->waiting);
    make_room(received.peer->held);
    Operation& acknowledgement = take_operation(*received.peer, received.tag);
    to_acknowledge_.pop_back();
    acknowledgement.acknowledges = &received;
    received.acknowledgement = &acknowledgement;
    send(acknowledgement);
  }
  while (!read_from_.empty()) tell_read();
}

void UcxEndpoint::catch_up() {
  try {
    if (!unknown_.empty()) take_addresses();
    send_acknowledgements();
  } catch (const std::bad_alloc&) {
    // Nothing is lost: next time.
  }
}

void UcxEndpoint::start(Operation& operation) {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = &UcxEndpoint::on_sent;
  params.user_data = &operation;
  accept(operation, ucx().tag_send(operation.peer->connection->handle, operation.source,
                                   operation.size_bytes, ucx_tag(operation, own_rank()), &params));
}

void UcxEndpoint::accept(Operation& operation, ucs_status_ptr_t started) {
  if (UCS_PTR_IS_PTR(started)) {
    operation.request = started;
  } else {
    end_part(operation, UCS_PTR_STATUS(started));
  }
}

EndpointRequest UcxEndpoint::request_of(Operation& operation) {
  const bool is_complete =
      operation.open_parts == 0 && operation.status == UCS_OK &&
      (!operation.is_receive || operation.received_bytes == operation.size_bytes);
  if (!is_complete) {
    return {.handle = reinterpret_cast<std::uintptr_t>(&operation), .detail = kOverUcx};
  }
  give_back(operation);
  return {.handle = 0, .detail = kOverUcx};
}

void UcxEndpoint::send(Operation& operation) {
  if (!is_ready(*operation.peer)) {
    operation.peer->waiting.push_back(&operation);
  } else if (is_behind(*operation.peer, operation.tag, operation.peer->held.size())) {
    operation.peer->held.push_back(&operation);
  } else {
    start(operation);
  }
}

EndpointRequest UcxEndpoint::send(int number, int tag, const void* source, std::size_t size_bytes) {
  const auto use = this->use();
  Peer& to = peer(number);
  if (!is_ready(to)) take_addresses();
  if (to.connection == nullptr && !to.is_introduced) introduce_to(to);
  if (is_mailed(to, size_bytes) && to.near->unposted.empty() &&
      to.near->mail->outgoing().try_write(tag,
                                          {static_cast<const std::byte*>(source), size_bytes})) {
    return {.handle = 0, .detail = kOverUcx};
  }
  // Nothing is refused once a part of it is on its way.
  make_room(to.waiting);
  make_room(to.held);
  if (to.near != nullptr) make_room(to.near->unposted, to.waiting.size());
  Operation& operation = take_operation(to, tag);
  operation.source = source;
  operation.size_bytes = size_bytes;
  if (is_mailed(to, size_bytes)) {
    post(operation);
    return request_of(operation);
  }
  if (size_bytes >= UcxContext::kLongBytes) {
    if (context_->has_puts() && put(operation)) return request_of(operation);
    Operation& acknowledgement = take_operation(to, tag);
    acknowledgement.acknowledges = &operation;
    operation.acknowledgement = &acknowledgement;
    ++operation.open_parts;
    start_receive(acknowledgement, nullptr);
  }
  send(operation);
  catch_up();
  return request_of(operation);
}

void UcxEndpoint::start_receive(Operation& operation, void* destination) {
  operation.is_receive = true;
  operation.destination = destination;
  ucp_request_param_t params{};
  // The length of what has arrived before is told through the callback only, which is called at
  // once then.
  params.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  params.cb.recv = &UcxEndpoint::on_received;
  params.user_data = &operation;
  ++operation.open_parts;  // to be started: the callback does not end it
  accept(operation,
         ucx().tag_receive(worker_->handle(), destination, operation.size_bytes,
                           ucx_tag(operation, operation.peer->number), ~ucp_tag_t{0}, &params));
  end_part(operation, UCS_OK);
}

EndpointRequest UcxEndpoint::receive(int number, int tag, void* destination,
                                     std::size_t size_bytes) {
  const auto use = this->use();
  Operation& operation = expect(number, tag, destination, size_bytes);
  catch_up();
  return request_of(operation);
}

UcxEndpoint::Operation& UcxEndpoint::expect(int number, int tag, void* destination,
                                            std::size_t size_bytes) {
  Peer& from = peer(number);
  if (from.near != nullptr) {
    make_room(from.near->expected);
    make_room(from.near->long_ones, from.near->expected.size());
  }
  const bool may_be_mailed = is_mailed(from, size_bytes) || !is_settled(from);
  if (!may_be_mailed && may_land_ && size_bytes >= UcxContext::kLongBytes &&
      size_bytes <= UcxLanding::kMostBytes) {
    offer_landing(from);
  }
  Operation& operation = take_operation(from, tag);
  operation.destination = destination;
  operation.size_bytes = size_bytes;
  if (may_be_mailed) {
    expect_mail(operation);
  } else {
    start_receive(operation, destination);
    list_long_receive(operation);
  }
  return operation;
}

void UcxEndpoint::advance() {
  if (peers_.empty()) return;  // nothing has been sent or received
  const auto use = this->use();
  drive();
}

void UcxEndpoint::drive() {
  worker_->progress();
  if (!holding_.empty()) advance_held();
  if (!near_.empty()) drive_mail();
  catch_up();
}

bool UcxEndpoint::test(EndpointRequest& request) {
  if (request.detail != kOverUcx) return MpiEndpoint::test(request);
  if (request.handle == 0) {
    request = {};
    return true;
  }
  const auto use = worker_->use();
  auto& operation = *reinterpret_cast<Operation*>(request.handle);
  if (operation.open_parts > 0) {
    if (operation.is_by_mail) {
      look_for_mail(operation);
    } else {
      drive();
    }
  }
  if (operation.open_parts > 0) {
    const Peer& peer = *operation.peer;
    if (operation.status == UCS_OK && (worker_->ended_count() == 0 || !is_lost(peer))) return false;
    const ucs_status_t status =
        operation.status == UCS_OK ? peer.connection->status : operation.status;
    request = {};
    give_up(operation);
    throw_failed(peer.number, status);
  }
  const bool is_receive = operation.is_receive;
  const int number = operation.peer->number;
  const ucs_status_t status = operation.status;
  const std::size_t received_bytes = operation.received_bytes;
  const std::size_t expected_bytes = operation.size_bytes;
  request = {};
  give_back(operation);
  if (status != UCS_OK) throw_failed(number, status);
  if (is_receive && received_bytes > expected_bytes) throw_long(number, expected_bytes);
  if (is_receive && received_bytes < expected_bytes) {
    throw_short(number, received_bytes, expected_bytes);
  }
  return true;
}

bool UcxEndpoint::is_lost(const Peer& peer) {
  const UcxWorker::Connection* const way = peer.connection;
  return way != nullptr && way->status != UCS_OK &&
         std::chrono::steady_clock::now() - way->ended_at > kConnectionPatience;
}

void UcxEndpoint::throw_long(int number, std::size_t expected_bytes) const {
  throw Error(ErrorKind::mismatch,
              fmt::format("expected {} bytes from {} and got more; all members must pass the same "
                          "count and type. HYCOLL_CHECK=1 names them",
                          expected_bytes, describe_peer(number)));
}

void UcxEndpoint::throw_failed(int number, ucs_status_t status) const {
  throw PeerEnded(fmt::format(
      "{} cannot be reached any more ({}): it, or the network to it, has come to an end",
      describe_peer(number), ucx().status_string(status)));
}

bool UcxEndpoint::give_up(Operation& operation) {
  if (operation.is_by_mail && operation.is_receive) {
    const bool is_to_come = operation.open_parts > 0;
    std::erase(operation.peer->near->expected, &operation);
    give_back(operation);
    return is_to_come;
  }
  for (Operation* const part : {&operation, operation.acknowledgement}) {
    if (part != nullptr && part->is_receive && part->open_parts > 0) {
      ucx().request_cancel(worker_->handle(), part->request);
    }
  }
  while (operation.open_parts > 0) drive();
  const bool is_to_come = operation.status == UCS_ERR_CANCELED;
  give_back(operation);
  return is_to_come;
}

bool UcxEndpoint::cancel(EndpointRequest& request) {
  if (request.detail != kOverUcx) return MpiEndpoint::cancel(request);
  const std::uintptr_t handle = std::exchange(request, {}).handle;
  if (handle == 0) return false;
  const auto use = worker_->use();
  return give_up(*reinterpret_cast<Operation*>(handle));
}

void UcxEndpoint::leave_alone(EndpointRequest& request) {
  if (request.detail != kOverUcx) return MpiEndpoint::leave_alone(request);
  const std::uintptr_t handle = std::exchange(request, {}).handle;
  if (handle == 0) return;
  const auto use = worker_->use();
  leave_alone(*reinterpret_cast<Operation*>(handle));
}

void UcxEndpoint::leave_alone(Operation& operation) {
  // It may be long until somebody asks this lane for anything again. A peer that already waits for
  // the message has sent its address.
  const auto until = std::chrono::steady_clock::now() + kBriefPatience;
  while (operation.open_parts > 0 && std::chrono::steady_clock::now() < until) drive();
  operation.is_left_alone = true;
  if (operation.open_parts == 0) give_back(operation);
}

void UcxEndpoint::discard(int number, int tag, std::size_t size_bytes) {
  const auto use = this->use();
  auto room = std::make_unique_for_overwrite<std::byte[]>(size_bytes);
  Operation& operation = expect(number, tag, room.get(), size_bytes);
  operation.room = std::move(room);
  operation.is_left_alone = true;
  if (operation.open_parts == 0) give_back(operation);
  catch_up();
}

bool UcxEndpoint::end_operations() {
  bool are_over = true;
  for (Operation& operation : operations_) {
    if (operation.open_parts == 0 || operation.request == nullptr) continue;
    operation.is_left_alone = true;
    if (!operation.is_receive) continue;
    // Its message may still come.
    are_over = false;
    ucx().request_cancel(worker_->handle(), operation.request);
  }
  const auto until = std::chrono::steady_clock::now() + kConnectionPatience;
  const auto is_under_way = [](const Operation& operation) { return operation.request != nullptr; };
  const auto has_unposted = [](const Peer* peer) { return !peer->near->unposted.empty(); };
  while (!holding_.empty() || std::ranges::any_of(operations_, is_under_way) ||
         std::ranges::any_of(near_, has_unposted)) {
    if (std::chrono::steady_clock::now() > until) return false;
    drive();
  }
  return worker_->flush() && are_over;
}

UcxEndpoint::~UcxEndpoint() {
  if (worker_ == nullptr) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) {
    // The process ends, and UCX may have put itself away already.
    static_cast<void>(worker_.release());
    return;
  }
  bool is_clean = false;
  try {
    const auto use = worker_->use();
    await_last_addresses();
    is_clean = end_operations();
    is_clean = drop_landings() && is_clean && worker_->ended_count() == 0;
  } catch (const Error&) {
    // Whom that was for cannot be reached.
  }
  if (!is_clean) UcxWorker::close(std::move(worker_));
  for (auto& [number, peer] : peers_) {
    int is_over = 0;
    MPI_Test(&peer.introduction, &is_over, MPI_STATUS_IGNORE);
    if (is_over != 0) continue;
    MPI_Request_free(&peer.introduction);
    // A peer that has failed before it met this lane may read that for as long as there is MPI.
    static_cast<void>(new std::vector<std::byte>(std::move(peer.introduction_bytes)));
  }
}

}  // namespace hycoll
