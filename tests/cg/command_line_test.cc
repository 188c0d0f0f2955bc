// The command line of hycoll_cg, good and bad.
#include "tools/cg/command_line.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hycoll::cg {
namespace command_line_test {

ParsedCommandLine parse(const std::vector<const char*>& arguments) {
  std::vector<const char*> argv = {"hycoll_cg"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

CommandLine parse_good(const std::vector<const char*>& arguments) {
  const ParsedCommandLine parsed = parse(arguments);
  INFO(parsed.error_output);
  REQUIRE(parsed.command_line.has_value());
  CHECK(parsed.exit_code == 0);
  return *parsed.command_line;
}

TEST_CASE("without options all reductions run on the stencil") {
  const CommandLine command_line = parse_good({});
  CHECK(command_line.size == GridSize{32, 32, 32});
  CHECK(command_line.matrix_path.empty());
  CHECK(command_line.thread_count == 0);
  CHECK(command_line.reductions ==
        std::vector<ReductionKind>(kAllReductionKinds.begin(), kAllReductionKinds.end()));
}

TEST_CASE("every option arrives") {
  const CommandLine command_line =
      parse_good({"--size", "3,4,5", "--iterations", "7", "--tolerance", "1e-5", "--threads", "2",
                  "--repetitions", "9", "--reductions", "mpi,threads,mpi", "--json", "-"});
  CHECK(command_line.size == GridSize{3, 4, 5});
  CHECK(command_line.limits.maximum_iterations == 7);
  CHECK(command_line.limits.tolerance == 1e-5);
  CHECK(command_line.thread_count == 2);
  CHECK(command_line.repetitions == 9);
  CHECK(command_line.reductions ==
        std::vector<ReductionKind>{ReductionKind::mpi, ReductionKind::threads});
  CHECK(command_line.json_path == "-");
  CHECK(parse_good({"--size", "6"}).size == GridSize{6, 6, 6});
  CHECK(parse_good({"--matrix", "a.mtx"}).matrix_path == "a.mtx");
  CHECK(parse_good({"--reductions", "per_node"}).reductions ==
        std::vector<ReductionKind>{ReductionKind::per_node});
}

TEST_CASE("bad values are refused, naming the option") {
  const std::vector<std::vector<const char*>> bad = {
      {"--size", "0"},
      {"--size", "4,4"},
      {"--size", "4,4,4,4"},
      {"--size", "-1,4,4"},
      {"--size", "x"},
      {"--size", "99999999999"},
      {"--iterations", "0"},
      {"--tolerance", "0"},
      {"--tolerance", "-1e-9"},
      {"--tolerance", "1"},
      {"--tolerance", "small"},
      {"--threads", "-1"},
      {"--threads", "1025"},
      {"--repetitions", "0"},
      {"--reductions", "magic"},
      {"--reductions", ""},
      {"--matrix"},
      {"--json"},
      {"--unknown", "1"},
      {"--size", "4", "--matrix", "a.mtx"},
  };
  for (const std::vector<const char*>& arguments : bad) {
    std::string joined;
    for (const char* argument : arguments) joined += std::string(" ") + argument;
    CAPTURE(joined);
    const ParsedCommandLine parsed = parse(arguments);
    CHECK(!parsed.command_line);
    CHECK(parsed.exit_code == 2);
    CAPTURE(parsed.error_output);
    CHECK(parsed.error_output.find(arguments[0]) != std::string::npos);
  }
}

TEST_CASE("--help goes to standard output and is no error") {
  const ParsedCommandLine parsed = parse({"--help"});
  CHECK(!parsed.command_line);
  CHECK(parsed.exit_code == 0);
  CHECK(parsed.error_output.empty());
  for (const char* option : {"--size", "--matrix", "--iterations", "--tolerance", "--threads",
                             "--repetitions", "--reductions", "--json"}) {
    CAPTURE(option);
    CHECK(parsed.output.find(option) != std::string::npos);
  }
}

}  // namespace command_line_test
}  // namespace hycoll::cg
