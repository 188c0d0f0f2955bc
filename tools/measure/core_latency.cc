#include "tools/measure/core_latency.h"

#include <fmt/format.h>

#include <chrono>

#include "core/base/errors.h"
#include "threading/latency/core_handoff.h"
#include "tools/measure/statistics.h"

namespace hycoll::measure {
namespace {

/// Beyond any delay: a side that cannot come says so.
constexpr std::chrono::hours kPatience{1};

}  // namespace

double core_latency_ns(const Topology& topology, const Core& a, const Core& b,
                       const HandoffRounds& rounds) {
  if (a.os_index == b.os_index) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("cores: {} and {} given, two different ones expected. A latency needs "
                            "two cores",
                            a.os_index, b.os_index));
  }
  return median(measure_core_handoff(topology, a, b, rounds, kPatience));
}

}  // namespace hycoll::measure
