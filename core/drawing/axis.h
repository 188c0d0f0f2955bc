#ifndef HYCOLL_CORE_DRAWING_AXIS_H_
#define HYCOLL_CORE_DRAWING_AXIS_H_

#include <cmath>

namespace hycoll {

/// The distance of an axis's lines that is not below `wanted`, which is positive: 1, 2 or 5 times a
/// power of ten.
inline double line_distance(double wanted) {
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  const double ratio = wanted / power;
  return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_AXIS_H_
