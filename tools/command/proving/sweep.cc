#include "tools/command/proving/sweep.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <utility>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/schedule/part_checks.h"
#include "core/schedule/schedule_text.h"
#include "core/staging/staging.h"
#include "core/verifier/verifier.h"

namespace hycoll::command {
namespace {

constexpr int kSegments = 3;

void add_unequal_shapes(int node_count, int lane_count, int members, std::vector<Shape>& shapes) {
  if (node_count < 2 || members < 2) return;
  std::vector<Node> staircase;
  std::vector<Node> first_heavy(static_cast<std::size_t>(node_count), Node{1, 1});
  std::vector<Node> last_light(static_cast<std::size_t>(node_count), Node{members, members});
  for (int node = 0; node < node_count; ++node) {
    const int count = 1 + node % members;
    staircase.push_back({.members = count, .workers = count + node % 2});
  }
  first_heavy.front() = {members, members};
  last_light.back() = {1, 1};
  std::vector<int> from_the_last;
  for (int lane = 0; lane < lane_count; ++lane) from_the_last.push_back(lane_count - 1 - lane);
  shapes.emplace_back(std::move(staircase), lane_count, Visibility::direct, from_the_last);
  shapes.emplace_back(std::move(first_heavy), lane_count);
  shapes.emplace_back(std::move(last_light), lane_count);
}

/// A kind of node whose workers are in groups.
struct GroupedNode {
  Node node;
  Groups groups;
};

std::vector<GroupedNode> grouped_nodes() {
  return {{{4, 4}, Groups({{{1, 2}, {2, 1}}})},
          {{6, 6}, Groups({{{2, 3}}})},
          {{7, 7}, Groups({{{3, 1}, {1, 1}, {3, 1}}})},
          {{8, 8}, Groups({{{2, 4}}, {{4, 2}}})},
          {{5, 8}, Groups({{{2, 4}}, {{4, 2}}})},
          {{11, 11}, Groups({{{1, 1}, {3, 1}, {2, 1}, {1, 1}, {4, 1}}, {{4, 1}, {3, 1}, {4, 1}}})},
          {{12, 12}, Groups({{{2, 6}}, {{4, 3}}, {{8, 1}, {4, 1}}})}};
}

bool is_grouped(const Shape& shape) {
  return std::ranges::any_of(shape.first_nodes(),
                             [&](int node) { return !shape.groups(node).is_flat(); });
}

bool is_to_be_proved(const Algorithm& algorithm, const Shape& shape) {
  return algorithm.serves_shape(shape) && (algorithm.follows_groups || !is_grouped(shape));
}

/// The roots to prove, for a collective that has one: the first, the middle and the last member,
/// and on shapes with more lanes one of these in turn.
std::vector<int> roots_to_prove(Collective collective, const Shape& shape, int few_lanes) {
  if (!has_root(collective)) return {0};
  const int last = shape.member_count() - 1;
  std::vector<int> members = {0, shape.member_count() / 2, last};
  if (shape.lane_count() > few_lanes) {
    const int turn = shape.lane_count() + shape.node_count() + last;
    return {members[static_cast<std::size_t>(turn % 3)]};
  }
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

Error unknown_algorithm(const std::string& name, const std::vector<const Algorithm*>& all) {
  std::string known;
  for (const Algorithm* algorithm : all) {
    known += fmt::format("{}{} {}", known.empty() ? "" : ", ", name_of(algorithm->collective),
                         algorithm->name);
  }
  return Error(
      ErrorKind::invalid_argument,
      fmt::format("algorithm '{}' does not exist for any collective; known: {}", name, known));
}

constexpr int kMaximumAggregators = 3;

/// The shape with aggregators behind its nodes.
Shape with_aggregators(const Shape& shape, int aggregators, int workers) {
  std::vector<EqualNodes> nodes = shape.node_runs();
  nodes.push_back({.node = {.members = 0, .workers = workers}, .count = aggregators});
  return Shape(nodes, shape.lane_count(), shape.visibility());
}

/// The numbers of segments with which an algorithm is proved on a shape. A partition in three parts
/// has everything in it that a whole one has, so the whole one is left to the shapes with few
/// lanes.
std::vector<int> segments_to_prove(const Algorithm& algorithm, const Shape& shape, int few_lanes) {
  switch (algorithm.segmentation) {
    case Segmentation::none:
      break;
    case Segmentation::messages:
      if (shape.node_count() > 1) return {1, kSegments};
      break;
    case Segmentation::partition:
      if (shape.lane_count() > few_lanes) return {kSegments};
      return {1, kSegments};
  }
  return {1};
}

/// A shape whose workers are processes, or threads of some, in turn.
Shape staged_shape(const Shape& shape, int turn) {
  const int threads = 1 + turn % 3;
  return threads == 1 ? shape.with_visibility(Visibility::staged)
                      : shape.with_processes_of(threads);
}

/// Staged schedules for a sweep of both visibilities.
void add_some_staged(const std::vector<const Algorithm*>& algorithms,
                     const std::vector<Shape>& shapes, std::vector<SweepCase>& cases) {
  constexpr int kFewNodes = 2;
  constexpr std::size_t kStride = 8;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    if (shapes[s].node_count() > kFewNodes && s % kStride != 0) continue;
    for (const Algorithm* algorithm : algorithms) {
      if (!is_to_be_proved(*algorithm, shapes[s])) continue;
      const bool is_rooted = has_root(algorithm->collective);
      const auto turn = static_cast<int>(s / kStride);
      cases.push_back({.algorithm = algorithm,
                       .shape = staged_shape(shapes[s], static_cast<int>(s)),
                       .segments = algorithm->segmentation == Segmentation::none ? 1 : kSegments,
                       .root = is_rooted ? turn % shapes[s].member_count() : 0});
    }
  }
}

/// Keeps nothing of what is not asked for.
class NoWatch : public StepWatch {
  Kept keeps(const Schedule& /*frame*/, int /*worker*/, const Step& /*step*/,
             std::span<const Span> /*destinations*/, std::span<const Span> /*sources*/) override {
    return Kept::nothing;
  }
};

/// That the part of each worker is what the staged schedule has there: from the steps as the
/// generator shows them, in an order of its own.
std::optional<std::string> check_by_workers(const SweepCase& proof, const Schedule& whole) {
  const Processes& processes = proof.shape.processes();
  const Shape direct = proof.shape.with_visibility(Visibility::direct);
  if (!crosses_processes(proof.algorithm->generate(direct, proof.segments, proof.root),
                         processes)) {
    return {};
  }
  for (const int node : whole.part.nodes) {
    const StepReplay replay = proof.algorithm->replay(direct, proof.segments, proof.root, node);
    std::optional<std::string> disorder;
    auto wrong = check_workers(restricted_to(whole, only_node(node)), [&](NumberRange workers) {
      NoWatch watch;
      workers.first -= whole.shape.first_worker(node);
      auto own = staged_for(replay, processes, workers, watch);
      if (!own) {
        disorder = fmt::format("the steps of node {} are not shown in an order of execution", node);
        return Schedule(restricted_to(whole, only_node(node)));
      }
      return std::move(own->made.schedule);
    });
    if (disorder) return disorder;
    if (wrong) return wrong;
  }
  return {};
}

/// That the parts of nodes make the whole, and with processes those of workers. Staging works node
/// by node: its parts make the whole if the direct ones do.
std::optional<std::string> check_by_parts(const SweepCase& proof, const Schedule& whole) {
  if (proof.shape.visibility() == Visibility::staged) return check_by_workers(proof, whole);
  return check_parts(whole, [&](NumberRange nodes) { return proof.generate(nodes); });
}

/// The first failure in the order of the cases, found by several threads.
class FirstFailure {
 public:
  /// Whether a case is still of interest.
  bool wanted(std::size_t index) const {
    return index < index_.load(std::memory_order_relaxed);  // a hint; record() decides
  }

  void record(std::size_t index, std::string text) {
    const std::lock_guard lock(mutex_);
    if (index >= index_.load(std::memory_order_relaxed)) return;  // written under the lock only
    index_.store(index, std::memory_order_relaxed);
    text_ = std::move(text);
  }

  std::optional<std::string> text() const { return text_; }

 private:
  std::mutex mutex_;
  std::atomic<std::size_t> index_{SIZE_MAX};
  std::optional<std::string> text_;  // guarded by mutex_ while threads record
};

}  // namespace

std::vector<Shape> sweep_shapes(const SweepOptions& options) {
  std::vector<Shape> shapes;
  for (const int nodes : options.node_counts) {
    const std::size_t first_of_node_count = shapes.size();
    for (const int lanes : options.lane_counts) {
      const std::size_t first = shapes.size();
      for (const int members : options.member_counts) {
        shapes.push_back(Shape::uniform(nodes, members, lanes));
      }
      for (const int workers : options.member_counts) {
        const std::vector<Node> pools(static_cast<std::size_t>(nodes), Node{1, workers});
        if (workers > 1) shapes.emplace_back(pools, lanes);
      }
      if (options.unequal_nodes == UnequalNodes::include) {
        add_unequal_shapes(nodes, lanes, options.member_counts.back(), shapes);
      }
      // Small families coincide, e.g. on two nodes: (M, 1) is the first and the last variation.
      for (std::size_t i = first; i < shapes.size(); ++i) {
        const auto end = shapes.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        shapes.erase(std::remove(end, shapes.end(), shapes[i]), shapes.end());
      }
    }
    // By size, so that the first failure is on a small shape.
    std::stable_sort(
        shapes.begin() + static_cast<std::ptrdiff_t>(first_of_node_count), shapes.end(),
        [](const Shape& a, const Shape& b) { return a.member_count() < b.member_count(); });
  }
  return shapes;
}

std::vector<Shape> aggregation_shapes(const SweepOptions& options) {
  std::vector<Shape> shapes;
  int turn = 0;
  for (const Shape& hosts : sweep_shapes(options)) {
    const bool every_count = hosts.lane_count() == options.lane_counts.front();
    for (int aggregators = 1; aggregators <= kMaximumAggregators; ++aggregators) {
      if (!every_count && aggregators != 1 + turn % kMaximumAggregators) continue;
      const int workers = every_count ? 1 + turn % 2 : 1;
      shapes.push_back(with_aggregators(hosts, aggregators, workers));
    }
    ++turn;
  }
  return shapes;
}

std::vector<Shape> grouped_shapes(const SweepOptions& options) {
  const int lanes = options.lane_counts.front();
  const std::vector<int> leaders(static_cast<std::size_t>(lanes), 3);
  const std::vector<GroupedNode> kinds = grouped_nodes();
  std::vector<Shape> shapes;
  for (const int node_count : options.node_counts) {
    std::vector<Node> mixed;
    std::vector<EqualGroupings> groups_of_mixed;
    for (const auto& [node, groups] : kinds) {
      const std::vector<Node> equal(static_cast<std::size_t>(node_count), node);
      shapes.push_back(Shape(equal, lanes).with_groups(groups));
    }
    if (node_count == 1 || options.unequal_nodes == UnequalNodes::exclude) continue;
    for (std::size_t n = 0; std::cmp_less(n, node_count); ++n) {
      const auto& [node, groups] = kinds[n % kinds.size()];
      mixed.push_back(node);
      groups_of_mixed.push_back({.groups = groups, .count = 1});
    }
    shapes.push_back(Shape(mixed, lanes, Visibility::direct, leaders).with_groups(groups_of_mixed));
  }
  return shapes;
}

std::vector<const Algorithm*> sweep_algorithms(const SweepOptions& options) {
  const std::vector<const Algorithm*> all = all_algorithms();
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* algorithm : all) {
    if (options.collective && algorithm->collective != *options.collective) continue;
    if (!options.algorithm.empty() && algorithm->name != options.algorithm) continue;
    algorithms.push_back(algorithm);
  }
  // Throws: there is none of that name.
  if (algorithms.empty() && options.collective) {
    find_algorithm(*options.collective, options.algorithm);
  }
  if (algorithms.empty()) throw unknown_algorithm(options.algorithm, all);
  return algorithms;
}

std::vector<SweepCase> sweep_cases(const SweepOptions& options) {
  const std::vector<const Algorithm*> algorithms = sweep_algorithms(options);
  std::vector<Shape> shapes = sweep_shapes(options);
  std::ranges::copy(aggregation_shapes(options), std::back_inserter(shapes));
  std::ranges::copy(grouped_shapes(options), std::back_inserter(shapes));
  std::vector<SweepCase> cases;
  const int few_lanes = options.lane_counts.front();
  for (const Shape& shape : shapes) {
    for (const Algorithm* algorithm : algorithms) {
      if (!is_to_be_proved(*algorithm, shape)) continue;
      for (const int root : roots_to_prove(algorithm->collective, shape, few_lanes)) {
        for (const int segments : segments_to_prove(*algorithm, shape, few_lanes)) {
          cases.push_back({algorithm, shape, segments, root});
        }
      }
    }
  }
  if (options.visibility == Visibility::direct) return cases;
  if (options.visibility == Visibility::staged) {
    for (SweepCase& proof : cases) proof.shape = proof.shape.with_visibility(Visibility::staged);
    return cases;
  }
  add_some_staged(algorithms, shapes, cases);
  return cases;
}

SweepResult run_sweep(const std::vector<SweepCase>& cases,
                      const std::function<void(std::size_t)>& on_progress) {
  FirstFailure failure;
  std::vector<std::size_t> step_counts(cases.size(), 0);
  tbb::parallel_for(std::size_t{0}, cases.size(), [&](std::size_t index) {
    if (!failure.wanted(index)) return;
    const SweepCase& proof = cases[index];
    const Schedule schedule = proof.generate();
    const Verdict verdict = verify(schedule);
    step_counts[index] = verdict.step_count;
    std::optional<std::string> wrong;
    if (!verdict.correct) {
      wrong = verdict.failure;
    } else {
      wrong = check_by_parts(proof, schedule);
      if (wrong)
        *wrong = fmt::format("{} {}: {}", schedule.algorithm, to_text(proof.shape), *wrong);
    }
    if (wrong) {
      failure.record(index,
                     fmt::format("{} (segments {}, root {})", *wrong, proof.segments, proof.root));
    }
    on_progress(1);
  });

  SweepResult result{.proved = {}, .failure = failure.text()};
  if (result.failure) return result;
  for (const Algorithm* algorithm : all_algorithms()) {
    SweepCounts counts{.collective = std::string(name_of(algorithm->collective)),
                       .algorithm = std::string(algorithm->name)};
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].algorithm != algorithm) continue;
      ++counts.schedule_count;
      counts.step_count += step_counts[i];
    }
    if (counts.schedule_count > 0) result.proved.push_back(counts);
  }
  return result;
}

}  // namespace hycoll::command
