#ifndef HYCOLL_THREADING_TRANSPORT_UCX_UCX_CARETAKER_H_
#define HYCOLL_THREADING_TRANSPORT_UCX_UCX_CARETAKER_H_

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace hycoll {

class UcxWorker;

/// A thread that drives workers which their users have left while parts of their messages may still
/// be with them: over TCP, UCX takes a message for sent when it has copied what did not fit into
/// the socket. It sleeps nearly always, and for good as long as no worker is used.
class UcxCaretaker {
 public:
  /// The process's, which stops when that ends.
  static UcxCaretaker& instance();

  /// The worker is looked after from now on.
  void take(UcxWorker& worker);
  /// When this returns, it is not any more.
  void leave(UcxWorker& worker);
  /// A worker has been used that was not looked after.
  void wake();

 private:
  UcxCaretaker();
  void work();
  void stop();

  const pid_t process_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;            // guarded by mutex_
  bool is_over_ = false;             // guarded by mutex_
  std::vector<UcxWorker*> workers_;  // guarded by mutex_
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_UCX_UCX_CARETAKER_H_
