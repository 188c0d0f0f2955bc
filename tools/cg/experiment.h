#ifndef HYCOLL_TOOLS_CG_EXPERIMENT_H_
#define HYCOLL_TOOLS_CG_EXPERIMENT_H_

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

#include "tools/cg/linear_operator.h"
#include "tools/cg/reductions.h"
#include "tools/cg/solver.h"

namespace hycoll::cg {

/// All repetitions of the solver with one kind of reduction. Residuals and numbers of iterations
/// are the same on all processes; solve_seconds is that of the slowest process, reduction_seconds
/// this process's.
struct Variant {
  ReductionKind kind = ReductionKind::mpi;
  double early_residual = 0.0;     ///< Relative, after kEarlyIterations or at convergence.
  std::vector<SolverResult> runs;  ///< One per repetition.
  double maximum_error = 0.0;      ///< The largest |x - 1| of any run.
};

/// The length of the run that warms up, too short for rounding errors to grow.
inline constexpr int kEarlyIterations = 10;

/// What is run.
struct ExperimentPlan {
  std::vector<ReductionKind> reductions;
  SolverLimits limits;
  int thread_count = 1;
  int repetitions = 1;
};

/// Solves `system` with every kind of reduction in turn, `repetitions` times round, after a run of
/// kEarlyIterations each. Collective over `comm`.
std::vector<Variant> run_experiment(const System& system, const ExperimentPlan& plan,
                                    MPI_Comm comm);

/// How far results may be apart for no other reason than that sums were taken in another order.
///
/// Rounding moves a dot product by a relative 1e-16 to 1e-10, depending on its length. Conjugate
/// gradients take that from iteration to iteration: after a few it is as small, later it may have
/// grown to any size on an ill-conditioned system, which then needs some iterations more or fewer.
/// So runs are compared where they must still be equal, and at the end by what they achieved.
struct ReassociationAllowance {
  double early_relative = 1e-9;   ///< Of early_residual, relative to the larger one,
  double early_absolute = 1e-14;  ///< and absolute.
  double iterations = 0.05;       ///< Of the larger number of iterations; at least one.
  double tolerance = 0.01;        ///< The recomputed residual over the one that stopped the run.
};

/// What is wrong with the results, one sentence each; none if every run converged and all came to
/// the same residual, up to the allowance. Pure. Requires at least one run per variant.
std::vector<std::string> find_disagreements(std::span<const Variant> variants,
                                            const SolverLimits& limits,
                                            const ReassociationAllowance& allowance = {});

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_EXPERIMENT_H_
