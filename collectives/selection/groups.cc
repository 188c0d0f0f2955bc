// Whether a call inside nodes follows their groups (decision 53).
//
// The rules know one way inside a node, in which everybody reads what all others have. Here it is
// priced beside those that follow the groups on some of their levels: a line takes the latency of
// the farthest one that is read, and each further one that is read at once, or by another reader, a
// gap. Those are the formulas of core/drawing/line_transfers.cc for the schedules of these
// algorithms, in which members of all groups of a level do the same at the same time.

#include "collectives/selection/groups.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

#include "collectives/algorithms/registry.h"
#include "collectives/selection/selection.h"
#include "core/base/collective_traits.h"
#include "core/base/line_sizes.h"

namespace hycoll {
namespace {

/// What three links of 20.8 GB/s between two packages let through in each direction.
constexpr double kPackageBytesPerNs = 62.4;

constexpr double kLineBytes = 64;

/// What walks through schedules take, as a multiple of what each member does by itself.
constexpr double kLevelsWait = 2;
/// For a signal, for data, and for those who are not that far.
constexpr double kWaits = 4;

constexpr GroupLevels level_of(Proximity shared) {
  return static_cast<GroupLevels>(1u << index_of(shared));
}

std::vector<int> ends_of(const GroupLevel& level) {
  std::vector<int> ends;
  int end = 0;
  for (const EqualGroups& run : level) {
    for (int group = 0; group < run.count; ++group) ends.push_back(end += run.size);
  }
  return ends;
}

struct PartCounts {
  int least = std::numeric_limits<int>::max();
  int most = 0;
};

/// How many parts the wholes consist of.
PartCounts parts_within(std::span<const int> parts, std::span<const int> wholes) {
  PartCounts counts;
  std::size_t part = 0;
  for (const int end : wholes) {
    int count = 0;
    for (; part < parts.size() && parts[part] <= end; ++part) ++count;
    counts.most = std::max(counts.most, count);
    counts.least = std::min(counts.least, count);
  }
  return counts;
}

std::vector<int> members_of(int count) {
  std::vector<int> ends(static_cast<std::size_t>(count));
  std::iota(ends.begin(), ends.end(), 1);
  return ends;
}

double lines_for(std::size_t size_bytes) { return static_cast<double>(line_count_for(size_bytes)); }

/// The algorithm along groups that does the same between nodes; "" if there is none.
std::string_view tree_of(std::string_view through_lines) {
  if (through_lines == "lines-recursive-doubling") return "lines-tree-recursive-doubling";
  if (through_lines == "lines-binomial") return "lines-tree-binomial";
  return {};
}

bool is_tree(std::string_view algorithm) { return algorithm.starts_with("lines-tree-"); }
bool is_lines(std::string_view algorithm) { return algorithm.starts_with("lines-"); }

constexpr std::string_view kGroupedLeaders = "grouped-leaders";

bool keeps_order(const SelectionQuery& query, std::string_view algorithm) {
  return find_algorithm(query.collective, algorithm).order >= query.order;
}

}  // namespace

Groups with_levels(const EqualNearness& near, GroupLevels levels) {
  std::vector<GroupLevel> kept;
  for (std::size_t l = 0; l < near.groups.levels().size(); ++l) {
    if ((levels & level_of(near.shared[l])) != 0) kept.push_back(near.groups.levels()[l]);
  }
  return Groups(std::move(kept));
}

InsideCosts::InsideCosts(std::span<const EqualNodes> nodes, std::span<const EqualNearness> near,
                         const TransferTimes& times) {
  GroupLevels all = 0;
  std::size_t at = 0;
  int left = near.empty() ? 0 : near[0].count;
  for (const EqualNodes& run : nodes) {
    for (int count = run.count; count > 0 && at < near.size();) {
      const int alike = std::min(count, left);
      if (alike > 0) all |= add_kind(run.node.members, near[at]);
      count -= alike;
      left -= alike;
      if (left == 0 && ++at < near.size()) left = near[at].count;
    }
  }
  for (unsigned levels = 0; levels <= all; ++levels) {
    if ((levels & ~unsigned{all}) == 0) choices_.push_back(static_cast<GroupLevels>(levels));
  }
  for (Kind& kind : kinds_) {
    for (const GroupLevels levels : choices_) {
      kind.stages.push_back(stages_of(kind, levels, times));
    }
  }
}

/// Returns its levels.
GroupLevels InsideCosts::add_kind(int members, const EqualNearness& near) {
  Kind kind{.members = members, .shared = near.shared};
  GroupLevels levels = 0;
  for (std::size_t l = 0; l < near.groups.levels().size(); ++l) {
    kind.ends.push_back(ends_of(near.groups.levels()[l]));
    levels |= level_of(near.shared[l]);
  }
  if (near.shared.back() == Proximity::machine) {
    kind.packages = kind.ends.empty() ? members : static_cast<int>(kind.ends.back().size());
  }
  kind.ends.push_back({members});
  if (std::ranges::find(kinds_, kind) == kinds_.end()) kinds_.push_back(std::move(kind));
  return levels;
}

/// From inner to outer; of the last one the units are what is outermost.
InsideCosts::Stages InsideCosts::stages_of(const Kind& kind, GroupLevels levels,
                                           const TransferTimes& times) const {
  Stages stages;
  std::vector<int> inner = members_of(kind.members);
  Stage stage;
  PartCounts counted{1, 1};  // units that share something nearer
  for (std::size_t l = 0; l < kind.ends.size(); ++l) {
    const bool is_node = l + 1 == kind.ends.size();
    const std::size_t proximity = index_of(kind.shared[l]);
    const PartCounts units = parts_within(inner, kind.ends[l]);
    if (units.most > counted.most) {
      stage.latency = times.latency[proximity];
      stage.gap = times.gap[proximity];
      stage.all_gaps += stage.gap * (units.most - counted.most);
      stage.most_gaps += stage.gap * (units.least - counted.least);
      counted = units;
    }
    if (!is_node && (levels & level_of(kind.shared[l])) == 0) continue;
    stage.children = counted.most - 1;
    stage.share = static_cast<double>(inner.size() - kind.ends[l].size()) / kind.members;
    stages.push_back(stage);
    inner = kind.ends[l];
    stage = {};
    counted = {1, 1};
  }
  return stages;
}

std::size_t InsideCosts::choice_of(GroupLevels levels) const {
  const GroupLevels all = choices_.back();
  const auto found = std::ranges::find(choices_, static_cast<GroupLevels>(levels & all));
  return static_cast<std::size_t>(found - choices_.begin());
}

/// Up the tree, every leader reads its children on all levels in one step; down, all children of a
/// member read the same lines. On a single node the outermost leaders of an allreduce read one
/// another's. Where nothing is summed up, or nothing handed out, flags go instead of lines; and
/// without groups a row of such calls waits for these later (decision 15).
double InsideCosts::lines_ns(const SelectionQuery& query, const Stages& stages) const {
  const bool is_alone = query.node_count() == 1;
  const bool goes_to_all = combines(query.collective) && !has_root(query.collective);
  const double lines = lines_for(query.size_bytes);
  const double lines_up = combines(query.collective) ? lines : 1;
  const double lines_down = has_root(query.collective) && combines(query.collective) ? 1 : lines;
  const Stage& last = stages.back();
  const bool is_flat = stages.size() == 1;
  const bool meets = is_alone && (goes_to_all || is_flat);
  const std::size_t joined = meets ? stages.size() - 1 : stages.size();
  double ns = 0;
  double gaps = 0;
  double children = 0;
  for (std::size_t s = 0; s < joined; ++s) {
    const Stage& stage = stages[s];
    if (stage.children == 0) continue;
    gaps += stage.all_gaps;
    children += stage.children;
    ns += stage.latency + lines_up * gaps - stage.gap;
    ns += stage.latency + stage.gap * (children - 1 + lines_down - 1);
  }
  if (meets && last.children > 0) {
    const double all_lines = goes_to_all ? lines : std::max(lines_up, lines_down);
    const double of_writers = combines(query.collective) ? all_lines : 1;
    ns += last.latency + std::max(of_writers * last.most_gaps - last.gap,
                                  last.gap * (last.children - 1 + all_lines - 1));
  }
  return ns;
}

/// Everybody waits until all have entered, leaders read their part of all inputs and write it to
/// all outputs, and everybody waits for all leaders. Of a reduce only the root gets the parts, of a
/// broadcast only its input is read. What passes between packages has to fit between them.
double InsideCosts::direct_ns(const SelectionQuery& query, const SelectedPlan& plan,
                              const Kind& kind) const {
  const Stage& all = kind.stages.front().back();
  const double parts = std::max(1, plan.lanes);
  const auto bytes = static_cast<double>(query.size_bytes);
  const double lines = std::max(1.0, bytes / parts / kLineBytes);
  const double meeting =
      all.latency + std::max(all.most_gaps - all.gap, all.gap * std::max(0.0, all.children - 1));
  const bool reads_all = combines(query.collective);
  const bool writes_all = !(has_root(query.collective) && combines(query.collective));
  const double read = lines * (reads_all ? all.most_gaps : all.gap);
  const double written = lines * (writes_all ? all.most_gaps : all.gap);
  const double packages = kind.packages;
  const double vectors_across =
      (kind.members / packages) * (1 - 1 / packages) * ((reads_all ? 1 : 0) + (writes_all ? 1 : 0));
  return std::max(2 * meeting + all.latency + read + written,
                  vectors_across * bytes / kPackageBytesPerNs);
}

/// All members work for all partitions: each reads, for its share of the trees' edges, the sums of
/// children and then the results of parents, and waits for them. Levels follow one another, and on
/// each the last ones are waited for.
double InsideCosts::grouped_ns(const SelectionQuery& query, const SelectedPlan& plan,
                               const Kind& kind, const Stages& stages) const {
  const double parts = std::max(1, plan.lanes);
  const auto bytes = static_cast<double>(query.size_bytes);
  const double lines = std::max(1.0, bytes / parts / kLineBytes);
  double ns = 0;
  for (const Stage& stage : stages) {
    ns += 2 * kLevelsWait * parts * stage.share * (kWaits * stage.latency + lines * stage.gap);
  }
  const double packages = kind.packages;
  return std::max(ns, 2 * (1 - 1 / packages) * bytes / kPackageBytesPerNs);
}

double InsideCosts::nanoseconds(const SelectionQuery& query, const SelectedPlan& plan) const {
  const bool follows = is_tree(plan.algorithm) || plan.algorithm == kGroupedLeaders;
  const std::size_t choice = choice_of(follows ? plan.group_levels : GroupLevels{0});
  double most = 0;
  for (const Kind& kind : kinds_) {
    const Stages& stages = kind.stages[choice];
    most =
        std::max(most, is_lines(plan.algorithm)            ? lines_ns(query, stages)
                       : plan.algorithm == kGroupedLeaders ? grouped_ns(query, plan, kind, stages)
                                                           : direct_ns(query, plan, kind));
  }
  return most;
}

SelectedPlan InsideCosts::along_groups(const SelectionQuery& query,
                                       const SelectedPlan& by_rule) const {
  const bool is_alone = query.node_count() == 1;
  // Between nodes the rule has weighed the messages; what goes on inside is told apart by lines.
  if (!is_alone && tree_of(by_rule.algorithm).empty()) return by_rule;
  const bool has_tree = query.collective == Collective::allreduce ||
                        query.collective == Collective::reduce ||
                        query.collective == Collective::broadcast;
  if (!has_tree) return by_rule;
  SelectedPlan best = by_rule;
  double least = nanoseconds(query, by_rule);
  const auto consider = [&](const SelectedPlan& plan) {
    const double ns = nanoseconds(query, plan);
    if (ns >= least) return;
    least = ns;
    best = plan;
  };
  const bool is_allreduce = query.collective == Collective::allreduce;
  SelectedPlan lines{.algorithm = is_allreduce ? "lines-recursive-doubling" : "lines-binomial",
                     .lanes = 1,
                     .workers_per_node = most_members(query.nodes),
                     .segments = is_lines(by_rule.algorithm) ? by_rule.segments : 1};
  const bool may_be_lines = query.requested_lanes <= 1 && query.size_bytes <= kMaximumLinesBytes;
  if (is_alone && may_be_lines) consider(lines);
  lines.algorithm = tree_of(lines.algorithm);
  const bool may_be_tree = may_be_lines && keeps_order(query, lines.algorithm);
  SelectedPlan grouped{.algorithm = kGroupedLeaders,
                       .lanes = by_rule.lanes,
                       .workers_per_node = by_rule.workers_per_node};
  const bool may_be_grouped = is_alone && is_allreduce && !is_lines(by_rule.algorithm) &&
                              keeps_order(query, grouped.algorithm);
  for (const GroupLevels levels : std::span(choices_).subspan(1)) {
    lines.group_levels = grouped.group_levels = levels;
    if (may_be_tree) consider(lines);
    if (!may_be_grouped) continue;
    // With fewer lanes parts are longer, but not all members lead as often as others.
    for (const int fewer : {1, 2, 4}) {
      if (fewer > 1 && (query.requested_lanes > 0 || by_rule.lanes < fewer)) continue;
      grouped.lanes = by_rule.lanes / fewer;
      consider(grouped);
    }
  }
  return best;
}

}  // namespace hycoll
