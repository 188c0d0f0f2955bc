#include "preload/attachment.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include "collectives/process_map.h"
#include "core/errors.h"
#include "preload/hand_over.h"
#include "threading/mpi_types.h"

namespace hycoll::preload {
namespace {

/// hycoll duplicates communicators, of which MPI libraries have some thousands; the program may
/// need the rest itself.
constexpr int kMaximumServers = 128;
std::atomic<int> servers_here{0};

/// Whether every process of the communicator was started together with this one, so that the
/// settings have been compared. If one of them was not, all of them see one that was not.
bool is_of_one_world(MPI_Comm communicator) {
  MPI_Group here = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(communicator, &here);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  PMPI_Group_size(here, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> world_ranks(ranks.size());
  PMPI_Group_translate_ranks(here, size, ranks.data(), world, world_ranks.data());
  PMPI_Group_free(&here);
  PMPI_Group_free(&world);
  for (const int rank : world_ranks) {
    if (rank == MPI_UNDEFINED) return false;
  }
  return true;
}

bool all_agree(MPI_Comm communicator, bool here) {
  int agreed = here ? 1 : 0;
  const int code = PMPI_Allreduce(MPI_IN_PLACE, &agreed, 1, MPI_INT, MPI_MIN, communicator);
  return code == MPI_SUCCESS && agreed == 1;
}

/// That hycoll cannot serve a communicator. All of its processes call this; the one with rank 0
/// says so on stderr, once in its life, and whoever has heard it does not say it again.
void say_once_why_not(MPI_Comm communicator, const std::string& obstacle) {
  static std::atomic<bool> is_said{false};
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  if (is_said.exchange(true, std::memory_order_relaxed) || rank != 0)
    return;  // Orders only itself.
  std::fprintf(stderr,
               "hycoll (preloaded): the MPI library serves a communicator of this program's, and "
               "others that meet the same: %s\n",
               obstacle.c_str());
}

/// Whether nodes must consist of ranks that follow each other to serve the call.
bool depends_on_rank_order(const Candidate& candidate) {
  switch (candidate.routine) {
    case Routine::barrier:
    case Routine::ibarrier:
    case Routine::bcast:
    case Routine::ibcast:
      return false;
    case Routine::allreduce:
    case Routine::iallreduce:
    case Routine::reduce:
    case Routine::ireduce: {
      if (is_predefined(candidate.op)) return false;
      int commutes = 0;
      return PMPI_Op_commutative(candidate.op, &commutes) != MPI_SUCCESS || commutes == 0;
    }
    default:
      return true;
  }
}

}  // namespace

Attachment::Attachment(MPI_Comm communicator) : obstacle_(obstacle_of(communicator)) {}

Attachment::~Attachment() { close(); }

void Attachment::close() noexcept {
  if (server_ == nullptr) return;
  server_.reset();
  servers_here.fetch_sub(1, std::memory_order_relaxed);  // a count, which orders nothing
  obstacle_ = "after the end of hycoll's service";
}

std::string_view Attachment::obstacle_of(MPI_Comm communicator) {
  int is_intercommunicator = 0;
  PMPI_Comm_test_inter(communicator, &is_intercommunicator);
  if (is_intercommunicator != 0) return "an intercommunicator";
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  return size == 1 ? "a communicator of one process" : "";
}

bool Attachment::is_allowed_here(MPI_Op op, MPI_Datatype type) {
  if (op == last_op_ && type == last_type_) return last_is_allowed_;
  last_op_ = op;
  last_type_ = type;
  last_type_stays_ = type != MPI_DATATYPE_NULL && find_predefined(type).has_value();
  int type_bytes = 0;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &type_bytes);
  last_type_bytes_ = type_bytes > 0 ? static_cast<std::size_t>(type_bytes) : 0;
  last_is_allowed_ = type != MPI_DATATYPE_NULL && (!is_predefined(op) || is_allowed(op, type));
  return last_is_allowed_;
}

bool Attachment::is_handed_over(const Candidate& candidate) const {
  const auto count = static_cast<std::size_t>(candidate.element_count);
  return hands_over_ && library_is_faster(candidate.routine, count * last_type_bytes_);
}

Verdict Attachment::decide(const Candidate& candidate, const Settings& settings) {
  if (server_ != nullptr && candidate == last_served_) return {.server = server_.get()};
  if (settings.disabled[static_cast<std::size_t>(candidate.routine)]) {
    return {.reason = "HYCOLL_DISABLE"};
  }
  if (server_ == nullptr && !obstacle_.empty()) return {.reason = obstacle_};
  if (candidate.element_count <= 0 && candidate.routine != Routine::barrier) {
    return {.reason = candidate.element_count == 0 ? "no elements" : "a negative count"};
  }
  if (!is_allowed_here(candidate.op, candidate.type)) {
    return {.reason = "MPI does not define the operator on the type"};
  }
  if (server_ != nullptr) {
    if (server_->has_scattered_ranks() && depends_on_rank_order(candidate)) {
      return {.reason = "ranks of a machine do not follow each other, and their order counts"};
    }
    if (is_handed_over(candidate)) return {.reason = "the MPI library is faster at this size"};
    if (last_type_stays_) last_served_ = candidate;
    return {.server = server_.get()};
  }
  if (calls_ < settings.attach_after) {
    ++calls_;
    return {.reason = "one of the first calls on its communicator (HYCOLL_ATTACH_AFTER)"};
  }
  attach(candidate.communicator, settings);
  return {.server = server_.get(), .reason = obstacle_};
}

void Attachment::attach(MPI_Comm communicator, const Settings& settings) {
  if (!is_of_one_world(communicator)) {
    obstacle_ = "processes that were not started together";
    return;
  }
  if (!all_agree(communicator, servers_here.load(std::memory_order_relaxed) < kMaximumServers)) {
    obstacle_ = fmt::format("hycoll serves {} communicators already", kMaximumServers);
    return;
  }
  Options options = settings.options;
  if (settings.layout == Settings::Layout::by_machine) {
    options.layout = ProcessMap::of(communicator).has_neighbours() ? Options::Layout::processes
                                                                   : Options::Layout::per_node;
  }
  try {
    server_ = std::make_unique<Communicator>(communicator, options);
  } catch (const std::exception& error) {
    obstacle_ = fmt::format("hycoll cannot start: {}", error.what());
  }
  const bool here = server_ != nullptr;
  if (!all_agree(communicator, here)) {
    server_.reset();
    if (here) obstacle_ = "hycoll cannot start on another process";
    say_once_why_not(communicator, obstacle_);
  }
  hands_over_ = server_ != nullptr && settings.hand_over == Settings::HandOver::where_faster &&
                options.layout == Options::Layout::processes && server_->size() == 2;
  if (server_ != nullptr) servers_here.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace hycoll::preload
