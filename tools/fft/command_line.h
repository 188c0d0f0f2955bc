#ifndef HYCOLL_TOOLS_FFT_COMMAND_LINE_H_
#define HYCOLL_TOOLS_FFT_COMMAND_LINE_H_

#include <optional>
#include <string>

#include "tools/fft/experiment.h"

namespace hycoll::fft {

/// What the user asked for.
struct CommandLine {
  Settings settings;      ///< Without threads: 0 until they are chosen.
  std::string json_path;  ///< Empty: none. "-": standard output.
};

/// The command line, or what to print and exit with instead of running.
struct ParsedCommandLine {
  std::optional<CommandLine> command_line;
  std::string output;
  std::string error_output;
  int exit_code = 0;
};

/// Pure, so that every process comes to the same result.
ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_COMMAND_LINE_H_
