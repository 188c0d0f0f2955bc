#include "collectives/plans/plan_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/algorithms/registry.h"
#include "collectives/plans/typical_nodes.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/schedule/staging.h"
#include "threading/program/abridgement.h"

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

constexpr std::size_t kBytesPerKib = 1024;

}  // namespace

PlanClass::PlanClass(const PlanOptions& options, const PlanKey& key, std::size_t limit_bytes)
    : options_(options), key_(key), limit_bytes_(limit_bytes) {
  if (options_.peers == Peers::processes) {
    AbridgedPart own = staged_part(options_.node, options_.workers);
    if (own.crosses_processes || crosses_processes_elsewhere()) {
      make_crossing(std::move(own));
      return;
    }
  }
  Parts parts = parts_for(key_.selected, 0);
  is_native_ = is_native(parts.own);
  if (key_.has_unequal_pairs) {
    make_pairs(abridged_for(std::move(parts.own), options_.workers), parts.all.needs);
    return;
  }
  whole_.emplace(abridged_for(std::move(parts.own), options_.workers), options_.node,
                 binding_options(parts.all.needs));
}

bool PlanClass::crosses_processes_elsewhere() const {
  const Algorithm& algorithm = find_algorithm(key_.collective, key_.selected.algorithm);
  const Shape shape = shape_for(key_.selected);
  return std::ranges::any_of(typical_nodes(shape, key_.root), [&](int node) {
    if (node == options_.node) return false;
    return crosses_processes(algorithm.replay(shape, key_.selected.segments, key_.root, node),
                             options_.processes);
  });
}

PlanClass::Parts PlanClass::parts_for(const SelectedPlan& selected,
                                      std::size_t kept_besides) const {
  const Algorithm& algorithm = find_algorithm(key_.collective, selected.algorithm);
  const Shape shape = shape_for(selected);
  const Processes* const processes =
      options_.peers == Peers::processes ? &options_.processes : nullptr;
  PartNeeds all;
  for (const int node : typical_nodes(shape, key_.root)) {
    all.add(part_needs(algorithm.replay(shape, selected.segments, key_.root, node), processes));
  }
  require_affordable(kept_besides + all.most_bytes);
  Schedule own = algorithm.generate(shape, selected.segments, key_.root, only_node(options_.node));
  if (processes != nullptr) {
    // Which process a message goes to.
    own.shape = own.shape.with_processes(*processes).with_visibility(Visibility::direct);
  }
  return {.own = std::move(own), .all = all};
}

AbridgedPart PlanClass::staged_part(int node, WorkerRange workers) const {
  const Algorithm& algorithm = find_algorithm(key_.collective, key_.selected.algorithm);
  const Shape shape = shape_for(key_.selected);
  const int segments = key_.selected.segments;
  const StepReplay replay = algorithm.replay(shape, segments, key_.root, node);
  if (auto part = abridged_staging(replay, options_.processes, workers)) return std::move(*part);
  const Schedule direct = algorithm.generate(shape, segments, key_.root, only_node(node));
  const bool crosses = crosses_processes(direct, options_.processes);
  Schedule whole = staged_throughout(direct, options_.processes);
  const PartNeeds needs = part_needs(whole, &options_.processes);
  const bool has_natives = is_native(whole);
  return {.schedule = abridged_for(std::move(whole), workers),
          .needs = needs.needs,
          .most_bytes = needs.most_bytes,
          .has_natives = has_natives,
          .crosses_processes = crosses};
}

void PlanClass::make_crossing(AbridgedPart own) {
  const Shape shape = shape_for(key_.selected);
  ProgramNeeds needs;
  std::size_t most_bytes = 0;
  const auto learn_from = [&](const AbridgedPart& part) {
    needs.add(part.needs);
    most_bytes = std::max(most_bytes, part.most_bytes);
    if (staging_) {
      staging_->add(part.schedule);
    } else {
      staging_.emplace(part.schedule);
    }
  };
  bool is_typical = false;
  for (const int node : typical_nodes(shape, key_.root)) {
    is_typical = is_typical || node == options_.node;
    if (node != options_.node) learn_from(staged_part(node, {.first = 0, .count = 0}));
  }
  if (is_typical) learn_from(own);
  is_native_ = own.has_natives;
  require_affordable(most_bytes);
  if (key_.has_unequal_pairs) return make_pairs(own.schedule, needs);
  staged_.emplace(std::move(own.schedule), options_.node, binding_options(needs));
  // Threads announce addresses that mean nothing to other processes; and where a node is alone, and
  // does not ask for it, nobody does.
  const bool is_alone = shape.node_count() == 1;
  if (!options_.processes.is_one_each()) return;
  if (is_alone && key_.reaching == SelectedPlan{}) return;
  make_direct(most_bytes);
}

void PlanClass::make_pairs(const Schedule& own, const ProgramNeeds& needs) {
  const int members = own.shape.member_count();
  const std::size_t told_bytes = MemberBlocks::bytes_for(members);
  if (options_.peers == Peers::processes && told_bytes > options_.staging_bytes) {
    throw StagingTooSmall(fmt::format(
        "an all-to-all of unequal blocks among {} members needs {} bytes of staging for each "
        "worker, there are {}; allow more staging (twice that is Options::staging_kib, "
        "HYCOLL_STAGING_KIB)",
        members, told_bytes, options_.staging_bytes));
  }
  std::size_t limit = SIZE_MAX;
  if (staging_) {
    // Whatever the blocks are, no longer one passes at once.
    const std::size_t most = options_.staging_bytes / kCacheLineBytes * kCacheLineBytes;
    limit = slice_limit(*staging_, {.count = most}, 1, most);
  }
  pairs_ = std::make_shared<const PairBinding>(own, options_.node, binding_options(needs), limit);
  staging_.reset();
}

void PlanClass::make_direct(std::size_t staged_bytes) {
  Parts direct = parts_for(key_.selected, staged_bytes);
  may_be_copied_ = !sends_others_buffers(direct.own);
  is_direct_sliced_ = !direct.own.is_whole();
  try {
    // A node that exchanges nothing may do it another way where it reaches the buffers.
    if (!is_direct_sliced_) direct = parts_for(key_.reaching, staged_bytes);
    direct_.emplace(abridged_for(std::move(direct.own), options_.workers), options_.node,
                    binding_options(direct.all.needs));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
  }
}

void PlanClass::require_affordable(std::size_t bytes) const {
  if (bytes <= limit_bytes_) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("the plan of {} algorithm '{}' with {} lane(s) takes {} KiB on some node, "
                  "and the plans of a communicator may take {} KiB; allow more "
                  "(Options::plan_cache_kib, HYCOLL_PLAN_CACHE_KIB), or choose another "
                  "algorithm or fewer lanes",
                  name_of(key_.collective), key_.selected.algorithm, key_.selected.lanes,
                  (bytes + kBytesPerKib - 1) / kBytesPerKib, limit_bytes_ / kBytesPerKib));
}

std::size_t PlanClass::size_bytes() const noexcept {
  std::size_t bytes = sizeof(PlanClass) + (pairs_ != nullptr ? pairs_->size_bytes() : 0);
  for (const std::optional<ScheduleBinding>* const binding : {&whole_, &staged_, &direct_}) {
    if (*binding) bytes += (*binding)->size_bytes();
  }
  return bytes;
}

void PlanClass::bind(const PlanQuery& query, std::size_t size_bytes, WorkerRange workers,
                     BindingMemory& memory, Plan& plan) const {
  plan.clear();
  plan.selected = key_.selected;
  plan.is_short = size_bytes <= kShortBytes && !is_native_ && pairs_ == nullptr;
  plan.pair_binding = pairs_;
  if (pairs_ != nullptr) {
    plan.programs.clear();
    plan.crossing.reset();
  } else if (whole_) {
    plan.crossing.reset();
    whole_->bind(query.extent, query.element_bytes, workers, memory, plan.programs);
  } else {
    plan.programs.clear();
    if (!plan.crossing) plan.crossing.emplace();
    bind_crossing(query, size_bytes, workers, memory, *plan.crossing);
  }
  plan.block_counts.assign(query.extent.block_counts.begin(), query.extent.block_counts.end());
  plan.query = query;
  plan.query.extent.block_counts = plan.block_counts;
}

void PlanClass::bind_crossing(const PlanQuery& query, std::size_t size_bytes, WorkerRange workers,
                              BindingMemory& memory, CrossingPrograms& programs) const {
  const std::size_t limit =
      slice_limit(*staging_, query.extent, query.element_bytes, options_.staging_bytes);
  const auto bind = [&](const ScheduleBinding& binding, std::size_t slice, SlicedPrograms& sliced) {
    bind_slices(binding, query.extent, query.element_bytes, slice, workers, memory, sliced);
  };
  bind(*staged_, limit, programs.staged);
  programs.copies = KernelCopies::never;
  const KernelCopies copies = options_.kernel_copies(query.collective, size_bytes);
  const bool is_asked_for =
      options_.shares_heaps || (may_be_copied_ && copies != KernelCopies::never);
  if (!direct_ || !is_asked_for) return programs.direct.reset();
  if (!programs.direct) programs.direct.emplace();
  try {
    bind(*direct_, is_direct_sliced_ ? limit : SIZE_MAX, *programs.direct);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    programs.direct.reset();
    return;
  }
  if (may_be_copied_) programs.copies = copies;
}

KernelCopies PlanOptions::kernel_copies(Collective collective,
                                        std::size_t size_bytes) const noexcept {
  if (size_bytes >= single_copy_bytes) return KernelCopies::everywhere;
  const bool is_long_from_root =
      begins_at_root(collective) && size_bytes >= near_broadcast_single_copy_bytes;
  return is_long_from_root ? KernelCopies::where_near : KernelCopies::never;
}

BindingOptions PlanClass::binding_options(const ProgramNeeds& needs) const {
  return {.streaming_threshold_bytes = options_.streaming_threshold_bytes,
          .streaming_staging_bytes = options_.streaming_staging_bytes,
          .short_staging_bytes = options_.short_staging_bytes,
          .peers = options_.peers,
          .tag_count = options_.tag_count,
          .workers = options_.workers,
          .needs = &needs};
}

Shape PlanClass::shape_for(const SelectedPlan& selected) const {
  std::vector<NodeRun> nodes = options_.nodes;
  for (auto& [node, count] : nodes) {
    node.workers = std::max(node.members, std::min(node.workers, selected.workers_per_node));
  }
  nodes = with_aggregators(std::move(nodes), selected.aggregators);
  const Shape shape = grouped_for(selected, Shape(nodes, selected.lanes));
  // On a single node whose buffers are staged, a result that is made by its root is not staged.
  const bool is_made_by_root = delivers_to_root(key_.collective) && shape.node_count() == 1 &&
                               selected.lanes == 1 && options_.peers == Peers::processes;
  if (is_made_by_root) return shape.with_leaders({{key_.root}});
  // A single lane is driven by worker 0, which owns a member and is the caller.
  const bool is_placed = selected.lanes > 1 || options_.peers == Peers::processes;
  return is_placed ? led_by_placement(shape) : shape;
}

Shape PlanClass::grouped_for(const SelectedPlan& selected, const Shape& shape) const {
  if (options_.near.empty()) return shape;
  if (!find_algorithm(key_.collective, selected.algorithm).follows_groups) return shape;
  std::vector<GroupedRun> groups;
  int node = 0;
  for (const NearRun& run : options_.near) {
    // A plan may leave workers of a node without work.
    const int workers = shape.node(node).workers;
    groups.push_back(
        {.groups = with_levels(run, selected.group_levels).of_first(workers), .count = run.count});
    node += run.count;
  }
  groups.push_back({.groups = {}, .count = shape.node_count() - node});  // aggregators
  return shape.with_groups(groups);
}

Shape PlanClass::led_by_placement(const Shape& shape) const {
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

std::size_t std::hash<hycoll::PlanKey>::operator()(const hycoll::PlanKey& key) const noexcept {
  constexpr std::size_t kMultiplier = 0x9e3779b97f4a7c15u;
  std::size_t h =
      static_cast<std::size_t>(key.root) * kMultiplier + static_cast<std::size_t>(key.collective);
  for (const hycoll::SelectedPlan* const selected : {&key.selected, &key.reaching}) {
    // Names stay where they are.
    h ^= reinterpret_cast<std::uintptr_t>(selected->algorithm.data());
    h = h * kMultiplier + (key.has_unequal_pairs ? 1 : 0) +
        (static_cast<std::size_t>(selected->segments) << 24 |
         static_cast<std::size_t>(selected->group_levels) << 16 |
         static_cast<std::size_t>(selected->lanes));
  }
  return h ^ h >> 29;
}
