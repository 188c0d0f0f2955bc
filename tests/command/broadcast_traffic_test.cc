// What the benchmarks of the bandwidth-saving broadcast send, against formulas.

#include "tools/command/proving/broadcast_traffic.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/models/broadcast_slides.h"

namespace hycoll::command {
namespace broadcast_traffic_test {

/// The chunks that a rank owns after the scatter, counted by carrying the scatter out: who holds a
/// range of ranks gives the upper part of it away, as long as there is one.
void scatter(int first, int count, int width, std::vector<int>& owned) {
  owned[static_cast<std::size_t>(first)] = count;
  for (; width >= 1; width /= 2) {
    if (width >= count) continue;
    scatter(first + width, count - width, width / 2, owned);
    count = width;
  }
}

std::size_t surplus_by_scattering(int rank_count) {
  int width = 1;
  while (width < rank_count) width *= 2;
  std::vector<int> owned(static_cast<std::size_t>(rank_count));
  scatter(0, rank_count, width / 2, owned);
  std::size_t surplus = 0;
  for (const int count : owned) surplus += static_cast<std::size_t>(count - 1);
  return surplus;
}

TEST_CASE("the slides' examples: 56 and 44 messages at 8 ranks, 90 and 75 at 10") {
  const BroadcastSaving eight = count_savings(8, {8192}).front();
  CHECK(eight.native.message_count - 7 == 56);
  CHECK(eight.optimised.message_count - 7 == 44);
  const BroadcastSaving ten = count_savings(10, {8192}).front();
  CHECK(ten.native.message_count - 9 == 90);
  CHECK(ten.optimised.message_count - 9 == 75);
}

TEST_CASE("for every number of ranks the saving is what is owned after the scatter") {
  for (int ranks = 2; ranks <= 130; ++ranks) {
    CAPTURE(ranks);
    // Chunks of one cache line each, so that bytes count chunks.
    const auto count = static_cast<std::size_t>(ranks);
    const BroadcastSaving saving = count_savings(ranks, {64 * count}).front();
    CHECK(saving.native.message_count == count - 1 + count * (count - 1));
    CHECK(saving.saved_messages() == surplus_by_scattering(ranks));
    CHECK(saving.saved_bytes() == 64 * surplus_by_scattering(ranks));
    CHECK(std::cmp_equal(models::saved_messages(ranks), surplus_by_scattering(ranks)));
  }
}

TEST_CASE("the saving of whole chunks is the same share of every size") {
  const std::vector<BroadcastSaving> savings = count_savings(16, {65536, 1 << 20, 16 << 20});
  for (const BroadcastSaving& saving : savings) {
    CHECK(saving.native.sent_bytes == saving.size_bytes / 16 * (16 * 15 + 32));
    CHECK(saving.saved_bytes() == saving.size_bytes / 16 * 32);
  }
}

TEST_CASE("the benchmarks cover the slides' ranks and sizes") {
  const std::vector<BroadcastBenchmark> benchmarks = broadcast_benchmarks();
  REQUIRE(benchmarks.size() == 3);
  CHECK(benchmarks[0].rank_counts == std::vector{16, 64, 256});
  CHECK(benchmarks[0].sizes_bytes.front() == 512 * 1024);
  CHECK(benchmarks[0].sizes_bytes.back() == 16 << 20);
  CHECK(benchmarks[1].rank_counts == std::vector{9, 17, 33, 65, 129});
  CHECK(benchmarks[1].sizes_bytes == std::vector<std::size_t>{12288, 524287, 1048576});
  CHECK(benchmarks[2].rank_counts == std::vector{129});
  CHECK(benchmarks[2].sizes_bytes.front() == 12288);
  CHECK(benchmarks[2].sizes_bytes.back() == 3 << 20);
}

}  // namespace broadcast_traffic_test
}  // namespace hycoll::command
