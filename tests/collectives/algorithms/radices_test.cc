// The radices into which a number of nodes is cut.

#include "collectives/algorithms/building_blocks/radices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace hycoll {
namespace radices_test {

TEST_CASE("radices are factors, the largest first, of few twos") {
  for (int nodes = 1; nodes <= 2'000; ++nodes) {
    const std::vector<int> radices = radices_of(nodes);
    CAPTURE(nodes);
    CHECK(std::accumulate(radices.begin(), radices.end(), 1, std::multiplies()) == nodes);
    CHECK(std::ranges::is_sorted(radices, std::greater()));
    CHECK(std::ranges::count(radices, 2) <= 1);
  }
  CHECK(radices_of(1).empty());
  CHECK(radices_of(8) == std::vector{8});
  CHECK(radices_of(64) == std::vector{4, 4, 4});
  CHECK(radices_of(60) == std::vector{5, 4, 3});
  CHECK(radices_of(18) == std::vector{6, 3});
  CHECK(radices_of(10) == std::vector{5, 2});
  CHECK(radices_of(1'009) == std::vector{1'009});
}

}  // namespace radices_test
}  // namespace hycoll
