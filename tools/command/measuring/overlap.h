#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_OVERLAP_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_OVERLAP_H_

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "collectives/api/hycoll.h"
#include "tools/command/line/routine.h"
#include "tools/command/measuring/crew.h"

namespace hycoll::command {

/// A library's nonblocking call, as one process makes it; one is under way at a time.
class NonblockingCalls {
 public:
  virtual ~NonblockingCalls() = default;
  virtual const std::string& name() const = 0;
  virtual void start(const std::byte* input, std::byte* output) = 0;
  virtual void wait() = 0;
};

/// `communicator` outlives them.
std::unique_ptr<NonblockingCalls> hycoll_nonblocking(Communicator& communicator,
                                                     const Problem& problem, std::size_t count);
std::unique_ptr<NonblockingCalls> native_nonblocking(MPI_Comm comm, const Problem& problem,
                                                     std::size_t count);

/// What was measured of one library: medians over the rounds of the slowest process.
struct OverlapTimes {
  std::string name;
  double communication_us = 0;  ///< start and wait, and nothing in between.
  double compute_us = 0;        ///< The compute loop alone.
  double both_us = 0;           ///< start, the compute loop, wait.
  int rounds = 0;
  bool verified = false;  ///< Right results before and after, on all processes.

  /// The share of the communication time that vanishes behind the computation: 1 if the two
  /// together take no longer than the computation, 0 if they take as long as one after the other;
  /// below 0 when they disturb one another.
  double hidden() const noexcept {
    return (communication_us + compute_us - both_us) / communication_us;
  }
};

struct OverlapOptions {
  Problem problem;
  int rounds = 0;         ///< 0: as many as fit `seconds`, at least 5.
  double seconds = 0.25;  ///< For one size.
};

/// Measures one size with all libraries in alternation; called by all processes of the crew, one
/// thread each. Every library has a compute loop that takes as long as its own communication; it
/// works in registers and makes no call, so nothing drives the communication but the library.
/// Wrong results are reported on the standard error.
std::vector<OverlapTimes> measure_overlap(
    Crew& crew, int rank, int size, std::size_t size_bytes,
    const std::vector<std::unique_ptr<NonblockingCalls>>& libraries, const OverlapOptions& options);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_OVERLAP_H_
