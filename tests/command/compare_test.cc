// hycoll compare and report as users meet them.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "tests/command/command_runs.h"
#include "tests/support/temporary_directory.h"

namespace hycoll::command {
namespace {

TEST_CASE("compare runs all contenders and writes data and a page without external resources") {
  const TemporaryDirectory directory;
  const Json document =
      json_of({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--seconds", "0.001",
               "--sizes", "8,4Ki", "--html", directory.file("a.html"), "--csv",
               directory.file("a.csv"), "--json", "-"});
  const Json& context = document.at("context");
  CHECK(context.at("verified") == true);
  CHECK(context.at("runs").size() == 5);  // the library, and four layouts
  CHECK(context.contains("state_before"));
  CHECK(context.contains("state_changed"));
  for (const Json& record : document.at("records")) CHECK(record.at("verified") == true);
  const std::string html = text_of(directory.file("a.html"));
  CHECK(contains(html, "</html>"));
  for (const char* external : {"src=", "href=", "@import", "url(", "http:", "https:"}) {
    CHECK_FALSE(contains(html, external));
  }
  CHECK(contains(text_of(directory.file("a.csv")), "contender"));
}

TEST_CASE("compare binds ranks with one worker to cores, and still tells the cores' distance") {
  const Json document =
      json_of({"compare", "barrier", "--workers", "2", "--rounds", "1", "--seconds", "0.001",
               "--layouts", "threads,processes", "--bind-to", "core", "--json", "-"});
  CHECK(document.at("context").at("verified") == true);
  for (const Json& run : document.at("context").at("runs")) {
    CHECK(run.at("before").at("latency_ns").is_number());
  }
  check_refused({"compare", "barrier", "--bind-to", "socket"}, {"--bind-to 'socket'", "core"});
}

TEST_CASE("compare takes every collective") {
  for (const std::string collective : {"reduce", "reduce_scatter", "scan", "exscan", "barrier"}) {
    CAPTURE(collective);
    Arguments arguments = {"compare",   collective, "--workers", "2",       "--rounds", "1",
                           "--seconds", "0.001",    "--layouts", "threads", "--json",   "-"};
    const bool barrier = collective == "barrier";
    if (!barrier) arguments.insert(arguments.end(), {"--sizes", "8,4Ki"});
    const Json document = json_of(arguments);
    CHECK(document.at("context").at("verified") == true);
    CHECK(document.at("context").at("collective") == collective);
    // One run of each of two contenders; without those in which the machine changed its state.
    const std::size_t left_out = document.at("context").at("runs_left_out");
    REQUIRE(document.at("records").size() == (barrier ? 1 : 2) * (2 - left_out));
    for (const Json& record : document.at("records")) CHECK(record.at("collective") == collective);
  }
}

TEST_CASE("a run of compare that takes too long is ended and named") {
  check_refused({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--seconds", "1000",
                 "--sizes", "16Mi", "--timeout", "2"},
                {"did not end within 2 s", "--layout"});
}

TEST_CASE("report puts measurements into one page and refuses other files") {
  const TemporaryDirectory directory;
  const std::string json = directory.file("a.json");
  CHECK(hycoll({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--layouts", "per_node",
                "--seconds", "0.001", "--sizes", "8", "--json", json})
            .status == 0);
  const ChildResult page = hycoll({"report", json, "--html", "-"});
  CHECK(page.status == 0);
  CHECK(contains(page.output, "</html>"));
  std::ofstream(json) << "{\"context\": {}}";
  check_refused({"report", json, "--html", "-"}, {"hycoll compare"});
  std::ofstream(json) << "no json";
  check_refused({"report", json, "--html", "-"}, {json});
}

}  // namespace
}  // namespace hycoll::command
