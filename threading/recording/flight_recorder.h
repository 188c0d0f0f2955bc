#ifndef HYCOLL_THREADING_RECORDING_FLIGHT_RECORDER_H_
#define HYCOLL_THREADING_RECORDING_FLIGHT_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "threading/recording/call_records.h"

namespace hycoll {

/// Whose calls are recorded.
struct RecordedMember {
  std::uint64_t communicator = 0;  ///< A number of the process's own.
  int rank = 0;
  int size = 0;
  std::string_view name;  ///< Of the communicator; cut where it is long.
};

/// The latest calls of all members of this process, always: in a memory file, so that other
/// processes of the user may read them (`hycoll state`), for which a hung process need do nothing.
/// A member takes 2 KiB as long as it exists, and those that are gone leave theirs to others.
/// Thread-safe.
class FlightRecorder {
 public:
  /// The process's only one.
  static FlightRecorder& here();

  /// A member's record, which goes back with the pointer. Null if the system gives no memory.
  std::shared_ptr<MemberRecord> record(const RecordedMember& member) noexcept;

 private:
  MemberRecord* vacant_record();
  bool grow();
  /// A process that has been forked has its parent's file, and makes one of its own.
  void leave_parent();
  void give_back(MemberRecord& record) noexcept;

  std::mutex mutex_;
  int file_ = -1;                        // guarded by mutex_; -1: not made yet
  CallRecordsHeader* header_ = nullptr;  // guarded by mutex_
  std::int64_t process_ = 0;             // guarded by mutex_; whose file it is
  std::size_t record_count_ = 0;         // guarded by mutex_
  std::vector<MemberRecord*> vacant_;    // guarded by mutex_
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_RECORDING_FLIGHT_RECORDER_H_
