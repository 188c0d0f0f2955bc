#include "preload/session/attachment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>

#include "collectives/job/process_map.h"
#include "core/base/errors.h"
#include "preload/session/session.h"
#include "threading/memory/node_memory.h"
#include "threading/transport/mpi/joint_setup.h"
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

constexpr std::string_view kNotCommitted = "a datatype that is not committed";

/// What decides who serves a call, as a call of hycoll's.
Call outline_of(const Candidate& candidate) {
  return {.collective = collective_of(candidate.routine), .op = Operation(candidate.op)};
}

/// What all processes of a communicator know before hycoll prepares itself.
struct Outset {
  ProcessMap map;
  Options options;
  // Whether this is so on all of them.
  bool may_duplicate = false;  ///< Communicators, for another one of hycoll's.
  bool has_threads = false;    ///< Several threads may call MPI.
  bool has_hooks = false;      ///< For nonblocking calls.
  bool has_no_devices = false;
};

/// Nothing, on all of them, for processes whose settings have not been compared.
std::optional<Outset> outset_of(JointSetup& setup, MPI_Comm communicator, const Settings& settings,
                                const DeviceDrivers& devices) {
  if (!is_of_one_world(communicator)) return std::nullopt;
  Outset outset{.map = ProcessMap::of(setup, communicator), .options = settings.options};
  if (settings.layout == Settings::Layout::by_machine) {
    outset.options.layout =
        outset.map.has_neighbours() ? Options::Layout::processes : Options::Layout::per_node;
  }
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  const int duplicates = duplicates_here.load(std::memory_order_relaxed);
  const JointSetup::Numbers least =
      setup.least({duplicates < kMaximumDuplicates ? 1 : 0, level == MPI_THREAD_MULTIPLE ? 1 : 0,
                   has_request_hooks() ? 1 : 0, devices.is_any() ? 0 : 1});
  outset.may_duplicate = least[0] == 1;
  outset.has_threads = least[1] == 1;
  outset.has_hooks = least[2] == 1;
  outset.has_no_devices = least[3] == 1;
  return outset;
}

/// What it has taken, for the report, and for later decisions: but for the first time, when the
/// process has read the machine as well.
void note_preparation(const Communicator& server, std::chrono::duration<double> time) {
  static std::atomic<bool> has_read_machine{false};
  // Orders nothing but itself.
  if (has_read_machine.exchange(true, std::memory_order_relaxed)) {
    Payback::note_preparation(server.size(), time);
  }
  Report* const report = Session::instance().report();
  if (report == nullptr) return;
  try {
    report->add_preparation(time.count(), server.transport());
  } catch (const std::bad_alloc&) {
    // The report lacks it.
  }
}

}  // namespace

Attachment::Attachment(MPI_Comm communicator, Report* report)
    : report_(report), obstacle_(obstacle_of(communicator)) {
  int is_intercommunicator = 0;
  PMPI_Comm_test_inter(communicator, &is_intercommunicator);
  PMPI_Comm_size(communicator, &size_);
  PMPI_Comm_rank(communicator, &rank_);
  if (is_intercommunicator != 0) rank_ = MPI_PROC_NULL;
}

Attachment::~Attachment() { close(); }

void Attachment::close() noexcept {
  if (server_ == nullptr) return;
  finish_nonblocking();
  if (queue_ != nullptr) NonblockingCalls::instance().give_back(*queue_);
  queue_ = nullptr;
  server_ = nullptr;
  communicator_.reset();
  if (has_duplicate_) duplicates_here.fetch_sub(1, std::memory_order_relaxed);  // orders nothing
  refuse("after the end of hycoll's service");
}

void Attachment::leave() noexcept {
  if (server_ == nullptr && obstacle_.empty()) consent_.tell_those_that_ask();
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

Attachment::Objection Attachment::mistake(std::string_view reason) {
  return {.reason = reason, .is_mistake = true};
}

Attachment::Objection Attachment::examine(const Candidate& candidate) {
  size_bytes_ = 0;
  handles_stay_ = true;
  if (is_barrier(candidate.routine)) return {};
  if (candidate.element_count < 0) return mistake("a negative count");
  if (!candidate.has_size) return {};
  if (moves_data(candidate.routine)) return examine_movement(candidate);
  if (candidate.element_count == 0) return {.reason = "no elements"};
  const Combination& combination = combination_of(candidate.op, candidate.type);
  if (!combination.is_allowed) return mistake("MPI does not define the operator on the type");
  handles_stay_ = combination.handles_stay;
  if (!handles_stay_ && !is_committed(candidate.type)) return mistake(kNotCommitted);
  size_bytes_ = static_cast<std::size_t>(candidate.element_count) * combination.type_bytes;
  return {};
}

Attachment::Objection Attachment::examine_movement(const Candidate& candidate) {
  // Processes may describe the same data by different types and counts: only the size decides.
  MPI_Count type_bytes = 0;
  if (candidate.type == MPI_DATATYPE_NULL) return mistake("no datatype");
  handles_stay_ = find_predefined(candidate.type).has_value();
  if (!handles_stay_ && !is_committed(candidate.type)) return mistake(kNotCommitted);
  PMPI_Type_size_x(candidate.type, &type_bytes);
  if (type_bytes == MPI_UNDEFINED) {
    return {.reason = "a datatype of more bytes than can be counted"};
  }
  size_bytes_ = static_cast<std::size_t>(candidate.element_count * type_bytes);
  return {.reason = size_bytes_ == 0 ? "no elements" : ""};
}

Verdict Attachment::decide(const Candidate& candidate, const Settings& settings) {
  if (Communicator* const server = server_of_like(candidate)) return {.server = server};
  if (settings.disabled[static_cast<std::size_t>(candidate.routine)]) {
    return {.reason = "HYCOLL_DISABLE"};
  }
  if (server_ == nullptr && !obstacle_.empty()) return {.reason = obstacle_};
  const Objection objection = examine(candidate);
  if (objection.is_mistake) consent_.withdraw(candidate.communicator);
  if (candidate.element_count < 0 && library_answer(Mistake::negative_count, candidate.routine,
                                                    candidate.element_count) == Answer::crash) {
    return {.refused_for = Mistake::negative_count};
  }
  if (!objection.reason.empty()) return {.reason = objection.reason};
  if (const auto refused = refusal(candidate, settings)) {
    consent_.withdraw(candidate.communicator);
    return *refused;
  }
  if (server_ == nullptr) {
    if (const auto too_early = deferral(candidate, settings)) return *too_early;
    attach(candidate.communicator, settings);
    if (server_ == nullptr) return {.reason = obstacle_};
    // All are served that hycoll prepares itself for, but for what blocking ones need not.
    if (!is_persistent(candidate.routine)) return {.server = server_};
  }
  if (server_->has_scattered_ranks() && depends_on_rank_order(outline_of(candidate))) {
    return {.reason = "ranks of a machine do not follow each other, and their order counts"};
  }
  const bool is_blocking = !is_nonblocking(candidate.routine) && !is_persistent(candidate.routine);
  const std::string_view nonblocking = is_blocking ? "" : nonblocking_obstacle(candidate.routine);
  if (!nonblocking.empty()) return {.reason = nonblocking};
  if (handles_stay_) served_[place_of(candidate)] = candidate;
  return {.server = server_};
}

std::optional<Verdict> Attachment::refusal(const Candidate& candidate,
                                           const Settings& settings) const {
  // The others would wait for this process to compare the call. hycoll's calls look themselves.
  const bool all_compare = settings.options.checking == Options::Checking::all_processes;
  if (!all_compare && !has_root(candidate)) return Verdict{.reason = "a root that is no rank"};
  const Mistake mistake = candidate.mistake;
  const bool is_seen_later = mistake == Mistake::aliased || mistake == Mistake::no_buffer;
  if (mistake == Mistake::none || (all_compare && is_seen_later)) return {};
  switch (library_answer(mistake, candidate.routine, candidate.element_count)) {
    case Answer::error:
      return Verdict{.reason = "buffers that MPI does not allow"};
    case Answer::result:
      return {};
    case Answer::crash:
      break;
  }
  return Verdict{.refused_for = mistake};
}

std::optional<Verdict> Attachment::deferral(const Candidate& candidate, const Settings& settings) {
  const bool is_nonblocking = preload::is_nonblocking(candidate.routine);
  const Verdict nonblocking = {.reason = "nonblocking: hycoll prepares itself in blocking calls"};
  if (settings.attach_after) {
    if (payback_.calls() < *settings.attach_after) {
      payback_.count_call();
      return Verdict{.reason = "one of the first calls on its communicator (HYCOLL_ATTACH_AFTER)"};
    }
    if (is_nonblocking) return nonblocking;
    return have_consent(candidate.communicator) ? std::nullopt
                                                : std::optional(Verdict{.reason = obstacle_});
  }
  // That will be started many times.
  const bool is_persistent = preload::is_persistent(candidate.routine);
  if (is_persistent || (!is_nonblocking && payback_.is_due())) {
    if (!have_consent(candidate.communicator)) return Verdict{.reason = obstacle_};
    if (is_persistent || payback_.pays(candidate.communicator)) return {};
  }
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

void Attachment::refuse(std::string_view reason, std::string_view detail) noexcept {
  try {
    obstacle_ = reason;
    obstacle_ += detail;
  } catch (const std::bad_alloc&) {
    obstacle_ = "no memory";  // so short that it takes none
  }
}

bool Attachment::have_consent(MPI_Comm communicator) {
  try {
    if (consent_.is_given_by_all(communicator)) return true;
    refuse("a process had made a mistake before hycoll prepared itself for the communicator");
  } catch (const std::exception& error) {
    refuse("hycoll cannot start: ", error.what());
  }
  return false;
}

void Attachment::attach(MPI_Comm communicator, const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  // Whatever fails, fails on all processes.
  try {
    std::optional<Outset> outset = JointSetup::run(communicator, [&](JointSetup& setup) {
      if (settings.looks_for_devices) devices_ = DeviceDrivers::loaded_here();
      return outset_of(setup, communicator, settings, devices_);
    });
    if (!outset) return refuse("processes that were not started together");
    has_devices_ = !outset->has_no_devices;
    Options& options = outset->options;
    has_duplicate_ = !is_one_node(outset->map, options);
    if (has_duplicate_ && !outset->may_duplicate) {
      return refuse(
          fmt::format("hycoll has duplicated {} communicators already", kMaximumDuplicates));
    }
    if (!has_duplicate_) options.parent = Options::Parent::borrowed;
    // Whoever needs all memory now and may share it does not begin with a little of its own.
    const bool is_short = size_bytes_ <= kMaximumCompactLinesBytes;
    options.memory =
        is_short || outset->has_threads ? Options::Memory::when_needed : Options::Memory::at_once;
    options.while_waiting = [] { NonblockingCalls::instance().poll(); };
    server_ = &communicator_.emplace(communicator, options);
    wait_policy_ = outset->map.share().wait_policy(1, options.waiting);
    find_nonblocking_obstacle(options, outset->has_threads, outset->has_hooks);
  } catch (const std::exception& error) {
    refuse("hycoll cannot start: ", error.what());
    return say_once_why_not(communicator, obstacle_);
  }
  note_preparation(*server_, std::chrono::steady_clock::now() - start);
  if (has_duplicate_) duplicates_here.fetch_add(1, std::memory_order_relaxed);
  warn_of_late_driver(communicator, has_devices_);
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
