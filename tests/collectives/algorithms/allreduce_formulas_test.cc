// What the allreduce schedules do, counted and compared with the formulas of the papers. The terms
// of the papers' models are counts here: a the messages, b the volume sent, c the volume reduced,
// a' the copies in memory and b' the volume copied, each by one leader. Volumes are in chunks of
// one size, n is the vector.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include "collectives/algorithms/building_blocks/radices.h"
#include "collectives/algorithms/registry.h"
#include "core/base/partition.h"
#include "core/drawing/statistics.h"
#include "core/verifier/verifier.h"

namespace hycoll {
namespace {

Schedule generate(std::string_view name, const Shape& shape, int segments = 1) {
  return find_algorithm(Collective::allreduce, name).generate(shape, segments);
}

/// What one worker does.
struct WorkerCounts {
  std::size_t sends = 0;
  std::size_t sent = 0;
  std::size_t node_reduced = 0;     ///< Combining members' inputs.
  std::size_t message_reduced = 0;  ///< Combining what came in messages.
  std::size_t copies = 0;
  std::size_t copied = 0;
};

std::vector<WorkerCounts> count_workers(const Schedule& schedule) {
  std::vector<WorkerCounts> workers(static_cast<std::size_t>(schedule.shape.worker_count()));
  for (const Strand& strand : schedule.strands) {
    WorkerCounts& worker = workers[static_cast<std::size_t>(strand.worker)];
    for (const Step& step : strand.steps) {
      const auto chunks = [&] {
        return static_cast<std::size_t>(
            schedule.spans[static_cast<std::size_t>(step.first_span)].chunk_count);
      };
      if (step.kind == StepKind::send) {
        ++worker.sends;
        worker.sent += chunks();
      }
      if (step.kind == StepKind::reduce) {
        const bool has_message = std::ranges::any_of(schedule.sources(step), [&](const Span& span) {
          return schedule.buffers[static_cast<std::size_t>(span.buffer)].role ==
                 BufferRole::scratch;
        });
        (has_message ? worker.message_reduced : worker.node_reduced) +=
            (static_cast<std::size_t>(step.source_count) - 1) * chunks();
      }
      if (step.kind == StepKind::copy) {
        ++worker.copies;
        worker.copied += chunks() * static_cast<std::size_t>(step.destination_count);
      }
    }
  }
  return workers;
}

std::size_t floor_log2(std::size_t value) { return std::bit_width(value) - 1; }
std::size_t ceil_log2(std::size_t value) { return std::bit_width(value - 1); }

/// What a node sends and reduces in recursive doubling, in vectors: lg h of each where the number
/// of nodes h is a power of two. Otherwise the first nodes fold in pairs
/// (collectives/algorithms/building_blocks/fold.h): the even one only sends its vector, the odd one
/// gets and returns one more.
struct DoublingCounts {
  std::size_t sends;
  std::size_t reductions;
};

DoublingCounts expected_doubling(std::size_t nodes, std::size_t node) {
  const std::size_t log = floor_log2(nodes);
  const std::size_t folded = 2 * (nodes - std::bit_floor(nodes));
  if (node >= folded) return {log, log};
  return node % 2 == 0 ? DoublingCounts{1, 0} : DoublingCounts{log + 1, log + 1};
}

/// The longest chain of messages of recursive doubling: lg h for powers of two. Otherwise lg of the
/// power below, which leads from a partner to the one whose number has all bits inverted, and one
/// more for each of these two that folds: both do where more than half of the partners fold.
std::size_t expected_doubling_steps(std::size_t nodes) {
  const std::size_t partners = std::bit_floor(nodes);
  const std::size_t folding = nodes - partners;
  return floor_log2(nodes) + (folding == 0 ? 0 : 2 * folding > partners ? 2 : 1);
}

TEST_CASE("DPML equation 1: flat recursive doubling takes lg p (a + n b + n c)") {
  for (std::size_t p = 2; p <= 17; ++p) {
    CAPTURE(p);
    const Schedule schedule =
        generate("recursive-doubling", Shape::uniform(static_cast<int>(p), 1, 1));
    const auto n = static_cast<std::size_t>(schedule.chunk_count);
    CHECK(statistics(schedule).critical_message_count == expected_doubling_steps(p));
    if (std::has_single_bit(p)) CHECK(expected_doubling_steps(p) == ceil_log2(p));
    const std::vector<WorkerCounts> workers = count_workers(schedule);
    for (std::size_t node = 0; node < p; ++node) {
      CAPTURE(node);
      CHECK(workers[node].sends == expected_doubling(p, node).sends);
      CHECK(workers[node].sent == expected_doubling(p, node).sends * n);
      CHECK(workers[node].message_reduced == expected_doubling(p, node).reductions * n);
      CHECK(workers[node].node_reduced == 0);
      CHECK(workers[node].copies == 0);
    }
  }
}

/// Node counts, members, leaders (at most the members) and parts of a lane.
template <class Check>
void for_each_dpml(const Check& check) {
  for (std::size_t h = 2; h <= 17; ++h) {
    for (std::size_t members = 1; members <= 6; ++members) {
      for (std::size_t l = 1; l <= members; ++l) {
        for (const std::size_t k : {1, 3}) {
          CAPTURE(h);
          CAPTURE(members);
          CAPTURE(l);
          CAPTURE(k);
          const Schedule schedule = generate(
              "dpml-pipelined-recursive-doubling",
              Shape::uniform(static_cast<int>(h), static_cast<int>(members), static_cast<int>(l)),
              static_cast<int>(k));
          check(schedule, h, members, l, k);
        }
      }
    }
  }
}

TEST_CASE("DPML equation 2: the copies to the leaders vanish") {
  // l (a' + b' n / l) by every process in the paper. Here leaders read the inputs where they are:
  // whatever is copied at all is copied from an output.
  for_each_dpml([](const Schedule& schedule, auto, auto, auto, auto) {
    for (const Strand& strand : schedule.strands) {
      for (const Step& step : strand.steps) {
        if (step.kind != StepKind::copy) continue;
        const Buffer& source =
            schedule.buffers[static_cast<std::size_t>(schedule.sources(step).front().buffer)];
        CHECK(source.role == BufferRole::output);
      }
    }
  });
}

TEST_CASE("DPML equation 3: a leader reduces (p / h - 1) n / l in its node") {
  // The paper prints (p / (h l) - 1) n c, which contradicts its text ("ppn - 1 reductions" of n /
  // l) for more than one leader: for l = p / h nothing would be left to reduce. The text is right;
  // the printed formula falls short of it by (l - 1) n / l.
  for_each_dpml(
      [](const Schedule& schedule, std::size_t h, std::size_t members, std::size_t l, std::size_t) {
        const auto n = static_cast<std::size_t>(schedule.chunk_count);
        const std::vector<WorkerCounts> workers = count_workers(schedule);
        for (std::size_t node = 0; node < h; ++node) {
          for (std::size_t leader = 0; leader < l; ++leader) {
            const std::size_t reduced = workers[node * members + leader].node_reduced;
            CHECK(reduced * l == (members - 1) * n);
            const std::size_t printed_times_l = (members - l) * n;
            CHECK(reduced * l == printed_times_l + (l - 1) * n);
          }
        }
      });
}

TEST_CASE("DPML equations 4 and 5: a leader exchanges n / l in k lg h messages") {
  for_each_dpml([](const Schedule& schedule, std::size_t h, std::size_t members, std::size_t l,
                   std::size_t k) {
    const std::size_t lane = static_cast<std::size_t>(schedule.chunk_count) / l;
    const std::vector<WorkerCounts> workers = count_workers(schedule);
    for (std::size_t node = 0; node < h; ++node) {
      const auto [sends, reductions] = expected_doubling(h, node);
      for (std::size_t leader = 0; leader < l; ++leader) {
        const WorkerCounts& counts = workers[node * members + leader];
        CHECK(counts.sends == k * sends);
        CHECK(counts.sent == sends * lane);
        CHECK(counts.message_reduced == reductions * lane);
        if (std::has_single_bit(h)) CHECK(counts.sends == k * ceil_log2(h));
      }
      for (std::size_t other = l; other < members; ++other) {
        CHECK(workers[node * members + other].sends == 0);
      }
    }
    // The k exchanges are in flight together: the chain of messages is that of one.
    CHECK(statistics(schedule).critical_message_count == expected_doubling_steps(h));
  });
}

TEST_CASE("DPML equation 6: a process copies n / l from each of the l leaders, but what it has") {
  for_each_dpml([](const Schedule& schedule, std::size_t h, std::size_t members, std::size_t l,
                   std::size_t k) {
    const auto n = static_cast<std::size_t>(schedule.chunk_count);
    const std::vector<WorkerCounts> workers = count_workers(schedule);
    const bool leaders_copy = l == members;
    for (std::size_t node = 0; node < h; ++node) {
      for (std::size_t i = 0; i < members; ++i) {
        const WorkerCounts& counts = workers[node * members + i];
        if (leaders_copy) {  // one step writes to all other members
          CHECK(counts.copies == (members > 1 ? k : 0));
          CHECK(counts.copied * l == (members - 1) * n);
        } else {
          const std::size_t own_lanes = i < l ? 1 : 0;
          CHECK(counts.copies == k * (l - own_lanes));
          CHECK(counts.copied * l == (l - own_lanes) * n);
        }
      }
    }
  });
}

TEST_CASE("DPML equation 7: nothing else is sent, reduced or copied") {
  // Of the 2 p copies of n in the paper, (p - h) are left: n to all members but one of each node.
  for_each_dpml([](const Schedule& schedule, std::size_t h, std::size_t members, std::size_t l,
                   std::size_t k) {
    const auto n = static_cast<std::size_t>(schedule.chunk_count);
    WorkerCounts total;
    for (const WorkerCounts& worker : count_workers(schedule)) {
      total.sends += worker.sends;
      total.sent += worker.sent;
      total.node_reduced += worker.node_reduced;
      total.message_reduced += worker.message_reduced;
      total.copied += worker.copied;
    }
    DoublingCounts doubling{0, 0};
    for (std::size_t node = 0; node < h; ++node) {
      doubling.sends += expected_doubling(h, node).sends;
      doubling.reductions += expected_doubling(h, node).reductions;
    }
    CHECK(total.sends == k * l * doubling.sends);
    CHECK(total.sent == doubling.sends * n);
    CHECK(total.node_reduced == h * (members - 1) * n);
    CHECK(total.message_reduced == doubling.reductions * n);
    CHECK(total.copied == h * (members - 1) * n);
  });
}

/// Checks what every node sends in `ring_count` rings (lanes) over a vector of `elements` against
/// the ring paper's lemma 4, in elements.
void check_ring_bytes(std::string_view name, std::size_t nodes, std::size_t elements) {
  CAPTURE(nodes);
  CAPTURE(elements);
  const Schedule schedule = generate(name, Shape::uniform(static_cast<int>(nodes), 1, 1));
  const auto partition = Partition::balanced(elements, schedule.chunk_count);
  const std::size_t bound = (2 * (nodes - 1) * elements + nodes - 1) / nodes;  // rounded up
  const std::size_t largest_chunk = (elements + nodes - 1) / nodes;
  std::size_t total = 0;
  for (const NodeStatistics& node : statistics(schedule, partition, 1).nodes) {
    CHECK(node.sent <= bound + largest_chunk);
    CHECK(node.sent <= bound + 1);
    CHECK(node.sent <= 2 * (nodes - 1) * largest_chunk);  // the paper's own rounding
    if (elements % nodes == 0) CHECK(node.sent * nodes == 2 * (nodes - 1) * elements);
    total += node.sent;
  }
  CHECK(total == 2 * (nodes - 1) * elements);  // lemma 3: the least possible
}

TEST_CASE("ring, lemma 4 and theorem 1: a node sends 2 (N - 1) / N n, or one chunk more") {
  for (std::size_t nodes = 2; nodes <= 17; ++nodes) {
    const Schedule schedule = generate("ring", Shape::uniform(static_cast<int>(nodes), 1, 1));
    const ScheduleStatistics counts = statistics(schedule);
    CHECK(counts.critical_message_count == 2 * (nodes - 1));
    CHECK(counts.maximum.send_count == 2 * (nodes - 1));
    for (const std::size_t elements :
         {std::size_t{0}, std::size_t{1}, nodes - 1, nodes, nodes + 1, 5 * nodes, 5 * nodes + 2,
          std::size_t{101}, std::size_t{1009}}) {
      check_ring_bytes("ring", nodes, elements);
      check_ring_bytes("dpml-pipelined-ring", nodes, elements);
    }
  }
}

TEST_CASE("butterfly: the bound of the ring in 2 lg N steps where N is a power of two") {
  for (std::size_t nodes = 2; nodes <= 17; ++nodes) {
    CAPTURE(nodes);
    for (const char* name : {"halving-doubling", "smp-butterfly"}) {
      CAPTURE(name);
      const Schedule schedule = generate(name, Shape::uniform(static_cast<int>(nodes), 1, 1));
      const ScheduleStatistics counts = statistics(schedule);
      const auto n = static_cast<std::size_t>(schedule.chunk_count);
      const bool is_power = std::has_single_bit(nodes);
      CHECK(counts.critical_message_count == 2 * floor_log2(nodes) + (is_power ? 0 : 2));
      const std::size_t power = std::bit_floor(nodes);
      // The odd ones of the folding nodes send a vector more.
      CHECK(counts.maximum.sent * power == (2 * (power - 1) + (is_power ? 0 : power)) * n);
    }
  }
}

TEST_CASE("circulant graph: the bound of the ring in 2 ceil(lg N) steps for every N") {
  for (std::size_t nodes = 2; nodes <= 17; ++nodes) {
    CAPTURE(nodes);
    for (const char* name : {"circulant", "single-leader-circulant", "dpml-circulant"}) {
      CAPTURE(name);
      const Schedule schedule = generate(name, Shape::uniform(static_cast<int>(nodes), 1, 1));
      const ScheduleStatistics counts = statistics(schedule);
      // For a power of two all that a node sends in a step has been combined in the step before.
      CHECK(counts.critical_message_count <= 2 * ceil_log2(nodes));
      if (std::has_single_bit(nodes)) CHECK(counts.critical_message_count == 2 * ceil_log2(nodes));
      CHECK(static_cast<std::size_t>(schedule.chunk_count) == nodes);
      CHECK(counts.maximum.scratch == nodes / 2);
      for (const WorkerCounts& node : count_workers(schedule)) {
        CHECK(node.sent == 2 * (nodes - 1));
        CHECK(node.message_reduced == nodes - 1);
        CHECK(node.copies == 0);
        // Two messages in each step where blocks wrap around, and one for the block in the middle.
        CHECK(node.sends >= 2 * ceil_log2(nodes));
        CHECK(node.sends <= 4 * ceil_log2(nodes) + 1);
      }
      for (const std::size_t elements : {std::size_t{1}, nodes - 1, 5 * nodes + 2}) {
        const auto partition = Partition::balanced(elements, schedule.chunk_count);
        std::size_t total = 0;
        for (const NodeStatistics& node : statistics(schedule, partition, 1).nodes) {
          total += node.sent;
        }
        CHECK(total == 2 * (nodes - 1) * elements);  // the ring's lemma 3: the least possible
      }
    }
  }
}

TEST_CASE("mixed radix: the bound of the ring in a round for each radix, and back") {
  for (std::size_t nodes = 2; nodes <= 40; ++nodes) {
    CAPTURE(nodes);
    const std::vector<int> radices = radices_of(static_cast<int>(nodes));
    const std::size_t peers =
        std::accumulate(radices.begin(), radices.end(), std::size_t{0}) - radices.size();
    const Schedule schedule =
        generate("dpml-mixed-radix", Shape::uniform(static_cast<int>(nodes), 1, 1));
    CHECK(statistics(schedule).critical_message_count == 2 * radices.size());
    CHECK(statistics(schedule).maximum.scratch ==
          nodes - nodes / static_cast<std::size_t>(radices.front()));
    for (const WorkerCounts& node : count_workers(schedule)) {
      CHECK(node.sends == 2 * peers);
      CHECK(node.sent == 2 * (nodes - 1));
      CHECK(node.message_reduced == nodes - 1);
    }
  }
}

TEST_CASE("SMP-binomial: node 0 sends n lg N, all together 2 (N - 1) n") {
  for (std::size_t nodes = 2; nodes <= 17; ++nodes) {
    for (std::size_t members = 1; members <= 9; ++members) {
      CAPTURE(nodes);
      CAPTURE(members);
      const Schedule schedule = generate(
          "smp-binomial", Shape::uniform(static_cast<int>(nodes), static_cast<int>(members), 1));
      const ScheduleStatistics counts = statistics(schedule);
      const auto n = static_cast<std::size_t>(schedule.chunk_count);
      // The farthest node has as many hops as its number has bits set.
      CHECK(counts.critical_message_count == 2 * floor_log2(nodes));
      CHECK(counts.message_count == 2 * (nodes - 1));
      CHECK(counts.nodes[0].send_count == ceil_log2(nodes));
      CHECK(counts.nodes[0].sent == ceil_log2(nodes) * n);
      std::size_t most_reduced = 0;
      std::size_t reduced = 0;
      for (const WorkerCounts& worker : count_workers(schedule)) {
        most_reduced = std::max(most_reduced, worker.node_reduced);
        reduced += worker.node_reduced;
      }
      CHECK(most_reduced == ceil_log2(members) * n);
      CHECK(reduced == nodes * (members - 1) * n);
    }
  }
}

TEST_CASE("colour rings: only worker 0 sends, at most 2 n, in a chain of 2 (N - 1) messages") {
  for (std::size_t nodes = 2; nodes <= 17; ++nodes) {
    for (const int lanes : {1, 2, 3, 5}) {
      for (const std::size_t k : {1, 4}) {
        CAPTURE(nodes);
        CAPTURE(lanes);
        CAPTURE(k);
        constexpr std::size_t kMembers = 4;
        const Schedule schedule =
            generate("colour-rings", Shape::uniform(static_cast<int>(nodes), kMembers, lanes),
                     static_cast<int>(k));
        const auto n = static_cast<std::size_t>(schedule.chunk_count);
        const ScheduleStatistics counts = statistics(schedule);
        CHECK(counts.critical_message_count == 2 * (nodes - 1));
        CHECK(counts.message_count == 2 * (nodes - 1) * n);  // a message for each chunk
        CHECK(counts.maximum.sent <= 2 * n);
        const std::vector<WorkerCounts> workers = count_workers(schedule);
        for (std::size_t worker = 0; worker < workers.size(); ++worker) {
          const bool drives_network = worker % kMembers == 0;
          CHECK((workers[worker].sends > 0) == drives_network);
          if (drives_network) CHECK(workers[worker].node_reduced == 0);
          if (!drives_network) CHECK(workers[worker].message_reduced == 0);
        }
      }
    }
  }
}

TEST_CASE("node leader: a node sends n and reduces only its own members' inputs") {
  for (std::size_t hosts = 2; hosts <= 17; ++hosts) {
    for (std::size_t aggregators = 1; aggregators <= 4; ++aggregators) {
      CAPTURE(hosts);
      CAPTURE(aggregators);
      constexpr std::size_t kMembers = 3;
      std::vector<Node> nodes(hosts, Node{kMembers, kMembers});
      nodes.resize(hosts + aggregators, Node{0, 1});
      const Schedule schedule = generate("node-leader", Shape(nodes, 1), 2);
      const auto n = static_cast<std::size_t>(schedule.chunk_count);
      const ScheduleStatistics counts = statistics(schedule);
      const std::size_t used = std::min(aggregators, hosts - 1);
      const std::size_t edges = hosts - 1 + used;
      CHECK(counts.message_count == 2 * edges * 2);  // up and down, two segments
      for (std::size_t host = 0; host < hosts; ++host) {
        CHECK(counts.nodes[host].sent == n);
        CHECK(counts.nodes[host].received == n);
        CHECK(counts.nodes[host].scratch == 0);
      }
      std::size_t fewest = edges;
      std::size_t most = 0;
      for (std::size_t node = hosts; node < hosts + used; ++node) {
        const bool is_root = node + 1 == hosts + used;
        const std::size_t children = counts.nodes[node].received / n - (is_root ? 0 : 1);
        fewest = std::min(fewest, children);
        most = std::max(most, children);
        CHECK(counts.nodes[node].sent == (children + (is_root ? 0 : 1)) * n);
        CHECK(counts.nodes[node].reduce_written == (children - 1) * n);
      }
      CHECK(fewest == edges / used);
      CHECK(most == (edges + used - 1) / used);
    }
  }
}

/// Every shape that algorithms may treat differently, with up to 5 members and lanes.
std::vector<Shape> shapes_to_measure() {
  std::vector<Shape> shapes;
  for (const int nodes : {1, 2, 3, 5, 8, 13}) {
    for (int members = 1; members <= 5; ++members) {
      for (int lanes = 1; lanes <= 5; ++lanes) {
        shapes.push_back(Shape::uniform(nodes, members, lanes));
        std::vector<Node> unequal(static_cast<std::size_t>(nodes), Node{members, members + 1});
        unequal.front() = {1, 1};
        shapes.emplace_back(unequal, lanes);
        for (int aggregators = 1; aggregators <= 3; ++aggregators) {
          unequal.push_back({0, 1});
          shapes.emplace_back(unequal, lanes);
        }
      }
    }
  }
  return shapes;
}

TEST_CASE("no algorithm needs more than twice the vector and 1 MiB of memory on a node") {
  constexpr double kLinesVectorBytes = 16 * 1024;  // longer vectors do not go through lines
  constexpr double kMebibyte = 1024 * 1024;
  for (const Shape& shape : shapes_to_measure()) {
    for (const Algorithm& algorithm : allreduce_algorithms()) {
      if (!algorithm.serves_shape(shape)) continue;
      for (const int segments : {1, 3}) {
        CAPTURE(algorithm.name);
        const Verdict verdict = verify(algorithm.generate(shape, segments));
        REQUIRE(verdict.correct);
        const double vectors = verdict.resources.node_memory_vectors;
        const bool has_lines = algorithm.name.starts_with("lines-");
        if (has_lines) {
          CHECK((vectors - 2) * kLinesVectorBytes <= kMebibyte);
        } else {
          CHECK(vectors <= 2);
        }
      }
    }
  }
}

TEST_CASE("every algorithm keeps the order of operands that it promises") {
  for (const Shape& shape : shapes_to_measure()) {
    for (const Algorithm& algorithm : allreduce_algorithms()) {
      if (!algorithm.serves_shape(shape) || algorithm.order == OperandOrder::any) continue;
      CAPTURE(algorithm.name);
      const Verdict verdict = verify(algorithm.generate(shape, 3));
      REQUIRE(verdict.correct);
      CHECK(verdict.rank_ordered);
      if (algorithm.order != OperandOrder::canonical) continue;
      const Shape one_lane(
          [&] {
            std::vector<Node> nodes;
            for (int node = 0; node < shape.node_count(); ++node) nodes.push_back(shape.node(node));
            return nodes;
          }(),
          1);
      CHECK(verdict.tree_digest ==
            verify(generate("dpml-recursive-doubling", one_lane)).tree_digest);
    }
  }
}

}  // namespace
}  // namespace hycoll
