#ifndef HYCOLL_TESTS_SUPPORT_SANITIZED_H_
#define HYCOLL_TESTS_SUPPORT_SANITIZED_H_

#include <cstdint>

#include "tests/support/seed.h"

namespace hycoll::tests {

/// Whether a sanitizer looks on. It looks at the code, and everything takes ten times as long:
/// sweeps over shapes that pass through the same code are shorter then.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

/// Which runs of a sweep to make: a third of them, or a tenth where a sanitizer looks on. They are
/// drawn, the same ones every time; with another seed (seed.h), as tools/soak gives it, other ones.
/// Sweeps whose runs differ in several things ask once for each run, so that each thing occurs with
/// most others.
class Sample {
 public:
  /// Sweeps over the same runs, of which each `sweep` draws others.
  explicit Sample(std::uint64_t sweep = 0) : state_(seed_offset() + sweep) {}

  bool takes_next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % (kIsSanitized ? 10 : 3) == 0;
  }

 private:
  std::uint64_t state_;
};

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_SANITIZED_H_
