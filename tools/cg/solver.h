#ifndef HYCOLL_TOOLS_CG_SOLVER_H_
#define HYCOLL_TOOLS_CG_SOLVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tools/cg/linear_operator.h"
#include "tools/cg/reductions.h"

namespace hycoll::cg {

/// When to stop.
struct SolverLimits {
  int maximum_iterations = 500;
  double tolerance = 1e-9;  ///< On the norm of the residual over that of the right-hand side.
};

enum class SolverStatus {
  converged,              ///< The recurrence's residual met the tolerance.
  iterations_exhausted,   ///< It did not within the maximum.
  not_positive_definite,  ///< A direction p with p'Ap <= 0, or not a number.
};

/// One run of the solver. The times are this process's.
struct SolverResult {
  SolverStatus status = SolverStatus::iterations_exhausted;
  int iterations = 0;
  double relative_residual = 0.0;  ///< |b - Ax| / |b|, computed anew from x.
  double solve_seconds = 0.0;      ///< The iterations, without setting up and checking.
  double reduction_seconds = 0.0;  ///< Thread 0 inside reductions during the iterations.
  std::int64_t reduction_count = 0;
};

/// Conjugate gradients without a preconditioner, in one parallel region: every thread keeps to its
/// rows from beginning to end.
///
/// Source: M. R. Hestenes, E. Stiefel, Methods of Conjugate Gradients for Solving Linear Systems,
/// 1952. Per iteration: one exchange of ghosts, one product, two reductions.
class Solver {
 public:
  /// `system` must outlive the solver. Requires thread_count >= 1. Error: environment if OpenMP
  /// does not provide that many threads.
  Solver(const System& system, int thread_count);

  /// Solves from a start of 0. Collective over the system's processes, with equal limits and
  /// `reducer`s of one kind made for this thread_count. Called outside of parallel regions. An
  /// exception in the region ends the job with its message, since the other threads wait for the
  /// one that met it.
  SolverResult solve(Reducer& reducer, const SolverLimits& limits);

  /// This process's part of the last solution.
  std::span<const double> solution() const noexcept { return {solution_.get(), row_count_}; }

 private:
  class ThreadPart;

  const System& system_;
  int thread_count_;
  std::size_t row_count_;
  // Left uninitialised, so that each page comes to lie near the thread that first writes to it.
  std::unique_ptr<double[]> solution_;
  std::unique_ptr<double[]> residual_;
  std::unique_ptr<double[]> direction_;  // with ghosts
  std::unique_ptr<double[]> product_;
};

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_SOLVER_H_
