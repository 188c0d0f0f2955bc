#include "collectives/node/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "collectives/node/memory_homes.h"
#include "collectives/node/node_distance.h"
#include "core/base/byte_sizes.h"
#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "numa/placement/placement.h"
#include "numa/topology/neighbourhoods.h"

namespace hycoll {
namespace {

/// The nodes that have members.
std::vector<EqualNodes> gather_nodes(const ProcessGroup& group, int worker_count,
                                     MemberCount members) {
  std::vector<EqualNodes> nodes;
  group.gather(worker_count).for_each_stretch([&](const RankStretch& stretch) {
    const int count = std::min(stretch.count, group.member_process_count() - stretch.first_rank);
    if (count <= 0) return;
    nodes.push_back({.node = {.members = members == MemberCount::one ? 1 : stretch.value,
                              .workers = stretch.value},
                     .count = count});
  });
  return nodes;
}

/// What comes in at an aggregator is combined by one thread, and its helpers.
int workers_here(const ProcessGroup& group, int worker_count) {
  return group.is_aggregator() ? 1 : worker_count;
}

/// Where members may stage: as NodeWorkers::may_stage() says.
std::size_t staging_set_pair_bytes(const ProcessGroup& group, int worker_count,
                                   MemberCount members) {
  const bool may_stage =
      members == MemberCount::every_worker && worker_count > 1 && group.size() == 1;
  if (!may_stage || group.options().staging_kib < 0) return 0;
  return static_cast<std::size_t>(group.options().staging_kib) * kKib;
}

/// Once per process: what its launch line costs it, if anything.
void warn_of_confinement(const ProcessGroup& group, int worker_count) {
  static std::once_flag warned;
  if (group.cores_are_shared()) return;  // no launch line serves more processes than cores
  const auto warning = confinement_warning(group.topology(), worker_count);
  if (!warning) return;
  std::call_once(warned, [&] {
    std::fprintf(stderr, "hycoll: process %d: %s\n", group.rank(), warning->c_str());
  });
}

}  // namespace

NodeWorkers::NodeWorkers(ProcessGroup& group, int worker_count, MemberCount members)
    : nodes_(gather_nodes(group, worker_count, members)),
      wait_policy_(group.wait_policy(workers_here(group, worker_count))),
      cores_(worker_cores(group.topology(), workers_here(group, worker_count),
                          parse_placement(group.options().placement), members)),
      block_(group.topology(),
             NodeMemory::block_bytes(count(), staging_set_pair_bytes(group, worker_count, members)),
             cores_.front().numa_domain),
      memory_(block_.bytes(), count(), staging_set_pair_bytes(group, worker_count, members),
              nullptr) {
  make_memory(group);
  // Who stages does so because workers are far from one another.
  memory_.set_far(may_stage());
  may_measure_ = !group.cores_are_shared() && count() <= group.topology().usable_core_count();
  int begin = 0;
  for (const auto& [node, count_of_it] : nodes_) {
    const int before = std::clamp(group.rank() - begin, 0, count_of_it);
    first_rank_ += before * node.members;
    if (group.rank() >= begin && before < count_of_it) members_here_ = node.members;
    member_count_ += count_of_it * node.members;
    begin += count_of_it;
  }
  warn_of_confinement(group, count());
  agree_on_leaders(group, members);
  group.open_lanes(lane_count_);

  make_task_kernels(group);
  for (int worker = 0; worker < count(); ++worker) {
    ExecutorOptions options =
        group.executor_options(cores_[static_cast<std::size_t>(worker)], first_rank_, members_here_,
                               group.size(), wait_policy_);
    if (worker > 0) options.while_waiting = nullptr;
    if (worker < members_here_)
      options.record = group.record_of(first_rank_ + worker, member_count_);
    executors_.push_back(std::make_unique<WorkerExecutor>(memory_, worker, group.endpoints(),
                                                          helpers_.get(), std::move(options)));
  }
}

void NodeWorkers::make_memory(const ProcessGroup& group) {
  std::vector<int> domains;
  for (const Core& core : cores_) {
    const auto domain = static_cast<std::size_t>(core.numa_domain);
    domains.push_back(group.topology().numa_domains()[domain].os_index);
  }
  const std::size_t further_bytes = memory_.further(0).size();
  for (const NodeMemory::Section section :
       {NodeMemory::Section::compact, NodeMemory::Section::rest}) {
    settle_memory(block_.bytes(), memory_homes(section, 0, count(), further_bytes, domains));
    for (int worker = 0; worker < count(); ++worker) memory_.construct_worker(worker, section);
  }
}

void NodeWorkers::agree_on_leaders(const ProcessGroup& group, MemberCount members) {
  group.check_lanes(fewest_workers(nodes_));
  lane_count_ = group.lane_count(nodes_);
  if (!group.is_aggregator()) check_leaders(group);
  std::set<int> sockets;
  for (const Core& core : cores_) sockets.insert(core.package);
  const int sockets_here = group.is_aggregator() ? 0 : static_cast<int>(sockets.size());
  socket_count_ = std::min(group.maximum(sockets_here), lane_count_);
  if (members == MemberCount::one) return;  // worker l drives lane l
  // Those that take turns on cores are near nobody.
  std::vector<CorePlace> places;
  if (may_measure_) {
    for (const Core& core : cores_) places.push_back(place_of(core));
  }
  inside_ = agree_on_inside(
      group, nodes_, leaders_of(cores_, lane_count_, parse_placement(group.options().placement)),
      places, [](int node) { return node; });
}

void NodeWorkers::check_leaders(const ProcessGroup& group) const {
  const int requested = group.requested_lanes();
  if (requested > 0) {
    lane_workers(cores_, requested, parse_placement(group.options().placement));
  }
}

void NodeWorkers::make_task_kernels(const ProcessGroup& group) {
  const auto domains = group.topology().numa_domains();
  const auto first_domain = static_cast<std::size_t>(cores_.front().numa_domain);
  const int domain = domains.size() > 1 ? domains[first_domain].os_index : -1;
  const int cores = group.topology().usable_core_count();
  const int idle_cores = std::min(cores - count(), TaskArena::maximum_helpers());
  const int other_cores = std::min(cores - 1, TaskArena::maximum_helpers());
  const auto make = [&](int helper_count) {
    return std::make_unique<TaskKernels>(group.topology(), helper_count, domain);
  };
  if (idle_cores > 0) helpers_ = make(idle_cores);
  if (other_cores > 0) all_cores_ = make(other_cores);
}

PlanCache::Options NodeWorkers::plan_options(const ProcessGroup& group) const {
  return {.nodes = nodes_,
          .node = group.rank(),
          .aggregators = group.aggregator_count(),
          .sockets = socket_count_,
          .requested_lanes = group.options().lanes,
          .requested_algorithm = group.options().algorithm,
          .leaders = inside_.leaders,
          .near = inside_.near,
          .transfer_times = inside_.times,
          .streaming_threshold_bytes = group.streaming_threshold_bytes(),
          .nearness = may_stage() ? Nearness::near : Nearness::unknown,
          .tag_count = group.tag_count(),
          .limit_bytes = group.plan_limit_bytes(),
          .exchange_limit_bytes = group.exchange_limit_bytes(),
          .prices = group.prices(),
          .tuning = group.tuning()};
}

PlanCache::Options NodeWorkers::far_plan_options(const ProcessGroup& group) const {
  PlanCache::Options options = plan_options(group);
  options.nearness = Nearness::far;
  options.streaming_staging_bytes = kStreamingStagingBytes;
  return options;
}

PlanCache::Options NodeWorkers::staging_plan_options(const ProcessGroup& group) const {
  PlanCache::Options options = plan_options(group);
  options.peers = Peers::processes;
  options.nearness = Nearness::unknown;
  options.staging_bytes = memory_.staging_bytes();
  options.short_staging_bytes = memory_.short_staging_bytes();
  options.streaming_staging_bytes = kStreamingStagingBytes;
  return options;
}

void NodeWorkers::reduce_locally(const Reducer& reducer, void* output,
                                 std::span<const void* const> inputs, std::size_t count,
                                 std::size_t element_bytes) const {
  const std::span<void* const> destination(&output, 1);
  if (all_cores_ != nullptr && count * element_bytes >= TaskKernels::kMinimumBytes) {
    all_cores_->reduce(reducer, destination, inputs, count, element_bytes, Stores::cached);
  } else {
    reducer(destination, inputs, count, Stores::cached);
  }
}

Communicator::Choice choice_of(const SelectedPlan& selected) {
  return {.algorithm = std::string(selected.algorithm),
          .lanes = selected.lanes,
          .workers = selected.workers_per_node,
          .segments = selected.segments};
}

}  // namespace hycoll
