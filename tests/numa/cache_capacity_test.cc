#include "numa/topology/cache_capacity.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace hycoll {
namespace cache_capacity_test {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

std::uint64_t capacity_of(const char* machine) {
  return cache_capacity_bytes(Topology::synthetic(machine));
}

TEST_CASE("the largest cache counts, not the sum of several") {
  CHECK(capacity_of("pack:1 l3:2(size=32MiB) l2:8(size=1MiB) core:1") == 32 * kMib);
  CHECK(capacity_of("pack:2 l2:4(size=1MiB) core:1") == kMib);
}

TEST_CASE("up to 16 MiB for each core is a cache of these cores") {
  CHECK(capacity_of("pack:1 l3:1(size=32MiB) l2:2(size=2MiB) core:1") == 32 * kMib);
}

TEST_CASE("of a cache that many others must share, the ones below count, all together") {
  CHECK(capacity_of("pack:1 l3:1(size=260MiB) l2:2(size=2MiB) core:1") == 4 * kMib);
  CHECK(capacity_of("pack:1 l3:1(size=260MiB) l2:2(size=2MiB) core:4") == 4 * kMib);
}

TEST_CASE("a part of a machine counts as the machine does") {
  const Topology machine = Topology::synthetic("pack:1 l3:1(size=32MiB) l2:8(size=1MiB) core:1");
  CHECK(cache_capacity_bytes(machine.share(3, 8, LauncherBinding::none)) == 32 * kMib);
  const Topology guest = Topology::synthetic("pack:1 l3:1(size=260MiB) l2:4(size=2MiB) core:1");
  CHECK(cache_capacity_bytes(guest.share(1, 4, LauncherBinding::none)) == 8 * kMib);
}

TEST_CASE("without sizes nothing is expected") {
  CHECK(capacity_of("pack:1 core:4") == 0);
  CHECK(capacity_of("pack:1 l3:1(size=260MiB) core:2") == 260 * kMib);
}

}  // namespace cache_capacity_test
}  // namespace hycoll
