#ifndef HYCOLL_THREADING_PROGRAM_STAGING_SLICES_H_
#define HYCOLL_THREADING_PROGRAM_STAGING_SLICES_H_

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
/// A member may enter the next run while others are still in this one, for staging has two sets:
/// run r + 2 uses the memory of run r. No worker leaves run r + 1 before all workers of its node
/// have entered it, and these have left run r then: nobody uses its staging any more.
///
/// Throws StagingTooSmall if the capacity does not suffice for a cache line of the vector, or for
/// an element.
std::size_t slice_limit(const Schedule& schedule, const VectorExtent& extent,
                        std::size_t element_bytes, std::size_t capacity_bytes);

/// The elements that a vector, or the longest of its blocks, has.
std::size_t longest_block(const VectorExtent& extent);

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

/// Binds a node to all slices of at most `limit` elements: what slice_limit says, or SIZE_MAX for
/// one slice. Errors: as bind_schedule.
SlicedPrograms bind_slices(const Schedule& schedule, int node, const VectorExtent& extent,
                           const BindingOptions& options, std::size_t limit);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_STAGING_SLICES_H_
