#ifndef HYCOLL_TOOLS_COMMAND_LINE_COMMANDS_H_
#define HYCOLL_TOOLS_COMMAND_LINE_COMMANDS_H_

#include <memory>
#include <string>

#include "tools/command/line/command_line.h"

namespace hycoll::command {

/// The exit statuses of the command.
enum ExitStatus : int {
  kSuccess = 0,
  kNotProved = 1,      ///< What was to be verified is wrong.
  kUsage = 2,          ///< Bad arguments, or the environment lacks something.
  kInterrupted = 130,  ///< As shells say it of SIGINT.
};

/// A subcommand: adds itself with its options to the command line and runs when it was chosen.
class Subcommand {
 public:
  explicit Subcommand(CommandLine& line) : line_(line) {}
  virtual ~Subcommand() = default;

  bool chosen() const { return line_.chosen(); }

  /// Runs it. Throws Error for bad arguments and a broken environment.
  virtual ExitStatus run() = 0;

 protected:
  CommandLine& line_;
};

/// What `hycoll --version` prints.
std::string version_text();

/// One for each file of that name. The command line outlives them.
std::unique_ptr<Subcommand> add_info(CommandLine& line);
std::unique_ptr<Subcommand> add_algorithms(CommandLine& line);
std::unique_ptr<Subcommand> add_plan(CommandLine& line);
std::unique_ptr<Subcommand> add_verify(CommandLine& line);
std::unique_ptr<Subcommand> add_bench(CommandLine& line);
std::unique_ptr<Subcommand> add_compare(CommandLine& line);
std::unique_ptr<Subcommand> add_report(CommandLine& line);
std::unique_ptr<Subcommand> add_reproduce(CommandLine& line);
std::unique_ptr<Subcommand> add_calibrate(CommandLine& line);
std::unique_ptr<Subcommand> add_model(CommandLine& line);
std::unique_ptr<Subcommand> add_explain(CommandLine& line);
std::unique_ptr<Subcommand> add_ring(CommandLine& line);
std::unique_ptr<Subcommand> add_simulate(CommandLine& line);
std::unique_ptr<Subcommand> add_tune(CommandLine& line);
std::unique_ptr<Subcommand> add_trace(CommandLine& line);
std::unique_ptr<Subcommand> add_state(CommandLine& line);
std::unique_ptr<Subcommand> add_man(CommandLine& line);

/// Those below `hycoll bench`.
std::unique_ptr<Subcommand> add_bench_endpoints(CommandLine& bench);
std::unique_ptr<Subcommand> add_bench_limit(CommandLine& bench);
std::unique_ptr<Subcommand> add_bench_overlap(CommandLine& bench);
std::unique_ptr<Subcommand> add_bench_persistent(CommandLine& bench);
std::unique_ptr<Subcommand> add_bench_plans(CommandLine& bench);
std::unique_ptr<Subcommand> add_bench_serve(CommandLine& bench);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_COMMANDS_H_
