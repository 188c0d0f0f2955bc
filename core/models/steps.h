#ifndef HYCOLL_CORE_MODELS_STEPS_H_
#define HYCOLL_CORE_MODELS_STEPS_H_

#include <bit>

namespace hycoll::models {

/// The logarithm to the base 2, rounded up: the steps of a binomial tree, or of recursive doubling,
/// among so many. Requires count >= 1.
constexpr int ceil_lg(int count) noexcept {
  return std::bit_width(static_cast<unsigned>(count) - 1);
}

}  // namespace hycoll::models

#endif  // HYCOLL_CORE_MODELS_STEPS_H_
