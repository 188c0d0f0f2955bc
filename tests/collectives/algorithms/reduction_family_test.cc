// The generators of reduce, reduce_scatter, scan and exscan: proved over a sweep of shapes, counted
// against formulas. (tests/collectives/algorithms/algorithm_order_test.cc checks the order of their
// operands.)

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/drawing/statistics.h"
#include "core/schedule/schedule_text.h"
#include "core/verifier/verifier.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace reduction_family_test {

constexpr int kMostNodes = tests::kIsSanitized ? 5 : 9;

int power_of_two_below(int node_count) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count)));
}

int log2_of(int power_of_two) { return std::countr_zero(static_cast<unsigned>(power_of_two)); }

int bits_reversed(int number, int bit_count) {
  int reversed = 0;
  for (int bit = 0; bit < bit_count; ++bit) reversed = 2 * reversed + (number >> bit) % 2;
  return reversed;
}

std::vector<const Algorithm*> family() {
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (combines(algorithm->collective) && algorithm->collective != Collective::allreduce)
      algorithms.push_back(algorithm);
  }
  return algorithms;
}

std::vector<int> segment_counts_of(const Algorithm& algorithm) {
  if (algorithm.segmentation == Segmentation::none) return {1};
  return {1, 3};
}

std::vector<int> all_roots(const Algorithm& algorithm, const Shape& shape) {
  std::vector<int> roots = {0};
  if (algorithm.collective != Collective::reduce) return roots;
  for (int root = 1; root < shape.member_count(); ++root) roots.push_back(root);
  return roots;
}

/// The first, the last and one between.
std::vector<int> some_roots(const Algorithm& algorithm, const Shape& shape) {
  const std::vector<int> all = all_roots(algorithm, shape);
  if (all.size() < 3) return all;
  return {all.front(), all[all.size() / 2], all.back()};
}

Verdict prove(const Algorithm& algorithm, const Shape& shape, int segments, int root) {
  const Schedule schedule = algorithm.generate(shape, segments, root);
  INFO(describe_call(schedule) << " on " << to_text(shape) << ", " << segments << " segments");
  const Verdict verdict = verify(schedule);
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  if (algorithm.name.starts_with("lines-")) return verdict;  // short: bounded by kMaximumLinesBytes
  CHECK(verdict.resources.node_memory_vectors <= 2);
  return verdict;
}

/// Half of them: `hycoll verify` proves all.
void prove_all(const Shape& shape, tests::Sample& sample) {
  for (const Algorithm* algorithm : family()) {
    if (!algorithm->serves_shape(shape)) continue;
    for (const int segments : segment_counts_of(*algorithm)) {
      for (const int root : some_roots(*algorithm, shape)) {
        if (!sample.takes_next()) continue;
        prove(*algorithm, shape, segments, root);
      }
    }
  }
}

TEST_CASE("the family is proved on equal nodes") {
  tests::Sample sample;
  for (int nodes = 1; nodes <= kMostNodes; ++nodes) {
    for (int members = 1; members <= 5; ++members) {
      for (int lanes = 1; lanes <= 5; ++lanes)
        prove_all(Shape::uniform(nodes, members, lanes), sample);
    }
  }
}

TEST_CASE("the family is proved on unequal nodes, with helping workers and leaders anywhere") {
  tests::Sample sample;
  for (int nodes = 1; nodes <= kMostNodes; ++nodes) {
    for (const int period : {2, 3, 5}) {
      std::vector<Node> staircase;
      std::vector<Node> heavy(static_cast<std::size_t>(nodes), Node{1, 2});
      for (int node = 0; node < nodes; ++node) {
        const int members = 1 + (node + 1) % period;
        staircase.push_back({.members = members, .workers = members + node % 3});
      }
      heavy[static_cast<std::size_t>(nodes / 2)] = {period, period};
      std::vector<int> lane_workers;
      for (const int worker : {4, 1, 1, 0, 2}) {
        lane_workers.push_back(worker);
        const auto lanes = static_cast<int>(lane_workers.size());
        prove_all(Shape(staircase, lanes), sample);
        prove_all(Shape(heavy, lanes), sample);
        prove_all(Shape(staircase, lanes, Visibility::direct, lane_workers), sample);
      }
    }
  }
}

TEST_CASE("every member can be the root") {
  for (int nodes = 1; nodes <= 7; ++nodes) {
    std::vector<Node> unequal(static_cast<std::size_t>(nodes), Node{1, 1});
    unequal.back() = {3, 3};
    for (const Shape& shape : {Shape::uniform(nodes, 1, 1), Shape::uniform(nodes, 3, 1),
                               Shape::uniform(nodes, 2, 2), Shape(unequal, 2)}) {
      for (const Algorithm& algorithm : algorithms_of(Collective::reduce)) {
        if (!algorithm.serves_shape(shape)) continue;
        for (const int root : all_roots(algorithm, shape)) prove(algorithm, shape, 1, root);
      }
    }
  }
}

/// The messages of all nodes and the chunks that the busiest node sends, per lane.
struct Traffic {
  int message_count;
  int sent_chunk_count;
};

/// Checks an algorithm with one member per node, for any number of lanes, segments and roots.
/// `expected` is given the nodes and the segments; a lane has `chunks_per_lane` of them.
template <class Expected>
void check_traffic(Collective collective, std::string_view name, const Expected& expected,
                   const std::vector<int>& lane_counts = {1, 3}) {
  const Algorithm& algorithm = find_algorithm(collective, name);
  for (int nodes = 2; nodes <= kMostNodes; ++nodes) {
    for (const int lanes : lane_counts) {
      const Shape shape = Shape::uniform(nodes, 1, lanes);
      if (!algorithm.serves_shape(shape)) continue;
      for (const int segments : segment_counts_of(algorithm)) {
        for (const int root : some_roots(algorithm, shape)) {
          CAPTURE(name);
          CAPTURE(nodes);
          CAPTURE(lanes);
          CAPTURE(segments);
          const Resources found = prove(algorithm, shape, segments, root).resources;
          const Traffic traffic = expected(nodes, segments);
          CHECK(found.message_count == static_cast<std::size_t>(lanes * traffic.message_count));
          CHECK(found.node_sent_chunk_count ==
                static_cast<std::size_t>(lanes * traffic.sent_chunk_count));
        }
      }
    }
  }
}

TEST_CASE("reduce sends what its formulas say") {
  const auto tree = [](int nodes, int segments) {
    return Traffic{.message_count = (nodes - 1) * segments, .sent_chunk_count = segments};
  };
  check_traffic(Collective::reduce, "dpml-binomial", tree);
  check_traffic(Collective::reduce, "single-leader-binomial", tree);
  check_traffic(Collective::reduce, "lines-binomial", tree);
  // N chunks (times the segments) per lane: N - 1 blocks given away, and the own one gathered.
  const auto gathered = [](int nodes, int segments) {
    return Traffic{.message_count = (nodes * (nodes - 1) + nodes - 1) * segments,
                   .sent_chunk_count = nodes * segments};
  };
  check_traffic(Collective::reduce, "dpml-ring", gathered);
  check_traffic(Collective::reduce, "dpml-pairwise", gathered);
  // p chunks per lane: p - 1 given away, at most p / 2 gathered.
  check_traffic(Collective::reduce, "dpml-halving", [](int nodes, int) {
    const int p = power_of_two_below(nodes);
    return Traffic{.message_count = p * log2_of(p) + p - 1 + nodes - p,
                   .sent_chunk_count = p - 1 + p / 2};
  });
}

TEST_CASE("reduce_scatter sends what its formulas say") {
  // A chunk (times the segments) per lane and node: all but one's own are given away.
  const auto all_but_own = [](int nodes, int segments) {
    return Traffic{.message_count = nodes * (nodes - 1) * segments,
                   .sent_chunk_count = (nodes - 1) * segments};
  };
  check_traffic(Collective::reduce_scatter, "dpml-pairwise", all_but_own);
  check_traffic(Collective::reduce_scatter, "dpml-ring", all_but_own);
  check_traffic(Collective::reduce_scatter, "lines-pairwise", all_but_own);
  // Nodes that fold give everything away, partners all but what belongs to themselves.
  const auto halving = [](int nodes, int) {
    const int p = power_of_two_below(nodes);
    const int folding = nodes - p;
    return Traffic{.message_count = p * log2_of(p) + 2 * folding,
                   .sent_chunk_count = folding > 0 ? nodes : nodes - 1};
  };
  check_traffic(Collective::reduce_scatter, "lines-halving", halving);
  check_traffic(Collective::reduce_scatter, "dpml-halving", halving, {1});
  // What each partner ends up with belongs to somebody else, unless its number reads the same
  // backwards in bits.
  const auto butterfly = [](int nodes, int) {
    const int p = power_of_two_below(nodes);
    const int folding = nodes - p;
    int deliveries = 0;
    for (int node = 0; node < nodes; ++node) {
      const int partner = node < 2 * folding ? node / 2 : node - folding;
      const bool is_acting = node >= 2 * folding || node % 2 == 1;
      if (!is_acting || bits_reversed(partner, log2_of(p)) != partner) ++deliveries;
    }
    const bool sends_own_away = folding > 0 || p > 2;
    return Traffic{.message_count = p * log2_of(p) + folding + deliveries,
                   .sent_chunk_count = sends_own_away ? nodes : nodes - 1};
  };
  // A message from every node in each of ceil(lg N) steps, another one where the parts reach over
  // the last one, and another one where only those before the middle one have been combined.
  const auto circulant = [](int nodes, int) {
    int messages = 0;
    for (int skip = (nodes + 1) / 2, before = nodes;; before = skip, skip = (skip + 1) / 2) {
      for (int node = 0; node < nodes; ++node) {
        ++messages;
        for (int part = skip + 1; part < before; ++part) {
          const bool is_middle = nodes % 2 == 1 && part == nodes / 2;
          if (is_middle || (node + part) % nodes == 0) ++messages;
        }
      }
      if (skip == 1) break;
    }
    return Traffic{.message_count = messages, .sent_chunk_count = nodes - 1};
  };
  check_traffic(Collective::reduce_scatter, "dpml-circulant", circulant, {1});
  check_traffic(Collective::reduce_scatter, "lines-butterfly", butterfly);
  check_traffic(Collective::reduce_scatter, "dpml-butterfly", butterfly, {1});
}

TEST_CASE("with several lanes halving and circulant send the same, one part in a message") {
  for (const std::string_view name : {"dpml-halving", "dpml-butterfly", "dpml-circulant"}) {
    const Algorithm& algorithm = find_algorithm(Collective::reduce_scatter, name);
    for (int nodes = 2; nodes <= kMostNodes; ++nodes) {
      CAPTURE(name);
      CAPTURE(nodes);
      const ScheduleStatistics one = statistics(algorithm.generate(Shape::uniform(nodes, 3, 1)));
      const ScheduleStatistics three = statistics(algorithm.generate(Shape::uniform(nodes, 3, 3)));
      CHECK(three.maximum.sent == one.maximum.sent);
      CHECK(three.message_count >= 3 * one.message_count);
      const bool folds = power_of_two_below(nodes) != nodes && name == "dpml-halving";
      if (folds || name == "dpml-butterfly") continue;
      CHECK(three.message_count == static_cast<std::size_t>(3 * nodes * (nodes - 1)));
    }
  }
}

TEST_CASE("a pairwise exchange refuses nodes that would have to receive too much") {
  const Algorithm& pairwise = find_algorithm(Collective::reduce_scatter, "dpml-pairwise");
  const auto serves = [&](std::vector<Node> nodes) {
    return pairwise.serves_shape(Shape(std::move(nodes), 1));
  };
  CHECK(serves({{9, 9}, {1, 1}}));
  CHECK(serves({{9, 9}, {1, 1}, {1, 1}}));
  CHECK(serves({{3, 3}, {1, 1}, {1, 1}, {1, 1}}));
  CHECK_FALSE(serves({{4, 4}, {1, 1}, {1, 1}, {1, 1}}));
  CHECK(serves({{2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}));
  CHECK_FALSE(serves({{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}));
}

TEST_CASE("on one node a reduce_scatter passes over memory once") {
  for (const Algorithm& algorithm : algorithms_of(Collective::reduce_scatter)) {
    for (std::size_t members = 2; members <= 5; ++members) {
      for (int lanes = 1; lanes <= 4; ++lanes) {
        const Shape shape = Shape::uniform(1, static_cast<int>(members), lanes);
        if (!algorithm.serves_shape(shape)) continue;
        CAPTURE(algorithm.name);
        CAPTURE(members);
        CAPTURE(lanes);
        const Schedule schedule = algorithm.generate(shape);
        const auto chunks = static_cast<std::size_t>(schedule.chunk_count);
        const NodeStatistics counted = statistics(schedule).maximum;
        CHECK(counted.reduce_read == members * chunks);
        CHECK(counted.reduce_written == chunks);
        CHECK(counted.scratch == 0);
        const bool through_lines = algorithm.name.starts_with("lines-");
        CHECK(counted.copy_read == (through_lines ? members * chunks : 0));
      }
    }
  }
}

TEST_CASE("on one node with a lane per member everybody reduces its own block") {
  const Schedule schedule =
      find_algorithm(Collective::reduce_scatter, "dpml-pairwise").generate(Shape::uniform(1, 4, 4));
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::reduce) continue;
      const Span written = schedule.destinations(step).front();
      CHECK(written == Span{4 + strand.worker, strand.worker, 1});
    }
  }
}

TEST_CASE("scan and exscan send what their formulas say") {
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    const auto doubling = [](int nodes, int segments) {
      int messages = 0;
      int steps = 0;  // of node 0, which sends in all of them
      for (int distance = 1; distance < nodes; distance *= 2, ++steps) messages += nodes - distance;
      return Traffic{.message_count = messages * segments, .sent_chunk_count = steps * segments};
    };
    check_traffic(collective, "dpml-recursive-doubling", doubling);
    check_traffic(collective, "lines-recursive-doubling", doubling);
    check_traffic(collective, "dpml-chain", [](int nodes, int segments) {
      return Traffic{.message_count = (nodes - 1) * segments, .sent_chunk_count = segments};
    });
    // A chunk for each node: node 0 gives away its totals of N - 1 blocks and the N - 1 prefixes of
    // its own block, the next ones a prefix less.
    check_traffic(collective, "dpml-pairwise", [](int nodes, int) {
      return Traffic{.message_count = 2 * (nodes - 1) * (nodes - 1),
                     .sent_chunk_count = 2 * (nodes - 1)};
    });
    check_traffic(collective, "lines-direct", [](int nodes, int) {
      return Traffic{.message_count = nodes * (nodes - 1) / 2, .sent_chunk_count = nodes - 1};
    });
  }
}

TEST_CASE("messages of scans that follow one another") {
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    for (int nodes = 2; nodes <= kMostNodes; ++nodes) {
      for (const int members : {1, 3}) {
        CAPTURE(name_of(collective));
        CAPTURE(nodes);
        CAPTURE(members);
        const auto critical = [&](std::string_view name) {
          const Shape shape = Shape::uniform(nodes, members, 1);
          return statistics(find_algorithm(collective, name).generate(shape))
              .critical_message_count;
        };
        const auto doublings = static_cast<std::size_t>(log2_of(power_of_two_below(nodes)));
        CHECK(critical("dpml-recursive-doubling") == doublings);
        CHECK(critical("dpml-chain") == static_cast<std::size_t>(nodes - 1));
        CHECK(critical("dpml-pairwise") == (nodes == 2 ? 1 : 2));
        CHECK(critical("lines-direct") == 1);
      }
    }
  }
}

TEST_CASE("nodes with many members carry along what precedes their groups") {
  for (const int members : {8, 9, 10, 13, 16, 31}) {
    for (const int nodes : {1, 3}) {
      for (const int lanes : {1, 2}) {
        const Shape shape = Shape::uniform(nodes, members, lanes);
        for (const Collective collective : {Collective::scan, Collective::exscan}) {
          std::vector<std::uint64_t> canonical;
          for (const Algorithm& algorithm : algorithms_of(collective)) {
            if (!algorithm.serves_shape(shape)) continue;
            const Verdict verdict = prove(algorithm, shape, 1, 0);
            CHECK(verdict.rank_ordered);
            if (algorithm.order == OperandOrder::canonical) {
              canonical.push_back(verdict.tree_digest);
              CHECK(canonical.back() == canonical.front());
            }
          }
          CHECK(canonical.size() >= 2);
        }
      }
    }
  }
}

TEST_CASE("on one node scans pass over memory as little as they can in place") {
  for (std::size_t members = 2; members <= 12; ++members) {
    const Shape shape = Shape::uniform(1, static_cast<int>(members), 1);
    CAPTURE(members);
    for (const std::string_view name : {"dpml-chain", "dpml-recursive-doubling", "dpml-pairwise"}) {
      CAPTURE(name);
      const NodeStatistics scan =
          statistics(find_algorithm(Collective::scan, name).generate(shape)).maximum;
      CHECK(scan.reduce_read == 2 * (members - 1));
      CHECK(scan.reduce_written == members - 1);
      CHECK(scan.copy_written == 1);
      CHECK(scan.scratch == 0);
      const NodeStatistics exscan =
          statistics(find_algorithm(Collective::exscan, name).generate(shape)).maximum;
      if (members <= 8) {
        CHECK(exscan.reduce_read + exscan.copy_read == members * (members - 1) / 2);
        CHECK(exscan.reduce_written + exscan.copy_written == members - 1);
        CHECK(exscan.scratch == 0);
      } else {
        const std::size_t passes =
            exscan.reduce_read + exscan.reduce_written + exscan.copy_read + exscan.copy_written;
        CHECK(passes < 5 * members);
        CHECK(exscan.scratch == 1);
      }
    }
  }
}

TEST_CASE("on one node through lines nobody reads what does not concern it") {
  for (std::size_t members = 2; members <= 6; ++members) {
    const Shape shape = Shape::uniform(1, static_cast<int>(members), 1);
    for (const Collective collective : {Collective::scan, Collective::exscan}) {
      for (const std::string_view name : {"lines-direct", "lines-recursive-doubling"}) {
        CAPTURE(name_of(collective));
        CAPTURE(name);
        CAPTURE(members);
        const NodeStatistics counted =
            statistics(find_algorithm(collective, name).generate(shape)).maximum;
        CHECK(counted.lines == members - 1);  // nobody reads the last one's
        const std::size_t outputs = members - (collective == Collective::scan ? 0 : 1);
        CHECK(counted.reduce_written + counted.copy_written == members - 1 + outputs);
      }
    }
  }
}

TEST_CASE("on one node a reduce passes over memory once") {
  for (const Algorithm& algorithm : algorithms_of(Collective::reduce)) {
    for (std::size_t members = 2; members <= 5; ++members) {
      const Shape shape = Shape::uniform(1, static_cast<int>(members), 1);
      for (const int root : all_roots(algorithm, shape)) {
        CAPTURE(algorithm.name);
        CAPTURE(members);
        CAPTURE(root);
        const NodeStatistics counted = statistics(algorithm.generate(shape, 1, root)).maximum;
        CHECK(counted.reduce_read == members);
        CHECK(counted.reduce_written == 1);
        CHECK(counted.scratch == 0);
        const bool through_lines = algorithm.name.starts_with("lines-");
        CHECK(counted.copy_read == (through_lines ? members - 1 : 0));
      }
    }
  }
}

}  // namespace reduction_family_test
}  // namespace hycoll
