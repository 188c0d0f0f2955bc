#include "tools/cg/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

namespace hycoll::cg {
namespace {

constexpr const char* kMeasuredBy =
    "iterations: slowest process; reductions: thread 0 of process 0, waiting for slower threads "
    "included";

struct Quantiles {
  double minimum = 0.0;
  double median = 0.0;
  double p95 = 0.0;
  double maximum = 0.0;
};

/// Requires at least one value.
Quantiles quantiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const double median = (values[(count - 1) / 2] + values[count / 2]) / 2.0;
  return {values.front(), median, values[(95 * count + 99) / 100 - 1], values.back()};
}

/// The quantiles over a variant's runs of a number that a run yields.
template <class Function>
Quantiles over_runs(const Variant& variant, Function&& function) {
  std::vector<double> values;
  for (const SolverResult& run : variant.runs) values.push_back(function(run));
  return quantiles_of(std::move(values));
}

double per(double total, std::int64_t count) {
  return count == 0 ? 0.0 : total / static_cast<double>(count);
}

/// A variant's times, and how many times longer the variant with MPI takes.
struct Times {
  Quantiles iteration_us;
  Quantiles reduction_us;        ///< Per call.
  Quantiles reduction_total_ms;  ///< Per solve.
  double reduction_share = 0.0;  ///< Of the time of the iterations.
};

Times times_of(const Variant& variant) {
  Times times;
  times.iteration_us = over_runs(variant, [](const SolverResult& run) {
    return per(run.solve_seconds * 1e6, run.iterations);
  });
  times.reduction_us = over_runs(variant, [](const SolverResult& run) {
    return per(run.reduction_seconds * 1e6, run.reduction_count);
  });
  times.reduction_total_ms =
      over_runs(variant, [](const SolverResult& run) { return run.reduction_seconds * 1e3; });
  const auto share = [](const SolverResult& run) {
    return run.solve_seconds > 0.0 ? run.reduction_seconds / run.solve_seconds : 0.0;
  };
  times.reduction_share = over_runs(variant, share).median;
  return times;
}

struct Ratios {
  double iteration;
  double reduction;
};

/// How many times longer MPI's variant takes than this one; nothing if it was not run.
std::optional<Ratios> ratios_to_mpi(const Times& times, std::span<const Variant> variants) {
  for (const Variant& variant : variants) {
    if (variant.kind != ReductionKind::mpi) continue;
    const Times mpi = times_of(variant);
    if (times.iteration_us.median <= 0.0 || times.reduction_us.median <= 0.0) return std::nullopt;
    return Ratios{mpi.iteration_us.median / times.iteration_us.median,
                  mpi.reduction_us.median / times.reduction_us.median};
  }
  return std::nullopt;
}

double largest_residual(const Variant& variant) {
  return over_runs(variant, [](const SolverResult& run) { return run.relative_residual; }).maximum;
}

std::string status_name(SolverStatus status) {
  switch (status) {
    case SolverStatus::converged:
      return "converged";
    case SolverStatus::iterations_exhausted:
      return "iterations_exhausted";
    case SolverStatus::not_positive_definite:
      break;
  }
  return "not_positive_definite";
}

std::string table_row(const Variant& variant, std::span<const Variant> variants) {
  const Times times = times_of(variant);
  const std::optional<Ratios> ratios = ratios_to_mpi(times, variants);
  const auto ratio_text = [&ratios](double Ratios::*ratio) {
    return ratios ? fmt::format("{:.2f}", (*ratios).*ratio) : std::string("-");
  };
  return fmt::format(
      "{:<10} {:>10} {:>10.2e} {:>10.2e} {:>12.3f} {:>12.3f} {:>12.3f} {:>7.1f} "
      "{:>9} {:>9}\n",
      name_of(variant.kind), variant.runs.front().iterations, largest_residual(variant),
      variant.maximum_error, times.iteration_us.median, times.reduction_us.median,
      times.reduction_total_ms.median, 100.0 * times.reduction_share,
      ratio_text(&Ratios::iteration), ratio_text(&Ratios::reduction));
}

std::string verdict(std::span<const Variant> variants, std::span<const std::string> disagreements) {
  std::string text;
  for (const std::string& problem : disagreements) text += fmt::format("FAILED: {}\n", problem);
  if (!disagreements.empty()) return text;
  if (variants.size() == 1) return "Converged.\n";
  const ReassociationAllowance allowance;
  return fmt::format(
      "All converged to the same residual. Allowed for another order of summation: {:g} relative "
      "in the\nresidual after {} iterations, 1 iteration or {:g} % at the end, {:g} % over the "
      "tolerance when recomputed.\n",
      allowance.early_relative, kEarlyIterations, 100.0 * allowance.iterations,
      100.0 * allowance.tolerance);
}

nlohmann::ordered_json json_of(const Quantiles& quantiles) {
  return {{"min", quantiles.minimum},
          {"median", quantiles.median},
          {"p95", quantiles.p95},
          {"max", quantiles.maximum}};
}

nlohmann::ordered_json json_record(const ReportContext& context, const Variant& variant,
                                   std::span<const Variant> variants, bool verified) {
  const Times times = times_of(variant);
  const std::optional<Ratios> ratios = ratios_to_mpi(times, variants);
  const SolverResult& run = variant.runs.front();
  nlohmann::ordered_json record = {{"program", "hycoll_cg"},
                                   {"reductions", name_of(variant.kind)},
                                   {"processes", context.process_count},
                                   {"threads", context.thread_count},
                                   {"status", status_name(run.status)},
                                   {"iterations", run.iterations},
                                   {"relative_residual", largest_residual(variant)},
                                   {"early_residual", variant.early_residual},
                                   {"maximum_error", variant.maximum_error},
                                   {"iteration_us", json_of(times.iteration_us)},
                                   {"reduction_us", json_of(times.reduction_us)},
                                   {"reduction_total_ms", json_of(times.reduction_total_ms)},
                                   {"reduction_calls", run.reduction_count},
                                   {"reduction_share", times.reduction_share},
                                   {"verified", verified}};
  record["iteration_ratio"] =
      ratios ? nlohmann::ordered_json(ratios->iteration) : nlohmann::ordered_json();
  record["reduction_ratio"] =
      ratios ? nlohmann::ordered_json(ratios->reduction) : nlohmann::ordered_json();
  return record;
}

}  // namespace

std::string text_report(const ReportContext& context, std::span<const Variant> variants,
                        std::span<const std::string> disagreements) {
  std::string text = fmt::format("{}: {} rows, {} nonzeros\n", context.system, context.row_count,
                                 context.nonzero_count);
  text += fmt::format("{} process{} of {} thread{} on {}\n", context.process_count,
                      context.process_count == 1 ? "" : "es", context.thread_count,
                      context.thread_count == 1 ? "" : "s", context.machine);
  text += fmt::format("{}, {}; tolerance {:g}\n", context.mpi_library, context.mpi_thread_level,
                      context.limits.tolerance);
  text += fmt::format("Medians over {} runs of each kind, in alternation; {}.\n\n",
                      variants.front().runs.size(), kMeasuredBy);
  text += fmt::format("{:<10} {:>10} {:>10} {:>10} {:>12} {:>12} {:>12} {:>7} {:>19}\n", "", "",
                      "relative", "largest", "time per", "time per", "in all", "share",
                      "MPI's time over this");
  text += fmt::format("{:<10} {:>10} {:>10} {:>10} {:>12} {:>12} {:>12} {:>7} {:>9} {:>9}\n",
                      "reductions", "iterations", "residual", "error", "iteration us",
                      "reduction us", "reduct. ms", "%", "iteration", "reduction");
  for (const Variant& variant : variants) text += table_row(variant, variants);
  return text + "\n" + verdict(variants, disagreements);
}

nlohmann::ordered_json json_report(const ReportContext& context, std::span<const Variant> variants,
                                   std::span<const std::string> disagreements) {
  const ReassociationAllowance allowance;
  nlohmann::ordered_json report;
  report["context"] = {{"program", "hycoll_cg"},
                       {"system", context.system},
                       {"rows", context.row_count},
                       {"nonzeros", context.nonzero_count},
                       {"processes", context.process_count},
                       {"threads_per_process", context.thread_count},
                       {"machine", context.machine},
                       {"mpi_library", context.mpi_library},
                       {"mpi_thread_level", context.mpi_thread_level},
                       {"tolerance", context.limits.tolerance},
                       {"maximum_iterations", context.limits.maximum_iterations},
                       {"repetitions", variants.front().runs.size()},
                       {"measured_by", kMeasuredBy},
                       {"allowed_early_relative", allowance.early_relative},
                       {"allowed_early_absolute", allowance.early_absolute},
                       {"allowed_iterations", allowance.iterations},
                       {"allowed_over_tolerance", allowance.tolerance},
                       {"problems", disagreements}};
  report["records"] = nlohmann::ordered_json::array();
  for (const Variant& variant : variants) {
    report["records"].push_back(json_record(context, variant, variants, disagreements.empty()));
  }
  return report;
}

}  // namespace hycoll::cg
