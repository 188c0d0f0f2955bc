// What happens at the same time in the pipelined allreduce algorithms, and who does what in those
// with specialised workers and aggregators.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "collectives/algorithms/building_blocks/aggregation.h"
#include "collectives/algorithms/registry.h"
#include "core/drawing/statistics_timeline.h"
#include "core/verifier/verifier.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace allreduce_overlap_test {

Schedule generate(std::string_view name, const Shape& shape, int segments) {
  return find_algorithm(Collective::allreduce, name).generate(shape, segments);
}

BufferRole role_of(const Schedule& schedule, const Span& span) {
  return schedule.buffers[static_cast<std::size_t>(span.buffer)].role;
}

/// Whether a step reduces the inputs of a node's members.
bool is_node_reduction(const Schedule& schedule, const Step& step) {
  return step.kind == StepKind::reduce &&
         std::ranges::all_of(schedule.sources(step), [&](const Span& source) {
           return role_of(schedule, source) == BufferRole::input;
         });
}

/// One part of the vector on one node, in a timeline.
struct PartTimes {
  double node_reduced = -1;       ///< When the node's reduction is issued.
  double first_message = -1;      ///< When the first send or native call is issued.
  double exchange_complete = -1;  ///< When the last receive or native call is complete.
};

/// By node and first chunk of the part. Messages take much longer than reductions.
std::map<int, std::map<int, PartTimes>> part_times(const Schedule& schedule, int part_count) {
  const ScheduleWalk walk(schedule);
  const Timeline timeline = compute_timeline(walk, [](const Step& step) {
    return StepCost{.busy = step.kind == StepKind::reduce ? 1.0 : 0.0,
                    .transfer = is_asynchronous(step.kind) ? 100.0 : 0.0};
  });
  const int chunks_per_part = schedule.chunk_count / part_count;
  std::map<int, std::map<int, PartTimes>> times;
  for (int id = 0; id < walk.index.step_count(); ++id) {
    const Step& step = walk.index.step(id);
    if (step.destination_count + step.source_count == 0) continue;
    const Span& span = schedule.spans[static_cast<std::size_t>(step.first_span)];
    const int strand = walk.index.place[static_cast<std::size_t>(id)].strand;
    const int node = walk.index.strand_node[static_cast<std::size_t>(strand)];
    PartTimes& part = times[node][span.first_chunk / chunks_per_part];
    const double issue = timeline.issue[static_cast<std::size_t>(id)];
    if (is_node_reduction(schedule, step)) part.node_reduced = issue;
    const bool starts = step.kind == StepKind::send || step.kind == StepKind::native;
    if (starts && (part.first_message < 0 || issue < part.first_message)) {
      part.first_message = issue;
    }
    const bool ends = step.kind == StepKind::recv || step.kind == StepKind::native;
    if (!ends) continue;
    part.exchange_complete =
        std::max(part.exchange_complete, timeline.completion[static_cast<std::size_t>(id)]);
  }
  return times;
}

constexpr std::string_view kPipelined[] = {"dpml-pipelined-recursive-doubling",
                                           "dpml-pipelined-halving-doubling", "dpml-pipelined-ring",
                                           "dpml-pipelined-native", "colour-rings"};

TEST_CASE("a part is reduced on the node, and sent, while the exchange of the one before runs") {
  constexpr int kParts = 4;
  for (const std::string_view name : kPipelined) {
    for (const int lanes : {1, 2, 3}) {
      CAPTURE(name);
      CAPTURE(lanes);
      const Schedule schedule = generate(name, Shape::uniform(4, 3, lanes), kParts);
      for (const auto& [node, parts] : part_times(schedule, lanes * kParts)) {
        REQUIRE(parts.size() == static_cast<std::size_t>(lanes * kParts));
        for (int part = 1; part < lanes * kParts; ++part) {
          if (part % kParts == 0) continue;  // another lane's
          const PartTimes& before = parts.at(part - 1);
          const PartTimes& here = parts.at(part);
          REQUIRE(here.node_reduced >= 0);
          CHECK(here.node_reduced < before.exchange_complete);
          // A node that only returns what comes to it sends later.
          if (name != "colour-rings") CHECK(here.first_message < before.exchange_complete);
        }
      }
    }
  }
}

TEST_CASE("without pipelining nothing is sent before all of a lane has been reduced") {
  // What the test above can see: the plain algorithm has one reduction, at the first part.
  const Schedule schedule = generate("dpml-ring", Shape::uniform(4, 3, 1), 4);
  for (const auto& [node, parts] : part_times(schedule, 4)) {
    CHECK(parts.at(0).node_reduced >= 0);
    CHECK(parts.at(1).node_reduced < 0);
    for (const auto& [number, part] : parts) {
      CHECK(part.first_message > parts.at(0).node_reduced);
    }
  }
}

TEST_CASE(
    "a leader with several native calls has more than one strand, so it never blocks in one") {
  for (const Shape& shape :
       {Shape::uniform(3, 2, 2), Shape::uniform(3, 1, 1), Shape({{1, 4}, {1, 4}}, 3)}) {
    const Schedule schedule = generate("dpml-pipelined-native", shape, 3);
    for (int node = 0; node < shape.node_count(); ++node) {
      for (const Program& program :
           bind_schedule(schedule, node, {.count = 1000}, {.element_bytes = 4})) {
        int native_calls = 0;
        for (const StrandProgram& strand : program.strands) {
          native_calls += static_cast<int>(
              std::ranges::count(strand.instructions, InstructionKind::native, &Instruction::kind));
        }
        if (native_calls > 1) CHECK_FALSE(program.blocks_alone);
      }
    }
  }
}

TEST_CASE("many parts take turns on a limited number of tracks, so flags suffice") {
  constexpr int kParts = 150;
  for (const Shape& shape : {Shape::uniform(2, 2, 8), Shape({{2, 2}, {2, 2}, {0, 1}}, 8),
                             Shape({{2, 2}, {2, 2}, {0, 1}}, 1), Shape::uniform(1, 3, 4)}) {
    for (const Algorithm& algorithm : allreduce_algorithms()) {
      if (algorithm.segmentation != Segmentation::partition || !algorithm.serves_shape(shape)) {
        continue;
      }
      CAPTURE(algorithm.name);
      const Schedule schedule = algorithm.generate(shape, kParts);
      const Verdict verdict = verify(schedule);
      CHECK_MESSAGE(verdict.correct, verdict.failure);
      for (int node = 0; node < shape.node_count(); ++node) {
        for (const Program& program :
             bind_schedule(schedule, node, {.count = 100'000}, {.element_bytes = 8})) {
          CHECK(program.flag_count <= kFlagsPerWorker);
        }
      }
    }
  }
}

TEST_CASE("three colours on a torus use no link twice, in either direction once per part") {
  const Schedule schedule = generate("colour-rings", Shape::uniform(27, 2, 3), 2);
  struct Link {
    int from;
    int to;
    auto operator<=>(const Link&) const = default;
  };
  std::map<Link, std::set<int>> lanes_of_link;
  std::map<Link, int> messages_of_link;
  for (const Strand& strand : schedule.strands) {
    const int node = schedule.shape.node_of_worker(strand.worker);
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::send) continue;
      lanes_of_link[{std::min(node, step.peer_node), std::max(node, step.peer_node)}].insert(
          step.lane);
      ++messages_of_link[{node, step.peer_node}];
    }
  }
  CHECK(lanes_of_link.size() == 3 * 26);  // every ring without its closing link
  for (const auto& [link, lanes] : lanes_of_link) CHECK(lanes.size() == 1);
  for (const auto& [link, messages] : messages_of_link) CHECK(messages == 2);
}

TEST_CASE("colours are counted: the counters of a colour and of the network reach all parts") {
  constexpr int kParts = 100;  // more than a worker has tracks for
  const Schedule schedule = generate("colour-rings", Shape::uniform(2, 3, 2), kParts);
  std::map<int, int> highest;  // by flag
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::signal) continue;
      CHECK(step.value == highest[step.flag] + 1);
      highest[step.flag] = step.value;
    }
  }
  const auto counters =
      std::ranges::count_if(highest, [](const auto& flag) { return flag.second == kParts; });
  CHECK(counters == 2 * 2);  // what each node's colours have reduced
  int complete = 0;
  for (const auto& [flag, value] : highest) {
    const int writer = schedule.flags[static_cast<std::size_t>(flag)].writer_strand;
    const int worker = schedule.strands[static_cast<std::size_t>(writer)].worker;
    if (worker % 3 == 0) complete += value;
  }
  CHECK(complete == 2 * (2 * kParts + 1));  // every part of both colours, and an arrival, per node
}

TEST_CASE("socket leaders touch only the buffers of their own socket's members") {
  constexpr int kMembers = 6;
  for (const int sockets : {2, 3}) {
    std::vector<Node> nodes(3, Node{kMembers, kMembers});
    nodes.resize(5, Node{0, 1});
    const Schedule schedule = generate("socket-leader", Shape(nodes, sockets), 2);
    const auto socket_of_worker = [&](int worker) {
      const int node = schedule.shape.node_of_worker(worker);
      return (worker - schedule.shape.first_worker(node)) * sockets / kMembers;
    };
    int data_steps = 0;
    for (const Strand& strand : schedule.strands) {
      if (schedule.shape.node(schedule.shape.node_of_worker(strand.worker)).members == 0) continue;
      for (const Step& step : strand.steps) {
        const auto check_span = [&](const Span& span) {
          const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(span.buffer)];
          ++data_steps;
          CHECK(socket_of_worker(schedule.shape.worker_of_member(buffer.owner)) ==
                socket_of_worker(strand.worker));
        };
        for (const Span& span : schedule.destinations(step)) check_span(span);
        for (const Span& span : schedule.sources(step)) check_span(span);
      }
    }
    CHECK(data_steps > 0);
  }
}

/// The hosts below a node of the tree, from left to right.
std::vector<int> hosts_below(const AggregationTree& tree, int node) {
  if (tree.is_host(node)) return {node};
  std::vector<int> below;
  for (const int child : tree.children(node)) {
    std::ranges::copy(hosts_below(tree, child), std::back_inserter(below));
  }
  return below;
}

/// A tree's children by aggregator as its definition says, with a list of the trees so far.
std::vector<std::vector<int>> taken_in_turn(int hosts, int aggregators) {
  std::vector<std::vector<int>> children;
  std::vector<int> roots(static_cast<std::size_t>(hosts));
  std::iota(roots.begin(), roots.end(), 0);
  std::size_t next = 0;
  for (int i = 0; i < aggregators; ++i) {
    const int edges = hosts - 1 + aggregators;
    const auto fan_in = static_cast<std::size_t>(edges / aggregators + (i < edges % aggregators));
    if (roots.size() - next < fan_in) next = 0;
    const auto first = roots.begin() + static_cast<std::ptrdiff_t>(next);
    const auto last = first + static_cast<std::ptrdiff_t>(fan_in);
    children.emplace_back(first, last);
    *first = hosts + i;
    roots.erase(first + 1, last);
    ++next;
  }
  return children;
}

TEST_CASE("an aggregation tree has all hosts in rank order and equal numbers of children") {
  for (int hosts = 1; hosts <= 40; ++hosts) {
    for (int aggregators = 1; aggregators <= 42; ++aggregators) {
      CAPTURE(hosts);
      CAPTURE(aggregators);
      std::vector<Node> nodes(static_cast<std::size_t>(hosts), Node{1, 1});
      nodes.resize(static_cast<std::size_t>(hosts + aggregators), Node{0, 1});
      const AggregationTree tree(Shape(nodes, 1));
      REQUIRE(tree.host_count() == hosts);
      REQUIRE(tree.aggregator_count() == std::min(aggregators, std::max(1, hosts - 1)));
      const auto expected = taken_in_turn(hosts, tree.aggregator_count());
      std::size_t fewest = nodes.size();
      std::size_t most = 0;
      for (int i = 0; i < tree.aggregator_count(); ++i) {
        const int node = hosts + i;
        const std::vector<int> children = tree.children(node);
        CHECK(children == expected[static_cast<std::size_t>(i)]);
        for (const int child : children) CHECK(tree.parent(child) == node);
        fewest = std::min(fewest, children.size());
        most = std::max(most, children.size());
        const bool is_root = i + 1 == tree.aggregator_count();
        CHECK((tree.parent(node) < 0) == is_root);
        CHECK((is_root || tree.parent(node) > node));
        const std::vector<int> below = hosts_below(tree, node);
        for (std::size_t b = 1; b < below.size(); ++b) CHECK(below[b] == below[b - 1] + 1);
        if (is_root) CHECK(below.size() == static_cast<std::size_t>(hosts));
      }
      CHECK(most - fewest <= 1);
      CHECK(tree.is_used(hosts + tree.aggregator_count() - 1));
      CHECK_FALSE(tree.is_used(hosts + tree.aggregator_count()));
    }
  }
}

TEST_CASE("only algorithms with aggregators serve shapes that have them, and they no others") {
  const Shape without = Shape::uniform(2, 2, 1);
  const Shape with({{2, 2}, {2, 2}, {0, 1}}, 1);
  const Shape in_between({{2, 2}, {0, 1}, {2, 2}}, 1);
  for (const Algorithm& algorithm : allreduce_algorithms()) {
    CAPTURE(algorithm.name);
    const bool aggregates = algorithm.exchange.help == ExchangeHelp::aggregators;
    CHECK(algorithm.serves_shape(with) == aggregates);
    CHECK_FALSE(algorithm.serves_shape(in_between));
    if (aggregates) {
      CHECK_FALSE(algorithm.serves_shape(without));
      CHECK(algorithm.serves.find("--aggregators") != std::string_view::npos);
    }
  }
}

}  // namespace allreduce_overlap_test
}  // namespace hycoll
