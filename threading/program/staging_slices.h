#ifndef HYCOLL_THREADING_PROGRAM_STAGING_SLICES_H_
#define HYCOLL_THREADING_PROGRAM_STAGING_SLICES_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/base/partition.h"
#include "core/schedule/schedule.h"
#include "threading/program/program.h"

namespace hycoll {

/// The worker in whose staging each buffer lies, -1 for buffers of other roles: the one that writes
/// it first, or the first one of the node where nobody does.
std::vector<int> staging_workers(const Schedule& schedule);

/// The bytes of a buffer, in whole cache lines.
std::size_t padded_bytes(const Buffer& buffer, const Partition& partition,
                         std::size_t element_bytes);

/// What the workers of some nodes keep in staging, by chunks.
class StagingUse {
 public:
  explicit StagingUse(const Schedule& schedule);

  /// The nodes of another part of the same schedule use this besides.
  void add(const Schedule& part);

  /// The staging that the worker with most of it needs in one run.
  std::size_t bytes(const VectorExtent& extent, std::size_t element_bytes) const;

  const std::string& algorithm() const noexcept { return algorithm_; }

  /// Whether the same slices follow from both, which are of schedules of one algorithm on one
  /// shape.
  friend bool operator==(const StagingUse& a, const StagingUse& b) {
    return std::ranges::is_permutation(a.workers_, b.workers_);
  }

 private:
  Chunking chunking_;
  std::string algorithm_;
  std::vector<std::vector<ChunkRange>>
      workers_;  // but of those who keep what another one does, too
};

/// The staging that the worker with most of it needs in one run, on any node.
std::size_t staging_bytes(const Schedule& schedule, const VectorExtent& extent,
                          std::size_t element_bytes);

/// The least that can be worked on in one run does not fit the staging: a long element, or a few of
/// many members' blocks. Every process of a call meets it, before anything has been passed on.
class StagingTooSmall : public Error {
 public:
  explicit StagingTooSmall(const std::string& message) : Error(ErrorKind::unsupported, message) {}
};

/// How many elements of the vector, or of every block of a collective with blocks, may pass through
/// staging of `capacity_bytes` for each worker in one run: all of them if they fit. A longer vector
/// is executed in several runs, the calls of which have numbers of their own: with this number as
/// VectorExtent::limit, and first = 0, 1 x limit, 2 x limit, ... below the number of elements.
/// Alike on all nodes, for it depends on the arguments only.
///
/// A member may enter the next run while others are still in this one, for staging has two halves:
/// run r + 2 uses the half of run r. No worker leaves run r + 1 before all workers of its node
/// have entered it, and these have left run r then: nobody uses its staging any more.
///
/// Throws StagingTooSmall if the capacity does not suffice for a cache line of the vector, or for
/// an element.
std::size_t slice_limit(const StagingUse& use, const VectorExtent& extent,
                        std::size_t element_bytes, std::size_t capacity_bytes);
std::size_t slice_limit(const Schedule& schedule, const VectorExtent& extent,
                        std::size_t element_bytes, std::size_t capacity_bytes);

/// A schedule bound to one node and to a vector that is worked on in several runs.
struct SlicedPrograms {
  std::size_t run_count = 1;
  std::size_t displacement_bytes = 0;  ///< Of the buffers from one run to the next.
  std::size_t staging_bytes = 0;       ///< That a worker needs at most, in one set.
  /// By worker that is wanted, of each run; or, where the slices of all runs but the last have the
  /// same length, of those and of the last one.
  std::vector<std::vector<Program>> programs;

  const Program& program(std::size_t run, int worker) const {
    const std::size_t index =
        programs.size() == run_count ? run : (run + 1 == run_count ? programs.size() - 1 : 0);
    return programs[index][static_cast<std::size_t>(worker)];
  }
};

/// The slices that a vector is worked on in, with `limit` elements of it or of each of its blocks:
/// what slice_limit says, or SIZE_MAX for one slice.
class Slices {
 public:
  Slices(const VectorExtent& extent, std::size_t limit) noexcept;

  std::size_t run_count() const noexcept { return run_count_; }
  /// What SlicedPrograms have programs for, and the slice of each.
  std::size_t program_count() const noexcept;
  const VectorExtent& slice(std::size_t program) noexcept;
  /// The longest one.
  const VectorExtent& first_slice() noexcept { return slice(0); }
  std::size_t limit() const noexcept { return slice_.limit; }

 private:
  VectorExtent slice_;
  std::size_t run_count_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_STAGING_SLICES_H_
