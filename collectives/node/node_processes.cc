#include "collectives/node/node_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collectives/job/lane_transport.h"
#include "collectives/node/node_distance.h"
#include "core/base/byte_sizes.h"
#include "core/base/errors.h"
#include "numa/placement/placement.h"
#include "threading/recording/flight_reader.h"
#include "threading/transport/mpi/end_job.h"

namespace hycoll {
namespace {

/// A process's core as all processes of the machine know it.
Core on_machine(const Topology& topology, Core core) {
  const auto packages = topology.packages();
  const auto domains = topology.numa_domains();
  const auto package = static_cast<std::size_t>(core.package);
  const auto domain = static_cast<std::size_t>(core.numa_domain);
  if (package < packages.size()) core.package = packages[package].os_index;
  if (domain < domains.size()) core.numa_domain = domains[domain].os_index;
  core.index = core.os_index;
  core.last_level_cache = -1;
  return core;
}

/// The cores of the workers of a node whose processes have so many threads each.
std::vector<Core> gather_cores(JointSetup& setup, MPI_Comm neighbours, const Topology& topology,
                               std::span<const Core> cores_here,
                               std::span<const int> thread_counts) {
  std::vector<Core> own;
  for (const Core& core : cores_here) own.push_back(on_machine(topology, core));
  constexpr int kInts = 5;
  static_assert(sizeof(Core) == kInts * sizeof(int));
  std::vector<int> counts;
  std::vector<int> begins;
  int total = 0;
  for (const int threads : thread_counts) {
    counts.push_back(kInts * threads);
    begins.push_back(kInts * total);
    total += threads;
  }
  std::vector<Core> cores(static_cast<std::size_t>(total));
  setup.meet();
  JointSetup::complete("MPI_Iallgatherv", [&](MPI_Request* request) {
    return MPI_Iallgatherv(own.data(), kInts * static_cast<int>(own.size()), MPI_INT, cores.data(),
                           counts.data(), begins.data(), MPI_INT, neighbours, request);
  });
  return cores;
}

/// Only leaders follow one_per_package where there are more workers than packages.
std::vector<Core> place(const ProcessGroup& group, int thread_count) {
  const Placement requested = parse_placement(group.options().placement);
  const bool is_leaders_only = thread_count == 1 || requested == Placement::one_per_package;
  return place_workers(group.topology(), thread_count,
                       is_leaders_only ? Placement::compact : requested);
}

std::vector<int> domains_of(std::span<const Core> cores) {
  std::vector<int> domains;
  for (const Core& core : cores) domains.push_back(core.numa_domain);
  return domains;
}

/// The group, if this layout serves its options.
const ProcessGroup& checked(const ProcessGroup& group) {
  const Options& options = group.options();
  if (options.aggregators > 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("Options::aggregators (HYCOLL_AGGREGATORS) is {}, but the layout "
                            "'processes' has no aggregators; use 0, or the layout 'per_node'",
                            options.aggregators));
  }
  if (options.staging_kib < 64 || options.staging_kib > 1'048'576) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("Options::staging_kib (HYCOLL_STAGING_KIB) is {}; ask for 64 to 1048576",
                    options.staging_kib));
  }
  return group;
}

}  // namespace

NodeProcesses::NodeProcesses(ProcessGroup& group, ThreadNumbering threads)
    : places_(checked(group).node_places()),
      grouping_(group_processes(places_)),
      threads_(std::move(threads)),
      node_(grouping_.node_of(group.rank())),
      first_rank_(threads_.first_of(group.rank())),
      worker_(first_rank_ - threads_.first_of(node_begin())),
      neighbours_(node_count() == 1 ? MpiCommunicator::borrowed(group.control())
                                    : std::make_shared<const MpiCommunicator>(
                                          group.setup(), group.control(), node_)),
      cores_(place(group, threads_.count_of(group.rank()))),
      node_cores_(gather_cores(group.setup(), neighbours_->handle(), group.topology(), cores_,
                               neighbours_thread_counts())),
      wait_policy_(group.wait_policy(thread_count())),
      use_(obtain_segment(group, {.neighbours = neighbours_->handle(),
                                  .process = group.rank() - node_begin(),
                                  .threads = ThreadNumbering(neighbours_thread_counts()),
                                  .domains = domains_of(node_cores_)})) {
  place_leaders(group);
  open_lanes(group);
  neighbours_.reset();
  node_cores_ = {};
  std::vector<Endpoint*> endpoints;
  for (const auto& lane : lanes_) endpoints.push_back(lane.get());
  for (int thread = 0; thread < thread_count(); ++thread) {
    contexts_.push_back({.endpoints = endpoints, .options = executor_options(group, thread)});
  }
  if (has_own_memory()) take_turn();
}

NodeProcesses::~NodeProcesses() { use_.segment->leave(contexts_); }

bool NodeProcesses::expand(const ProcessGroup& group) {
  try {
    has_expanded_ = provide_rest(group, use_);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void NodeProcesses::end_expansion(bool all_have) noexcept {
  if (!all_have && has_expanded_) use_.segment->withdraw_rest();
  use_.has_rest = all_have;
  has_expanded_ = false;
}

ExecutorOptions NodeProcesses::executor_options(const ProcessGroup& group, int thread) const {
  ExecutorOptions options =
      group.executor_options(cores_[static_cast<std::size_t>(thread)], first_rank_ - worker_,
                             worker_count(), grouping_.node_count(), wait_policy_);
  options.salt = use_.salt;
  if (thread > 0) options.while_waiting = nullptr;
  options.record = group.record_of(first_rank_ + thread, member_count());
  options.whereabouts = [this](int worker) { return whereabouts_of(worker); };
  options.ended_process = [watch = &use_.segment->watch(), first = node_begin(),
                           name = group.process_names()] {
    const int ended = watch->find_ended();
    if (ended < 0) return std::string();
    // Otherwise a launcher may have killed it, which then kills this process too.
    if (!watch->is_first_gone(ended)) wait_for_launcher();
    return name(first + ended);
  };
  return options;
}

std::string NodeProcesses::whereabouts_of(int worker) const {
  const int thread = threads_.first_of(node_begin()) + worker;
  int process = 0;
  while (process + 1 < grouping_.size_of(node_) &&
         threads_.first_of(node_begin() + process + 1) <= thread) {
    ++process;
  }
  const std::vector<MemberState> members = read_members(use_.segment->watch().process_id(process));
  // Where processes number one another differently it may be somebody else, who is not in this one.
  const bool is_that_one = std::ranges::any_of(
      members, [&](const MemberState& member) { return member.size == member_count(); });
  if (!is_that_one) return "";
  // Of all communicators that it is in, those with a call under way tell most.
  std::string text;
  for (const MemberState& member : members) {
    if (!member.is_inside) continue;
    text += (text.empty() ? "" : ", and ") + member.describe();
  }
  return text.empty() ? "is in no call of hycoll's" : text;
}

int NodeProcesses::worker_count() const {
  const int begin = node_begin();
  return threads_.first_of(begin + grouping_.size_of(node_)) - threads_.first_of(begin);
}

std::vector<int> NodeProcesses::neighbours_thread_counts() const {
  std::vector<int> counts;
  for (int i = 0; i < grouping_.size_of(node_); ++i) {
    counts.push_back(threads_.count_of(node_begin() + i));
  }
  return counts;
}

std::vector<CorePlace> NodeProcesses::places_of(const ProcessGroup& group,
                                                std::span<const Core> cores) const {
  std::vector<CorePlace> places;
  // Those that take turns on cores are near nobody.
  if (group.cores_are_shared()) return places;
  for (const Core& core : cores) {
    places.push_back({.core = group.topology().machine_core_of(core.os_index),
                      .cache = group.topology().machine_cache_of(core.os_index),
                      .domain = core.numa_domain,
                      // A machine that does not tell its packages counts as one.
                      .package = std::max(0, core.package)});
  }
  return places;
}

void NodeProcesses::place_leaders(const ProcessGroup& group) {
  const std::vector<EqualNodes> nodes = node_runs(grouping_, threads_);
  group.check_lanes(fewest_workers(nodes));
  const int requested = group.requested_lanes();
  lane_count_ = group.lane_count(nodes);
  const Placement placement = parse_placement(group.options().placement);
  if (requested > 0) lane_workers(node_cores_, requested, placement);
  own_leaders_ = leaders_of(node_cores_, lane_count_, placement);
  inside_ = agree_on_inside(group, nodes, own_leaders_, places_of(group, node_cores_),
                            [&](int node) { return grouping_.first_rank_of(node); });
}

PlanCache::Options NodeProcesses::plan_options(const ProcessGroup& group) const {
  const NodeMemory& memory = use_.segment->memory();
  const std::vector<EqualNodes> nodes = node_runs(grouping_, threads_);
  PlanCache::Options options{.nodes = nodes,
                             .node = node_,
                             .requested_lanes = group.options().lanes,
                             .requested_algorithm = group.options().algorithm,
                             .leaders = inside_.leaders,
                             .near = inside_.near,
                             .transfer_times = inside_.times,
                             .streaming_threshold_bytes = group.streaming_threshold_bytes(),
                             .tag_count = lanes_.front()->tag_count(),
                             .peers = Peers::processes,
                             .processes = threads_.processes(),
                             .staging_bytes = memory.staging_bytes(),
                             .short_staging_bytes = memory.short_staging_bytes(),
                             .workers = {.first = worker_, .count = thread_count()},
                             .streaming_staging_bytes = kStreamingStagingBytes,
                             .shares_heaps = shares_heaps(),
                             .limit_bytes = group.plan_limit_bytes(),
                             .exchange_limit_bytes = group.exchange_limit_bytes(),
                             .prices = group.prices(),
                             .tuning = group.tuning()};
  if (shareable() != nullptr && shareable()->copies()) {
    const std::optional<int> kib = group.options().single_copy_kib;
    if (kib) {
      options.single_copies.shortest_bytes = static_cast<std::size_t>(*kib) * kKib;
    } else {
      options.single_copies.near = {.members = worker_count()};
    }
  }
  return options;
}

void NodeProcesses::open_lanes(const ProcessGroup& group) {
  if (grouping_.node_count() == 1) {
    // Nothing is ever sent, but whoever waits drives the program's own messages.
    lanes_.push_back(std::make_unique<MpiEndpoint>(MpiCommunicator::borrowed(group.control()),
                                                   nullptr, 0, 1, group.process_names()));
    return;
  }
  // Threads of a process that drive lanes of their own should not wait for one another.
  const LaneCommunicators communicators(
      group.setup(), group.control(), lane_count_,
      threads_.is_one_each() ? 1 : LaneCommunicators::kMaximumCount);
  const auto leads = [&](int leader) {
    return leader >= worker_ && leader < worker_ + thread_count();
  };
  const LaneTransport transport =
      LaneTransport::agreed(group, static_cast<int>(std::ranges::count_if(own_leaders_, leads)));
  transport_ = transport.description();
  for (int lane = 0; lane < lane_count_; ++lane) {
    const bool is_led = leads(own_leaders_[static_cast<std::size_t>(lane)]);
    std::shared_ptr<const MpiCommunicator> leaders;
    if (group.asks_for_native()) {
      leaders = std::make_shared<const MpiCommunicator>(group.setup(), group.control(),
                                                        is_led ? 0 : MPI_UNDEFINED);
    }
    lanes_.push_back(transport.open(communicators.of(lane), std::move(leaders),
                                    communicators.lane_on_it(lane), communicators.lanes_on_each(),
                                    group.process_names(),
                                    is_led ? Leading::here : Leading::elsewhere));
  }
}

}  // namespace hycoll
