#include "tools/cg/reductions.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/api/hycoll.h"

namespace hycoll::cg {
namespace {

class TeamReducer : public Reducer {
 public:
  TeamReducer(MPI_Comm comm, int thread_count)
      : team_(comm, thread_count), members_(static_cast<std::size_t>(thread_count)) {}

  void enter(int thread) override { slot(thread).emplace(team_.join(thread)); }
  double sum(int thread, double partial) override { return slot(thread)->allreduce(partial); }

 private:
  std::optional<Member>& slot(int thread) { return members_[static_cast<std::size_t>(thread)]; }

  Team team_;
  std::vector<std::optional<Member>> members_;
};

/// A reduction in OpenMP, and one over processes by the initial thread.
///
/// The slots do the work of a reduction clause. The clause would need a third barrier, to reset the
/// shared variable, and its order changes from call to call.
class OpenMpReducer : public Reducer {
 public:
  explicit OpenMpReducer(int thread_count) : slots_(static_cast<std::size_t>(thread_count)) {}

  void enter(int) override {}

  double sum(int thread, double partial) override {
    slots_[static_cast<std::size_t>(thread)].value = partial;
#pragma omp barrier
    if (thread == 0) total_ = sum_over_processes(sum_of_slots());
#pragma omp barrier
    return total_;
  }

 protected:
  virtual double sum_over_processes(double partial) = 0;

 private:
  /// A cache line each, so that writers do not disturb one another.
  struct alignas(64) Slot {
    double value = 0.0;
  };

  double sum_of_slots() const {
    double sum = 0.0;
    for (const Slot& slot : slots_) sum += slot.value;
    return sum;
  }

  std::vector<Slot> slots_;
  double total_ = 0.0;
};

class PerNodeReducer : public OpenMpReducer {
 public:
  PerNodeReducer(MPI_Comm comm, int thread_count)
      : OpenMpReducer(thread_count), communicator_(comm, options()) {}

 protected:
  double sum_over_processes(double partial) override { return communicator_.allreduce(partial); }

 private:
  /// One number gives a pool nothing to share, and OpenMP's threads have the other cores.
  static Options options() {
    Options options = Options::from_environment();
    if (options.workers == 0) options.workers = 1;
    return options;
  }

  Communicator communicator_;
};

class MpiReducer : public OpenMpReducer {
 public:
  MpiReducer(MPI_Comm comm, int thread_count) : OpenMpReducer(thread_count) {
    MPI_Comm_dup(comm, &comm_);
  }
  ~MpiReducer() override { MPI_Comm_free(&comm_); }
  MpiReducer(const MpiReducer&) = delete;
  MpiReducer& operator=(const MpiReducer&) = delete;

 protected:
  double sum_over_processes(double partial) override {
    double sum = 0.0;
    MPI_Allreduce(&partial, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
    return sum;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace

std::string_view name_of(ReductionKind kind) noexcept {
  switch (kind) {
    case ReductionKind::threads:
      return "threads";
    case ReductionKind::per_node:
      return "per_node";
    case ReductionKind::mpi:
      break;
  }
  return "mpi";
}

int required_thread_level(ReductionKind kind) noexcept {
  return kind == ReductionKind::mpi ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
}

std::unique_ptr<Reducer> make_reducer(ReductionKind kind, MPI_Comm comm, int thread_count) {
  switch (kind) {
    case ReductionKind::threads:
      return std::make_unique<TeamReducer>(comm, thread_count);
    case ReductionKind::per_node:
      return std::make_unique<PerNodeReducer>(comm, thread_count);
    case ReductionKind::mpi:
      break;
  }
  return std::make_unique<MpiReducer>(comm, thread_count);
}

}  // namespace hycoll::cg
