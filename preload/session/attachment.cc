#include "preload/session/attachment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "collectives/processes/process_map.h"
#include "core/base/errors.h"
#include "preload/session/session.h"
#include "threading/memory/node_memory.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll::preload {
namespace {

/// Where its messages cannot go through the program's communicators hycoll duplicates them. MPI
/// libraries have some thousands, of which the program may need the rest itself.
constexpr int kMaximumDuplicates = 128;
std::atomic<int> duplicates_here{0};

/// Whether all processes of a communicator are one node of hycoll's, which sends no messages.
bool is_one_node(const ProcessMap& map, const Options& options) {
  return options.layout == Options::Layout::processes && options.emulated_nodes == 0 &&
         options.node_scope == Options::NodeScope::machine && map.is_one_machine();
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

/// After hycoll has prepared itself for a communicator: that a driver of GPUs is loaded now, which
/// was not when it did so for others. Their processes have no occasion to tell one another, so
/// that all of them could look at their buffers. The process with rank 0 says so on stderr, once.
void warn_of_late_driver(MPI_Comm communicator, bool has_devices) {
  static std::atomic<bool> has_served_without{false};
  static std::atomic<bool> is_said{false};
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  // Both order only themselves.
  if (!has_devices) return has_served_without.store(true, std::memory_order_relaxed);
  if (rank != 0 || !has_served_without.load(std::memory_order_relaxed) ||
      is_said.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  std::fputs(
      "hycoll (preloaded): a driver of GPUs has been loaded after hycoll prepared itself for "
      "communicators. On those, collectives must not get memory of a GPU: load the driver before "
      "the program's first collectives, or raise HYCOLL_ATTACH_AFTER above their number\n",
      stderr);
}

/// What decides who serves a call, as a call of hycoll's.
Call outline_of(const Candidate& candidate) {
  return {.collective = collective_of(candidate.routine), .op = Operation(candidate.op)};
}

/// What must be so on all processes of a communicator.
struct Conditions {
  int has_duplicates = 0;  ///< Of communicators, for another one of hycoll's.
  int has_threads = 0;     ///< Several threads may call MPI.
  int has_hooks = 0;       ///< For nonblocking calls.
  int has_no_devices = 0;
};

/// Those that hold on all of them.
Conditions common_conditions(MPI_Comm communicator, bool has_devices) {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  Conditions common = {
      .has_duplicates =
          duplicates_here.load(std::memory_order_relaxed) < kMaximumDuplicates ? 1 : 0,
      .has_threads = level == MPI_THREAD_MULTIPLE ? 1 : 0,
      .has_hooks = has_request_hooks() ? 1 : 0,
      .has_no_devices = has_devices ? 0 : 1};
  std::array<int, 4> all = {common.has_duplicates, common.has_threads, common.has_hooks,
                            common.has_no_devices};
  PMPI_Allreduce(MPI_IN_PLACE, all.data(), 4, MPI_INT, MPI_MIN, communicator);
  return {.has_duplicates = all[0],
          .has_threads = all[1],
          .has_hooks = all[2],
          .has_no_devices = all[3]};
}

/// What it has taken, for the report, and for later decisions: but for the first time, when the
/// process has read the machine as well.
void note_preparation(const Communicator& server, std::chrono::duration<double> time) {
  static std::atomic<bool> has_read_machine{false};
  // Orders nothing but itself.
  if (has_read_machine.exchange(true, std::memory_order_relaxed)) {
    Payback::note_preparation(server.size(), time);
  }
  if (Report* const report = Session::instance().report()) {
    report->add_preparation(time.count(), server.transport());
  }
}

}  // namespace

Attachment::Attachment(MPI_Comm communicator, Report* report)
    : report_(report), obstacle_(obstacle_of(communicator)) {}

Attachment::~Attachment() { close(); }

void Attachment::give_up() {
  // Releases what this owner has done to the one that deletes, and acquires what others have.
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void Attachment::close() noexcept {
  if (server_ == nullptr) return;
  finish_nonblocking();
  if (queue_ != nullptr) NonblockingCalls::instance().give_back(*queue_);
  queue_ = nullptr;
  server_.reset();
  if (has_duplicate_) duplicates_here.fetch_sub(1, std::memory_order_relaxed);  // orders nothing
  obstacle_ = "after the end of hycoll's service";
}

CallQueue& Attachment::queue() {
  if (queue_ == nullptr) queue_ = &NonblockingCalls::instance().take_queue(wait_policy_);
  return *queue_;
}

std::string_view Attachment::obstacle_of(MPI_Comm communicator) {
  int is_intercommunicator = 0;
  PMPI_Comm_test_inter(communicator, &is_intercommunicator);
  if (is_intercommunicator != 0) return "an intercommunicator";
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  return size == 1 ? "a communicator of one process" : "";
}

const Combination& Attachment::combination_of(MPI_Op op, MPI_Datatype type) {
  if (combination_.handles_stay && op == combination_.op && type == combination_.type) {
    return combination_;
  }
  const bool has_type = type != MPI_DATATYPE_NULL;
  combination_ = {.op = op, .type = type, .has_predefined_op = is_predefined(op)};
  const bool is_op_of_mpi = combination_.has_predefined_op;
  combination_.handles_stay = is_op_of_mpi && find_predefined(type).has_value();
  combination_.is_allowed = has_type && (!is_op_of_mpi || is_allowed(op, type));
  combination_.has_kernel = combination_.is_allowed && is_op_of_mpi &&
                            operator_of(op).has_value() &&
                            ElementType(type).data_type().has_value();
  MPI_Count type_bytes = 0;
  if (has_type) PMPI_Type_size_x(type, &type_bytes);
  combination_.type_bytes = static_cast<std::size_t>(std::max<MPI_Count>(type_bytes, 0));
  return combination_;
}

std::string_view Attachment::examine(const Candidate& candidate) {
  size_bytes_ = 0;
  handles_stay_ = true;
  if (is_barrier(candidate.routine)) return "";
  if (candidate.element_count < 0) return "a negative count";
  if (!candidate.has_size) return "";
  if (moves_data(candidate.routine)) {
    // Processes may describe the same data by different types and counts: only the size decides.
    MPI_Count type_bytes = 0;
    if (candidate.type == MPI_DATATYPE_NULL) return "no datatype";
    handles_stay_ = find_predefined(candidate.type).has_value();
    PMPI_Type_size_x(candidate.type, &type_bytes);
    if (type_bytes == MPI_UNDEFINED) return "a datatype of more bytes than can be counted";
    size_bytes_ = static_cast<std::size_t>(candidate.element_count * type_bytes);
    return size_bytes_ == 0 ? "no elements" : "";
  }
  if (candidate.element_count == 0) return "no elements";
  const Combination& combination = combination_of(candidate.op, candidate.type);
  if (!combination.is_allowed) return "MPI does not define the operator on the type";
  handles_stay_ = combination.handles_stay;
  size_bytes_ = static_cast<std::size_t>(candidate.element_count) * combination.type_bytes;
  return "";
}

Verdict Attachment::decide(const Candidate& candidate, const Settings& settings) {
  if (Communicator* const server = server_of_like(candidate)) return {.server = server};
  if (settings.disabled[static_cast<std::size_t>(candidate.routine)]) {
    return {.reason = "HYCOLL_DISABLE"};
  }
  if (server_ == nullptr && !obstacle_.empty()) return {.reason = obstacle_};
  const std::string_view objection = examine(candidate);
  if (!objection.empty()) return {.reason = objection};
  if (server_ == nullptr) {
    if (const auto too_early = deferral(candidate, settings)) return *too_early;
    attach(candidate.communicator, settings);
    if (server_ == nullptr) return {.reason = obstacle_};
    // All are served that hycoll prepares itself for, but for what blocking ones need not.
    if (!is_persistent(candidate.routine)) return {.server = server_.get()};
  }
  if (server_->has_scattered_ranks() && depends_on_rank_order(outline_of(candidate))) {
    return {.reason = "ranks of a machine do not follow each other, and their order counts"};
  }
  const bool is_blocking = !is_nonblocking(candidate.routine) && !is_persistent(candidate.routine);
  const std::string_view nonblocking = is_blocking ? "" : nonblocking_obstacle(candidate.routine);
  if (!nonblocking.empty()) return {.reason = nonblocking};
  if (handles_stay_) served_[place_of(candidate)] = candidate;
  return {.server = server_.get()};
}

std::optional<Verdict> Attachment::deferral(const Candidate& candidate, const Settings& settings) {
  const bool is_nonblocking = preload::is_nonblocking(candidate.routine);
  const Verdict nonblocking = {.reason = "nonblocking: hycoll prepares itself in blocking calls"};
  if (settings.attach_after) {
    if (payback_.calls() >= *settings.attach_after) {
      return is_nonblocking ? std::optional(nonblocking) : std::nullopt;
    }
    payback_.count_call();
    return Verdict{.reason = "one of the first calls on its communicator (HYCOLL_ATTACH_AFTER)"};
  }
  // That will be started many times.
  if (is_persistent(candidate.routine)) return {};
  if (!is_nonblocking && payback_.is_due() && payback_.pays(candidate.communicator)) return {};
  payback_.count_call();
  if (is_nonblocking) return nonblocking;
  return Verdict{.reason =
                     "the calls on its communicator so far have been too short or too few to "
                     "prepare hycoll for (HYCOLL_ATTACH_AFTER)",
                 .is_timed = true};
}

bool Attachment::asks_for_device_memory(const Call& call) {
  if (!devices_.is_any()) devices_ = DeviceDrivers::loaded_here();
  std::uint8_t is_met = devices_.own(call.input) || devices_.own(call.output) ? 1 : 0;
  server_->run(calls::allreduce(&is_met, &is_met, 1, DataType::uint8, Operator::max));
  return is_met != 0;
}

void Attachment::attach(MPI_Comm communicator, const Settings& settings) {
  // Otherwise the settings have not been compared. All see it if one of them is not.
  if (!is_of_one_world(communicator)) {
    obstacle_ = "processes that were not started together";
    return;
  }
  if (settings.looks_for_devices) devices_ = DeviceDrivers::loaded_here();
  const Conditions conditions = common_conditions(communicator, devices_.is_any());
  has_devices_ = conditions.has_no_devices == 0;
  const ProcessMap map = ProcessMap::of(communicator);
  Options options = settings.options;
  if (settings.layout == Settings::Layout::by_machine) {
    options.layout = map.has_neighbours() ? Options::Layout::processes : Options::Layout::per_node;
  }
  has_duplicate_ = !is_one_node(map, options);
  if (has_duplicate_ && conditions.has_duplicates == 0) {
    obstacle_ = fmt::format("hycoll has duplicated {} communicators already", kMaximumDuplicates);
    return;
  }
  if (!has_duplicate_) options.parent = Options::Parent::borrowed;
  // Whoever needs all memory now and may share it does not begin with a little of its own.
  const bool is_short = size_bytes_ <= kMaximumCompactLinesBytes;
  options.memory = is_short || conditions.has_threads != 0 ? Options::Memory::when_needed
                                                           : Options::Memory::at_once;
  const auto start = std::chrono::steady_clock::now();
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
  if (server_ == nullptr) return;
  note_preparation(*server_, std::chrono::steady_clock::now() - start);
  if (has_duplicate_) duplicates_here.fetch_add(1, std::memory_order_relaxed);
  warn_of_late_driver(communicator, has_devices_);
  wait_policy_ = map.share().wait_policy(1);
  find_nonblocking_obstacle(options, conditions.has_threads != 0, conditions.has_hooks != 0);
}

void Attachment::find_nonblocking_obstacle(const Options& options, bool has_threads,
                                           bool has_hooks) {
  const bool may_be_native = options.algorithm.find("native") != std::string::npos;
  if (!has_hooks) {
    nonblocking_obstacle_ = "nonblocking: this MPI library lets nobody complete requests in waits";
  } else if (has_devices_) {
    nonblocking_obstacle_ = "nonblocking: a driver of GPUs is loaded, whose memory may be passed";
  } else if (options.checking == Options::Checking::all_processes) {
    nonblocking_obstacle_ = "nonblocking: HYCOLL_CHECK compares blocking calls";
  } else if (!has_threads && (!server_->is_one_node() || may_be_native)) {
    nonblocking_obstacle_ = "nonblocking: messages beside the program's need MPI_THREAD_MULTIPLE";
  }
  needs_kernels_ = !has_threads;
}

std::string_view Attachment::nonblocking_obstacle(Routine routine) const {
  if (!nonblocking_obstacle_.empty()) return nonblocking_obstacle_;
  // It may have given up its own since it was made.
  if (!server_->has_own_memory()) {
    return "nonblocking: the communicator shares its memory with others (HYCOLL_STAGING_LIMIT)";
  }
  if (is_barrier(routine) || moves_data(routine)) return "";
  // The program may free it before the call has completed.
  if (!combination_.has_predefined_op) return "nonblocking: an operator of the program's";
  if (needs_kernels_ && !combination_.has_kernel) {
    return "nonblocking: without MPI_THREAD_MULTIPLE only what hycoll has kernels for";
  }
  return "";
}

}  // namespace hycoll::preload
