// The ring paper's linear model, lower bound and break-even, with values computed by hand.

#include "core/models/ring.h"

#include <doctest/doctest.h>

namespace hycoll::models {
namespace ring_test {

TEST_CASE("where N divides X the ring takes the lower bound: 2 x 7/8 of 4 x 1000 bytes") {
  const RingSymbols symbols{.N = 8, .X = 1000, .itsize = 4, .beta = 0.5};
  CHECK(linear_us(symbols, 10) == doctest::Approx(5));
  CHECK(least_partial_results(symbols) == 14);
  CHECK(least_items(symbols) == 1750);
  CHECK(lower_bound_us(symbols) == doctest::Approx(3500));
  CHECK(half_ring_us(symbols) == doctest::Approx(1750));  // 7 rounds of 125 items
  CHECK(ring_us(symbols) == doctest::Approx(3500));
}

TEST_CASE("where N does not divide X the longest segment counts") {
  const RingSymbols symbols{.N = 4, .X = 5, .itsize = 8, .beta = 1};
  CHECK(least_items(symbols) == 8);  // 7.5
  CHECK(lower_bound_us(symbols) == doctest::Approx(64));
  CHECK(ring_us(symbols) == doctest::Approx(2 * 3 * 2 * 8));
}

TEST_CASE("one process communicates nothing") {
  const RingSymbols symbols{.N = 1, .X = 7, .itsize = 8, .beta = 1};
  CHECK(lower_bound_us(symbols) == 0);
  CHECK(ring_us(symbols) == 0);
}

TEST_CASE("the paper's break-even points are 256 KiB on 128 and on 32 processes") {
  CHECK(break_even_bytes(128, kMyrinetThresholdBytes) == 256 * 1024);
  CHECK(break_even_bytes(32, kEthernetThresholdBytes) == 256 * 1024);
}

}  // namespace ring_test
}  // namespace hycoll::models
