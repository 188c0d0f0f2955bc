#include "tools/cg/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

namespace hycoll::cg {
namespace {

double maximum_over_processes(double value, MPI_Comm comm) {
  double maximum = 0.0;
  MPI_Allreduce(&value, &maximum, 1, MPI_DOUBLE, MPI_MAX, comm);
  return maximum;
}

double maximum_error(std::span<const double> solution, MPI_Comm comm) {
  double maximum = 0.0;
  for (const double value : solution) maximum = std::max(maximum, std::abs(value - 1.0));
  return maximum_over_processes(maximum, comm);
}

/// What is wrong with one run on its own, or nothing.
std::string problem_of(const SolverResult& run, const SolverLimits& limits,
                       const ReassociationAllowance& allowance) {
  switch (run.status) {
    case SolverStatus::iterations_exhausted:
      return fmt::format(
          "not converged after {} iterations, the relative residual is {:.3g}; allow more with "
          "--iterations, or a larger --tolerance",
          run.iterations, run.relative_residual);
    case SolverStatus::not_positive_definite:
      return fmt::format(
          "the matrix is not positive definite, as iteration {} shows; choose "
          "another one",
          run.iterations + 1);
    case SolverStatus::converged:
      break;
  }
  if (run.relative_residual <= limits.tolerance * (1.0 + allowance.tolerance)) return {};
  return fmt::format(
      "the recomputed relative residual is {:.3g}, above the tolerance {:.3g}: rounding does not "
      "allow less on this system; choose a larger --tolerance",
      run.relative_residual, limits.tolerance);
}

/// Compares two runs that converged.
std::string difference_of(const Variant& left, const SolverResult& left_run, const Variant& right,
                          const SolverResult& right_run, const ReassociationAllowance& allowance) {
  const double early = std::abs(left.early_residual - right.early_residual);
  const double larger = std::max(left.early_residual, right.early_residual);
  if (!(early <= allowance.early_relative * larger + allowance.early_absolute)) {
    return fmt::format(
        "the relative residuals after {} iterations are {:.16g} ({}) and {:.16g} ({}), further "
        "apart than another order of summation explains",
        kEarlyIterations, left.early_residual, name_of(left.kind), right.early_residual,
        name_of(right.kind));
  }
  const int apart = std::abs(left_run.iterations - right_run.iterations);
  const int most = std::max(left_run.iterations, right_run.iterations);
  if (apart <= std::max(1.0, allowance.iterations * most)) return {};
  return fmt::format(
      "{} iterations ({}) and {} ({}), further apart than another order of summation explains",
      left_run.iterations, name_of(left.kind), right_run.iterations, name_of(right.kind));
}

}  // namespace

std::vector<Variant> run_experiment(const System& system, const ExperimentPlan& plan,
                                    MPI_Comm comm) {
  Solver solver(system, plan.thread_count);
  std::vector<std::unique_ptr<Reducer>> reducers;
  std::vector<Variant> variants;
  for (const ReductionKind kind : plan.reductions) {
    reducers.push_back(make_reducer(kind, comm, plan.thread_count));
    variants.push_back({.kind = kind, .early_residual = 0.0, .runs = {}, .maximum_error = 0.0});
  }

  SolverLimits early = plan.limits;
  early.maximum_iterations = std::min(early.maximum_iterations, kEarlyIterations);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    variants[i].early_residual = solver.solve(*reducers[i], early).relative_residual;
  }

  for (int repetition = 0; repetition < plan.repetitions; ++repetition) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Variant& variant = variants[i];
      SolverResult result = solver.solve(*reducers[i], plan.limits);
      result.solve_seconds = maximum_over_processes(result.solve_seconds, comm);
      variant.runs.push_back(result);
      variant.maximum_error =
          std::max(variant.maximum_error, maximum_error(solver.solution(), comm));
    }
  }
  return variants;
}

std::vector<std::string> find_disagreements(std::span<const Variant> variants,
                                            const SolverLimits& limits,
                                            const ReassociationAllowance& allowance) {
  std::vector<std::string> problems;
  const auto report = [&problems](std::string problem) {
    const bool known = std::find(problems.begin(), problems.end(), problem) != problems.end();
    if (!problem.empty() && !known) problems.push_back(std::move(problem));
  };
  for (const Variant& variant : variants) {
    for (const SolverResult& run : variant.runs) {
      const std::string problem = problem_of(run, limits, allowance);
      if (!problem.empty()) report(fmt::format("{}: {}", name_of(variant.kind), problem));
    }
  }
  if (!problems.empty()) return problems;
  const Variant& first = variants.front();
  for (const Variant& variant : variants) {
    for (const SolverResult& run : variant.runs) {
      report(difference_of(first, first.runs.front(), variant, run, allowance));
    }
  }
  return problems;
}

}  // namespace hycoll::cg
