#ifndef HYCOLL_TOOLS_CG_REDUCTIONS_H_
#define HYCOLL_TOOLS_CG_REDUCTIONS_H_

#include <mpi.h>

#include <array>
#include <memory>
#include <string_view>

namespace hycoll::cg {

/// How the threads of all processes add up one number each.
enum class ReductionKind {
  threads,   ///< hycoll's Team: every thread is a member.
  per_node,  ///< Over the threads in OpenMP, then hycoll's Communicator from one thread.
  mpi,       ///< Over the threads in OpenMP, then MPI_Allreduce from one thread.
};
inline constexpr std::array kAllReductionKinds = {ReductionKind::threads, ReductionKind::per_node,
                                                  ReductionKind::mpi};

/// The name on the command line and in reports.
std::string_view name_of(ReductionKind kind) noexcept;

/// The least MPI thread level that a kind of reduction works with.
int required_thread_level(ReductionKind kind) noexcept;

/// Sums over all threads of a parallel region in all processes. A solver has one and does not know
/// its kind.
class Reducer {
 public:
  virtual ~Reducer() = default;

  /// Called by every thread of the region before its first sum.
  virtual void enter(int thread) = 0;

  /// The sum of the `partial` of all threads of all processes. Called by every thread of the region
  /// in all processes; `thread` is omp_get_thread_num(). All threads get the same bits. No thread
  /// returns before every thread of its process has entered, and what they wrote before is then
  /// visible: a barrier for the threads of the process.
  virtual double sum(int thread, double partial) = 0;
};

/// Collective over `comm`. Every parallel region that uses it has `thread_count` threads. Errors:
/// those of hycoll's Team and Communicator.
std::unique_ptr<Reducer> make_reducer(ReductionKind kind, MPI_Comm comm, int thread_count);

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_REDUCTIONS_H_
