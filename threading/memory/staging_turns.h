#ifndef HYCOLL_THREADING_MEMORY_STAGING_TURNS_H_
#define HYCOLL_THREADING_MEMORY_STAGING_TURNS_H_

#include <cstddef>
#include <cstdint>

namespace hycoll {

/// Where runs stage: in the halves of a worker's staging, in turn, and there in sets, in turn, too.
///
/// Halves, for whoever starts a run has left the one before, which nobody does before all have
/// entered it and so left the one before that: nobody uses its half any more. (Where members run
/// ahead, sets keep them apart: kCallSets.) Sets, for to write a line that another core's own cache
/// holds takes several times as long as to write one that only the cores' common cache holds: what
/// has been read is written again as late as possible.
class StagingTurns {
 public:
  StagingTurns() = default;
  /// Requires that a set fits a half.
  StagingTurns(std::size_t half_bytes, std::size_t set_bytes) noexcept
      : half_bytes_(half_bytes), set_bytes_(set_bytes), sets_per_half_(half_bytes / set_bytes) {}

  /// The offset of a run's set. `run` is a CallNumber.
  std::size_t begin(std::uint64_t run) const noexcept {
    return run % 2 * half_bytes_ + run / 2 % sets_per_half_ * set_bytes_;
  }

 private:
  std::size_t half_bytes_ = 0;
  std::size_t set_bytes_ = 0;
  std::size_t sets_per_half_ = 1;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_STAGING_TURNS_H_
