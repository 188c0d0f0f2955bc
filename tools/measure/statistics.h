#ifndef HYCOLL_TOOLS_MEASURE_STATISTICS_H_
#define HYCOLL_TOOLS_MEASURE_STATISTICS_H_

#include <span>
#include <vector>

namespace hycoll::measure {

/// What the reports say about a set of samples, in the samples' unit.
struct Summary {
  double minimum = 0;
  double median = 0;
  double p95 = 0;
  double maximum = 0;
};

/// Functions of this file are pure. Those that need a sample throw Error (invalid_argument) when
/// there is none.

/// The value below which `fraction` of the samples lie, interpolated linearly between the two
/// nearest ones: 0 is the minimum, 0.5 the median, 1 the maximum. Requires 0 <= fraction <= 1.
double percentile(std::span<const double> samples, double fraction);

double median(std::span<const double> samples);

Summary summarize(std::span<const double> samples);

/// Requires positive samples: the mean for ratios.
double geometric_mean(std::span<const double> samples);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_STATISTICS_H_
