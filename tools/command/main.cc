// The `hycoll` command: one subcommand, one file.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"

namespace {

using hycoll::command::CommandLine;
using hycoll::command::ExitStatus;
using hycoll::command::Subcommand;

constexpr const char* kDescription =
    "hycoll: collectives for programs that mix MPI and threads.\n"
    "Describes the machine, draws and verifies schedules, and measures them beside the MPI "
    "library.";

/// Under mpiexec every rank meets the same bad argument; one says so.
bool speaks_for_the_job() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    const char* rank = std::getenv(name);
    if (rank != nullptr) return std::string(rank) == "0";
  }
  return true;
}

std::vector<std::unique_ptr<Subcommand>> add_subcommands(CommandLine& line) {
  using namespace hycoll::command;
  std::vector<std::unique_ptr<Subcommand>> subcommands;
  subcommands.push_back(add_info(line));
  subcommands.push_back(add_algorithms(line));
  subcommands.push_back(add_plan(line));
  subcommands.push_back(add_explain(line));
  subcommands.push_back(add_verify(line));
  subcommands.push_back(add_bench(line));
  subcommands.push_back(add_compare(line));
  subcommands.push_back(add_report(line));
  subcommands.push_back(add_reproduce(line));
  subcommands.push_back(add_model(line));
  subcommands.push_back(add_calibrate(line));
  subcommands.push_back(add_ring(line));
  subcommands.push_back(add_simulate(line));
  subcommands.push_back(add_tune(line));
  subcommands.push_back(add_trace(line));
  subcommands.push_back(add_state(line));
  subcommands.push_back(add_man(line));
  return subcommands;
}

ExitStatus run_chosen(const std::vector<std::unique_ptr<Subcommand>>& subcommands) {
  for (const auto& subcommand : subcommands) {
    if (subcommand->chosen()) return subcommand->run();
  }
  return ExitStatus::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line(kDescription, "hycoll");
  line.require_subcommand();
  line.add_version(hycoll::command::version_text);
  const auto subcommands = add_subcommands(line);
  const std::optional<int> status =
      line.parse(argc, argv, speaks_for_the_job(), ExitStatus::kUsage);
  if (status) return *status;
  try {
    return run_chosen(subcommands);
  } catch (const hycoll::Error& error) {
    if (speaks_for_the_job()) fmt::print(stderr, "hycoll: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "hycoll: unexpected error: {}\n", error.what());
  }
  return ExitStatus::kUsage;
}
