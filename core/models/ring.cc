#include "core/models/ring.h"

#include <cmath>

namespace hycoll::models {

double linear_us(const RingSymbols& s, double m) { return s.beta * m; }

double least_partial_results(const RingSymbols& s) { return 2.0 * (s.N - 1); }

double least_items(const RingSymbols& s) { return std::ceil(least_partial_results(s) * s.X / s.N); }

double lower_bound_us(const RingSymbols& s) { return linear_us(s, least_items(s) * s.itsize); }

double half_ring_us(const RingSymbols& s) {
  return (s.N - 1) * linear_us(s, std::ceil(s.X / s.N) * s.itsize);
}

double ring_us(const RingSymbols& s) { return 2 * half_ring_us(s); }

double break_even_bytes(int N, double threshold_bytes) { return N * threshold_bytes; }

}  // namespace hycoll::models
