#include "tools/cg/solver.h"

#include <fmt/format.h>
#include <mpi.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>

#include "core/base/errors.h"
#include "threading/transport/mpi/end_job.h"

namespace hycoll::cg {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void require_threads(int thread_count) {
  int provided = 0;
#pragma omp parallel num_threads(thread_count)
#pragma omp master
  provided = omp_get_num_threads();
  if (provided != thread_count) {
    throw Error(
        ErrorKind::environment,
        fmt::format("OpenMP provides {} threads, {} were asked for; ask for fewer, or unset "
                    "OMP_DYNAMIC and OMP_THREAD_LIMIT",
                    provided, thread_count));
  }
}

[[noreturn]] void end_job_of_thread(const char* message) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  end_job(fmt::format("hycoll_cg: process {}, thread {}: {}", rank, omp_get_thread_num(), message),
          1);
}

}  // namespace

/// What one thread does. Vectors are shared; a thread writes to its own rows only, and reads those
/// of others in the product only: between an exchange of ghosts and the next reduction, both of
/// which are barriers.
class Solver::ThreadPart {
 public:
  ThreadPart(Solver& solver, Reducer& reducer, int thread)
      : system_(solver.system_),
        reducer_(reducer),
        thread_(thread),
        rows_(system_.matrix->thread_rows(thread, solver.thread_count_)),
        b_(system_.right_hand_side.data()),
        x_(solver.solution_.get()),
        r_(solver.residual_.get()),
        p_(solver.direction_.get()),
        q_(solver.product_.get()) {}

  SolverResult run(const SolverLimits& limits) {
    reducer_.enter(thread_);
    start();
    const double b_squared = reducer_.sum(thread_, squared(b_));
    iterate(limits, b_squared);
    result_.relative_residual = std::sqrt(true_residual_squared() / b_squared);
    return result_;
  }

 private:
  void start() {
    for (std::size_t i = rows_.begin; i < rows_.end; ++i) {
      x_[i] = 0.0;
      r_[i] = b_[i];
      p_[i] = b_[i];
    }
  }

  void iterate(const SolverLimits& limits, double b_squared) {
    const double target = limits.tolerance * std::sqrt(b_squared);
    double r_squared = b_squared;
    const Clock::time_point begin = Clock::now();
    result_.status = SolverStatus::iterations_exhausted;
    while (std::sqrt(r_squared) > target && result_.iterations < limits.maximum_iterations) {
      multiply();
      const double curvature = timed_sum(direction_times_product());
      if (!(curvature > 0.0)) {
        result_.status = SolverStatus::not_positive_definite;
        break;
      }
      const double next_r_squared = timed_sum(advance(r_squared / curvature));
      turn(next_r_squared / r_squared);
      r_squared = next_r_squared;
      ++result_.iterations;
    }
    if (std::sqrt(r_squared) <= target) result_.status = SolverStatus::converged;
    result_.solve_seconds = seconds_since(begin);
  }

  /// q = A p
  void multiply() {
    system_.halo->exchange(p_);
    system_.matrix->apply(p_, q_, rows_);
  }

  double direction_times_product() const {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = rows_.begin; i < rows_.end; ++i) sum += p_[i] * q_[i];
    return sum;
  }

  /// x += step p and r -= step q; returns this thread's part of r'r.
  double advance(double step) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = rows_.begin; i < rows_.end; ++i) {
      x_[i] += step * p_[i];
      r_[i] -= step * q_[i];
      sum += r_[i] * r_[i];
    }
    return sum;
  }

  /// p = r + factor p
  void turn(double factor) {
    for (std::size_t i = rows_.begin; i < rows_.end; ++i) p_[i] = r_[i] + factor * p_[i];
  }

  double true_residual_squared() {
    std::copy(x_ + rows_.begin, x_ + rows_.end, p_ + rows_.begin);
    multiply();
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = rows_.begin; i < rows_.end; ++i) {
      sum += (b_[i] - q_[i]) * (b_[i] - q_[i]);
    }
    return reducer_.sum(thread_, sum);
  }

  double squared(const double* vector) const {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = rows_.begin; i < rows_.end; ++i) sum += vector[i] * vector[i];
    return sum;
  }

  double timed_sum(double partial) {
    if (thread_ != 0) return reducer_.sum(thread_, partial);
    const Clock::time_point begin = Clock::now();
    const double sum = reducer_.sum(thread_, partial);
    result_.reduction_seconds += seconds_since(begin);
    ++result_.reduction_count;
    return sum;
  }

  const System& system_;
  Reducer& reducer_;
  int thread_;
  RowRange rows_;
  const double* b_;
  double* x_;
  double* r_;
  double* p_;
  double* q_;
  SolverResult result_;
};

Solver::Solver(const System& system, int thread_count)
    : system_(system),
      thread_count_(thread_count),
      row_count_(system.matrix->row_count()),
      solution_(std::make_unique_for_overwrite<double[]>(row_count_)),
      residual_(std::make_unique_for_overwrite<double[]>(row_count_)),
      direction_(
          std::make_unique_for_overwrite<double[]>(row_count_ + system.matrix->ghost_count())),
      product_(std::make_unique_for_overwrite<double[]>(row_count_)) {
  require_threads(thread_count);
}

SolverResult Solver::solve(Reducer& reducer, const SolverLimits& limits) {
  SolverResult result;
#pragma omp parallel num_threads(thread_count_)
  {
    const int thread = omp_get_thread_num();
    try {
      const SolverResult of_thread = ThreadPart(*this, reducer, thread).run(limits);
      if (thread == 0) result = of_thread;
    } catch (const std::exception& error) {
      end_job_of_thread(error.what());
    }
  }
  return result;
}

}  // namespace hycoll::cg
