// The `hycoll` command: one subcommand, one file.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/line/commands.h"

namespace {

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

std::vector<std::unique_ptr<Subcommand>> add_subcommands(CLI::App& app) {
  using namespace hycoll::command;
  std::vector<std::unique_ptr<Subcommand>> subcommands;
  subcommands.push_back(add_info(app));
  subcommands.push_back(add_plan(app));
  subcommands.push_back(add_verify(app));
  subcommands.push_back(add_bench(app));
  subcommands.push_back(add_compare(app));
  subcommands.push_back(add_report(app));
  subcommands.push_back(add_reproduce(app));
  return subcommands;
}

std::string subcommand_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + subcommand->get_name();
  }
  return names;
}

ExitStatus run_chosen(const std::vector<std::unique_ptr<Subcommand>>& subcommands) {
  for (const auto& subcommand : subcommands) {
    if (subcommand->chosen()) return subcommand->run();
  }
  return ExitStatus::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "hycoll");
  app.require_subcommand(1);
  app.fallthrough(false);
  const auto subcommands = add_subcommands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return speaks_for_the_job() ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (!speaks_for_the_job()) return ExitStatus::kUsage;
    // CLI11 would not say which word it did not know.
    if (app.get_subcommands().empty() && argc > 1) {
      fmt::print(stderr, "hycoll: '{}' is no subcommand. Give one of {}\n", argv[1],
                 subcommand_names(app));
    } else {
      app.exit(error);
    }
    return ExitStatus::kUsage;
  }
  try {
    return run_chosen(subcommands);
  } catch (const hycoll::Error& error) {
    if (speaks_for_the_job()) fmt::print(stderr, "hycoll: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "hycoll: unexpected error: {}\n", error.what());
  }
  return ExitStatus::kUsage;
}
