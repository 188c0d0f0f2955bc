#include "preload/session/payback.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace hycoll::preload {
namespace {

constexpr double kWorthPerCost = 3;

/// As long as nothing has been measured (docs/preload.md).
constexpr double kUsualPreparationSeconds = 1e-3;

/// The shortest preparation of this process by the number of bits of the communicator's size, in
/// seconds; 0 if there was none. A longer one has waited for other processes.
std::array<std::atomic<double>, 33> shortest_preparations{};

std::atomic<double>& shortest_preparation(int process_count) noexcept {
  return shortest_preparations[std::bit_width(static_cast<unsigned>(process_count))];
}

}  // namespace

void Payback::add(std::uint64_t spent_ticks) noexcept {
  ++timed_calls_;
  ticks_in_calls_ += spent_ticks;
}

double Payback::seconds_in_calls() const noexcept {
  if (timed_calls_ == 0) return 0;
  return static_cast<double>(ticks_in_calls_) * rate_.seconds_per_tick() * calls_ / timed_calls_;
}

bool Payback::pays(MPI_Comm communicator) {
  while (is_due()) next_look_ *= 2;
  int process_count = 1;
  PMPI_Comm_size(communicator, &process_count);
  // Orders only itself.
  const double known = shortest_preparation(process_count).load(std::memory_order_relaxed);
  const double preparation = known > 0 ? known : kUsualPreparationSeconds;
  std::array<double, 2> least = {seconds_in_calls(), preparation};
  const int code = PMPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_DOUBLE, MPI_MIN, communicator);
  return code == MPI_SUCCESS && least[0] >= kWorthPerCost * least[1];
}

void Payback::note_preparation(int process_count, std::chrono::duration<double> time) noexcept {
  std::atomic<double>& shortest = shortest_preparation(process_count);
  double known = shortest.load(std::memory_order_relaxed);  // Orders only itself.
  while ((known == 0 || time.count() < known) &&
         !shortest.compare_exchange_weak(known, time.count(), std::memory_order_relaxed)) {
  }
}

}  // namespace hycoll::preload
