// The generators of all-to-all: proved over a sweep of shapes, counted against formulas.

#include <doctest/doctest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/alltoall/alltoall.h"
#include "collectives/algorithms/registry.h"
#include "core/drawing/statistics.h"
#include "core/schedule/packs.h"
#include "core/schedule/part_checks.h"
#include "core/staging/staging.h"
#include "core/verifier/verifier.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace alltoall_algorithms_test {

Schedule schedule_of(std::string_view name, const Shape& shape) {
  return find_algorithm(Collective::alltoall, name).generate(shape);
}

Resources resources_of(std::string_view name, const Shape& shape) {
  const Verdict verdict = verify(schedule_of(name, shape));
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  return verdict.resources;
}

/// Is shown steps that nobody keeps.
class Heedless : public StepReader {
 public:
  Heedless() : StepReader(Dependencies::ignored) {}
  void read(const Schedule&, int, const Step&, std::span<const Span>, std::span<const Span>,
            std::span<const int>) override {}
};

void prove_all(const Shape& shape) {
  for (const Algorithm& algorithm : algorithms_of(Collective::alltoall)) {
    if (!algorithm.serves_shape(shape)) continue;
    const Schedule schedule = algorithm.generate(shape);
    const Verdict verdict = verify(schedule);
    REQUIRE_MESSAGE(verdict.correct, verdict.failure);
    if (algorithm.name == "lines") continue;  // bounded by kMaximumLinesBytes
    const Verdict through_staging = verify(staged(schedule));
    REQUIRE_MESSAGE(through_staging.correct, through_staging.failure);
  }
}

TEST_CASE("every algorithm is correct on equal and unequal nodes") {
  for (int nodes = 1; nodes <= (tests::kIsSanitized ? 4 : 8); ++nodes) {
    for (int members = 1; members <= 3; ++members) {
      for (int lanes = 1; lanes <= 4; ++lanes) {
        prove_all(Shape::uniform(nodes, members, lanes));
        std::vector<Node> unequal;
        for (int node = 0; node < nodes; ++node) {
          unequal.push_back({.members = 1 + node % members, .workers = 2 + node % members});
        }
        prove_all(Shape(std::move(unequal), lanes));
      }
    }
  }
}

TEST_CASE(
    "directly, every member sends a block to each other one, from its input to their outputs") {
  for (int nodes = 2; nodes <= 17; ++nodes) {
    CAPTURE(nodes);
    const auto others = static_cast<std::size_t>(nodes) - 1;
    for (const std::string_view name : {"linear", "pairwise", "onmpml"}) {
      const Resources flat = resources_of(name, Shape::uniform(nodes, 1, 1));
      CHECK(flat.message_count == others * static_cast<std::size_t>(nodes));
      CHECK(flat.node_sent_chunk_count == others);
      CHECK(flat.node_memory_chunk_count == 0);
    }
    CHECK(resources_of("linear", Shape::uniform(nodes, 1, 1)).strand_in_flight == 2 * others);
    CHECK(resources_of("pairwise", Shape::uniform(nodes, 1, 1)).strand_in_flight == 2);
  }
}

TEST_CASE("leaders send one message for each pair of nodes, instead of one for each of members") {
  for (const std::string_view name : {"l-a2a", "mpml", "onmpml", "multi-leader-pairwise"}) {
    CAPTURE(name);
    const bool holds_all = name != "multi-leader-pairwise";
    for (const int members : {2, 3, 4}) {
      for (const int nodes : {2, 3, 5}) {
        const Resources led = resources_of(name, Shape::uniform(nodes, members, 1));
        const auto others = static_cast<std::size_t>(nodes) - 1;
        const auto blocks = static_cast<std::size_t>(members) * static_cast<std::size_t>(members);
        CHECK(led.message_count == others * static_cast<std::size_t>(nodes));
        CHECK(led.node_sent_chunk_count == others * blocks);
        const std::size_t held = holds_all ? others : std::min<std::size_t>(others, 2);
        CHECK(led.node_memory_chunk_count == 2 * held * blocks);
      }
    }
  }
}

TEST_CASE("in segments, leaders hold two of them each way, however many nodes there are") {
  const Algorithm& algorithm = find_algorithm(Collective::alltoall, "multi-leader-pairwise");
  for (const int nodes : {2, 3, 5, 8}) {
    for (const int segments : {1, 2, 4, 8, 16, 100}) {
      CAPTURE(nodes);
      CAPTURE(segments);
      const Verdict verdict = verify(algorithm.generate(Shape::uniform(nodes, 4, 1), segments));
      REQUIRE_MESSAGE(verdict.correct, verdict.failure);
      const auto others = static_cast<std::size_t>(nodes) - 1;
      const auto pieces = static_cast<std::size_t>(std::min(segments, 16));
      CHECK(verdict.resources.node_message_count == others * pieces);
      CHECK(verdict.resources.node_sent_chunk_count == others * 16);
      // But for the leader's own blocks, one by one.
      const std::size_t slots = 2 * std::min<std::size_t>(others * pieces, 2);
      CHECK(verdict.resources.node_memory_chunk_count <= slots * (16 / pieces));
    }
  }
  // Its own blocks lie where they are.
  const Verdict single = verify(algorithm.generate(Shape::uniform(2, 2, 2), 2));
  CHECK(single.resources.node_memory_chunk_count == 2);
}

TEST_CASE("leaders are dealt the other nodes in turn, and share a tile where there are fewer") {
  const Shape shape = Shape::uniform(6, 4, 2);
  const Schedule schedule = schedule_of("onmpml", shape);
  for (const Strand& strand : schedule.strands) {
    const int node = shape.node_of_worker(strand.worker);
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::send) continue;
      const int distance = (step.peer_node - node + 6) % 6;
      CHECK(step.lane == (distance - 1) % 2);
      CHECK(shape.leader(node, step.lane) == strand.worker);
    }
  }
  // Two nodes: four lanes each have the blocks for one of four members.
  const Resources shared = resources_of("mpml", Shape::uniform(2, 4, 4));
  CHECK(shared.node_message_count == 4);
  CHECK(shared.node_sent_chunk_count == 16);
}

/// The number of steps of a strand before the first one of a kind, and before the last one.
std::pair<std::size_t, std::size_t> first_and_last(const Strand& strand, StepKind kind) {
  const auto is_one = [kind](const Step& step) { return step.kind == kind; };
  const auto first = std::ranges::find_if(strand.steps, is_one);
  const auto last = std::find_if(strand.steps.rbegin(), strand.steps.rend(), is_one);
  return {static_cast<std::size_t>(first - strand.steps.begin()),
          static_cast<std::size_t>(last.base() - strand.steps.begin()) - 1};
}

TEST_CASE("overlapped, what is gathered is sent at once; in phases, last") {
  const Shape shape = Shape::uniform(4, 3, 1);
  const Schedule overlapped = schedule_of("onmpml", shape);
  const Strand& leader = overlapped.strands.front();
  const auto [first_send, last_send] = first_and_last(leader, StepKind::send);
  // Behind what three members are to have, and so on.
  CHECK(first_send == first_and_last(leader, StepKind::copy).first + 3);
  CHECK(last_send == first_send + 2 * 4);
  const Schedule phased = schedule_of("l-a2a", shape);
  CHECK(first_and_last(phased.strands.front(), StepKind::recv).first ==
        first_and_last(phased.strands.front(), StepKind::copy).first + 9);
}

/// The further strands of a worker, by what they do first.
std::vector<const Strand*> receiving_strands(const Schedule& schedule, int worker) {
  std::vector<const Strand*> strands;
  for (const Strand& strand : schedule.strands) {
    if (strand.worker == worker && !strand.steps.empty() &&
        strand.steps.front().kind == StepKind::recv) {
      strands.push_back(&strand);
    }
  }
  return strands;
}

TEST_CASE("overlapped, what has arrived is scattered in any order, by few strands") {
  const Schedule four = schedule_of("onmpml", Shape::uniform(4, 3, 1));
  const std::vector<const Strand*> strands = receiving_strands(four, 0);
  CHECK(strands.size() == 3);
  for (const Strand* strand : strands) {
    CHECK(std::ranges::count(strand->steps, StepKind::recv, &Step::kind) == 1);
    CHECK(std::ranges::count(strand->steps, StepKind::copy, &Step::kind) == 3);
  }
  CHECK(receiving_strands(schedule_of("onmpml", Shape::uniform(20, 2, 1)), 0).size() == 8);
  // One arrival, arrivals that lie where they belong, and phases need none.
  CHECK(receiving_strands(schedule_of("onmpml", Shape::uniform(2, 3, 1)), 0).empty());
  CHECK(receiving_strands(schedule_of("linear", Shape::uniform(4, 1, 1)), 0).empty());
  CHECK(receiving_strands(schedule_of("mpml", Shape::uniform(4, 3, 1)), 0).empty());
}

/// The members whose buffers the copies of a worker touch.
std::set<int> members_touched(const Schedule& schedule, int worker) {
  std::set<int> members;
  for (const Strand& strand : schedule.strands) {
    if (strand.worker != worker) continue;
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::copy) continue;
      members.insert(schedule.buffer_of(schedule.sources(step).front()).owner);
      members.insert(schedule.buffer_of(schedule.destinations(step).front()).owner);
    }
  }
  return members;
}

int steps_of(const Schedule& schedule, StepKind kind) {
  int count = 0;
  for (const Strand& strand : schedule.strands) {
    count += static_cast<int>(
        std::ranges::count_if(strand.steps, [&](const Step& step) { return step.kind == kind; }));
  }
  return count;
}

TEST_CASE("along the Z-curve a leader touches few members, and waits for these only") {
  const Shape shape = Shape::uniform(1, 16, 16);
  const Schedule schedule = schedule_of("sh-numa-co", shape);
  for (int worker = 0; worker < 16; ++worker) {
    // Quarter by quarter: first half of the senders for the first of the receivers, and so on.
    const int quarter = worker / 4;
    const int sixteenth = worker % 4;
    const int from = quarter / 2 * 8 + sixteenth / 2 * 4;
    const int to = quarter % 2 * 8 + sixteenth % 2 * 4;
    std::set<int> expected;
    for (int i = 0; i < 4; ++i) expected.insert({from + i, to + i});
    CHECK(members_touched(schedule, worker) == expected);
  }
  CHECK(steps_of(schedule, StepKind::copy) == 16 * 16);
  // Of 16 pieces 4 lie on the diagonal and touch 4 members, the others 8; leaders do not wait for
  // themselves. Twice: leaders for members, and these for leaders.
  int waits = 0;
  for (int worker = 0; worker < 16; ++worker) {
    const std::set<int> touched = members_touched(schedule, worker);
    waits += 2 * static_cast<int>(touched.size() - touched.count(worker));
  }
  CHECK(steps_of(schedule, StepKind::wait) == waits);
  CHECK(waits <= 2 * (4 * 4 + 12 * 8));
  CHECK(steps_of(schedule_of("onmpml", shape), StepKind::wait) == 2 * 16 * 15);
}

TEST_CASE("pieces of the curve follow their leaders' workers, wherever these are") {
  const Shape shape = Shape::uniform(1, 4, 2).with_leaders({{3, 1}});
  const Schedule schedule = schedule_of("sh-numa-co", shape);
  CHECK(verify(schedule).correct);
  const auto has_copied = [&](int worker, int from) {
    return members_touched(schedule, worker).count(from) > 0;
  };
  // Two pieces: senders 0 and 1 for all, then 2 and 3 for all; all receive.
  for (const int worker : {1, 3}) {
    for (int member = 0; member < 4; ++member) CHECK(has_copied(worker, member));
  }
  const Strand& first = *std::ranges::find_if(
      schedule.strands, [](const Strand& strand) { return strand.worker == 1; });
  for (const Step& step : first.steps) {
    if (step.kind != StepKind::copy) continue;
    CHECK(schedule.buffer_of(schedule.sources(step).front()).owner < 2);
  }
}

TEST_CASE("tiles are gathered along the curve, and lie as others do") {
  const Shape shape = Shape::uniform(2, 4, 1);
  const Schedule schedule = schedule_of("sh-numa-co", shape);
  std::vector<int> senders;
  for (const Step& step : schedule.strands.front().steps) {
    if (step.kind == StepKind::send) break;
    if (step.kind != StepKind::copy) continue;
    senders.push_back(schedule.buffer_of(schedule.sources(step).front()).owner);
  }
  CHECK(senders == std::vector{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3});
  const Resources counted = verify(schedule).resources;
  const Resources plain = resources_of("onmpml", shape);
  CHECK(counted.message_count == plain.message_count);
  CHECK(counted.node_sent_chunk_count == plain.node_sent_chunk_count);
  CHECK(counted.node_memory_chunk_count == plain.node_memory_chunk_count);
}

/// The digits of the distances 1, ..., N - 1 that are not 0, and those that there are at all: what
/// a node sends in tiles, and in messages.
struct BruckCounts {
  std::size_t tiles = 0;
  std::size_t messages = 0;
  std::size_t steps = 0;
};

BruckCounts bruck_counts(int nodes, int radix) {
  BruckCounts counts;
  for (std::size_t unit = 1; unit < static_cast<std::size_t>(nodes);
       unit *= static_cast<std::size_t>(radix)) {
    std::vector<bool> is_there(static_cast<std::size_t>(radix), false);
    for (std::size_t distance = 1; distance < static_cast<std::size_t>(nodes); ++distance) {
      const std::size_t digit = distance / unit % static_cast<std::size_t>(radix);
      if (digit == 0) continue;
      ++counts.tiles;
      is_there[digit] = true;
    }
    counts.messages += static_cast<std::size_t>(std::ranges::count(is_there, true));
    ++counts.steps;
  }
  return counts;
}

template <int radix>
Schedule bruck(const Shape& shape) {
  return generate_multi_leader_alltoall(
      "bruck", shape, {.collective = Collective::alltoall, .exchange = kBruckAlltoall<radix>});
}

void check_bruck(int radix, const Shape& shape, const Schedule& schedule) {
  CAPTURE(radix);
  CAPTURE(shape.node_count());
  const Verdict verdict = verify(schedule);
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  const BruckCounts counts = bruck_counts(shape.node_count(), radix);
  const auto members = static_cast<std::size_t>(shape.node(0).members);
  const auto lanes = static_cast<std::size_t>(shape.lane_count());
  CHECK(verdict.resources.node_message_count == lanes * counts.messages);
  CHECK(verdict.resources.node_sent_chunk_count == counts.tiles * members * members);
  CHECK(verdict.resources.node_memory_chunk_count == 2 * counts.tiles * members * members);
  CHECK(statistics(schedule).critical_message_count == counts.steps);
  const auto most = static_cast<std::size_t>(radix - 1) * counts.steps;
  CHECK(counts.messages <= most);
  std::size_t power = 1;
  while (power < static_cast<std::size_t>(shape.node_count())) {
    power *= static_cast<std::size_t>(radix);
  }
  if (power == static_cast<std::size_t>(shape.node_count())) CHECK(counts.messages == most);
}

TEST_CASE("Bruck of any radix: ceil(log_r N) steps of r - 1 messages, of each leader") {
  for (int nodes = 2; nodes <= (tests::kIsSanitized ? 9 : 28); ++nodes) {
    for (const int lanes : {1, 2}) {
      const Shape shape = Shape::uniform(nodes, 2, lanes);
      check_bruck(2, shape, bruck<2>(shape));
      check_bruck(3, shape, bruck<3>(shape));
      check_bruck(4, shape, bruck<4>(shape));
      check_bruck(5, shape, bruck<5>(shape));
      check_bruck(8, shape, bruck<8>(shape));
      check_bruck(40, shape, bruck<40>(shape));
    }
  }
  CHECK(bruck_counts(64, 2).messages == 6);
  CHECK(bruck_counts(64, 4).messages == 9);
  CHECK(bruck_counts(64, 8).messages == 14);
  CHECK(bruck_counts(5, 4).messages == 4);
  CHECK(bruck_counts(5, 2).tiles == 5);
}

TEST_CASE("with a digit for every distance Bruck's tiles go straight to where they belong") {
  const Shape shape = Shape::uniform(7, 2, 1);
  const Resources straight = verify(bruck<8>(shape)).resources;
  const Resources led = resources_of("l-a2a", shape);
  CHECK(straight.node_message_count == led.node_message_count);
  CHECK(straight.node_sent_chunk_count == led.node_sent_chunk_count);
  CHECK(straight.node_memory_chunk_count == led.node_memory_chunk_count);
}

/// The copies of a node whose source is a pack and whose destination, too.
int passed_on(const Schedule& schedule, int node) {
  int copies = 0;
  for (const Strand& strand : schedule.strands) {
    if (schedule.shape.node_of_worker(strand.worker) != node) continue;
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::copy) continue;
      copies += is_pack(schedule, schedule.buffer_of(schedule.sources(step).front())) &&
                is_pack(schedule, schedule.buffer_of(schedule.destinations(step).front()));
    }
  }
  return copies;
}

TEST_CASE("tiles that go on together are copied at once, and lie together where they can") {
  for (const int nodes : {8, 16, 32}) {
    CAPTURE(nodes);
    const Schedule schedule = bruck<2>(Shape::uniform(nodes, 1, 1));
    // A run for each distance's upper digits: nodes / 2 - 1 in step 0, half of them in step 1, ...
    int runs = 0;
    for (int some = nodes / 2; some > 1; some /= 2) runs += some - 1;
    CHECK(passed_on(schedule, 0) == runs);
  }
  // Without a run that reaches over the last node a range for each one, of each of three messages
  // each way.
  const Schedule last = bruck<2>(Shape::uniform(8, 1, 1));
  CHECK(restricted_to(last, only_node(7)).packed.size() <= 2 * (4 + 2 + 1) + 2);
}

TEST_CASE("a node's packs can be numbered, however unequal the nodes are") {
  // What passes through small nodes is most where two or three others have nearly all members.
  for (const std::vector<int>& members :
       {std::vector{200, 1, 1, 200}, {100, 1, 1, 100, 1, 1, 100}, {1, 300, 1, 1, 1}}) {
    std::vector<Node> nodes;
    for (const int count : members) nodes.push_back({.members = count, .workers = count});
    const Shape shape(nodes, 1);
    int most = 0;
    for (int node = 0; node < shape.node_count(); ++node) {
      Heedless reader;
      const Schedule frame = find_algorithm(Collective::alltoall, "bruck-2")
                                 .generate(shape, 1, 0, {only_node(node), &reader});
      most = std::max(most, number_count(frame));
    }
    CHECK(most <= 3 * shape.member_count() * shape.member_count());
  }
  static_assert(std::int64_t{3} * kMostPackedMembers * kMostPackedMembers <= INT_MAX);
}

TEST_CASE("more members than pairs can be numbered of are refused") {
  const Shape shape = Shape::uniform(1'000, 128, 1);
  for (const Algorithm& algorithm : algorithms_of(Collective::alltoall)) {
    CHECK_FALSE(algorithm.serves_shape(shape));
  }
}

}  // namespace alltoall_algorithms_test
}  // namespace hycoll
