#ifndef HYCOLL_THREADING_LATENCY_LATENCY_FILE_H_
#define HYCOLL_THREADING_LATENCY_LATENCY_FILE_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/base/transfer_times.h"

namespace hycoll {

/// What has been measured between the cores of a machine: nanoseconds, by Proximity; none where
/// nobody has had two such cores.
using MeasuredLatencies = std::array<std::optional<double>, kProximityCount>;

/// The file in which they are kept for all machines with this fingerprint, which may share the
/// user's home: in $XDG_CACHE_HOME/hycoll, or ~/.cache/hycoll. Empty if there is no such place.
std::filesystem::path latency_file(std::uint64_t machine_fingerprint);

/// Nothing if there is no such file, or if it is none of hycoll's.
MeasuredLatencies read_latencies(const std::filesystem::path& file);

/// Whoever reads meanwhile sees the old file or the new one. Returns whether it could be written:
/// where it cannot, the next process measures again.
bool write_latencies(const std::filesystem::path& file, const MeasuredLatencies& latencies);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_LATENCY_LATENCY_FILE_H_
