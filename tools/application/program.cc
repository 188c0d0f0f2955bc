#include "tools/application/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/base/errors.h"
#include "threading/transport/mpi/end_job.h"
#include "threading/transport/mpi/mpi_types.h"
#include "tools/application/collective_error.h"

namespace hycoll::application {
namespace {

int run_and_report_errors(std::string_view name, const std::function<int()>& run) {
  try {
    return run();
  } catch (const Error& error) {
    const bool everywhere =
        error.kind() == ErrorKind::invalid_argument || error.kind() == ErrorKind::unsupported;
    if (!everywhere) end_job(fmt::format("{}: {}", name, error.what()), kUnusableInput);
    if (process_rank() == 0) fmt::print(stderr, "{}: {}\n", name, error.what());
    return kUnusableInput;
  } catch (const std::exception& error) {
    end_job(fmt::format("{}: process {}: {}", name, process_rank(), error.what()), kUnusableInput);
  }
}

}  // namespace

int process_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::string mpi_library_name() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(std::min(text.find_first_of(",\n"), static_cast<std::size_t>(length)));
  std::replace(text.begin(), text.end(), '\t', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '\0')) text.pop_back();
  return text;
}

std::string provided_thread_level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return std::string(thread_level_name(level));
}

std::ofstream open_json(const std::string& path) {
  std::ofstream file;
  if (path.empty() || path == "-") return file;
  on_rank_0(MPI_COMM_WORLD, [&] {
    file.open(path);
    if (!file) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--json {}: cannot be written; give a path in a directory that "
                              "exists, or - for standard output",
                              path));
    }
  });
  return file;
}

void print_results(const std::string& text, const std::string& records, const std::string& path,
                   std::ofstream& file) {
  if (process_rank() != 0) return;
  const bool records_on_output = path == "-";
  fmt::print(records_on_output ? stderr : stdout, "{}", text);
  if (records_on_output) {
    fmt::print("{}\n", records);
  } else if (!path.empty()) {
    file << records << '\n';
  }
}

int run_program(std::string_view name, int thread_level, int argc, char** argv,
                const std::function<int()>& run, const InsteadOfRunning& instead) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, thread_level, &provided);
  int status = instead.exit_code;
  if (run) {
    status = run_and_report_errors(name, run);
  } else if (process_rank() == 0) {
    fmt::print("{}", instead.output);
    fmt::print(stderr, "{}", instead.error_output);
  }
  MPI_Finalize();
  return status;
}

}  // namespace hycoll::application
