// Every algorithm, executed in random interleavings of single steps without threads and without
// MPI.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "tests/support/collective_reference.h"
#include "tests/support/lines_limit.h"
#include "tests/support/sanitized.h"
#include "tests/support/seed.h"
#include "tests/threading/random_driver.h"
#include "threading/memory/fifo_slots.h"
#include "threading/memory/node_memory.h"

namespace hycoll {
namespace executor_random_test {

using Delivery = MailboxNetwork::Delivery;
using tests::CollectiveReference;

/// On one node members may run ahead, more calls than their lines have sets.
constexpr int kCallsOnOneNode = 24;
constexpr int kCalls = 4;
constexpr std::int64_t kPoison = -7'777'777;

/// The members' buffers of several calls; checks what comes out.
class Buffers64 {
 public:
  Buffers64(const CollectiveReference& reference, bool in_place)
      : reference_(reference), in_place_(in_place) {
    for (int member = 0; member < reference.member_count; ++member) {
      inputs_.emplace_back(reference.input_size(member), kPoison);
      outputs_.emplace_back(reference.output_size(member), kPoison);
    }
  }

  RandomDriver::Callbacks callbacks() {
    return {.enter = [this](int member, int call) { return enter(member, call); },
            .leave = [this](int member, int call) { leave(member, call); }};
  }

  int wrong() const { return wrong_; }

 private:
  std::int64_t* output(int member) {
    const auto m = static_cast<std::size_t>(member);
    if (reference_.output_size(member) == 0) return nullptr;
    const bool is_in_input = in_place_ && !reference_.is_input_in_output(member);
    return is_in_input ? inputs_[m].data() + reference_.output_begin(member) : outputs_[m].data();
  }

  /// In place, the shorter one is part of the longer one.
  std::int64_t* input(int member) {
    const auto m = static_cast<std::size_t>(member);
    const bool is_in_output = in_place_ && reference_.is_input_in_output(member);
    return is_in_output ? outputs_[m].data() + reference_.input_begin(member) : inputs_[m].data();
  }

  RandomDriver::Buffers enter(int member, int call) {
    std::int64_t* const values = input(member);
    const std::size_t input_size = reference_.input_size(member);
    for (std::size_t i = 0; i < input_size; ++i) {
      values[i] = reference_.element(member, call, i);
    }
    return {.input = values, .output = output(member)};
  }

  void leave(int member, int call) {
    const std::int64_t* const values = input(member);
    const std::int64_t* const results = output(member);
    const std::size_t input_size = reference_.input_size(member);
    const std::size_t begin = reference_.output_begin(member);
    const std::size_t size = reference_.output_size(member);
    const bool is_replaced = in_place_ && !reference_.is_input_in_output(member);
    for (std::size_t i = 0; i < size; ++i) {
      if (results[i] != reference_.expected(member, call, i)) ++wrong_;
    }
    for (std::size_t i = 0; i < input_size; ++i) {
      if (is_replaced && i >= begin && i < begin + size) continue;
      if (values[i] != reference_.element(member, call, i)) ++wrong_;
    }
    inputs_[static_cast<std::size_t>(member)].assign(input_size, kPoison);
    outputs_[static_cast<std::size_t>(member)].assign(size, kPoison);
  }

  const CollectiveReference& reference_;
  bool in_place_;
  int wrong_ = 0;
  std::vector<std::vector<std::int64_t>> inputs_;
  std::vector<std::vector<std::int64_t>> outputs_;
};

/// Notes how many calls the member that is furthest has entered beyond the one that is least far.
class Leads {
 public:
  explicit Leads(int member_count) : entered_(static_cast<std::size_t>(member_count), 0) {}

  RandomDriver::Callbacks watching(const RandomDriver::Callbacks& callbacks) {
    return {.enter =
                [this, callbacks](int member, int call) {
                  entered_[static_cast<std::size_t>(member)] = call + 1;
                  const auto [least, most] = std::minmax_element(entered_.begin(), entered_.end());
                  largest_ = std::max(largest_, *most - *least);
                  return callbacks.enter(member, call);
                },
            .leave = callbacks.leave};
  }
  int largest() const { return largest_; }

 private:
  std::vector<int> entered_;
  int largest_ = 0;
};

/// Blocks of different sizes, some of them empty.
std::vector<std::size_t> unequal_blocks(int member_count, std::size_t count) {
  std::vector<std::size_t> blocks;
  for (int m = 0; m < member_count; ++m) {
    blocks.push_back(m % 3 == 1 ? 0 : count / static_cast<std::size_t>(1 + m % 4));
  }
  return blocks;
}

/// Members whose pairs are few enough to be gone through step by step.
constexpr int kMostMembersOfPairs = 16;

/// Returns the most runs that a call has taken.
int run_algorithm(const Algorithm& algorithm, const Shape& shape, std::size_t count,
                  std::uint64_t seed, StagingLimit limit = {}) {
  const int members = shape.member_count();
  const bool is_of_pairs = has_pairs(algorithm.collective);
  if (is_of_pairs && members > kMostMembersOfPairs) return 0;
  CollectiveReference reference{.collective = algorithm.collective,
                                .member_count = members,
                                .root = 0,
                                .count = count,
                                .block_counts = {}};
  if (has_root(algorithm.collective)) {
    reference.root = static_cast<int>(seed % static_cast<std::uint64_t>(members));
  }
  if (has_blocks(algorithm.collective) && !is_of_pairs && seed % 2 == 0) {
    reference.block_counts = unequal_blocks(members, count);
  }
  const int segments = 1 + static_cast<int>(seed % 3);
  const Schedule schedule = algorithm.generate(shape, segments, reference.root);
  if (tests::too_long_for_lines(schedule, reference.vector_size() * sizeof(std::int64_t))) return 0;
  RandomDriver driver(schedule, {.count = count, .block_counts = reference.block_counts},
                      DataType::int64, Operator::sum, static_cast<Delivery>(seed % 3), limit);
  for (const bool in_place : {false, true}) {
    if (in_place && is_of_pairs) continue;
    CAPTURE(name_of(algorithm.collective));
    CAPTURE(algorithm.name);
    CAPTURE(shape.node_count());
    CAPTURE(members);
    CAPTURE(shape.lane_count());
    CAPTURE(count);
    CAPTURE(seed);
    CAPTURE(in_place);
    Buffers64 buffers(reference, in_place);
    const int calls = shape.node_count() == 1 ? kCallsOnOneNode : kCalls;
    REQUIRE_NOTHROW(driver.run(seed, calls, buffers.callbacks()));
    REQUIRE(buffers.wrong() == 0);
  }
  return driver.runs_per_call();
}

tests::Sample sample;

void run_all_algorithms(const Shape& shape, std::size_t count, std::uint64_t seed) {
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!algorithm->serves_shape(shape) || !sample.takes_next()) continue;
    run_algorithm(*algorithm, shape, count, seed);
  }
}

TEST_CASE("every algorithm is right in random interleavings on equal nodes") {
  std::uint64_t seed = tests::seed_offset() + 1;
  const std::vector<int> node_counts =
      tests::kIsSanitized ? std::vector{1, 2, 3, 5} : std::vector{1, 2, 3, 4, 5, 8};
  const std::vector<int> lane_counts =
      tests::kIsSanitized ? std::vector{1, 3} : std::vector{1, 2, 3, 5};
  for (const int nodes : node_counts) {
    for (int members = 1; members <= 4; ++members) {
      for (const int lanes : lane_counts) {
        const std::size_t count = std::array{1, 7, 131}[seed % 3];
        run_all_algorithms(Shape::uniform(nodes, members, lanes), count, seed++);
      }
    }
  }
}

TEST_CASE(
    "every algorithm is right in random interleavings on unequal nodes and with helping workers") {
  const std::vector<std::vector<Node>> node_lists = {
      {{1, 1}, {3, 3}},         {{4, 4}, {1, 1}, {2, 2}},
      {{1, 4}, {1, 4}},         {{1, 2}, {1, 3}, {1, 1}},
      {{2, 5}, {3, 3}, {1, 8}}, {{5, 5}, {1, 1}, {1, 1}, {1, 1}, {2, 2}, {7, 7}, {1, 1}},
  };
  std::uint64_t seed = tests::seed_offset() + 1000;
  const std::vector<int> lane_counts =
      tests::kIsSanitized ? std::vector{2, 9} : std::vector{1, 2, 4, 9};
  for (const auto& nodes : node_lists) {
    for (const int lanes : lane_counts) {
      const std::size_t count = std::array{1, 8, 64, 257}[seed % 4];
      run_all_algorithms(Shape(nodes, lanes), count, seed++);
    }
  }
}

TEST_CASE("aggregators without members combine what passes through them") {
  std::uint64_t seed = tests::seed_offset() + 3000;
  for (const auto& hosts :
       std::vector<std::vector<Node>>{{{1, 1}},
                                      {{2, 2}, {2, 2}},
                                      {{4, 4}, {1, 2}, {3, 3}},
                                      {{2, 3}, {2, 2}, {1, 1}, {5, 5}, {2, 2}}}) {
    for (const std::size_t aggregators : {1, 2, 3}) {
      std::vector<Node> nodes = hosts;
      nodes.resize(hosts.size() + aggregators, Node{0, 1});
      for (const int lanes : {1, 2, 3}) {
        for (const std::size_t count : {1, 8, 257}) {
          run_all_algorithms(Shape(nodes, lanes), count, seed++);
        }
      }
    }
  }
}

TEST_CASE("algorithms that follow groups are right whatever these are, and nobody runs ahead") {
  const Groups pairs({{{2, 3}}});
  const Groups unequal({{{3, 1}, {1, 1}, {2, 1}}, {{4, 1}, {2, 1}}});
  const Groups deep({{{2, 6}}, {{4, 3}}, {{8, 1}, {4, 1}}});
  const std::vector<EqualGroupings> by_node = {
      {.groups = unequal}, {.groups = Groups()}, {.groups = deep}};
  const std::vector<Shape> shapes = {
      Shape({{6, 6}}, 1).with_groups(pairs),
      Shape({{6, 6}}, 1).with_groups(unequal),
      Shape({{12, 12}}, 1).with_groups(deep),
      Shape({{9, 12}}, 1).with_groups(deep),
      Shape({{6, 6}, {6, 6}, {6, 6}}, 1).with_groups(pairs),
      Shape({{6, 6}, {3, 3}, {12, 12}}, 1, Visibility::direct, {4}).with_groups(by_node),
  };
  std::uint64_t seed = tests::seed_offset() + 2000;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!algorithm->follows_groups) continue;
    for (const Shape& shape : shapes) {
      if (!algorithm->serves_shape(shape)) continue;
      for (const std::size_t count : {1, 8, 131}) {
        if (!sample.takes_next()) continue;
        run_algorithm(*algorithm, shape, count, seed++);
        run_algorithm(*algorithm, shape.with_visibility(Visibility::staged), count, seed++);
      }
    }
    for (const Shape& shape : {shapes[1], shapes[2]}) {
      const int members = shape.member_count();
      const Schedule schedule = algorithm->generate(shape);
      RandomDriver driver(schedule, {.count = 9}, DataType::int64, Operator::sum, Delivery::eager);
      const CollectiveReference reference{.collective = algorithm->collective,
                                          .member_count = members,
                                          .root = 0,
                                          .count = 9,
                                          .block_counts = {}};
      Buffers64 buffers(reference, false);
      Leads leads(members);
      REQUIRE_NOTHROW(driver.run(seed++, 200, leads.watching(buffers.callbacks())));
      CHECK(buffers.wrong() == 0);
      CHECK(leads.largest() == 1);
    }
  }
}

TEST_CASE("streams of several lanes share a FIFO that is shorter than they are") {
  constexpr std::size_t kCount = 2 * FifoExtent{}.slot_count * FifoExtent{}.slot_bytes / 8 + 3;
  std::uint64_t seed = tests::seed_offset() + 4000;
  for (const char* name : {"fifo-binomial", "fifo-torus-colours"}) {
    const Algorithm& algorithm = find_algorithm(Collective::broadcast, name);
    for (const int lanes : {1, 3, 4}) {
      run_algorithm(algorithm, Shape::uniform(1, 4, lanes), kCount, seed++);
      run_algorithm(algorithm, Shape({{4, 4}, {1, 1}, {4, 5}}, lanes), kCount, seed++);
    }
  }
}

TEST_CASE("lanes are told apart, however many there are") {
  // Around the largest numbers of a signed and an unsigned byte.
  std::uint64_t seed = tests::seed_offset() + 4500;
  for (const int lanes : {127, 128, 255, 256}) {
    for (const char* name : {"dpml-recursive-doubling", "dpml-ring"}) {
      const Algorithm& algorithm = find_algorithm(Collective::allreduce, name);
      run_algorithm(algorithm, Shape({{1, 3}, {1, 3}}, lanes), 8 * 256 + 3, seed++);
    }
  }
}

TEST_CASE("a leader may be any worker of its node") {
  std::uint64_t seed = tests::seed_offset() + 5000;
  for (const std::size_t count : {1, 100}) {
    run_all_algorithms(Shape({{2, 4}, {3, 3}}, 3, Visibility::direct, {3, 1, 1}), count, seed++);
    run_all_algorithms(Shape({{1, 4}}, 2, Visibility::direct, {2, 3}), count, seed++);
  }
}

TEST_CASE("staged schedules are right, and vectors pass through bounded staging in several runs") {
  std::uint64_t seed = tests::seed_offset() + 7000;
  std::map<const Algorithm*, int> most_runs;
  const std::vector<std::vector<Node>> node_lists = {{{2, 2}},
                                                     {{3, 3}},
                                                     {{4, 4}},
                                                     {{1, 3}},
                                                     {{2, 2}, {2, 2}},
                                                     {{1, 1}, {3, 3}},
                                                     {{2, 3}, {1, 2}, {4, 4}},
                                                     {{1, 1}, {2, 2}, {3, 3}, {1, 1}, {2, 2}},
                                                     {{2, 2}, {3, 3}, {0, 1}}};
  const std::vector<int> lane_counts =
      tests::kIsSanitized ? std::vector{1, 4} : std::vector{1, 2, 4};
  for (const auto& nodes : node_lists) {
    for (const int lanes : lane_counts) {
      const Shape shape(nodes, lanes);
      const std::size_t count = std::array{1, 131, 2057}[seed % 3];
      for (const Algorithm* algorithm : all_algorithms()) {
        if (!algorithm->serves_shape(shape)) continue;
        for (const std::size_t kib : {2, 64}) {
          if (!sample.takes_next()) continue;
          const int runs = run_algorithm(*algorithm, shape.with_visibility(Visibility::staged),
                                         count, seed++, {.bytes = kib * 1024});
          most_runs[algorithm] = std::max(most_runs[algorithm], runs);
        }
      }
    }
  }
  const auto has_many_runs = [](const auto& of) {
    return of.first->name.starts_with("dpml") && of.second > 2;
  };
  CHECK(std::ranges::count_if(most_runs, has_many_runs) > (tests::kIsSanitized ? 0 : 13));
}

TEST_CASE("threads of several processes: what crosses between them passes through staging") {
  std::uint64_t seed = tests::seed_offset() + 9000;
  const std::vector<std::vector<Node>> node_lists = {
      {{4, 4}}, {{3, 3}}, {{2, 4}}, {{4, 4}, {2, 2}}, {{3, 4}, {1, 1}, {4, 4}}};
  int most_runs = 0;
  for (const auto& nodes : node_lists) {
    for (const int lanes : {1, 2, 4}) {
      const Shape shape = Shape(nodes, lanes).with_processes_of(2);
      const std::size_t count = std::array{1, 131, 2057}[seed % 3];
      for (const Algorithm* algorithm : all_algorithms()) {
        if (!algorithm->serves_shape(shape.with_visibility(Visibility::direct))) continue;
        if (!sample.takes_next()) continue;
        most_runs = std::max(most_runs,
                             run_algorithm(*algorithm, shape, count, seed++, {.bytes = 4 * 1024}));
      }
    }
  }
  CHECK(most_runs > 2);
}

TEST_CASE("members whom nobody waits for run ahead, as far as lines are kept") {
  constexpr int kFurthest = static_cast<int>(kMaximumLead) + 1;
  const Shape shape = Shape::uniform(1, 3, 1);
  for (const Algorithm* algorithm : all_algorithms()) {
    CAPTURE(name_of(algorithm->collective));
    CAPTURE(algorithm->name);
    if (!algorithm->serves_shape(shape)) continue;
    // Along a tree nobody looks for himself whether all have entered.
    const bool is_short =
        std::string(algorithm->name).starts_with("lines") && !algorithm->follows_groups;
    const bool some_only_send =
        algorithm->collective == Collective::reduce || algorithm->collective == Collective::scan ||
        algorithm->collective == Collective::exscan ||
        algorithm->collective == Collective::broadcast ||
        algorithm->collective == Collective::gather || algorithm->collective == Collective::scatter;
    const Schedule schedule = algorithm->generate(shape, 1, 0);
    const CollectiveReference reference{.collective = algorithm->collective,
                                        .member_count = 3,
                                        .root = 0,
                                        .count = 9,
                                        .block_counts = {}};
    const bool runs_ahead = is_short && some_only_send;
    if (!runs_ahead && !sample.takes_next()) continue;
    const std::uint64_t last_seed = runs_ahead ? 20 : 2;
    int largest = 0;
    for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
      RandomDriver driver(schedule, {.count = 9}, DataType::int64, Operator::sum, Delivery::eager);
      Buffers64 buffers(reference, false);
      Leads leads(3);
      REQUIRE_NOTHROW(driver.run(seed, 200, leads.watching(buffers.callbacks())));
      REQUIRE(buffers.wrong() == 0);
      largest = std::max(largest, leads.largest());
    }
    // The root of a scatter has more steps than those that it leaves behind.
    const int least = algorithm->collective == Collective::scatter ? 3 : kFurthest;
    CHECK(largest >= (runs_ahead ? least : 1));
    CHECK(largest <= (runs_ahead ? kFurthest : 1));
  }
}

TEST_CASE("through short staging, too, whose every set is free when its turn comes again") {
  constexpr int kFurthest = static_cast<int>(kMaximumLead) + 1;
  const Shape shape = Shape::uniform(1, 3, 1).with_visibility(Visibility::staged);
  for (const Algorithm* algorithm : all_algorithms()) {
    CAPTURE(name_of(algorithm->collective));
    CAPTURE(algorithm->name);
    if (!algorithm->serves_shape(Shape::uniform(1, 3, 1))) continue;
    const bool runs_ahead = algorithm->name == "shared-address-binomial" ||
                            algorithm->name == "multi-leader-binomial" ||
                            algorithm->name == "dpml-binomial";
    const Schedule schedule = algorithm->generate(shape, 2, 1);
    const CollectiveReference reference{.collective = algorithm->collective,
                                        .member_count = 3,
                                        .root = 1,
                                        .count = 29,
                                        .block_counts = {}};
    if (!runs_ahead && !sample.takes_next()) continue;
    const std::uint64_t last_seed = runs_ahead ? 20 : 2;
    int largest = 0;
    for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
      RandomDriver driver(schedule, {.count = 29}, DataType::int64, Operator::sum, Delivery::eager,
                          {.short_bytes = 1024});
      Buffers64 buffers(reference, false);
      Leads leads(3);
      REQUIRE_NOTHROW(driver.run(seed, 100, leads.watching(buffers.callbacks())));
      REQUIRE(buffers.wrong() == 0);
      largest = std::max(largest, leads.largest());
    }
    if (runs_ahead) CHECK(largest == kFurthest);
  }
}

TEST_CASE("a message that is never sent is reported with its lane and sender") {
  const Schedule whole =
      find_algorithm(Collective::allreduce, "recursive-doubling").generate(Shape::uniform(2, 1, 1));
  Schedule broken = whole;
  std::erase_if(broken.strands[0].steps,
                [](const Step& step) { return step.kind == StepKind::send; });
  RandomDriver driver(broken, {.count = 4}, DataType::int64, Operator::sum, Delivery::eager);
  const CollectiveReference reference{
      .collective = Collective::allreduce, .member_count = 2, .count = 4, .block_counts = {}};
  Buffers64 exchange(reference, false);
  CHECK_THROWS_WITH_AS(driver.run(1, 1, exchange.callbacks()),
                       doctest::Contains("receives on lane 0"), Error);
}

}  // namespace executor_random_test
}  // namespace hycoll
