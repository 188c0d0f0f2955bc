#include "collectives/plans/plan_cache.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "collectives/algorithms/registry.h"
#include "collectives/plans/typical_nodes.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/schedule/staging.h"

namespace hycoll {

namespace {

/// Up to here a call takes a few microseconds.
constexpr std::size_t kShortBytes = 8 * 1024;

/// Whether the MPI library exchanges.
bool is_native(const Schedule& schedule) {
  return std::any_of(schedule.strands.begin(), schedule.strands.end(), [](const Strand& strand) {
    return std::any_of(strand.steps.begin(), strand.steps.end(),
                       [](const Step& step) { return step.kind == StepKind::native; });
  });
}

/// Whether some message is sent from, or received into, a buffer of another worker's member.
bool sends_others_buffers(const Schedule& schedule) {
  const auto is_others = [&](int worker, const Span& span) {
    const Buffer& buffer = schedule.buffer_of(span);
    return is_of_member(buffer.role) && schedule.shape.worker_of_member(buffer.owner) != worker;
  };
  return std::ranges::any_of(schedule.strands, [&](const Strand& strand) {
    return std::ranges::any_of(strand.steps, [&](const Step& step) {
      const auto reaches = [&](const Span& span) { return is_others(strand.worker, span); };
      return is_asynchronous(step.kind) &&
             (std::ranges::any_of(schedule.destinations(step), reaches) ||
              std::ranges::any_of(schedule.sources(step), reaches));
    });
  });
}

}  // namespace

PlanCache::PlanCache(Options options) : options_(std::move(options)), buckets_(kBuckets) {
  check_requested_algorithm(options_.requested_algorithm);
}

const Plan& PlanCache::find(const PlanQuery& query) {
  const std::lock_guard lock(mutex_);
  std::list<Plan>& bucket = buckets_[hash(query) % kBuckets];
  const auto found =
      std::find_if(bucket.begin(), bucket.end(), [&](const Plan& p) { return p.serves(query); });
  Plan& plan = found != bucket.end() ? *found : bucket.emplace_back(make_plan(query));
  if (found == bucket.end()) plan.query.extent.block_counts = plan.block_counts;
  if (plan.refusal) throw StagingTooSmall(*plan.refusal);
  return plan;
}

PlanCache::Parts PlanCache::parts_for(const SelectedPlan& selected, const PlanQuery& query) const {
  const Algorithm& algorithm = find_algorithm(query.collective, selected.algorithm);
  const Shape shape = shape_for(selected, query);
  const bool is_staged = options_.peers == Peers::processes;
  const auto part_of_node = [&](int node) {
    Schedule part = algorithm.generate(shape, selected.segments, query.root, only_node(node));
    if (is_staged) {
      // Which process a message goes to.
      part.shape =
          part.shape.with_processes(options_.processes).with_visibility(Visibility::direct);
    }
    return part;
  };
  Parts parts{.own = part_of_node(options_.node), .typical = {}, .needs = {}};
  if (parts.own.is_whole()) {
    parts.needs = needs_of(parts.own);
    return parts;
  }
  for (const int node : typical_nodes(shape, query.root)) {
    Schedule part = node == options_.node ? parts.own : part_of_node(node);
    parts.needs.add(needs_of(part));
    if (is_staged) parts.typical.push_back(std::move(part));
  }
  return parts;
}

Plan PlanCache::make_plan(const PlanQuery& query) const {
  const SelectedPlan selected = select(query);
  const Parts parts = parts_for(selected, query);
  Plan plan{.query = query,
            .block_counts = {query.extent.block_counts.begin(), query.extent.block_counts.end()},
            .selected = selected,
            .is_short = size_bytes_of(query) <= kShortBytes && !is_native(parts.own),
            .programs = {}};
  const auto crosses = [&](const Schedule& part) {
    return crosses_processes(part, options_.processes);
  };
  if (options_.peers == Peers::processes && std::ranges::any_of(parts.of_all_nodes(), crosses)) {
    try {
      plan.crossing = crossing_programs(parts, query);
    } catch (const StagingTooSmall& met) {
      plan.refusal = met;  // the next call need not find out
    }
  } else {
    plan.programs =
        bind_schedule(parts.own, options_.node, query.extent, binding_options(query, parts.needs));
  }
  return plan;
}

CrossingPrograms PlanCache::crossing_programs(const Parts& direct, const PlanQuery& query) const {
  const Schedule through_staging = staged_throughout(direct.own, options_.processes);
  std::size_t limit = SIZE_MAX;
  ProgramNeeds staged_needs;
  const auto learn_from = [&](const Schedule& part) {
    staged_needs.add(needs_of(part));
    limit = std::min(limit,
                     slice_limit(part, query.extent, query.element_bytes, options_.staging_bytes));
  };
  if (direct.own.is_whole()) learn_from(through_staging);
  for (const Schedule& part : direct.typical) {
    learn_from(staged_throughout(part, options_.processes));
  }
  const auto bound = [&](const Schedule& own, const ProgramNeeds& needs, std::size_t slice) {
    return bind_slices(own, options_.node, query.extent, binding_options(query, needs), slice);
  };
  CrossingPrograms programs{.staged = bound(through_staging, staged_needs, limit),
                            .direct = std::nullopt};
  // Threads announce addresses that mean nothing to other processes.
  if (!options_.processes.is_one_each()) return programs;
  const bool is_alone = direct.own.is_whole();
  try {
    // A node that exchanges nothing may do it another way where it reaches the buffers.
    if (is_alone) {
      const Parts reaching = parts_for(select_for(query, Visibility::direct), query);
      programs.direct = bound(reaching.own, reaching.needs, SIZE_MAX);
    } else {
      programs.direct = bound(direct.own, direct.needs, limit);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
  }
  if (programs.direct && !sends_others_buffers(direct.own)) programs.copies = kernel_copies(query);
  return programs;
}

KernelCopies PlanCache::kernel_copies(const PlanQuery& query) const {
  const std::size_t size_bytes = size_bytes_of(query);
  if (size_bytes >= options_.single_copy_bytes) return KernelCopies::everywhere;
  const bool is_long_broadcast =
      !combines(query.collective) && size_bytes >= options_.near_broadcast_single_copy_bytes;
  return is_long_broadcast ? KernelCopies::where_near : KernelCopies::never;
}

BindingOptions PlanCache::binding_options(const PlanQuery& query, const ProgramNeeds& needs) const {
  return {.element_bytes = query.element_bytes,
          .streaming_threshold_bytes = options_.streaming_threshold_bytes,
          .streaming_staging_bytes = options_.streaming_staging_bytes,
          .short_staging_bytes = options_.short_staging_bytes,
          .peers = options_.peers,
          .tag_count = options_.tag_count,
          .workers = options_.workers,
          .needs = &needs};
}

std::size_t PlanCache::size_bytes_of(const PlanQuery& query) const {
  std::size_t elements = query.extent.count;
  if (has_blocks(query.collective)) {
    const int members = std::accumulate(
        options_.nodes.begin(), options_.nodes.end(), 0,
        [](int sum, const NodeRun& run) { return sum + run.count * run.node.members; });
    elements = query.extent.block_counts.empty()
                   ? elements * static_cast<std::size_t>(members)
                   : std::accumulate(query.extent.block_counts.begin(),
                                     query.extent.block_counts.end(), std::size_t{0});
  }
  return elements * query.element_bytes;
}

SelectedPlan PlanCache::select(const PlanQuery& query) const {
  return select_for(query,
                    options_.peers == Peers::processes ? Visibility::staged : Visibility::direct);
}

SelectedPlan PlanCache::select_for(const PlanQuery& query, Visibility visibility) const {
  return hycoll::select({.collective = query.collective,
                         .nodes = options_.nodes,
                         .size_bytes = size_bytes_of(query),
                         .order = query.order,
                         .native = query.native,
                         .requested_lanes = options_.requested_lanes,
                         .requested_algorithm = options_.requested_algorithm,
                         .aggregators = options_.aggregators,
                         .sockets = options_.sockets,
                         .visibility = visibility});
}

Shape PlanCache::shape_for(const SelectedPlan& selected, const PlanQuery& query) const {
  std::vector<NodeRun> nodes = options_.nodes;
  for (auto& [node, count] : nodes) {
    node.workers = std::max(node.members, std::min(node.workers, selected.workers_per_node));
  }
  nodes = with_aggregators(std::move(nodes), selected.aggregators);
  const Shape shape(nodes, selected.lanes);
  // On a single node whose buffers are staged, a result that is made by its root is not staged.
  const bool is_made_by_root = delivers_to_root(query.collective) && shape.node_count() == 1 &&
                               selected.lanes == 1 && options_.peers == Peers::processes;
  if (is_made_by_root) return shape.with_leaders({{query.root}});
  // A single lane is driven by worker 0, which owns a member and is the caller.
  const bool is_placed = selected.lanes > 1 || options_.peers == Peers::processes;
  return is_placed ? led_by_placement(shape) : shape;
}

Shape PlanCache::led_by_placement(const Shape& shape) const {
  const auto lanes = static_cast<std::size_t>(shape.lane_count());
  if (options_.leaders.empty() || lanes > options_.leaders.front().workers.size()) return shape;
  std::vector<LeaderRun> leaders = options_.leaders;
  int aggregators = shape.node_count();
  for (LeaderRun& run : leaders) {
    run.workers.resize(lanes);
    aggregators -= run.count;
  }
  HYCOLL_ASSERT(aggregators >= 0, "leaders are those of the nodes");
  // An aggregator's one worker leads them all.
  leaders.push_back({.workers = std::vector<int>(lanes, 0), .count = aggregators});
  return shape.with_leaders(leaders);
}

}  // namespace hycoll
