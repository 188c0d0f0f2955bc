// hycoll bench and compare with a preloaded library, which HYCOLL_TEST_PRELOAD names.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/command/command_runs.h"
#include "tests/support/temporary_directory.h"

namespace hycoll::command {
namespace {

TEST_CASE("bench and compare measure what a preloaded library serves") {
  const char* const library = std::getenv("HYCOLL_TEST_PRELOAD");
  REQUIRE(library != nullptr);
  const TemporaryDirectory directory;
  setenv("HYCOLL_REPORT", directory.file("served.json").c_str(), 1);
  const Json bench = json_of({"bench", "allreduce", "--ranks", "2", "--layout", "native", "--sizes",
                              "8", "--rounds", "2", "--preload", library, "--json", "-"});
  unsetenv("HYCOLL_REPORT");
  REQUIRE(bench.at("records").size() == 1);
  check_benchmark_record(bench.at("records").at(0));
  CHECK(contains(text_of(directory.file("served.json")), "allreduce"));

  const Json document =
      json_of({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--layouts", "processes",
               "--seconds", "0.001", "--sizes", "8", "--preload", library, "--json", "-"});
  CHECK(document.at("context").at("verified") == true);
  bool preloaded = false;
  for (const Json& block : document.at("context").at("blocks")) {
    preloaded = preloaded || block.at("contender") == "preloaded";
  }
  CHECK(preloaded);
  check_refused({"compare", "allreduce", "--preload", directory.file("none.so")},
                {"--preload", "none.so", "No such file"});
  check_refused({"bench", "allreduce", "--preload", library}, {"--preload", "--ranks"});
}

}  // namespace
}  // namespace hycoll::command
