#include "tools/fft/command_line.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hycoll::fft {
namespace {

ParsedCommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "hycoll_fft");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST_CASE("sizes, threads and layouts, each once") {
  const ParsedCommandLine parsed =
      parse({"--size", "12,20", "--threads", "3", "--layouts", "mpi,threads,mpi", "--json", "-"});
  REQUIRE(parsed.command_line.has_value());
  CHECK(parsed.command_line->settings.grid.rows == 12);
  CHECK(parsed.command_line->settings.grid.columns == 20);
  CHECK(parsed.command_line->settings.thread_count == 3);
  CHECK(parsed.command_line->settings.layouts == std::vector{Layout::mpi, Layout::threads});
  CHECK(parsed.command_line->json_path == "-");
  CHECK(parse({}).command_line->settings.layouts.size() == 3);
}

TEST_CASE("what cannot be understood is refused") {
  const std::vector<std::vector<const char*>> wrong = {
      {"--size", "12"},          {"--size", "0,4"},         {"--size", "1048576,1048576"},
      {"--size", "32768,32768"}, {"--layouts", "sideways"}, {"--repetitions", "0"},
      {"--threads", "-1"}};
  for (const std::vector<const char*>& arguments : wrong) {
    CAPTURE(arguments[1]);
    const ParsedCommandLine parsed = parse(arguments);
    CHECK_FALSE(parsed.command_line.has_value());
    CHECK(parsed.exit_code == 2);
    CHECK(parsed.error_output.find(arguments[0]) != std::string::npos);
  }
  const ParsedCommandLine help = parse({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.output.find("six-step") != std::string::npos);
}

}  // namespace
}  // namespace hycoll::fft
