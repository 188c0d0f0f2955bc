#include "threading/observing/observers.h"

#include <mutex>

#include "core/base/ticks.h"
#include "threading/observing/call_site.h"

namespace hycoll {
namespace {

constinit Observers observers_here;
constinit std::mutex registering;

/// From the start of the process, so that the rate is known well.
const TickRate rate_here;

}  // namespace

const Observers* Observers::here() noexcept {
  return observers_here.all().empty() ? nullptr : &observers_here;
}

bool Observers::add(const hycoll_observer& observer) noexcept {
  if (observer.size != sizeof(hycoll_observer)) return false;
  const std::lock_guard lock(registering);
  const std::size_t count = observers_here.all().size();
  if (count == HYCOLL_MOST_OBSERVERS) return false;
  observers_here.observers_[count] = observer;
  CallSite::want();
  // Pairs with the acquiring load in all().
  observers_here.count_.store(count + 1, std::memory_order_release);
  return true;
}

template <auto kFunction, class... Arguments>
inline void Observers::tell(Arguments... arguments) const noexcept {
  for (const hycoll_observer& one : all()) {
    if (one.*kFunction != nullptr) (one.*kFunction)(one.context, arguments...);
  }
}

void Observers::run_begins(const hycoll_observed_run& run) const noexcept {
  tell<&hycoll_observer::run_begins>(&run);
}

void Observers::step_ends(const hycoll_observed_run& run,
                          const hycoll_observed_step& step) const noexcept {
  tell<&hycoll_observer::step_ends>(&run, &step);
}

void Observers::message_ends(const hycoll_observed_run& run,
                             const hycoll_observed_step& step) const noexcept {
  tell<&hycoll_observer::message_ends>(&run, &step);
}

void Observers::run_ends(const hycoll_observed_run& run, bool failed) const noexcept {
  tell<&hycoll_observer::run_ends>(&run, failed ? 1 : 0);
}

std::uint64_t take_worker_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  // Orders nothing.
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t take_communicator_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  // Orders nothing.
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace hycoll

int hycoll_register_observer(const hycoll_observer* observer) {
  return observer != nullptr && hycoll::Observers::add(*observer) ? 0 : 1;
}

uint64_t hycoll_ticks() { return hycoll::ticks(); }

double hycoll_seconds_per_tick() { return hycoll::rate_here.seconds_per_tick(); }
