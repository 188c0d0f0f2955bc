#ifndef HYCOLL_TOOLS_FFT_COMMAND_LINE_H_
#define HYCOLL_TOOLS_FFT_COMMAND_LINE_H_

#include <string>

#include "tools/application/command_line.h"
#include "tools/fft/experiment.h"

namespace hycoll::fft {

/// What the user asked for.
struct CommandLine {
  Settings settings;      ///< Without threads: 0 until they are chosen.
  std::string json_path;  ///< Empty: none. "-": standard output.
};

using ParsedCommandLine = application::Parsed<CommandLine>;

/// Pure, so that every process comes to the same result.
ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_COMMAND_LINE_H_
