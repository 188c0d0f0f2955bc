#ifndef HYCOLL_THREADING_MEMORY_PROCESS_WATCH_H_
#define HYCOLL_THREADING_MEMORY_PROCESS_WATCH_H_

#include <cstddef>
#include <span>

namespace hycoll {

/// Tells the processes of a node when one of them has ended before its time: killed, crashed, or by
/// _exit.
///
/// Every process has a word in memory that all share, which the kernel marks when the process ends;
/// looking costs a load. The means are robust futexes. They belong to threads, and a program's
/// threads come and go, so threads that do nothing else stand for their process: the kernel marks
/// 2,048 words of a thread at most, so there is one for every 1,024 words. It marks them before it
/// closes the process's files, by which launchers notice its end, and so the others can often
/// report before the launcher ends them.
///
/// A process that destroys its watch, or returns from main() or calls exit(), has left, and counts
/// as alive.
///
/// Launchers kill all others when one has ended, whichever way. So of several that have gone it is
/// not known who was first.
class ProcessWatch {
 public:
  /// What the watch of so many processes takes of the shared memory.
  static std::size_t size_bytes(int process_count);

  /// `shared` is size_bytes(process_count) long, at an address divisible by 64, the same memory in
  /// all processes, zero until the first one enters, and outlives the watch. This process is number
  /// `own`. Where the system refuses a thread, the others never notice this process's end.
  ProcessWatch(std::span<std::byte> shared, int process_count, int own);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  /// How the system knows a process; 0 as long as that has not entered.
  int process_id(int process) const noexcept;

  /// A process that has ended before its time; -1 if there is none. May be called concurrently.
  int find_ended() const noexcept;

  /// Whether this one, whom find_ended() has found, is the first process to be gone: no other has
  /// ended, or has left by exit() or from main(). May be called concurrently.
  bool is_first_gone(int process) const noexcept;

 private:
  struct Entry;
  class Keeper;
  class Keepers;

  Entry* entries_;
  int process_count_;
  int own_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_PROCESS_WATCH_H_
