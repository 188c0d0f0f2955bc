#ifndef HYCOLL_THREADING_PROGRAM_MEETING_H_
#define HYCOLL_THREADING_PROGRAM_MEETING_H_

#include <cstddef>
#include <vector>

#include "threading/program/pair_blocks.h"
#include "threading/program/program.h"

namespace hycoll {

// Programs of runs that are bound to no schedule: the workers of a node meet.

/// The worker does nothing but wait until all others have entered the run.
Program arrival_of_others(int worker, int worker_count);

/// What a member tells: its blocks, at the begin of its staging, and a row of data if it is short,
/// as the only member of its worker on a single node.
struct ToldBytes {
  std::size_t blocks = 0;         ///< MemberBlocks::bytes_for.
  std::size_t data = 0;           ///< At most, behind the blocks; 0: there is no room.
  std::size_t data_in_lines = 0;  ///< At most; not more than `data`.
};

/// The run in which each worker of a node tells the others of its member's blocks, and waits until
/// all others have: then each reads, before its next run, what it wants to know of them. The same
/// bytes on all workers.
class TellingMeeting {
 public:
  TellingMeeting(int worker, int worker_count, int member_count, const ToldBytes& bytes);

  /// Completes the blocks, which count from `origin`, the worker's input; and the program that
  /// tells of them. Stored into the caches, wherever the others are: what is told is short, and
  /// read at once.
  const Program& tell(MemberBlocks& blocks, const std::byte* origin) noexcept;

  /// Where a worker tells its row (ToldRow).
  static constexpr int kLinesBuffer = 0;
  /// Copies the first `size_bytes` of the data for `member` that another worker has told, in its
  /// lines or in its staging.
  void read_data(const ToldRow& row, const std::byte* staging, int member, std::byte* destination,
                 std::size_t size_bytes) const noexcept;

 private:
  Program program_with(int data_copies) const;
  ToldData place_for(MemberBlocks& blocks) const noexcept;

  int worker_;
  int worker_count_;
  int member_count_;
  ToldBytes bytes_;
  ToldData data_ = ToldData::nowhere;
  std::vector<std::byte> row_;  // as it is told in lines
  Program brief_;               // stages no data
  Program staging_data_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_MEETING_H_
