#ifndef HYCOLL_TESTS_SUPPORT_SEED_H_
#define HYCOLL_TESTS_SUPPORT_SEED_H_

#include <cstdint>
#include <cstdlib>

namespace hycoll::tests {

/// What random tests add to their seeds: the number in HYCOLL_TEST_SEED, which tools/soak sets; 0
/// without it, so that a plain run draws the same every time.
inline std::uint64_t seed_offset() {
  const char* const text = std::getenv("HYCOLL_TEST_SEED");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_SEED_H_
