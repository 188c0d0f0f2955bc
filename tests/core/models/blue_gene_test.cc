// What the phases of the Blue Gene/P paper move, by hand.

#include "core/models/blue_gene.h"

#include <doctest/doctest.h>

namespace hycoll::models {
namespace blue_gene_test {

constexpr BlueGeneSymbols kSymbols{.processes = 4,
                                   .colours = 3,
                                   .n = 600,
                                   .link = 0.5,
                                   .network = 0.25,
                                   .copy = 0.125,
                                   .reduce = 2};

TEST_CASE("broadcast over the torus: a third of 600 bytes on each link") {
  CHECK(torus_broadcast_us(kSymbols) == doctest::Approx(100));
  CHECK(enqueueing_us(kSymbols) == doctest::Approx(75));
  CHECK(copying_out_us(kSymbols) == doctest::Approx(75));
}

TEST_CASE("broadcast over the collective network: one core copies twice") {
  CHECK(collective_network_us(kSymbols) == doctest::Approx(150));
  CHECK(copying_twice_us(kSymbols) == doctest::Approx(150));
}

TEST_CASE(
    "allreduce over the torus: 3 further operands of 200 bytes, links carry 200 bytes twice") {
  CHECK(local_reduction_us(kSymbols) == doctest::Approx(1200));
  CHECK(torus_allreduce_us(kSymbols) == doctest::Approx(200));
  CHECK(local_broadcast_us(kSymbols) == doctest::Approx(75));
}

TEST_CASE("a process that is alone on its node has nothing to copy or reduce there") {
  BlueGeneSymbols alone = kSymbols;
  alone.processes = 1;
  CHECK(copying_out_us(alone) == 0);
  CHECK(local_reduction_us(alone) == 0);
  CHECK(local_broadcast_us(alone) == 0);
}

}  // namespace blue_gene_test
}  // namespace hycoll::models
