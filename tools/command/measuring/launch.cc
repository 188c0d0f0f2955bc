#include "tools/command/measuring/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/base/errors.h"
#include "tools/command/line/output.h"
#include "tools/command/measuring/mpi_run_script.h"

namespace hycoll::command {

RankBinding parse_binding(const std::string& argument, const std::string& name) {
  if (name == "none") return RankBinding::none;
  if (name == "core") return RankBinding::core;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}': give core or none", argument, name));
}

bool is_in_job() {
  constexpr std::array kVariables = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
  return std::ranges::any_of(kVariables,
                             [](const char* name) { return std::getenv(name) != nullptr; });
}

std::vector<std::string> mpiexec_command(int ranks, RankBinding binding,
                                         const std::vector<std::string>& program) {
  // The tests' launcher, which came into the binary as text: it also runs where no source tree is.
  std::vector<std::string> command = {
      "env",
      binding == RankBinding::core ? "MPI_RUN_BINDING=core" : "MPI_RUN_BINDING=none",
      "bash",
      "-c",
      kMpiRunScript,
      "mpi_run.sh",
      HYCOLL_MPI_FLAVOUR,
      HYCOLL_MPIEXEC,
      std::to_string(ranks)};
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

std::vector<std::string> with_preloaded(const std::string& argument, const std::string& libraries,
                                        const std::vector<std::string>& program) {
  std::string all;
  for (const std::string& library : split(libraries, ':')) {
    if (access(library.c_str(), R_OK) != 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{} '{}': {}. Give the path of a library, e.g. of libhycoll_pmpi.so",
                              argument, library, std::strerror(errno)));
    }
    all += fmt::format("{}{}", all.empty() ? "" : ":", std::filesystem::absolute(library).string());
  }
  std::vector<std::string> command = {"env", fmt::format("LD_PRELOAD={}", all)};
  // Timed calls are hycoll's, whatever they take.
  if (std::getenv("HYCOLL_ATTACH_AFTER") == nullptr) {
    command.push_back("HYCOLL_ATTACH_AFTER=0");
  }
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

std::string own_path() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    throw Error(ErrorKind::environment,
                fmt::format("/proc/self/exe cannot be read ({}), so the command does not know how "
                            "to start itself. Mount /proc, or start the runs yourself with mpiexec",
                            error.message()));
  }
  return path.string();
}

std::vector<std::string> own_arguments_without(const std::string& option) {
  const std::string line = read_file("/proc/self/cmdline", "/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = line.find('\0', begin);
    arguments.push_back(line.substr(begin, end - begin));
    begin = end == std::string::npos ? line.size() : end + 1;
  }
  std::vector<std::string> kept;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == option) {
      ++i;
    } else if (!arguments[i].starts_with(option + "=")) {
      kept.push_back(arguments[i]);
    }
  }
  return kept;
}

std::vector<std::string> program_of_ranks() {
  std::vector<std::string> program = own_arguments_without("--ranks");
  program.insert(program.begin(), own_path());
  return program;
}

void start_ranks_outside_of_job(int ranks) {
  if (is_in_job()) return;
  replace_process(mpiexec_command(ranks, RankBinding::none, program_of_ranks()));
}

void replace_process(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // execvp does not write to them
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw Error(ErrorKind::environment, fmt::format("'{}' cannot be started ({}). Install it",
                                                  command[0], std::strerror(errno)));
}

}  // namespace hycoll::command
