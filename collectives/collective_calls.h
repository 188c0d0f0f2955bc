#ifndef HYCOLL_COLLECTIVES_COLLECTIVE_CALLS_H_
#define HYCOLL_COLLECTIVES_COLLECTIVE_CALLS_H_

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

#endif  // HYCOLL_COLLECTIVES_COLLECTIVE_CALLS_H_
