#ifndef HYCOLL_TOOLS_COMMAND_TURNS_MESSAGES_H_
#define HYCOLL_TOOLS_COMMAND_TURNS_MESSAGES_H_

// What hycoll compare and the processes that it has started say to one another: JSON documents,
// one a line. Every process has a channel of its own, so that all of them sleep in the system until
// there is something for them to do.
//
// A process says who it is, and that it is about to sleep:
//   {"hello": {"version": 1, "rank": 0, "ranks": 2, "mpi": "MPICH 4.0.2"}}
//   {"ready": {"slept_s": 0.25, "used_s": 0.00001}}
// It is told what to measure:
//   {"task": {"collective": "allreduce", "type": "float", "op": "sum", "root": 0, "bytes": 8, ...}}
// Rank 0 answers, and all say again that they are about to sleep:
//   {"record": {...}}, as hycoll bench --json writes it, or {"refusal": "24 elements are no ..."}
// A process whose channel is closed ends.

#include <string>

#include "tools/command/line/output.h"
#include "tools/command/measuring/bench_layouts.h"
#include "tools/command/turns/participant.h"

namespace hycoll::command {

struct Hello {
  int rank = 0;
  int ranks = 1;  ///< Of those that measure.
  std::string mpi;
};

/// What a process has used of a core's time while it slept.
struct Nap {
  double slept_s = 0;
  double used_s = 0;
};

/// Functions of this file are pure. Those that read throw Error (environment) for other messages.
std::string message_of(const Hello& hello);
std::string message_of(const Nap& nap);
std::string message_of(const BenchTask& task);
std::string message_of(const Answer& answer);

/// What a line says.
struct Message {
  enum class Kind { hello, ready, task, answer };
  Kind kind = Kind::hello;
  Hello hello;
  Nap nap;
  BenchTask task;
  Answer answer;
};
Message parse_message(const std::string& line);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TURNS_MESSAGES_H_
