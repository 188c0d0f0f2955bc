#include "tools/command/measuring/crew.h"

#include <algorithm>

#include "threading/memory/waiter.h"

namespace hycoll::command {
namespace {

/// Completes a request as those wait who share cores with others. Inside of a blocking call of MPI
/// a thread may keep a core for as long as the scheduler lets it: from one that has yet to leave
/// the call, for a slice, which would count as the time of what is measured next; and where the
/// other threads of its process take naps, some Linux kernels (6.18) restore its credit with each
/// nap, and processes of other sessions on that core never run again.
/// Past a preloaded library (PMPI), whose calls are what is measured.
void wait_giving_way(MPI_Request& request) {
  Waiter waiter{WaitPolicy{}};
  for (int done = 0;;) {
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (waiter.turn()) waiter.give_way();
  }
}

}  // namespace

Crew::Crew(MPI_Comm comm, int thread_count)
    : comm_(comm),
      thread_count_(thread_count),
      posted_(static_cast<std::size_t>(thread_count)),
      slept_(static_cast<std::size_t>(thread_count)) {
  MPI_Comm_size(comm_, &process_count_);
  MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine_);
  int on_machine = 1;
  MPI_Comm_size(machine_, &on_machine);
  is_on_one_machine_ = on_machine == process_count_;
}

Crew::~Crew() { MPI_Comm_free(&machine_); }

void Crew::sleep_until_done(int thread) {
  const std::uint64_t wanted = ++slept_[static_cast<std::size_t>(thread)];
  std::unique_lock lock(sleep_mutex_);
  wake_up_.wait(lock, [&] { return times_alone_ >= wanted; });
}

void Crew::wake_others() {
  const std::lock_guard lock(sleep_mutex_);
  ++times_alone_;
  wake_up_.notify_all();
}

void Crew::meet_in_process() {
  if (thread_count_ == 1) return;
  const std::uint32_t meeting = meetings_.load(std::memory_order_relaxed);
  // Acquires and releases what every thread wrote before it came: the last one to arrive sees all.
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == thread_count_) {
    arrived_.store(0, std::memory_order_relaxed);
    meetings_.store(meeting + 1, std::memory_order_release);  // pairs with the load below
    return;
  }
  Waiter waiter{WaitPolicy{}};
  while (meetings_.load(std::memory_order_acquire) == meeting) {  // pairs with the store above
    if (waiter.turn()) waiter.give_way();
  }
}

void Crew::meet_processes() {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(comm_, &request);
  wait_giving_way(request);
}

void Crew::meet(int thread) {
  if (process_count_ == 1) return meet_in_process();
  meet_in_process();
  if (thread == 0) meet_processes();
  meet_in_process();
}

void Crew::maximum_over(MPI_Comm comm, int thread, std::span<double> values) {
  posted_[static_cast<std::size_t>(thread)] = values;
  meet_in_process();
  if (thread == 0) {
    for (const std::span<double> others : posted_) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], others[i]);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                    MPI_MAX, comm, &request);
    wait_giving_way(request);
  }
  meet_in_process();
  if (thread != 0) std::copy_n(posted_[0].begin(), values.size(), values.begin());
  meet_in_process();
}

void Crew::maximum(int thread, std::span<double> values) { maximum_over(comm_, thread, values); }

double Crew::maximum(int thread, double value) {
  maximum_over(comm_, thread, std::span(&value, 1));
  return value;
}

double Crew::maximum_on_machine(int thread, double value) {
  maximum_over(machine_, thread, std::span(&value, 1));
  return value;
}

}  // namespace hycoll::command
