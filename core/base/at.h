#ifndef HYCOLL_CORE_BASE_AT_H_
#define HYCOLL_CORE_BASE_AT_H_

#include <cstddef>

namespace hycoll {

/// A number, as standard containers take their indices. Requires: not negative.
constexpr std::size_t at(int number) noexcept { return static_cast<std::size_t>(number); }

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_AT_H_
