#ifndef HYCOLL_CORE_BASE_TRANSFER_TIMES_H_
#define HYCOLL_CORE_BASE_TRANSFER_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hycoll {

/// The nearest thing of a machine that two workers have in common: from the nearest to the
/// farthest.
enum class Proximity : std::uint8_t {
  core,
  cache,   ///< The last-level cache of their cores.
  domain,  ///< NUMA domain.
  package,
  machine,  ///< They are on different packages.
};
inline constexpr std::size_t kProximityCount = 5;

constexpr std::size_t index_of(Proximity proximity) noexcept {
  return static_cast<std::size_t>(proximity);
}

/// "same core", ..., "other package".
constexpr std::string_view name_of(Proximity proximity) noexcept {
  constexpr std::array<std::string_view, kProximityCount> kNames = {
      "same core", "same cache", "same domain", "same package", "other package"};
  return kNames[index_of(proximity)];
}

/// The time that a cache line takes from core to core, and what a further one costs that is read at
/// the same time, or by another reader: nanoseconds, by Proximity.
struct TransferTimes {
  std::array<double, kProximityCount> latency;
  std::array<double, kProximityCount> gap;

  /// A core has ten or more misses under way at once, so a further line costs a tenth.
  static constexpr TransferTimes of(const std::array<double, kProximityCount>& latency) noexcept {
    constexpr double kMissesUnderWay = 10;
    TransferTimes times{.latency = latency, .gap = {}};
    for (std::size_t p = 0; p < kProximityCount; ++p) times.gap[p] = latency[p] / kMissesUnderWay;
    return times;
  }

  friend bool operator==(const TransferTimes&, const TransferTimes&) = default;
};

/// Round numbers out of the published ranges (docs/measurements.md has the sources).
inline constexpr TransferTimes kPublishedTimes = TransferTimes::of({10, 25, 80, 110, 200});

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_TRANSFER_TIMES_H_
