#ifndef HYCOLL_COLLECTIVES_API_COLLECTIVE_CALLS_H_
#define HYCOLL_COLLECTIVES_API_COLLECTIVE_CALLS_H_

#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <utility>

#include "hycoll/call.h"

namespace hycoll {

/// A nonblocking call under way. Moves, does not copy. Progress is made in the background.
///
/// Example: work of the program's own while a broadcast is under way.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     std::vector<int> table(1000, communicator.rank() == 0 ? 7 : 0);
///     hycoll::Request request = communicator.ibroadcast(table, 0);
///     // ... what does not touch the table ...
///     request.wait();
///     check(table[999] == 7);
///
/// The buffers are the call's until wait() has returned or thrown, or test() has been true or
/// thrown. A request must have been waited for before its communicator or team is destroyed.
class Request {
 public:
  /// Stands for no call.
  Request() noexcept;
  /// The other one stands for no call then.
  Request(Request&&) noexcept;
  /// As the destructor for the call that it has stood for.
  Request& operator=(Request&&) noexcept;
  /// Waits if the call is still under way, for it uses the buffers: also where an exception is on
  /// its way, and without end if other members never make the call (Options::timeout). An Error
  /// that nobody has been told of is reported on standard error; call wait() to have it thrown.
  ~Request();

  /// Whether the call has completed; throws the Error that it met, if any. After true or an Error
  /// the request stands for no call. True for a request that stands for none.
  bool test();

  /// Returns when the call has completed; throws the Error that it met, if any. The request stands
  /// for no call then.
  void wait();

  /// Whether wait() would return, or throw, at once. The request stands for its call still. True
  /// for a request that stands for none.
  bool has_completed();

  /// Whether it stands for a call, which may have completed.
  bool has_call() const noexcept { return state_ != nullptr; }

  struct State;  ///< Of the implementation.
  explicit Request(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

/// Returns when all calls have completed; then throws the Error of the first one, in this order,
/// that has met any. The requests stand for no calls then.
void wait_all(std::span<Request> requests);

/// Whether all calls have completed. Then as wait_all(); else all requests stand for their calls
/// still.
bool test_all(std::span<Request> requests);

/// Returns when one of the calls has completed: its index, or the number of requests if none of
/// them stands for a call. As Request::wait() of that one; another thread's work goes on meanwhile,
/// for the caller yields between looks.
///
/// Example: results in the order in which they come.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     std::vector<int> tables[2] = {std::vector<int>(10, 1), std::vector<int>(10, 2)};
///     std::vector<hycoll::Request> requests;
///     for (std::vector<int>& table : tables) {
///       requests.push_back(communicator.iallreduce(table, table, hycoll::Operator::max));
///     }
///     std::size_t done = 0;
///     while ((done = hycoll::wait_any(requests)) < requests.size()) {
///       check(tables[done][0] == static_cast<int>(done) + 1);
///     }
std::size_t wait_any(std::span<Request> requests);

/// A nonblocking call of one value, which it keeps.
///
/// Example: a sum that is needed later.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     hycoll::PendingValue<double> sum = communicator.iallreduce(0.5);
///     // ... work that does not need it ...
///     check(sum.get() == 0.5 * communicator.size());
template <class T>
class PendingValue {
 public:
  /// Of the call that `start`, called with the value's address, starts.
  template <class Start>
  PendingValue(T value, const Start& start)
      : value_(std::make_unique<T>(value)), request_(start(value_.get())) {}

  /// Whether get() would return, or throw, at once.
  bool has_completed() { return request_.has_completed(); }
  /// The result, when the call has completed; throws the Error that it met, if any. To be called
  /// once, or several times.
  T get() {
    request_.wait();
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
  Request request_;  // after the value: it ends first
};

/// A nonblocking call that goes on only while its owner drives it: for owners with a loop of their
/// own, such as another library's progress function, or with a thread level below
/// MPI_THREAD_MULTIPLE. Moves, does not copy. Used by one thread at a time, whichever; that thread
/// is a worker, and calls MPI on behalf of the call.
///
/// All members drive the call, or none. They may enter it at any time, but it must go on whenever
/// the others need it, for nothing else drives it.
///
/// One that has been set up to be started (Communicator::prepare_driven) is made by start(), once
/// or again and again. Its starts are matched with those of the same set-up on the other processes,
/// and need no order in common with any other calls.
class DrivenCall {
 public:
  /// Stands for no call, and has completed.
  DrivenCall() noexcept;
  /// The other one stands for no call then.
  DrivenCall(DrivenCall&&) noexcept;
  /// The same. Requires that the call it has stood for has completed.
  DrivenCall& operator=(DrivenCall&&) noexcept;
  /// Requires that the call has completed.
  ~DrivenCall();

  /// Makes the call that has been set up, on the same buffers. Requires that the last start, if
  /// any, has been delivered. Throws Error; then nothing has been started.
  void start();

  /// Does what can be done now, without waiting. Returns whether the call has completed. Requires,
  /// of a call that has not been set up to be started, that all calls of drive() before it on this
  /// communicator have. What it takes was there when the call was made; what the call meets,
  /// deliver() throws.
  bool advance() noexcept;

  /// What an owner does from time to time who waits for long: looks for members that have failed,
  /// that make another call, or that are missing. The call may have completed, with an Error, after
  /// that. Calls no MPI.
  void look_for_trouble();

  /// Nobody waits for the call at present: members that are missing are so from now on. A start and
  /// any progress count as much.
  void restart_clock() noexcept;

  /// Puts a result that had to be copied where the user wants it; throws the Error that the call
  /// has met, if any. Requires that it has completed; to be called once for each start.
  void deliver();

  struct State;  ///< Of the implementation.
  explicit DrivenCall(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

/// A call that is set up once and started many times on the same buffers, which must live as long.
/// At most one start at a time is under way. Must not outlive its communicator or team.
///
/// Example: an allreduce in every step of a loop.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     std::vector<double> residual(8, 1.0);
///     std::vector<double> sum(residual.size());
///     hycoll::Persistent allreduce = communicator.allreduce_init(residual, sum);
///     for (int step = 0; step < 3; ++step) allreduce.run();
///     check(sum[0] == communicator.size());
///
/// A start is a call like any other: all members make their calls and starts on a communicator or
/// team in the same order. (Programs under the preload library may start theirs in any order, as
/// MPI says; so may owners of DrivenCall.)
class Persistent {
 public:
  /// The other one must only be destroyed or assigned to then.
  Persistent(Persistent&&) noexcept;
  /// As the destructor for the call that it has stood for.
  Persistent& operator=(Persistent&&) noexcept;
  /// Waits for what has been started, and reports an Error, as that of Request.
  ~Persistent();

  /// Starts the operation in the background. Throws Error unless wait() has returned or thrown for
  /// the last start, or test() has been true or thrown.
  void start();

  /// Whether the operation started last has completed; throws the Error that it met, if any, once.
  bool test();

  /// Returns when it has; throws the Error that it met, if any.
  void wait();

  /// Whether wait() would return, or throw, at once.
  bool has_completed();

  /// Starts the operation and returns when it has completed, with the caller as a worker.
  void run();

  struct State;  ///< Of the implementation.
  explicit Persistent(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

/// A blocking call's argument as hycoll::calls takes it: a temporary container, which lasts until
/// the call has returned, is a view of its elements. They are only read: nobody would see results.
template <class Argument>
decltype(auto) during_call(Argument&& argument) {
  if constexpr (std::ranges::contiguous_range<Argument> && !std::ranges::borrowed_range<Argument>) {
    return std::span<const std::ranges::range_value_t<Argument>>(argument);
  } else {
    return std::forward<Argument>(argument);
  }
}

/// What a call that goes on after its expression may refer to: not a temporary container.
template <class Argument>
concept LastingArgument = !std::ranges::range<Argument> || std::ranges::borrowed_range<Argument>;

/// The collectives by name. `Caller` is Communicator or Member; it has
///   void run(const Call&);           blocking
///   Request start(const Call&);      nonblocking
///   Persistent prepare(const Call&); persistent
/// Every collective has these three forms: `allreduce` returns when done, `iallreduce` returns a
/// Request, and `allreduce_init` a Persistent. The arguments are those of hycoll::calls::allreduce
/// (call.h), by pointers or containers. A temporary container can be the input of the blocking form
/// only. Calls of one caller are matched between members by their order.
template <class Caller>
class CollectiveCalls {
 public:
  // NOLINTBEGIN: one line for each form
#define HYCOLL_FORMS_OF(collective)                                                           \
  template <class... Arguments>                                                               \
  requires requires(Arguments && ... a) {                                                     \
    calls::collective(during_call(std::forward<Arguments>(a))...);                            \
  }                                                                                           \
  void collective(Arguments&&... arguments) {                                                 \
    caller().run(calls::collective(during_call(std::forward<Arguments>(arguments))...));      \
  }                                                                                           \
  template <LastingArgument... Arguments>                                                     \
  requires requires(Arguments && ... a) { calls::collective(std::forward<Arguments>(a)...); } \
  [[nodiscard]] Request i##collective(Arguments&&... arguments) {                             \
    return caller().start(calls::collective(std::forward<Arguments>(arguments)...));          \
  }                                                                                           \
  template <LastingArgument... Arguments>                                                     \
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
  HYCOLL_FORMS_OF(allgather)
  HYCOLL_FORMS_OF(allgatherv)
  HYCOLL_FORMS_OF(gather)
  HYCOLL_FORMS_OF(gatherv)
  HYCOLL_FORMS_OF(scatter)
  HYCOLL_FORMS_OF(scatterv)
  HYCOLL_FORMS_OF(alltoall)
  HYCOLL_FORMS_OF(alltoallv)
  HYCOLL_FORMS_OF(alltoallw)
  HYCOLL_FORMS_OF(barrier)
#undef HYCOLL_FORMS_OF
  // NOLINTEND

  /// The root's value, on all members. The argument stays as it is, as everything passed by value.
  template <Value T>
  [[nodiscard("the root's value is returned")]] T broadcast(T value, int root = 0) {
    caller().run(calls::broadcast(&value, 1, element_type_of<T>(), root));
    return value;
  }

  /// The reduction of one value over all members, on all of them.
  template <Value T>
  [[nodiscard("the reduction is returned")]] T allreduce(T value,
                                                         const Operation& op = Operator::sum) {
    caller().run(calls::allreduce(&value, &value, 1, element_type_of<T>(), op));
    return value;
  }

  /// The root's value, on all members, in the background.
  template <Value T>
  [[nodiscard]] PendingValue<T> ibroadcast(T value, int root = 0) {
    return PendingValue<T>(value, [&](T* place) {
      return caller().start(calls::broadcast(place, 1, element_type_of<T>(), root));
    });
  }
  /// The reduction of one value over all members, on all of them, in the background.
  template <Value T>
  [[nodiscard]] PendingValue<T> iallreduce(T value, const Operation& op = Operator::sum) {
    return PendingValue<T>(value, [&](T* place) {
      return caller().start(calls::allreduce(place, place, 1, element_type_of<T>(), op));
    });
  }

 private:
  Caller& caller() { return static_cast<Caller&>(*this); }
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_API_COLLECTIVE_CALLS_H_
