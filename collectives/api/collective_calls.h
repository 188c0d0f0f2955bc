#ifndef HYCOLL_COLLECTIVES_API_COLLECTIVE_CALLS_H_
#define HYCOLL_COLLECTIVES_API_COLLECTIVE_CALLS_H_

#include <memory>
#include <utility>

#include "hycoll/call.h"

namespace hycoll {

/// A nonblocking call under way. Moves, does not copy. Progress is made in the background.
class Request {
 public:
  Request() noexcept;
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  /// Waits if the call is still under way.
  ~Request();

  /// Whether the call has completed. True for a request that stands for no call.
  bool test();

  /// Returns when the call has completed; throws the Error that it met, if any.
  void wait();

  struct State;  ///< Of the implementation.
  explicit Request(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

/// A nonblocking call that goes on only while its owner drives it: for owners with a loop of their
/// own, such as another library's progress function, or with a thread level below
/// MPI_THREAD_MULTIPLE. Moves, does not copy. Used by one thread at a time, whichever; that thread
/// is a worker, and calls MPI on behalf of the call.
///
/// All members drive the call, or none. They may enter it at any time, but it must go on whenever
/// the others need it, for nothing else drives it.
class DrivenCall {
 public:
  /// Stands for no call, and has completed.
  DrivenCall() noexcept;
  DrivenCall(DrivenCall&&) noexcept;
  DrivenCall& operator=(DrivenCall&&) noexcept;
  /// Requires that the call has completed.
  ~DrivenCall();

  /// Does what can be done now, without waiting. Returns whether the call has completed. Requires
  /// that all calls before it on this communicator have. What it takes was there when the call was
  /// made; what the call meets, deliver() throws.
  bool advance() noexcept;

  /// What an owner does from time to time who waits for long: looks for members that have failed,
  /// that make another call, or that are missing. The call may have completed, with an Error, after
  /// that. Calls no MPI.
  void look_for_trouble();

  /// Puts a result that had to be copied where the user wants it, which calls MPI for derived
  /// datatypes; throws the Error that the call has met, if any. Requires that it has completed; to
  /// be called once.
  void deliver();

  struct State;  ///< Of the implementation.
  explicit DrivenCall(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

/// A call that is set up once and started many times on the same buffers. At most one start at a
/// time is under way. Must not outlive its communicator or team.
class Persistent {
 public:
  Persistent(Persistent&&) noexcept;
  Persistent& operator=(Persistent&&) noexcept;
  ~Persistent();

  /// Starts the operation in the background. Throws Error unless wait() has returned for the last
  /// start, or test() has been true; and the Error that it met, if that has not been thrown yet.
  void start();

  /// Whether the operation started last has completed.
  bool test();

  /// Returns when it has; throws the Error that it met, if any.
  void wait();

  /// Starts the operation and returns when it has completed, with the caller as a worker.
  void run();

  struct State;  ///< Of the implementation.
  explicit Persistent(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

/// The collectives by name. `Caller` is Communicator or Member; it has
///   void run(const Call&);           blocking
///   Request start(const Call&);      nonblocking
///   Persistent prepare(const Call&); persistent
/// Every collective has these three forms: `allreduce` returns when done, `iallreduce` returns a
/// Request, and `allreduce_init` a Persistent. The arguments are those of hycoll::calls::allreduce
/// (call.h), by pointers or containers. Calls of one caller are matched between members by their
/// order.
template <class Caller>
class CollectiveCalls {
 public:
  // NOLINTBEGIN: one line for each form
#define HYCOLL_FORMS_OF(collective)                                                           \
  template <class... Arguments>                                                               \
  requires requires(Arguments && ... a) { calls::collective(std::forward<Arguments>(a)...); } \
  void collective(Arguments&&... arguments) {                                                 \
    caller().run(calls::collective(std::forward<Arguments>(arguments)...));                   \
  }                                                                                           \
  template <class... Arguments>                                                               \
  requires requires(Arguments && ... a) { calls::collective(std::forward<Arguments>(a)...); } \
  [[nodiscard]] Request i##collective(Arguments&&... arguments) {                             \
    return caller().start(calls::collective(std::forward<Arguments>(arguments)...));          \
  }                                                                                           \
  template <class... Arguments>                                                               \
  requires requires(Arguments && ... a) { calls::collective(std::forward<Arguments>(a)...); } \
  [[nodiscard]] Persistent collective##_init(Arguments&&... arguments) {                      \
    return caller().prepare(calls::collective(std::forward<Arguments>(arguments)...));        \
  }

  HYCOLL_FORMS_OF(allreduce)
  HYCOLL_FORMS_OF(reduce)
  HYCOLL_FORMS_OF(reduce_scatter_block)
  HYCOLL_FORMS_OF(reduce_scatter)
  HYCOLL_FORMS_OF(scan)
  HYCOLL_FORMS_OF(exscan)
  HYCOLL_FORMS_OF(broadcast)
  HYCOLL_FORMS_OF(barrier)
#undef HYCOLL_FORMS_OF
  // NOLINTEND

  /// The root's value, on all members.
  template <Element T>
  T broadcast(T value, int root = 0) {
    caller().run(calls::broadcast(&value, 1, data_type_of<T>(), root));
    return value;
  }

  /// The reduction of one value over all members.
  template <Element T>
  T allreduce(T value, const Operation& op = Operator::sum) {
    caller().run(calls::allreduce(&value, &value, 1, data_type_of<T>(), op));
    return value;
  }

 private:
  Caller& caller() { return static_cast<Caller&>(*this); }
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_API_COLLECTIVE_CALLS_H_
