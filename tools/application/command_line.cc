#include "tools/application/command_line.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace hycoll::application {

InsteadOfRunning instead_of_running(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream output;
  std::ostringstream error_output;
  const int code = app.exit(error, output, error_output);
  return {.output = output.str(),
          .error_output = error_output.str(),
          .exit_code = code == 0 ? kSuccess : kUnusableInput};
}

}  // namespace hycoll::application
