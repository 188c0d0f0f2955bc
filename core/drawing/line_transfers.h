#ifndef HYCOLL_CORE_DRAWING_LINE_TRANSFERS_H_
#define HYCOLL_CORE_DRAWING_LINE_TRANSFERS_H_

#include <array>
#include <cstddef>
#include <span>

#include "core/base/partition.h"
#include "core/base/transfer_times.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// What of a machine a worker runs on: numbers that are the same for workers that share it.
struct WorkerPlace {
  int cache = 0;
  int domain = 0;
  int package = 0;
};

/// What a cache line crosses on its way from one worker to another.
enum class Boundary { cache, domain, package };
inline constexpr int kBoundaryCount = 3;

/// The cache lines that pass between the workers of a node in one run, as signals, lines or data,
/// and how they follow one another. A signal and what it announces count where they are read; data
/// count where they are read or written by another worker than the one whose they are: its member's
/// buffers, and the staging that it writes first.
struct LineTransfers {
  std::size_t count = 0;
  std::array<std::size_t, kBoundaryCount> crossings{};  ///< Of these, so many cross a boundary.

  /// The most that follow one another; those that a worker reads at once count once, and so does a
  /// row of waits. Messages between nodes are free.
  std::size_t critical = 0;
  std::array<std::size_t, kBoundaryCount> critical_crossings{};

  /// The most bytes that enter or leave one cache, domain or package.
  std::array<std::size_t, kBoundaryCount> bytes{};

  double nanoseconds = 0;  ///< Of what follows one another, and the gaps.
};

/// Requires a whole schedule that verify() accepts, a partition of its chunks, and a place for each
/// worker of a node, the same on all nodes. Pure.
LineTransfers count_line_transfers(const Schedule& schedule, const Partition& partition,
                                   std::size_t element_bytes, std::span<const WorkerPlace> places,
                                   const TransferTimes& times = kPublishedTimes);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_LINE_TRANSFERS_H_
