#include "tools/command/reproducing/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/base/errors.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

/// The one of the curves that is the fastest at a size.
std::size_t fastest(const std::vector<std::size_t>& curves, const CurveTimes& times,
                    std::size_t size) {
  return *std::ranges::min_element(curves, {}, [&](std::size_t i) { return times[i][size]; });
}

double best_us(const std::vector<std::size_t>& curves, const CurveTimes& times, std::size_t size) {
  return times[fastest(curves, times, size)][size];
}

std::size_t index_of_size(const PaperResult& result, std::size_t size_bytes) {
  const auto found = std::ranges::find(result.sizes_bytes, size_bytes);
  HYCOLL_ASSERT(found != result.sizes_bytes.end(), "a claim is at one of the result's sizes");
  return static_cast<std::size_t>(std::distance(result.sizes_bytes.begin(), found));
}

}  // namespace

double value_of(const Claim& claim, const PaperResult& result, const CurveTimes& times) {
  const std::size_t sizes = result.sizes_bytes.size();
  const auto speedup = [&](std::size_t size) {
    return best_us(claim.defenders, times, size) / best_us(claim.challengers, times, size);
  };
  const auto throughput = [&](std::size_t size) {
    return static_cast<double>(result.sizes_bytes[size]) / best_us(claim.challengers, times, size);
  };
  const auto largest = [&](const auto& measure) {
    double value = measure(0);
    for (std::size_t size = 1; size < sizes; ++size) value = std::max(value, measure(size));
    return value;
  };
  const auto given_size = [&] { return index_of_size(result, claim.size_bytes); };
  switch (claim.measure) {
    case Measure::speedup:
      return speedup(given_size());
    case Measure::best_speedup:
      return largest(speedup);
    case Measure::mean_speedup: {
      double sum = 0;
      for (std::size_t size = 0; size < sizes; ++size) sum += speedup(size);
      return sum / static_cast<double>(sizes);
    }
    case Measure::break_even: {
      std::size_t first = sizes;
      while (first > 0 && speedup(first - 1) > 1) --first;
      return first < sizes ? static_cast<double>(result.sizes_bytes[first])
                           : std::numeric_limits<double>::infinity();
    }
    case Measure::fastest_lanes:
      return result.curves[fastest(claim.challengers, times, given_size())].lanes;
    case Measure::throughput:
      return throughput(given_size());
    case Measure::best_throughput:
      return largest(throughput);
  }
  HYCOLL_ASSERT(false, "every measure has a value");
}

std::string value_text(Measure measure, double value) {
  switch (measure) {
    case Measure::break_even:
      return std::isfinite(value) ? short_size(static_cast<std::size_t>(value)) : "none";
    case Measure::fastest_lanes:
      return fmt::format("{:.0f}", value);
    case Measure::throughput:
    case Measure::best_throughput:
      return fmt::format("{:.0f} MB/s", value);
    default:
      return ratio_text(value);
  }
}

bool deviates(double value, double paper) {
  const double ratio = value / paper;
  return !(ratio >= 0.7 && ratio <= 1.3);
}

}  // namespace hycoll::command
