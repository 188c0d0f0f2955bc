// What hycoll simulate --check says of calls, and where it simulates the processes of a job.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/checking/check_report.h"
#include "tools/command/checking/job_places.h"

namespace hycoll::command {
namespace check_test {

using Names = std::vector<std::string>;

CheckedCall call_with(double simulated_us, double measured_us) {
  return {.routine = Routine::broadcast,
          .algorithm = "multi-leader-binomial",
          .size_bytes = 65536,
          .simulated_us = simulated_us,
          .measured_us = {.minimum = 0.9 * measured_us,
                          .median = measured_us,
                          .p95 = 1.1 * measured_us,
                          .maximum = 2 * measured_us},
          .rounds = 5,
          .verified = true};
}

TEST_CASE("processes are simulated on the hosts of their hosts' names") {
  const Names platform = {"n1", "n2", "n3"};
  CHECK(places_on(platform, Names{"n3", "n1.site", "n3"}).hosts == std::vector{2, 0, 2});
  CHECK(places_on(platform, Names{"n3", "n1"}).unknown.empty());
}

TEST_CASE("without one of the names, processes are simulated on the hosts in their order") {
  const Names job = {"b", "b", "n1", "a"};
  const JobPlaces places = places_on(Names{"n1", "n2", "n3"}, job);
  CHECK(places.hosts == std::vector{0, 0, 1, 2});
  CHECK(places.unknown == "b");
  CHECK(job_text(job, places) ==
        "4 processes on 3 hosts, simulated on the platform's hosts in their order, of which none "
        "is 'b'");
}

TEST_CASE("a platform has as many hosts as the job") {
  CHECK_THROWS_WITH_AS(
      places_on(Names{"n1"}, Names{"a", "b"}),
      doctest::Contains("--platform has 1 hosts, and the job's processes run on 2"), Error);
}

TEST_CASE("times agree up to a fifth of the measured one, and right results count") {
  CHECK(call_with(120, 100).agrees());
  CHECK(call_with(80, 100).agrees());
  CHECK_FALSE(call_with(121, 100).agrees());
  CHECK_FALSE(call_with(79, 100).agrees());
  CheckedCall wrong = call_with(100, 100);
  wrong.verified = false;
  CHECK_FALSE(wrong.agrees());
  CHECK(CheckResult{.calls = {call_with(100, 100)}, .left_out = {}}.agrees());
  CHECK_FALSE(CheckResult{.calls = {call_with(100, 100), wrong}, .left_out = {}}.agrees());
  CHECK_FALSE(CheckResult{}.agrees());
}

TEST_CASE("a check tells both times of every call") {
  const CheckResult result{.calls = {call_with(150, 100), call_with(99, 100)},
                           .left_out = {"barrier: no reason"}};
  const std::string text = check_text(result);
  for (const char* part : {"broadcast", "multi-leader-binomial", "64Ki", "1.50x", "0.99x",
                           "left out: barrier: no reason", "1 of 2 calls within 20 %"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  const Report report = check_report(result);
  CHECK(report.context.at("limit") == 0.2);
  const Json& record = report.records.at(0);
  CHECK(record.at("simulated_us") == 150);
  CHECK(record.at("measured_us") == 100);
  CHECK(record.at("measured_p95_us") == doctest::Approx(110));
  CHECK(record.at("ratio") == 1.5);
  CHECK(record.at("agrees") == false);
}

}  // namespace check_test
}  // namespace hycoll::command
