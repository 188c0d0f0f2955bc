#include "core/drawing/schedule_price.h"

#include <doctest/doctest.h>

#include <bit>

#include "collectives/algorithms/registry.h"

namespace hycoll {
namespace schedule_price_test {

/// Round numbers: a byte takes 1 ns on a card, and to be reduced or copied.
constexpr MachinePrices kPrices{.alpha_us = 10,
                                .message_us = 1,
                                .bandwidth_gb_per_s = 1,
                                .reduce_gb_per_s = 1,
                                .copy_gb_per_s = 1,
                                .wait_us = 0.5,
                                .gap_us = 0};

double price_of(Collective collective, std::string_view algorithm, const Shape& shape,
                double size_bytes, int segments = 1, const LaneScale& scale = {}) {
  return price_us(find_algorithm(collective, algorithm).generate(shape, segments), size_bytes,
                  kPrices, scale);
}

TEST_CASE("recursive doubling: lg N times a message, its bytes and their reduction") {
  for (int nodes = 2; nodes <= 32; nodes *= 2) {
    const double steps = std::bit_width(static_cast<unsigned>(nodes)) - 1;
    CAPTURE(nodes);
    CHECK(price_of(Collective::allreduce, "recursive-doubling", Shape::uniform(nodes, 1, 1),
                   4000) == doctest::Approx(steps * (10 + 4 + 4)));
  }
}

TEST_CASE("the ring: 2 (N - 1) blocks sent, half of them reduced") {
  for (const int nodes : {3, 4, 7, 16}) {
    CAPTURE(nodes);
    const double block_us = 6;
    CHECK(price_of(Collective::allreduce, "ring", Shape::uniform(nodes, 1, 1),
                   1000 * block_us * nodes) ==
          doctest::Approx((nodes - 1) * (2 * (10 + block_us) + block_us)));
  }
}

TEST_CASE("lanes share their node's card, and each worker reduces its own lane") {
  const Shape shape = Shape::uniform(2, 1, 1);
  const Shape two_lanes(std::vector<Node>{{1, 2}, {1, 2}}, 2);
  const double one = price_of(Collective::allreduce, "dpml-recursive-doubling", shape, 8000);
  const double two = price_of(Collective::allreduce, "dpml-recursive-doubling", two_lanes, 8000);
  CHECK(one == doctest::Approx(10 + 8 + 8));
  // The member hears of the second worker.
  CHECK(two == doctest::Approx(10 + 8 + 4 + 0.5));
  // A lane with half of the card stands for both.
  CHECK(price_of(Collective::allreduce, "dpml-recursive-doubling", shape, 4000, 1,
                 {.lanes_per_lane = 2}) == doctest::Approx(two - 0.5));
}

TEST_CASE("who drives several lanes has all their work") {
  const Shape wrapped(std::vector<Node>{{1, 2}, {1, 1}}, 2);
  const Shape flat = Shape::uniform(2, 1, 1);
  const double priced = price_of(Collective::allreduce, "dpml-recursive-doubling", wrapped, 8000);
  const double scaled = price_of(Collective::allreduce, "dpml-recursive-doubling", flat, 4000, 1,
                                 {.lanes_per_lane = 2, .last_node_lanes = 2});
  // One after the other, lanes reduce while others' messages are under way.
  CHECK(priced > 10 + 8 + 4);
  CHECK(scaled == doctest::Approx(10 + 8 + 8 + 1));
  CHECK(scaled > priced);
}

TEST_CASE("many messages to one node take their turns") {
  // Everybody's total goes to all that follow: the last node takes in 8.
  const double few = price_of(Collective::scan, "lines-direct", Shape::uniform(2, 1, 1), 8);
  const double many = price_of(Collective::scan, "lines-direct", Shape::uniform(9, 1, 1), 8);
  CHECK(many - few > 7 * kPrices.message_us);
}

TEST_CASE("members wait for flags and lines, and a leader reduces them one by one") {
  MachinePrices prices = kPrices;
  const auto price = [&](int members) {
    const Schedule schedule = find_algorithm(Collective::allreduce, "lines-recursive-doubling")
                                  .generate(Shape::uniform(2, members, 1));
    return price_us(schedule, 1000, prices);
  };
  CHECK(price(9) - price(5) == doctest::Approx(4));
  prices.gap_us = 2;
  CHECK(price(9) - price(5) >= 4 + 4 * prices.gap_us);
}

TEST_CASE("endpoints carry at their own rate, until their card is full") {
  const auto price = [](int lanes, double endpoint_gb_per_s) {
    MachinePrices prices = kPrices;
    prices.endpoint_gb_per_s = endpoint_gb_per_s;
    const Shape shape(std::vector<Node>{{1, lanes}, {1, lanes}}, lanes);
    return price_us(
        find_algorithm(Collective::allreduce, "dpml-recursive-doubling").generate(shape), 8000,
        prices);
  };
  CHECK(price(1, 0.25) == doctest::Approx(10 + 8 * 4 + 8));
  // Three workers hear of the member first, and it hears of them at the end.
  CHECK(price(4, 0.25) == doctest::Approx(0.5 + 10 + 8 + 2 + 0.5));
  CHECK(price(4, 0.125) == doctest::Approx(0.5 + 10 + 16 + 2 + 0.5));
}

TEST_CASE("workers of a node share its memory") {
  const Schedule schedule = find_algorithm(Collective::allreduce, "dpml-recursive-doubling")
                                .generate(Shape::uniform(1, 4, 4));
  MachinePrices prices = kPrices;
  // Each reduces 3 further operands of a quarter, and copies the quarter to 3 others.
  const double by_cores = price_us(schedule, 8000, prices);
  CHECK(by_cores == doctest::Approx(0.5 + 6 * 2 + 0.5));
  prices.memory_gb_per_s = 4;
  CHECK(price_us(schedule, 8000, prices) == doctest::Approx(by_cores));
  prices.memory_gb_per_s = 2;
  CHECK(price_us(schedule, 8000, prices) == doctest::Approx(by_cores + 6 * 2));
}

TEST_CASE("segments overlap") {
  const Shape chain = Shape::uniform(8, 1, 1);
  const double whole = price_of(Collective::broadcast, "multi-leader-chain", chain, 800000);
  const double cut = price_of(Collective::broadcast, "multi-leader-chain", chain, 800000, 16);
  CHECK(whole == doctest::Approx(7 * (10 + 800)));
  CHECK(cut < whole / 4);
}

TEST_CASE("what the MPI library does has no price") {
  const Shape shape = Shape::uniform(2, 1, 1);
  CHECK_FALSE(has_price(find_algorithm(Collective::allreduce, "dpml-native").generate(shape)));
  CHECK(has_price(find_algorithm(Collective::allreduce, "dpml-ring").generate(shape)));
}

TEST_CASE("everything that can be generated can be priced, and longer vectors take longer") {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Shape& shape :
         {Shape::uniform(1, 3, 1), Shape::uniform(4, 1, 1), Shape::uniform(3, 2, 2),
          Shape(std::vector<Node>{{2, 2}, {1, 1}, {1, 2}}, 2)}) {
      if (!algorithm->serves_shape(shape)) continue;
      const Schedule schedule = algorithm->generate(shape, 2);
      if (!has_price(schedule)) continue;
      CAPTURE(algorithm->name);
      const double brief = price_us(schedule, 8, kPrices);
      CHECK(brief > 0);
      CHECK(price_us(schedule, 80000, kPrices) > brief);
    }
  }
}

}  // namespace schedule_price_test
}  // namespace hycoll
