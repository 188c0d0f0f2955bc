// When results count as the same, and what the reports say about them.
#include "tools/cg/report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hycoll::cg {
namespace report_test {

const SolverLimits kLimits{.maximum_iterations = 500, .tolerance = 1e-9};

SolverResult converged_run(int iterations, double solve_seconds, double reduction_seconds) {
  return {.status = SolverStatus::converged,
          .iterations = iterations,
          .relative_residual = 5e-10,
          .solve_seconds = solve_seconds,
          .reduction_seconds = reduction_seconds,
          .reduction_count = 2 * iterations};
}

/// Two kinds with three runs each, MPI's iterations twice and its reductions four times as long.
std::vector<Variant> good_variants() {
  Variant threads{.kind = ReductionKind::threads,
                  .early_residual = 0.125,
                  .runs = {converged_run(50, 0.009, 0.0009), converged_run(50, 0.005, 0.0005),
                           converged_run(50, 0.004, 0.0001)},
                  .maximum_error = 1e-8};
  Variant mpi{.kind = ReductionKind::mpi,
              .early_residual = 0.125,
              .runs = {converged_run(50, 0.010, 0.0020), converged_run(50, 0.020, 0.0030),
                       converged_run(50, 0.003, 0.0004)},
              .maximum_error = 2e-8};
  return {threads, mpi};
}

TEST_CASE("equal results have no disagreement") {
  CHECK(find_disagreements(good_variants(), kLimits).empty());
}

TEST_CASE("what another order of summation explains is no disagreement") {
  std::vector<Variant> variants = good_variants();
  variants[1].early_residual *= 1.0 + 5e-10;
  for (SolverResult& run : variants[1].runs) {
    run.iterations = 52;
    run.relative_residual = 1.005e-9;
  }
  CHECK(find_disagreements(variants, kLimits).empty());
}

TEST_CASE("every way to fail is reported") {
  std::vector<Variant> variants = good_variants();
  std::string expected;
  SUBCASE("not converged") {
    variants[0].runs[2].status = SolverStatus::iterations_exhausted;
    expected = "threads: not converged after 50 iterations";
  }
  SUBCASE("not positive definite") {
    variants[1].runs[0].status = SolverStatus::not_positive_definite;
    expected = "mpi: the matrix is not positive definite";
  }
  SUBCASE("true residual too large") {
    variants[1].runs[1].relative_residual = 1.02e-9;
    expected = "mpi: the recomputed relative residual is 1.02e-09";
  }
  SUBCASE("residual not a number") {
    variants[1].runs[1].relative_residual = 0.0 / (kLimits.tolerance * 0.0);
    expected = "mpi: the recomputed relative residual";
  }
  SUBCASE("early residuals differ") {
    variants[1].early_residual *= 1.0 + 3e-9;
    expected = "relative residuals after 10 iterations";
  }
  SUBCASE("iterations differ in one run") {
    variants[0].runs[1].iterations = 53;
    expected = "50 iterations (threads) and 53 (threads)";
  }
  REQUIRE(!expected.empty());
  const std::vector<std::string> problems = find_disagreements(variants, kLimits);
  REQUIRE(problems.size() == 1);
  CAPTURE(problems[0]);
  CHECK(problems[0].find(expected) != std::string::npos);
}

ReportContext example_context() {
  return {.system = "a system",
          .row_count = 1234,
          .nonzero_count = 5678,
          .process_count = 3,
          .thread_count = 2,
          .machine = "a machine",
          .mpi_library = "an MPI library",
          .mpi_thread_level = "MPI_THREAD_MULTIPLE",
          .limits = kLimits};
}

TEST_CASE("JSON carries medians and ratios to MPI") {
  const auto json = json_report(example_context(), good_variants(), {});
  CHECK(json["context"]["rows"] == 1234);
  CHECK(json["context"]["processes"] == 3);
  REQUIRE(json["records"].size() == 2);
  const auto& threads = json["records"][0];
  CHECK(threads["reductions"] == "threads");
  CHECK(threads["verified"] == true);
  CHECK(threads["iterations"] == 50);
  CHECK(threads["reduction_calls"] == 100);
  CHECK(threads["iteration_us"]["median"].get<double>() == doctest::Approx(100.0));
  CHECK(threads["iteration_us"]["min"].get<double>() == doctest::Approx(80.0));
  CHECK(threads["iteration_us"]["max"].get<double>() == doctest::Approx(180.0));
  CHECK(threads["reduction_us"]["median"].get<double>() == doctest::Approx(5.0));
  CHECK(threads["reduction_total_ms"]["median"].get<double>() == doctest::Approx(0.5));
  CHECK(threads["iteration_ratio"].get<double>() == doctest::Approx(2.0));
  CHECK(threads["reduction_ratio"].get<double>() == doctest::Approx(4.0));
  CHECK(json["records"][1]["iteration_ratio"].get<double>() == doctest::Approx(1.0));
}

TEST_CASE("without MPI's variant there is no ratio") {
  const std::vector<Variant> variants = {good_variants()[0]};
  const auto json = json_report(example_context(), variants, {});
  CHECK(json["records"][0]["iteration_ratio"].is_null());
  CHECK(json["records"][0]["reduction_ratio"].is_null());
}

TEST_CASE("disagreements stand in both reports") {
  const std::vector<std::string> problems = {"something is wrong"};
  const auto json = json_report(example_context(), good_variants(), problems);
  CHECK(json["records"][0]["verified"] == false);
  CHECK(json["context"]["problems"][0] == "something is wrong");
  CHECK(text_report(example_context(), good_variants(), problems)
            .find("FAILED: something is wrong") != std::string::npos);
}

}  // namespace report_test
}  // namespace hycoll::cg
