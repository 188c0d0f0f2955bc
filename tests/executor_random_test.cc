// Every algorithm, executed in random interleavings of single steps without threads and without
// MPI.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "collectives/registry.h"
#include "core/errors.h"
#include "threading/random_driver.h"

namespace hycoll {
namespace {

using Delivery = MailboxNetwork::Delivery;

constexpr std::int64_t kPoison = -7'777'777;

/// Distinct for every (member, call, index), and exact in any order of summation.
std::int64_t element(int member, int call, std::size_t index) {
  return static_cast<std::int64_t>(index + 1) * (member + 3) + 1'000'003LL * call;
}

/// The members' buffers of several calls; checks what comes out.
class Exchange64 {
 public:
  Exchange64(int member_count, std::size_t count, bool in_place)
      : member_count_(member_count), count_(count), in_place_(in_place) {
    inputs_.assign(static_cast<std::size_t>(member_count), std::vector(count, kPoison));
    outputs_ = inputs_;
  }

  RandomDriver::Callbacks callbacks() {
    return {.enter = [this](int member, int call) { return enter(member, call); },
            .leave = [this](int member, int call) { leave(member, call); }};
  }

  int wrong() const { return wrong_; }

 private:
  RandomDriver::Buffers enter(int member, int call) {
    auto& input = inputs_[static_cast<std::size_t>(member)];
    for (std::size_t i = 0; i < count_; ++i) input[i] = element(member, call, i);
    auto& output = in_place_ ? input : outputs_[static_cast<std::size_t>(member)];
    return {.input = input.data(), .output = output.data()};
  }

  void leave(int member, int call) {
    auto& input = inputs_[static_cast<std::size_t>(member)];
    auto& output = in_place_ ? input : outputs_[static_cast<std::size_t>(member)];
    for (std::size_t i = 0; i < count_; ++i) {
      std::int64_t expected = 0;
      for (int m = 0; m < member_count_; ++m) expected += element(m, call, i);
      if (output[i] != expected) ++wrong_;
      if (!in_place_ && input[i] != element(member, call, i)) ++wrong_;
    }
    input.assign(count_, kPoison);
    output.assign(count_, kPoison);
  }

  int member_count_;
  std::size_t count_;
  bool in_place_;
  int wrong_ = 0;
  std::vector<std::vector<std::int64_t>> inputs_;
  std::vector<std::vector<std::int64_t>> outputs_;
};

void run_all_algorithms(const Shape& shape, std::size_t count, std::uint64_t seed) {
  for (const Algorithm& algorithm : allreduce_algorithms()) {
    if (!algorithm.serves_shape(shape)) continue;
    const int segments = 1 + static_cast<int>(seed % 3);
    const Schedule schedule = algorithm.generate(shape, segments);
    const auto delivery = static_cast<Delivery>(seed % 3);
    for (const bool in_place : {false, true}) {
      CAPTURE(algorithm.name);
      CAPTURE(shape.node_count());
      CAPTURE(shape.member_count());
      CAPTURE(shape.lane_count());
      CAPTURE(count);
      CAPTURE(seed);
      CAPTURE(in_place);
      RandomDriver driver(schedule, count, DataType::int64, Operator::sum, delivery);
      Exchange64 exchange(shape.member_count(), count, in_place);
      REQUIRE_NOTHROW(driver.run(seed, 4, exchange.callbacks()));
      REQUIRE(exchange.wrong() == 0);
    }
  }
}

TEST_CASE("every algorithm is right in random interleavings on equal nodes") {
  std::uint64_t seed = 1;
  for (int nodes = 1; nodes <= 9; ++nodes) {
    for (int members = 1; members <= 4; ++members) {
      for (const int lanes : {1, 2, 3, 5}) {
        for (const std::size_t count : {1, 7, 131}) {
          run_all_algorithms(Shape::uniform(nodes, members, lanes), count, seed++);
        }
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
  std::uint64_t seed = 1000;
  for (const auto& nodes : node_lists) {
    for (const int lanes : {1, 2, 4, 9}) {
      for (const std::size_t count : {1, 8, 64, 257}) {
        run_all_algorithms(Shape(nodes, lanes), count, seed++);
      }
    }
  }
}

TEST_CASE("a leader may be any worker of its node") {
  std::uint64_t seed = 5000;
  for (const std::size_t count : {1, 100}) {
    run_all_algorithms(Shape({{2, 4}, {3, 3}}, 3, Visibility::direct, {3, 1, 1}), count, seed++);
    run_all_algorithms(Shape({{1, 4}}, 2, Visibility::direct, {2, 3}), count, seed++);
  }
}

TEST_CASE("a message that is never sent is reported with its lane and sender") {
  const Schedule whole =
      find_algorithm(Collective::allreduce, "recursive-doubling").generate(Shape::uniform(2, 1, 1));
  Schedule broken = whole;
  std::erase_if(broken.strands[0].steps,
                [](const Step& step) { return step.kind == StepKind::send; });
  RandomDriver driver(broken, 4, DataType::int64, Operator::sum, Delivery::eager);
  Exchange64 exchange(2, 4, false);
  CHECK_THROWS_WITH_AS(driver.run(1, 1, exchange.callbacks()),
                       doctest::Contains("receives on lane 0"), Error);
}

}  // namespace
}  // namespace hycoll
