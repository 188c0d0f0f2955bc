// A communicator, and the layout per_node: one member per process, a pool of leaders inside.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "collectives/api/hycoll.h"
#include "collectives/calls/aggregators.h"
#include "collectives/calls/call_gate.h"
#include "collectives/calls/caller.h"
#include "collectives/calls/channels.h"
#include "collectives/calls/own_memory.h"
#include "collectives/calls/per_node_member.h"
#include "collectives/calls/processes_member.h"
#include "collectives/job/node_grouping.h"
#include "collectives/job/process_group.h"
#include "collectives/job/ring_places.h"
#include "collectives/node/node_processes.h"
#include "collectives/node/workers.h"
#include "collectives/plans/plan_cache.h"
#include "collectives/runs/arguments.h"
#include "core/base/lifetime.h"
#include "threading/execution/leader_pool.h"
#include "threading/observing/call_site.h"
#include "threading/transport/mpi/joint_setup.h"

namespace hycoll {
namespace {

int worker_count_for(const ProcessGroup& group) {
  const int requested = group.options().workers;
  const int available = group.topology().usable_core_count();
  if (requested < 0 || requested > 64 * available) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("Options::workers (HYCOLL_WORKERS) is {}; this process can use {} cores: ask "
                    "for 0 (one worker per core) to {}",
                    requested, available, 64 * available));
  }
  return requested > 0 ? requested : available;
}

/// With one worker, blocking calls are made by the thread that asks for them.
MpiCallers mpi_callers(const Options& options) {
  const bool has_one_worker = options.workers == 1 || options.layout == Options::Layout::processes;
  return has_one_worker && options.aggregators == 0 ? MpiCallers::user_only : MpiCallers::several;
}

/// Channels that send messages have communicators of the MPI library's, and workers of UCX, of
/// which there are not many.
constexpr int kMostChannelsWithMessages = 32;
std::atomic<int> channels_with_messages_here{0};

IdleChannels& idle_channels() {
  static Immortal<IdleChannels> here;
  return *here;
}

bool has_root_in(const Call& call, int size) { return call.root >= 0 && call.root < size; }

}  // namespace

struct Communicator::State final : Channel {
  /// Of the whole communicator, or of further rows of its calls.
  enum class Role { whole, regrouped, channel };

  /// Of all processes of `parent`, or none: throws Error on all.
  static std::unique_ptr<State> make(MPI_Comm parent, const Options& options,
                                     Role role = Role::whole) {
    ProcessGroup::require_mpi();
    return JointSetup::run(parent, [&](JointSetup& setup) {
      return std::make_unique<State>(setup, parent, options, role);
    });
  }

  /// `order` as for ProcessGroup.
  State(JointSetup& setup, MPI_Comm parent, const Options& options, Role its_role,
        const std::shared_ptr<const RankOrder>& order = nullptr)
      : role(its_role), group(setup, parent, options, mpi_callers(options), order) {
    if (options.layout == Options::Layout::processes) {
      processes = std::make_unique<NodeProcesses>(group, ThreadNumbering::one_each(group.size()));
      plans = std::make_unique<PlanCache>(processes->plan_options(group));
      provide_for_agreements();
    } else {
      workers = std::make_unique<NodeWorkers>(group, worker_count_for(group), MemberCount::one);
      plans = std::make_unique<PlanCache>(workers->plan_options(group));
    }
    if (role == Role::whole && may_regroup()) regroup();
    if (group.announces()) announcer = std::make_unique<CallAnnouncer>(group);
    if (group.aggregator_count() > 0) setup.meet();  // the announcer ends the services
    if (group.is_aggregator()) {
      service = std::make_unique<AggregatorService>(group, *workers, *plans);
      return;
    }
    if (options.checking == Options::Checking::all_processes) {
      gate = std::make_unique<CallGate>(group, 1);
    }
    if (processes != nullptr) {
      member = std::make_unique<ProcessesMember>(group, *processes, *plans, gate.get());
    } else {
      member =
          std::make_unique<PerNodeMember>(group, *workers, *plans, announcer.get(), gate.get());
    }
    // Orders nothing, here and below.
    if (is_channel_with_messages()) {
      channels_with_messages_here.fetch_add(1, std::memory_order_relaxed);
    }
  }
  ~State() override {
    if (is_channel_with_messages()) {
      channels_with_messages_here.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Calls that go on by themselves need a thread that calls MPI beside the user's.
  void require_background() {
    if (has_background) return;
    require_thread_multiple();
    has_background = true;
  }

  Caller& caller() override {
    if (member == nullptr) throw_aggregator_calls(group);
    return *member;
  }

  /// Calls body(caller, call) with the caller that serves a call, and the call as that one numbers
  /// the members.
  template <class Body>
  decltype(auto) with_caller(const Call& call, const Body& body) {
    if (regrouped == nullptr || depends_on_rank_order(call) || !has_root_in(call, group.size())) {
      return body(caller(), call);
    }
    Call renumbered = call;
    renumbered.root = better_order->number_of(call.root);
    return body(regrouped->caller(), renumbered);
  }

  bool is_one_node() const noexcept {
    return processes != nullptr ? processes->node_count() == 1 : group.size() == 1;
  }
  bool is_channel_with_messages() const noexcept { return role == Role::channel && !is_one_node(); }

  /// Sets a call up on a channel. Collective.
  std::unique_ptr<DrivenCall::State> prepare_driven(const Call& call);
  /// What is set on all processes, by a call. Collective.
  Channels::Offer agree(const Channels::Offer& own);

  /// Where all processes are compared the calls have one row of numbers, and reproducible bits
  /// depend on who shares a node. Only nodes of several processes and the network's rings have
  /// another order than ranks.
  bool may_regroup() const {
    return group.options().checking == Options::Checking::process &&
           group.options().bits == Bits::same_on_all_members && group.aggregator_count() == 0 &&
           (processes != nullptr || !group.options().topology.empty());
  }
  /// What this has, and the regrouped one.
  void add_own_memory(OwnMemory& all) const;
  /// Provides all memory if the calls need it by which the members agree on providing it.
  void provide_for_agreements();
  /// Makes the same once more, over the processes in another order, if there are fewer nodes in it,
  /// or the nodes are a ring that follows the network.
  void regroup();

  Role role;
  MPI_Comm made_of = MPI_COMM_NULL;  ///< As the program has passed it.
  ProcessGroup group;
  std::unique_ptr<NodeProcesses> processes;  // null but with the layout processes
  std::unique_ptr<NodeWorkers> workers;      // null with the layout processes
  std::unique_ptr<PlanCache> plans;
  std::unique_ptr<CallAnnouncer> announcer;    // null but for member 0 where there are aggregators
  std::unique_ptr<CallGate> gate;              // null unless all processes are compared
  std::unique_ptr<Caller> member;              // null on aggregators
  std::unique_ptr<AggregatorService> service;  // null but on aggregators
  bool may_take_turns = false;                 // Communicator::take_turns() has not been tried
  bool has_background = false;                 // whether MPI has been found to allow it
  bool has_scattered_ranks = false;
  std::unique_ptr<State> regrouped;               // null unless another order is better
  std::shared_ptr<const RankOrder> better_order;  // of the regrouped one
  Channels channels{idle_channels()};             // last: they use the group's communicator
};

void Communicator::State::provide_for_agreements() {
  may_take_turns = processes->has_own_memory() && processes->may_share();
  PlanQuery agreement{.extent = {.count = 1}};
  if (group.options().bits == Bits::reproducible) agreement.order = OperandOrder::canonical;
  if (processes->has_rest() || plans->find(agreement)->is_compact()) return;
  if (!processes->expand(group)) {
    throw Error(ErrorKind::environment,
                "there is no room for the memory that the processes share; raise the limit "
                "(HYCOLL_STAGING_LIMIT, in MiB for a machine), or free communicators");
  }
  group.setup().meet();
  processes->end_expansion(true);
}

void Communicator::State::add_own_memory(OwnMemory& all) const {
  const auto executors = processes != nullptr ? processes->executors() : workers->executors();
  for (const auto& executor : executors) all.exchange_buffers.push_back(executor->scratch());
  if (processes != nullptr && processes->has_rest()) {
    all.staging.push_back(processes->memory().further(processes->worker()));
  }
  if (regrouped != nullptr) regrouped->add_own_memory(all);
}

OwnMemory own_memory(const Communicator& communicator) {
  OwnMemory all;
  communicator.state_->add_own_memory(all);
  return all;
}

void Communicator::State::regroup() {
  const RankMap places = processes != nullptr ? processes->places() : group.node_places();
  RankOrder order = RankOrder::by_place(places);
  has_scattered_ranks = processes != nullptr && !order.is_own();
  if (!group.options().topology.empty()) {
    order = RankOrder::by_place(in_ring_order(group, places));
  }
  if (order.is_own()) return;
  better_order = std::make_shared<const RankOrder>(std::move(order));
  Options options = group.options();
  options.emulated_dealing = Options::EmulatedDealing::blocks;  // that is what they are now
  const MpiCommunicator reordered(group.setup(), group.control(), 0,
                                  better_order->number_of(group.rank()));
  regrouped = std::make_unique<State>(group.setup(), reordered.handle(), options, Role::regrouped,
                                      better_order);
}

Channels::Offer Communicator::State::agree(const Channels::Offer& own) {
  std::array<std::uint64_t, 2> all = {own.idle, own.vacant};
  caller().run(
      calls::allreduce(all.data(), all.data(), all.size(), DataType::uint64, Operator::bit_and));
  return {.idle = all[0], .vacant = all[1]};
}

std::unique_ptr<DrivenCall::State> Communicator::State::prepare_driven(const Call& call) {
  // Aggregators take part in no set-up. Where all processes are compared this is refused.
  if (group.aggregator_count() > 0 || gate != nullptr) return caller().prepare_driven(call);
  const bool has_messages = !is_one_node();
  const bool may_make = !has_messages || channels_with_messages_here.load(
                                             std::memory_order_relaxed) < kMostChannelsWithMessages;
  std::optional<ChannelUse> use = channels.take(
      may_make, [this](const Channels::Offer& own) { return agree(own); },
      [this] {
        Options options = group.options();
        options.parent = Options::Parent::borrowed;
        options.memory = Options::Memory::alone;
        return State::make(group.control(), options, Role::channel);
      });
  if (!use) {
    throw MemoryRefused(
        ErrorKind::environment,
        "the processes have no room for memory of its own for one more persistent call of this "
        "communicator; raise the limit (HYCOLL_STAGING_LIMIT, in MiB for a machine), or free "
        "persistent calls or communicators");
  }
  auto& channel = static_cast<State&>(use->channel());
  // No call is under way there, and this one's set-up comes at the same place in all processes' row
  // of calls here.
  if (processes != nullptr) {
    channel.processes->segment().set_distance(processes->segment().handoff_ns());
  }
  auto prepared = channel.caller().prepare_driven(call);
  prepared->channel = *std::move(use);
  return prepared;
}

Communicator::Communicator(MPI_Comm parent, const Options& options)
    : state_(State::make(parent, options)) {
  state_->made_of = parent;
}

Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

bool Communicator::is_aggregator() const noexcept { return state_->group.is_aggregator(); }

void Communicator::serve() { serve_with(state_->service.get()); }

int Communicator::rank() const noexcept { return is_aggregator() ? -1 : state_->group.rank(); }
int Communicator::size() const noexcept { return state_->group.member_process_count(); }
int Communicator::worker_count() const noexcept {
  return state_->workers == nullptr ? 1 : state_->workers->count();
}
MPI_Comm Communicator::parent() const noexcept { return state_->made_of; }

const Options& Communicator::options() const noexcept { return state_->group.options(); }

bool Communicator::has_scattered_ranks() const noexcept { return state_->has_scattered_ranks; }

void Communicator::run(const Call& call) {
  const CallSite site(__builtin_return_address(0));
  const auto run_it = [](Caller& caller, const Call& its) { caller.run(its); };
  try {
    return state_->with_caller(call, run_it);
  } catch (const MemoryRefused&) {
    if (!state_->may_take_turns) throw;
  }
  take_turns();
  state_->with_caller(call, run_it);
}

void Communicator::take_turns() {
  state_->may_take_turns = false;
  const MPI_Comm control = state_->group.control();
  try {
    state_ = JointSetup::run(control, [&](JointSetup& setup) {
      Options options = state_->group.options();
      options.memory = Options::Memory::in_turn;
      return std::make_unique<State>(setup, control, options, State::Role::whole);
    });
  } catch (const Error& error) {
    throw MemoryRefused(error.kind(), error.what());
  }
}

Request Communicator::start(const Call& call) {
  state_->require_background();
  return state_->with_caller(
      call, [](Caller& caller, const Call& its) { return Request(caller.start(its)); });
}

Persistent Communicator::prepare(const Call& call) {
  state_->require_background();
  return state_->with_caller(
      call, [](Caller& caller, const Call& its) { return Persistent(caller.prepare(its)); });
}

void Communicator::require_driving() {
  if (!has_own_memory()) {
    throw MemoryRefused(
        ErrorKind::unsupported,
        "other communicators use this one's memory, one blocking call at a time; raise "
        "Options::staging_limit_mib (HYCOLL_STAGING_LIMIT), or free communicators");
  }
  if (worker_count() > 1) state_->require_background();
}

DrivenCall Communicator::drive(const Call& call) {
  require_driving();
  return DrivenCall(state_->caller().drive(call));
}

DrivenCall Communicator::prepare_driven(const Call& call) {
  require_driving();
  auto made = state_->prepare_driven(call);
  // Starts need the memory, and the caller.
  state_->may_take_turns = false;
  return DrivenCall(std::move(made));
}

bool Communicator::has_own_memory() const noexcept {
  return state_->processes == nullptr || state_->processes->has_own_memory();
}

bool Communicator::is_one_node() const noexcept { return state_->is_one_node(); }

const std::string& Communicator::transport() const noexcept {
  return state_->processes != nullptr ? state_->processes->transport() : state_->group.transport();
}

Communicator::Choice Communicator::choice(const Call& call) const {
  return state_->with_caller(
      call, [](Caller& caller, const Call& its) { return choice_of(caller.choice(its)); });
}

void Communicator::allreduce_many(std::span<const void* const> inputs, void* output,
                                  std::size_t count, DataType type, Operator op) {
  state_->caller();
  if (inputs.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "allreduce_many: inputs is empty; pass at least one input, e.g. the output itself");
  }
  const Reduction reduction = resolve_reduction(type, op, "allreduce_many");
  for (const void* input : inputs) {
    check_buffers(calls::allreduce(input, output, count, type, op), reduction, rank(), size(),
                  options().overlaps);
  }
  if (count > 0 && state_->workers != nullptr) {
    state_->workers->reduce_locally(reduction.reducer, output, inputs, count,
                                    reduction.element_bytes);
  } else if (count > 0) {
    reduction.reducer(std::span<void* const>(&output, 1), inputs, count, Stores::cached);
  }
  run(calls::allreduce(output, output, count, type, op));
}

}  // namespace hycoll
