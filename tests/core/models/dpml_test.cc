// DPML's equations 1 to 7, with values computed by hand.

#include "core/models/dpml.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace hycoll::models {
namespace dpml_test {

/// 64 processes on 8 nodes, 4 leaders each; 1200 bytes. Every time is a round number.
constexpr DpmlSymbols kSymbols{.p = 64,
                               .h = 8,
                               .l = 4,
                               .n = 1200,
                               .a = 100,
                               .b = 2,
                               .a_prime = 10,
                               .b_prime = 1,
                               .c = 3,
                               .k = 5};

TEST_CASE("equation 1: ceil(lg 64) = 6 steps of 100 + 2400 + 3600") {
  CHECK(recursive_doubling_us(kSymbols) == doctest::Approx(6 * 6100));
}

TEST_CASE("equation 1 rounds the steps up, and one process has none") {
  DpmlSymbols symbols = kSymbols;
  for (const auto& [p, steps] :
       std::vector<std::pair<int, int>>{{1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {65, 7}}) {
    CAPTURE(p);
    symbols.p = p;
    CHECK(recursive_doubling_us(symbols) == doctest::Approx(steps * 6100));
  }
}

TEST_CASE("equations 2 and 6: 4 copies of 10 + 300") {
  CHECK(copy_us(kSymbols) == doctest::Approx(1240));
  CHECK(broadcast_us(kSymbols) == doctest::Approx(1240));
}

TEST_CASE("equation 3 as printed: 64 / 32 - 1 = 1 reduction of 1200 bytes") {
  CHECK(computation_us(kSymbols) == doctest::Approx(3600));
}

TEST_CASE("phase 2 by the text: 8 - 1 reductions of 300 bytes") {
  CHECK(computation_by_the_text_us(kSymbols) == doctest::Approx(7 * 900));
}

TEST_CASE("with one leader equation 3 and the text agree; with all leading it has no reduction") {
  DpmlSymbols symbols = kSymbols;
  symbols.l = 1;
  CHECK(computation_us(symbols) == doctest::Approx(7 * 3600));
  CHECK(computation_by_the_text_us(symbols) == doctest::Approx(7 * 3600));
  symbols.l = 8;
  CHECK(computation_us(symbols) == doctest::Approx(0));
  CHECK(computation_by_the_text_us(symbols) == doctest::Approx(7 * 450));
}

TEST_CASE("equation 4: ceil(lg 8) = 3 steps of 100 + 600 + 900") {
  CHECK(exchange_us(kSymbols) == doctest::Approx(4800));
}

TEST_CASE("equation 5: 3 steps of 500 + 600 + 900; one sub-partition is equation 4") {
  CHECK(pipelined_exchange_us(kSymbols) == doctest::Approx(6000));
  DpmlSymbols symbols = kSymbols;
  symbols.k = 1;
  CHECK(pipelined_exchange_us(symbols) == doctest::Approx(exchange_us(symbols)));
}

TEST_CASE("equation 7 is the sum of equations 2, 3, 4 and 6") {
  CHECK(allreduce_us(kSymbols) == doctest::Approx(1240 + 3600 + 4800 + 1240));
}

}  // namespace dpml_test
}  // namespace hycoll::models
