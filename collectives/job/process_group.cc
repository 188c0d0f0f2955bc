#include "collectives/job/process_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdint>
#include <cstdio>

#include "collectives/job/build_identity.h"
#include "collectives/job/clock_offset.h"
#include "collectives/job/lane_transport.h"
#include "collectives/job/machine_exchange.h"
#include "collectives/job/tuning_agreement.h"
#include "collectives/job/worker_groups.h"
#include "collectives/selection/selection.h"
#include "core/base/digest.h"
#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "core/base/machine_file.h"
#include "numa/placement/placement.h"
#include "numa/topology/cache_capacity.h"
#include "threading/latency/core_latencies.h"
#include "threading/observing/observers.h"
#include "threading/recording/flight_recorder.h"
#include "threading/tracing/tracer.h"
#include "threading/transport/mpi/end_job.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
void ProcessGroup::require_mpi() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    throw Error(ErrorKind::environment,
                "MPI is not initialised; call MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, "
                "&provided) before using hycoll");
  }
}

void require_thread_multiple() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided == MPI_THREAD_MULTIPLE) return;
  throw Error(
      ErrorKind::environment,
      fmt::format("MPI provides the thread level {}, but the leaders of hycoll call MPI from "
                  "several threads: request MPI_THREAD_MULTIPLE in MPI_Init_thread, and check "
                  "that the library was built with it",
                  thread_level_name(provided)));
}

namespace {

constexpr const char* kSameParent =
    "Options::parent is `borrowed` on some processes and `duplicated` on others; pass the same on "
    "every process";

std::shared_ptr<const MpiCommunicator> control_communicator(JointSetup& setup, MPI_Comm parent,
                                                            Options::Parent use,
                                                            MpiCallers callers) {
  if (callers == MpiCallers::several) require_thread_multiple();
  if (!setup.same(static_cast<std::int64_t>(use))) throw Error(ErrorKind::mismatch, kSameParent);
  if (use == Options::Parent::borrowed) return MpiCommunicator::borrowed(parent);
  // Not MPI_Comm_dup: the attributes of the user's are no business of hycoll's.
  return std::make_shared<const MpiCommunicator>(setup, parent, 0);
}

std::string name_of_communicator(MPI_Comm communicator) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  check_mpi(MPI_Comm_get_name(communicator, name.data(), &length), "MPI_Comm_get_name");
  return {name.data(), static_cast<std::size_t>(length)};
}

std::uint64_t numbers_digest(std::span<const int> numbers) {
  Digest digest;
  for (const int number : numbers) digest.add(static_cast<std::uint32_t>(number));
  return digest.value();
}

std::string describe(const PackedSignature& signature) {
  if (signature == kRefusedSignature) return "refused its arguments (its error says why)";
  if (signature == kMixedSignature) {
    return "has members that passed different arguments (their errors say which)";
  }
  return "passed " + CallSignature::unpack(signature).describe();
}

}  // namespace

ProcessGroup::ProcessGroup(JointSetup& setup, MPI_Comm parent, const Options& options,
                           MpiCallers callers, std::shared_ptr<const RankOrder> order)
    : setup_(&setup),
      control_(control_communicator(setup, parent, options.parent, callers)),
      options_(options),
      order_(std::move(order)),
      map_(ProcessMap::of(setup, control())),
      names_([map = std::make_shared<const ProcessMap>(map_), numbers = order_](int rank) {
        return map->name(rank, numbers == nullptr ? rank : numbers->rank_of(rank));
      }) {
  check_mpi(MPI_Comm_rank(control(), &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(control(), &size_), "MPI_Comm_size");
  name_ = name_of_communicator(parent);
  // In another order they have been named already, as they are numbered in the set-up.
  if (order_ == nullptr) setup.name_processes(names_);
  agree_on_options();
  agree_on_aggregators();
  agree_on_prices();
  if (!options.tuning.empty()) tuning_ = agree_on_tuning(setup, options.tuning, rank_ == 0);
  take_part_in_trace();
}

std::vector<NumberedOption> ProcessGroup::common_options() const {
  // Only where several processes make up a node must they place its workers alike.
  static const Immortal<std::string> any_placement;
  const bool shares_nodes = options_.layout == Options::Layout::processes;
  return {
      {.name = "aggregators (HYCOLL_AGGREGATORS)", .value = options_.aggregators},
      {.name = "layout (HYCOLL_LAYOUT; 0: per_node, 1: processes)",
       .value = static_cast<int>(options_.layout)},
      {.name = "lanes (HYCOLL_LANES)", .value = options_.lanes},
      NumberedOption::of_words("algorithm (HYCOLL_ALGORITHM)", options_.algorithm),
      {.name = "bits (HYCOLL_REPRODUCIBLE; 0: same_on_all_members, 1: reproducible)",
       .value = static_cast<int>(options_.bits)},
      {.name = "checking (HYCOLL_CHECK; 0: process, 1: all_processes)",
       .value = static_cast<int>(options_.checking)},
      NumberedOption::of_words("placement (HYCOLL_PLACEMENT)",
                               shares_nodes ? options_.placement : *any_placement),
      {.name = "staging_kib (HYCOLL_STAGING_KIB)", .value = options_.staging_kib},
      {.name = "plan_cache_kib (HYCOLL_PLAN_CACHE_KIB)", .value = options_.plan_cache_kib},
      {.name = "exchange_kib (HYCOLL_EXCHANGE_KIB)", .value = options_.exchange_kib},
      {.name = "staging_limit_mib (HYCOLL_STAGING_LIMIT; -1: not set)",
       .value = options_.staging_limit_mib.value_or(-1)},
      {.name = "memory (0: at_once, 1: when_needed, 2: in_turn, 3: alone)",
       .value = static_cast<int>(options_.memory)},
      {.name = "single_copy_kib (HYCOLL_SINGLE_COPY_KIB; -1: not set)",
       .value = options_.single_copy_kib.value_or(-1)},
      {.name = "node_scope (HYCOLL_NODE; 0: machine, 1: numa)",
       .value = static_cast<int>(options_.node_scope)},
      {.name = "emulated_nodes (HYCOLL_EMULATE_NODES)", .value = options_.emulated_nodes},
      {.name = "emulated_dealing (HYCOLL_EMULATE_NODES; 0: K, 1: K:cyclic)",
       .value = static_cast<int>(options_.emulated_dealing)},
      {.name = "transport (HYCOLL_TRANSPORT; 0: auto, 1: mpi, 2: ucx)",
       .value = static_cast<int>(options_.transport)},
      {.name = "puts (HYCOLL_PUTS; 0: auto, 1: 0, 2: 1)", .value = static_cast<int>(options_.puts)},
      {.name = "waiting (HYCOLL_WAIT; 0: auto, 1: spin, 2: yield, 3: sleep)",
       .value = static_cast<int>(options_.waiting)},
      NumberedOption::of_words("groups (HYCOLL_GROUPS)", options_.groups),
      NumberedOption::of_words("latencies (HYCOLL_LATENCIES)", options_.latencies),
      NumberedOption::of_words("topology (HYCOLL_TOPOLOGY)", options_.topology),
      NumberedOption::of_words("machine (HYCOLL_MACHINE)", options_.machine),
      NumberedOption::of_words("tuning (HYCOLL_TUNING)", options_.tuning),
      NumberedOption::of_words("trace (HYCOLL_TRACE)", options_.trace),
  };
}

void ProcessGroup::agree_on_options() {
  const std::string build = build_identity();
  const NumberedOption numbered_build = NumberedOption::of_words("hycoll", build);
  const std::vector<NumberedOption> options = common_options();
  std::vector<int> numbers = {numbered_build.value};
  for (const NumberedOption& option : options) numbers.push_back(option.value);
  if (!setup().same(static_cast<std::int64_t>(numbers_digest(numbers)))) {
    require_same({&numbered_build, 1}, ValuesOf::builds);
    require_same(options, ValuesOf::options);
  }
  // What cannot be read is the same everywhere, and refused by all.
  parse_groups(options_.groups);
  parse_latency_request(options_.latencies);
  const auto require_positive = [&](int Options::*option, const char* name) {
    if (options_.*option >= 1) return;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("Options::{} is {}; ask for 1 or more, {} are the default", name,
                            options_.*option, Options{}.*option));
  };
  require_positive(&Options::plan_cache_kib, "plan_cache_kib (HYCOLL_PLAN_CACHE_KIB)");
  require_positive(&Options::exchange_kib, "exchange_kib (HYCOLL_EXCHANGE_KIB)");
  require_positive(&Options::trace_kib, "trace_kib (HYCOLL_TRACE_KIB)");
}

void ProcessGroup::agree_on_aggregators() {
  const int own = options_.aggregators;
  if (own < 0 || own >= size_) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("Options::aggregators (HYCOLL_AGGREGATORS) is {}, but of {} processes 0 "
                    "to {} can be aggregators, for one must have members; ask for fewer, "
                    "or start more processes",
                    own, size_, size_ - 1));
  }
  members_ = control_;
  if (own == 0) return;
  members_ = std::make_shared<const MpiCommunicator>(setup(), control(),
                                                     is_aggregator() ? MPI_UNDEFINED : 0);
}

void ProcessGroup::agree_on_prices() {
  if (options_.machine.empty()) return;
  if (rank_ == 0) {
    prices_ = read_machine_file("HYCOLL_MACHINE (Options::machine)", options_.machine);
  }
  auto numbers = std::bit_cast<std::array<double, sizeof(MachinePrices) / sizeof(double)>>(prices_);
  broadcast_first(numbers);
  prices_ = std::bit_cast<MachinePrices>(numbers);
}

void ProcessGroup::take_part_in_trace() {
  observed_number_ = take_communicator_number();
  if (options_.trace.empty()) return;
  Tracer& tracer =
      Tracer::start(options_.trace, static_cast<std::size_t>(options_.trace_kib) << 10);
  tracer.add_communicator(observed_number_,
                          agree_on_clock(setup(), control(), map_.machines().distinct_count()));
}

namespace {

/// The numbers of the process with this rank, on all of them.
void broadcast(std::span<int> numbers, int rank, MPI_Comm communicator) {
  JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(numbers.data(), static_cast<int>(numbers.size()), MPI_INT, rank, communicator,
                      request);
  });
}

}  // namespace

RankMap ProcessGroup::gather(int value) const {
  if (map_.is_one_machine()) {
    std::vector<int> values(static_cast<std::size_t>(size_));
    setup().meet();
    JointSetup::complete("MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(&value, 1, MPI_INT, values.data(), 1, MPI_INT, control(), request);
    });
    return RankMap::of(values);
  }
  if (setup().same(value)) return RankMap::constant(size_, value);
  const auto here = MpiCommunicator::of_machine(setup(), control());
  return MachineExchange(setup(), control(), here->handle()).gather(value);
}

int ProcessGroup::maximum(int value) const { return static_cast<int>(setup().most(value)); }

RankMap ProcessGroup::node_places() const {
  RankMap domains;
  if (options_.node_scope == Options::NodeScope::numa_domain) {
    constexpr int kSeveral = -1;
    const auto own = topology().numa_domains();
    domains = gather(own.size() == 1 ? own.front().os_index : kSeveral);
  }
  const bool deals_in_turn = options_.emulated_dealing == Options::EmulatedDealing::cyclic;
  return hycoll::node_places(map_.machines(), domains, options_.emulated_nodes,
                             deals_in_turn ? Dealing::cyclic : Dealing::blocks);
}

std::vector<EqualNumbers> ProcessGroup::gather_lists(
    const std::vector<int>& own, Lengths lengths, int node_count,
    const std::function<int(int node)>& first_rank_of) const {
  // The list of the teller, who passes its length.
  const auto told_by = [&](int teller, std::size_t length) {
    std::vector<int> list = own;
    list.resize(length);
    setup().meet();
    broadcast(list, teller, control());
    return list;
  };
  if (node_count == 1) {
    std::size_t length = own.size();
    if (lengths == Lengths::differ) {
      length =
          static_cast<std::size_t>(setup().least(rank_ == 0 ? std::ssize(own) : JointSetup::kMost));
    }
    return {{.numbers = told_by(0, length), .count = 1}};
  }
  // There are few different lists, as there are few kinds of nodes: each is told once, by the first
  // process that has it.
  constexpr int kUntold = -1;
  std::vector<std::vector<int>> lists;
  int kind = kUntold;
  for (;;) {
    // The first process whose list has not been told, and its length: one number.
    const std::int64_t offer = static_cast<std::int64_t>(rank_) << 32 | std::ssize(own);
    const std::int64_t next = setup().least(kind == kUntold ? offer : JointSetup::kMost);
    if (next == JointSetup::kMost) break;
    std::vector<int> list = told_by(static_cast<int>(next >> 32), static_cast<std::uint32_t>(next));
    if (kind == kUntold && list == own) kind = static_cast<int>(lists.size());
    lists.push_back(std::move(list));
  }
  if (lists.size() == 1) return {{.numbers = std::move(lists.front()), .count = node_count}};
  const RankMap kinds = gather(kind);
  std::vector<EqualNumbers> runs;
  int last = kUntold;
  for (int node = 0; node < node_count; ++node) {
    const int its = kinds.at(first_rank_of(node));
    if (its != last) runs.push_back({.numbers = lists[static_cast<std::size_t>(its)], .count = 0});
    ++runs.back().count;
    last = its;
  }
  return runs;
}

void ProcessGroup::broadcast_first(std::span<double> numbers) const {
  setup().meet();
  JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, 0, control(),
                      request);
  });
}

void ProcessGroup::broadcast_first(std::span<int> numbers) const {
  setup().meet();
  broadcast(numbers, 0, control());
}

NumberedOption NumberedOption::of_words(std::string_view name, const std::string& words) {
  // FNV-1a.
  std::uint32_t value = 2166136261U;
  for (const char letter : words) value = (value ^ static_cast<unsigned char>(letter)) * 16777619U;
  return {.name = name, .value = static_cast<int>(value), .words = &words};
}

void ProcessGroup::require_same(std::span<const NumberedOption> values, ValuesOf of) const {
  std::vector<int> own;
  for (const NumberedOption& value : values) own.push_back(value.value);
  if (setup().same(static_cast<std::int64_t>(numbers_digest(own)))) return;
  std::vector<int> first = own;
  std::vector<int> differing = own;
  setup().meet();
  broadcast(first, 0, control());
  const auto other = static_cast<int>(setup().least(own == first ? size_ : rank_));
  broadcast(differing, other, control());
  const auto at =
      static_cast<std::size_t>(std::ranges::mismatch(first, differing).in1 - first.begin());
  const auto value_on = [&](int rank, int number) {
    return values[at].words == nullptr ? fmt::format("{}", number)
                                       : fmt::format("'{}'", words_on(rank, *values[at].words));
  };
  const std::string on_first = value_on(0, first[at]);
  const std::string on_other = value_on(other, differing[at]);
  const bool are_options = of == ValuesOf::options;
  throw Error(
      ErrorKind::mismatch,
      fmt::format("{}{} is {} on {}, but {} on {}; {} the same on every process",
                  are_options ? "Options::" : "", values[at].name, on_first, process_name(0),
                  on_other, process_name(other), are_options ? "pass" : "run"));
}

std::string ProcessGroup::words_on(int rank, const std::string& own) const {
  std::array<char, 128> words{};
  std::string_view(own).copy(words.data(), words.size() - 1);
  setup().meet();
  JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(words.data(), static_cast<int>(words.size()), MPI_CHAR, rank, control(),
                      request);
  });
  return words.data();
}

std::function<bool(int)> ProcessGroup::neighbours() const {
  return [machines = std::make_shared<const RankMap>(map_.machines()), own = rank_](int rank) {
    return machines->at(rank) == machines->at(own);
  };
}

void ProcessGroup::open_lanes(int lane_count) {
  if (size_ == 1) return;  // nothing is ever sent
  // The MPI library's collectives of different lanes must not meet.
  const LaneCommunicators communicators(
      setup(), control(), lane_count,
      asks_for_native() ? lane_count : LaneCommunicators::kMaximumCount);
  const LaneTransport transport = LaneTransport::agreed(*this, lane_count);
  transport_ = transport.description();
  for (int lane = 0; lane < lane_count; ++lane) {
    const auto& messages = communicators.of(lane);
    lanes_.push_back(transport.open(messages, messages, communicators.lane_on_it(lane),
                                    communicators.lanes_on_each(), names_, Leading::here));
  }
}

std::vector<Endpoint*> ProcessGroup::endpoints() const {
  std::vector<Endpoint*> endpoints;
  for (const auto& lane : lanes_) endpoints.push_back(lane.get());
  return endpoints;
}

int ProcessGroup::tag_count() const {
  return lanes_.empty() ? INT_MAX : lanes_.front()->tag_count();
}

int ProcessGroup::requested_lanes() const {
  return std::max(options_.lanes, most_requested_lanes(options_.algorithm));
}

bool ProcessGroup::asks_for_native() const {
  return options_.algorithm.find("native") != std::string::npos;
}

int ProcessGroup::lane_count(std::span<const EqualNodes> nodes) const {
  return std::max(options_.lanes > 0 ? options_.lanes : most_chosen_lanes(nodes),
                  requested_lanes());
}

void ProcessGroup::check_lanes(int worker_count) const {
  if (options_.lanes >= 0 && requested_lanes() <= maximum_lanes(worker_count)) return;
  const std::string asked =
      requested_lanes() == options_.lanes || options_.lanes < 0
          ? fmt::format("Options::lanes (HYCOLL_LANES) is {}", options_.lanes)
          : fmt::format("Options::algorithm (HYCOLL_ALGORITHM) '{}' asks for {} lanes",
                        options_.algorithm, requested_lanes());
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{}, but {} workers per process serve 0 (automatic) to {} lanes; ask for "
                          "fewer lanes or more workers",
                          asked, worker_count, maximum_lanes(worker_count)));
}

std::size_t ProcessGroup::streaming_threshold_bytes() const {
  const std::uint64_t capacity_bytes = cache_capacity_bytes(share().topology);
  return capacity_bytes == 0 ? SIZE_MAX : static_cast<std::size_t>(capacity_bytes);
}

namespace {

void write_trace() {
  if (Tracer* const tracer = Tracer::running()) tracer->write();
}

}  // namespace

ExecutorOptions ProcessGroup::executor_options(const Core& core, int first_rank, int member_count,
                                               int node_count, const WaitPolicy& policy) const {
  return {
      .wait_policy = policy,
      .topology = &share().topology,
      .numa_domain = core.numa_domain,
      .first_rank = first_rank,
      .user_rank_of = order_ == nullptr
                          ? std::function<int(int)>()
                          : [order = order_](int member) { return order->rank_of(member); },
      .member_count = member_count,
      // Who asks for all members to be compared wants errors where they belong; then, and with
      // aggregators, calls that nobody executes leave gaps in the numbers, too.
      .running_ahead = options_.checking == Options::Checking::process && node_count == 1
                           ? RunningAhead::allowed
                           : RunningAhead::forbidden,
      .warn_after = options_.warn_after,
      .on_long_wait =
          [](const std::string& message) {
            std::fprintf(stderr,
                         "%s hycoll goes on waiting; HYCOLL_TIMEOUT_S=N ends the job after N s, "
                         "HYCOLL_WARN_AFTER_S=0 waits in silence.\n",
                         message.c_str());
          },
      .timeout = options_.timeout,
      .on_timeout =
          [](const std::string& message) {
            write_trace();
            end_job(message +
                        " hycoll ends the job, as HYCOLL_TIMEOUT_S (Options::timeout) asks it to.",
                    1);
          },
      .while_waiting = options_.while_waiting,
      .ended_process = nullptr,
      .on_ended_process =
          [](const std::string& message) {
            write_trace();
            end_job_after_launcher(message + " hycoll ends the job.", 1);
          },
      .observation = observation()};
}

std::shared_ptr<MemberRecord> ProcessGroup::record_of(int rank, int size) const {
  return FlightRecorder::here().record({.communicator = observed_number_,
                                        .rank = order_ == nullptr ? rank : order_->rank_of(rank),
                                        .size = size,
                                        .name = name_});
}

Observation ProcessGroup::observation() const {
  const Observers* const observers = Observers::here();
  if (observers == nullptr) return {};
  return {.by = observers, .worker = take_worker_number(), .communicator = observed_number_};
}

void ProcessGroup::check_signature(CallNumber call, const PackedSignature& signature) const {
  std::vector<PackedSignature> all(static_cast<std::size_t>(member_process_count()));
  static_assert(sizeof(PackedSignature) == 2 * sizeof(std::uint64_t));
  check_mpi(
      MPI_Allgather(&signature, 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, members_->handle()),
      "MPI_Allgather");
  // Either all are like this process's own, or some other one is to be named.
  const auto other =
      std::ranges::find_if(all, [&](const PackedSignature& theirs) { return theirs != signature; });
  if (other == all.end()) return;
  const auto rank = static_cast<int>(other - all.begin());
  throw Error(ErrorKind::mismatch,
              fmt::format("call {}: {}, this one, {}, but {} {}. Every process must make the same "
                          "call with the same count, type, operator and root",
                          call, process_name(rank_), describe(signature), process_name(rank),
                          describe(*other)));
}

}  // namespace hycoll
