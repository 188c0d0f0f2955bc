#include "threading/memory/staging_turns.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

namespace hycoll {
namespace staging_turns_test {

constexpr std::size_t kHalfBytes = 4096;

TEST_CASE("runs stage in halves in turn, and in them a set is used again as late as possible") {
  for (const std::size_t set_bytes : {128u, 384u, 1024u, 2304u, 4096u}) {
    CAPTURE(set_bytes);
    const StagingTurns turns(kHalfBytes, set_bytes);
    const std::uint64_t sets_per_half = kHalfBytes / set_bytes;
    for (std::uint64_t run = 1; run < 100; ++run) {
      CAPTURE(run);
      const std::size_t begin = turns.begin(run);
      const std::size_t half = run % 2 * kHalfBytes;
      CHECK(begin >= half);
      CHECK(begin + set_bytes <= half + kHalfBytes);
      for (std::uint64_t later = 1; later < sets_per_half; ++later) {
        const std::size_t other = turns.begin(run + 2 * later);
        CHECK((other + set_bytes <= begin || begin + set_bytes <= other));
      }
      CHECK(turns.begin(run + 2 * sets_per_half) == begin);
    }
  }
}

}  // namespace staging_turns_test
}  // namespace hycoll
