#ifndef HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_JOB_H_
#define HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_JOB_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/command/measuring/child.h"
#include "tools/command/turns/channel.h"
#include "tools/command/turns/messages.h"
#include "tools/command/turns/participant.h"

namespace hycoll::command {

/// How a participant is started.
struct JobStart {
  std::string name;                   ///< For messages.
  std::vector<std::string> command;   ///< To which "--socket PATH" is added.
  std::chrono::milliseconds timeout;  ///< To start, and for each task.
};

/// A participant that is started once, with all its processes, and sleeps between its turns
/// (tools/command/turns/messages.h).
class ParticipantJob final : public Participant {
 public:
  /// Returns when all its processes sleep. Throws Error (environment) if it does not come to that
  /// in time; Interrupted. Requires an InterruptGuard that outlives it.
  explicit ParticipantJob(JobStart start);
  /// Lets it end.
  ~ParticipantJob() override;

  std::string mpi() const override { return mpi_; }
  Answer measure(const BenchTask& task) override;
  std::optional<double> asleep_share() const override;

 private:
  struct Process {
    Channel channel;
    bool has_said_hello = false;
    bool is_ready = false;
  };

  bool all_sleep() const;
  void wait_until_all_sleep();
  void listen();
  void take_messages(Process& process);
  void take_message(Process& process, const std::string& line);
  void check_alive(std::chrono::steady_clock::time_point deadline);
  [[noreturn]] void fail(const std::string& what);

  JobStart start_;
  std::optional<Listener> listener_{std::in_place};
  ChildProcess child_;
  std::vector<Process> processes_;
  std::size_t expected_processes_ = 1;  // until one says how many there are
  std::string mpi_;
  std::optional<Answer> answer_;
  Nap naps_;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_JOB_H_
