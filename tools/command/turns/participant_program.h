#ifndef HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_PROGRAM_H_
#define HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_PROGRAM_H_

#include <chrono>
#include <optional>
#include <string>

#include "tools/command/turns/participant.h"

namespace hycoll::command {

/// A program of the user's, started anew for every turn, which prints what `hycoll bench --json -`
/// prints: a context with "mpi", and a record of the size with "bytes", "min_us", "median_us",
/// "p95_us" and "verified".
class ParticipantProgram final : public Participant {
 public:
  /// `command` is for the shell; in it {collective}, {bytes}, {type}, {op}, {root}, {inputs},
  /// {pace}, {seconds} and {workers} stand for what is to be measured.
  ParticipantProgram(std::string command, int workers, std::chrono::milliseconds timeout);

  std::string mpi() const override { return mpi_; }
  Answer measure(const BenchTask& task) override;
  std::optional<double> asleep_share() const override { return std::nullopt; }

 private:
  std::string command_for(const BenchTask& task) const;

  std::string command_;
  int workers_;
  std::chrono::milliseconds timeout_;
  std::string mpi_;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_PROGRAM_H_
