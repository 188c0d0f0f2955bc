#ifndef HYCOLL_THREADING_OBSERVING_OBSERVERS_H_
#define HYCOLL_THREADING_OBSERVING_OBSERVERS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "threading/observing/observer.h"

namespace hycoll {

/// Those of the process that are told of runs, in the order of their registration. They stay.
/// Thread-safe.
class Observers {
 public:
  /// Null as long as there are none.
  static const Observers* here() noexcept;

  /// As hycoll_register_observer().
  static bool add(const hycoll_observer& observer) noexcept;

  void run_begins(const hycoll_observed_run& run) const noexcept;
  void step_ends(const hycoll_observed_run& run, const hycoll_observed_step& step) const noexcept;
  void message_ends(const hycoll_observed_run& run,
                    const hycoll_observed_step& step) const noexcept;
  void run_ends(const hycoll_observed_run& run, bool failed) const noexcept;

 private:
  std::span<const hycoll_observer> all() const noexcept {
    // Pairs with the releasing store in add().
    return {observers_.data(), count_.load(std::memory_order_acquire)};
  }

  template <auto kFunction, class... Arguments>
  void tell(Arguments... arguments) const noexcept;

  std::array<hycoll_observer, HYCOLL_MOST_OBSERVERS> observers_{};
  std::atomic<std::size_t> count_{0};
};

/// A number that no other worker of the process has had.
std::uint64_t take_worker_number() noexcept;

/// The same of communicators and teams.
std::uint64_t take_communicator_number() noexcept;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_OBSERVING_OBSERVERS_H_
