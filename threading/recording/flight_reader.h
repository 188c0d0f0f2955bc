#ifndef HYCOLL_THREADING_RECORDING_FLIGHT_READER_H_
#define HYCOLL_THREADING_RECORDING_FLIGHT_READER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "threading/memory/call_signature.h"

namespace hycoll {

/// A call as its member's record has it.
struct RecordedCall {
  std::uint64_t call = 0;
  CallSignature signature;
  std::uint64_t site = 0;  ///< An address in the process; 0: not known.
};

/// What a member of a process has done.
struct MemberState {
  std::uint64_t communicator = 0;
  std::string name;
  int rank = 0;
  int size = 0;
  std::uint64_t entered = 0;  ///< Calls so far.
  bool is_inside = false;     ///< The last one is not over.
  double late_s = 0;          ///< For how long that has been known to take long; 0: it is not.
  std::vector<RecordedCall> calls;  ///< The latest ones, the last one last.

  /// "is in allreduce, count 3, type double, operator sum (call 7 of MPI_COMM_WORLD)", or "is in no
  /// call on MPI_COMM_WORLD; its last one was ...".
  std::string describe() const;
};

/// The processes of this machine that show their calls, as far as this one may read them.
std::vector<pid_t> recorded_processes();

/// What the members of such a process have done; of several libraries hycoll in one process, of all
/// of them. Empty if it shows nothing, or may not be read. The process goes on meanwhile: a call
/// may be the next one already.
std::vector<MemberState> read_members(pid_t process);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_RECORDING_FLIGHT_READER_H_
