#ifndef HYCOLL_THREADING_OBSERVING_OBSERVER_H_
#define HYCOLL_THREADING_OBSERVING_OBSERVER_H_

// Observers are functions of a tool, which hycoll calls when its workers begin and end what they
// do: for profilers and tracers, in C and C++. hycoll's own trace (HYCOLL_TRACE) is one.
// docs/trace.md describes them.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a worker does in a step.
enum hycoll_step_kind {
  HYCOLL_STEP_SEND,          ///< Hands a message to the transport.
  HYCOLL_STEP_RECEIVE,       ///< Asks the transport for one.
  HYCOLL_STEP_NATIVE,        ///< Takes part in an allreduce of the MPI library's.
  HYCOLL_STEP_REDUCE,        ///< Combines vectors.
  HYCOLL_STEP_COPY,          ///< Copies.
  HYCOLL_STEP_WRITE_LINES,   ///< Writes a short vector for others of its node.
  HYCOLL_STEP_WRITE_STREAM,  ///< Writes into the node's broadcast FIFO.
  HYCOLL_STEP_READ_STREAM,   ///< Reads from it.
  HYCOLL_STEP_SIGNAL,        ///< Tells others of its node how far it is.
  HYCOLL_STEP_WAIT           ///< Has waited for that, or for another member's call.
};

/// A run of a worker: its part in a call, or in a slice of a long one.
typedef struct hycoll_observed_run {
  uint64_t worker;         ///< A number that no other worker of the process has, now or later.
  uint64_t communicator;   ///< The same of communicators and teams, from 1 on.
  uint64_t call;           ///< The call's number on the communicator: the same on all members.
  const char* collective;  ///< "allreduce", and so on.
  const char* algorithm;   ///< As `hycoll algorithms` has it; "" where members only meet.
  uint64_t count;          ///< Elements of a vector or block; bytes where nothing is combined.
  uint64_t bytes;          ///< The same in bytes; 0 if the elements' size is not known.
  int rank;                ///< The member's; of a worker without a member, its node's first one.
  int index;               ///< The worker's number on its node, in which members come first.
  int has_member;          ///< Whether the worker has one.
  const void* call_site;   ///< Where the program goes on after a blocking call; null of others,
                           ///< and of workers that another thread executes than the caller.
  uint64_t began;          ///< In ticks.
  uint64_t ended;          ///< In ticks; 0 until it has ended.
} hycoll_observed_run;

/// A step of a run. First it waits, from `began_waiting` to `began_working`, if something is
/// missing.
typedef struct hycoll_observed_step {
  int kind;                ///< A hycoll_step_kind.
  int strand;              ///< The part of the worker's program that it is of, from 0 on. The steps
                           ///< of one come one after the other.
  int peer;                ///< Of messages the node, or process, at the other end; otherwise the
                           ///< worker of the node that was waited for. -1: none.
  int lane;                ///< Of messages. -1: none.
  uint64_t bytes;          ///< Of one operand.
  uint64_t began_waiting;  ///< In ticks.
  uint64_t began_working;  ///< In ticks.
  uint64_t ended;          ///< In ticks. A message has been handed over, or asked for, by then.
} hycoll_observed_step;

/// The functions of an observer; null ones are not called.
///
/// The threads that execute calls call them, several at a time, and the call takes so much longer.
/// They call neither MPI nor hycoll. What they are passed is there until they return.
typedef struct hycoll_observer {
  size_t size;    ///< sizeof(hycoll_observer), which tells the header's version.
  void* context;  ///< Passed to the functions.
  /// A worker enters a run.
  void (*run_begins)(void* context, const hycoll_observed_run* run);
  /// A step has been done. Waits for what was there already are left out.
  void (*step_ends)(void* context, const hycoll_observed_run* run,
                    const hycoll_observed_step* step);
  /// A message, or an allreduce of the MPI library's, has completed: the step that began it, which
  /// `ended` when the worker found it so.
  void (*message_ends)(void* context, const hycoll_observed_run* run,
                       const hycoll_observed_step* step);
  /// A worker leaves a run. `failed`: with an error.
  void (*run_ends)(void* context, const hycoll_observed_run* run, int failed);
} hycoll_observer;

/// Observers that a process may have, hycoll's own included.
#define HYCOLL_MOST_OBSERVERS 8

/// Has an observer told of the communicators and teams that are made from now on, until the process
/// ends. The structure is copied. Any thread, also before MPI_Init.
///
/// Returns 0; or 1 if `size` is not a known version's, or there are HYCOLL_MOST_OBSERVERS.
///
/// Example: how long a program's calls take.
///
///     static std::atomic<std::uint64_t> ticks_in_calls = 0;
///     hycoll_observer observer = {};
///     observer.size = sizeof observer;
///     observer.run_ends = [](void*, const hycoll_observed_run* run, int) {
///       ticks_in_calls += run->ended - run->began;
///     };
///     check(hycoll_register_observer(&observer) == 0);
///     hycoll_member world;
///     hycoll_communicator_create(MPI_COMM_WORLD, NULL, &world);
///     double own = 1, sum;
///     hycoll_allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, world);
///     check(static_cast<double>(ticks_in_calls) * hycoll_seconds_per_tick() > 0);
///     hycoll_communicator_free(&world);
int hycoll_register_observer(const hycoll_observer* observer);

/// The clock of the times above, now. It ticks at a constant rate.
uint64_t hycoll_ticks(void);

/// What a tick lasts, in seconds.
double hycoll_seconds_per_tick(void);

#ifdef __cplusplus
}
#endif

#endif  // HYCOLL_THREADING_OBSERVING_OBSERVER_H_
