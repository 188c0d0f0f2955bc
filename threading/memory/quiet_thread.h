#ifndef HYCOLL_THREADING_MEMORY_QUIET_THREAD_H_
#define HYCOLL_THREADING_MEMORY_QUIET_THREAD_H_

#include <signal.h>

#include <thread>
#include <utility>

namespace hycoll {

/// Starts a thread that no signal of the program's is delivered to: its handlers, and its timers,
/// expect threads of its own. Throws std::system_error if there can be none.
template <class Main>
std::thread start_without_signals(Main main) {
  struct Blocked {
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  } const blocked;
  return std::thread(std::move(main));
}

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_QUIET_THREAD_H_
