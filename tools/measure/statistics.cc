#include "tools/measure/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/errors.h"

namespace hycoll::measure {
namespace {

void require_samples(std::span<const double> samples) {
  if (samples.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "samples: 0 given, at least 1 expected. Measure before you summarise");
  }
}

double percentile_of_sorted(std::span<const double> sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  require_samples(samples);
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

double percentile(std::span<const double> samples, double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("fraction: {} given, 0 to 1 expected. For the 95th percentile pass "
                            "0.95",
                            fraction));
  }
  return percentile_of_sorted(sorted_copy(samples), fraction);
}

double median(std::span<const double> samples) { return percentile(samples, 0.5); }

Summary summarize(std::span<const double> samples) {
  const std::vector<double> sorted = sorted_copy(samples);
  return {.minimum = sorted.front(),
          .median = percentile_of_sorted(sorted, 0.5),
          .p95 = percentile_of_sorted(sorted, 0.95),
          .maximum = sorted.back()};
}

double geometric_mean(std::span<const double> samples) {
  require_samples(samples);
  double sum_of_logarithms = 0;
  for (const double sample : samples) {
    if (!(sample > 0)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("samples: {} is among them, positive ones expected. A geometric mean "
                              "is for ratios",
                              sample));
    }
    sum_of_logarithms += std::log(sample);
  }
  return std::exp(sum_of_logarithms / static_cast<double>(samples.size()));
}

}  // namespace hycoll::measure
