#ifndef HYCOLL_TOOLS_COMMAND_LINE_COMMANDS_H_
#define HYCOLL_TOOLS_COMMAND_LINE_COMMANDS_H_

#include <memory>

namespace CLI {
class App;
}

namespace hycoll::command {

/// The exit statuses of the command.
enum ExitStatus : int {
  kSuccess = 0,
  kNotProved = 1,      ///< What was to be verified is wrong.
  kUsage = 2,          ///< Bad arguments, or the environment lacks something.
  kInterrupted = 130,  ///< As shells say it of SIGINT.
};

/// A subcommand: adds itself with its options to the application and runs when it was chosen.
class Subcommand {
 public:
  virtual ~Subcommand() = default;

  /// Whether the arguments chose this one.
  virtual bool chosen() const = 0;

  /// Runs it. Throws Error for bad arguments and a broken environment.
  virtual ExitStatus run() = 0;
};

/// One for each file of that name. The application outlives them.
std::unique_ptr<Subcommand> add_info(CLI::App& app);
std::unique_ptr<Subcommand> add_plan(CLI::App& app);
std::unique_ptr<Subcommand> add_verify(CLI::App& app);
std::unique_ptr<Subcommand> add_bench(CLI::App& app);
std::unique_ptr<Subcommand> add_compare(CLI::App& app);
std::unique_ptr<Subcommand> add_report(CLI::App& app);
std::unique_ptr<Subcommand> add_reproduce(CLI::App& app);

/// Those below `hycoll bench`.
std::unique_ptr<Subcommand> add_bench_limit(CLI::App& bench);
std::unique_ptr<Subcommand> add_bench_overlap(CLI::App& bench);
std::unique_ptr<Subcommand> add_bench_persistent(CLI::App& bench);
std::unique_ptr<Subcommand> add_bench_plans(CLI::App& bench);
std::unique_ptr<Subcommand> add_bench_serve(CLI::App& bench);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_COMMANDS_H_
