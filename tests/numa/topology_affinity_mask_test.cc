#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "core/base/errors.h"
#include "numa/topology/affinity_mask.h"

namespace hycoll {
namespace topology_affinity_mask_test {

/// Numbers below `limit`, of which about one in `sparseness` is taken.
std::set<int> random_numbers(std::mt19937& random, int limit, unsigned sparseness) {
  std::set<int> numbers;
  for (int number = 0; number < limit; ++number) {
    if (random() % sparseness == 0) numbers.insert(number);
  }
  return numbers;
}

AffinityMask mask_of(const std::set<int>& numbers) {
  return AffinityMask(std::vector<int>(numbers.begin(), numbers.end()));
}

TEST_CASE("a mask behaves as the set of its numbers") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::set<int> a = random_numbers(random, static_cast<int>(random() % 300), 1 + seed % 5);
    const std::set<int> b = random_numbers(random, static_cast<int>(random() % 300), 1 + seed % 7);
    std::set<int> both;
    std::set<int> either = a;
    for (int number : b) {
      if (a.count(number) > 0) both.insert(number);
      either.insert(number);
    }
    const AffinityMask mask_a = mask_of(a);
    const AffinityMask mask_b = mask_of(b);
    CHECK(mask_a.processing_units() == std::vector<int>(a.begin(), a.end()));
    CHECK(mask_a.count() == static_cast<int>(a.size()));
    CHECK(mask_a.empty() == a.empty());
    for (int number = -2; number < 400; ++number)
      CHECK(mask_a.contains(number) == (a.count(number) > 0));
    CHECK((mask_a & mask_b) == mask_of(both));
    CHECK((mask_a | mask_b) == mask_of(either));
    CHECK(mask_a.intersects(mask_b) == !both.empty());
    CHECK(mask_a.is_subset_of(mask_b) == (both == a));
    CHECK((mask_a == mask_b) == (a == b));
    CHECK((mask_a & mask_b).is_subset_of(mask_a));
  }
}

TEST_CASE("words carry a mask through any padding") {
  const std::vector<std::vector<int>> cases = {{}, {0}, {63}, {64}, {0, 63, 64, 127, 128}, {1023}};
  for (const std::vector<int>& numbers : cases) {
    const AffinityMask mask{std::span<const int>(numbers)};
    const std::size_t length =
        numbers.empty() ? 0 : static_cast<std::size_t>(numbers.back()) / 64 + 1;
    REQUIRE(mask.words().size() == length);
    for (std::size_t padding : {0, 1, 5}) {
      std::vector<std::uint64_t> words = mask.words();
      words.resize(words.size() + padding, 0);
      CHECK(AffinityMask::from_words(words) == mask);
    }
  }
  const std::vector<std::uint64_t> words = {0x5, 0x1};
  CHECK(AffinityMask::from_words(words) == AffinityMask{0, 2, 64});
}

TEST_CASE("a mask is written as ranges") {
  CHECK(AffinityMask{}.to_string() == "");
  CHECK(AffinityMask{7}.to_string() == "7");
  CHECK(AffinityMask{0, 1}.to_string() == "0-1");
  CHECK(AffinityMask{3, 0, 1, 2, 8, 62, 63, 64, 65}.to_string() == "0-3,8,62-65");
}

TEST_CASE("a negative number is refused") {
  AffinityMask mask{1};
  CHECK_THROWS_AS(mask.add(-1), Error);
  CHECK_THROWS_AS((AffinityMask{0, -5}), Error);
  CHECK(mask == AffinityMask{1});
}

}  // namespace topology_affinity_mask_test
}  // namespace hycoll
