#include "tools/fft/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace hycoll::fft {
namespace {

constexpr Phase kPhases[] = {Phase::pack, Phase::exchange, Phase::unpack, Phase::transform,
                             Phase::twiddle};

/// Over a variant's runs, of which there is at least one.
template <class Number>
double median_of(const Variant& variant, const Number& number) {
  std::vector<double> values;
  for (const Run& run : variant.runs) values.push_back(number(run));
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double whole_ms(const Variant& variant) {
  return 1e3 * median_of(variant, [](const Run& run) { return run.whole_s; });
}

double phase_ms(const Variant& variant, Phase phase) {
  return 1e3 * median_of(variant, [phase](const Run& run) {
           return run.phases[static_cast<std::size_t>(phase)];
         });
}

/// The MPI library's time divided by the layout's; "-" if that was not run.
template <class Time>
std::string ratio(std::span<const Variant> variants, const Variant& variant, const Time& time) {
  const auto mpi = std::ranges::find(variants, Layout::mpi, &Variant::layout);
  if (mpi == variants.end() || time(variant) <= 0) return "-";
  return fmt::format("{:.2f}", time(*mpi) / time(variant));
}

}  // namespace

double tolerance(const Grid& grid) {
  // Rounding errors grow as the root of the logarithm; a wrong element makes 1 / sqrt(size).
  return 16 * std::numeric_limits<double>::epsilon() *
         std::log2(std::max<double>(2, static_cast<double>(grid.size())));
}

std::string text_report(const ReportContext& context, std::span<const Variant> variants) {
  std::string text = fmt::format(
      "{} elements as {} rows of {}; {} processes of {} threads on {}\n{}\n\n", context.grid.size(),
      context.grid.rows, context.grid.columns, context.process_count, context.thread_count,
      context.machine, context.mpi_library);
  text += fmt::format("{:<10} {:>10}", "layout", "whole ms");
  for (const Phase phase : kPhases) text += fmt::format(" {:>10}", name_of(phase));
  text += fmt::format(" {:>10} {:>12} {:>12}\n", "error", "mpi / whole", "mpi / exch.");
  for (const Variant& variant : variants) {
    text += fmt::format("{:<10} {:>10.3f}", name_of(variant.layout), whole_ms(variant));
    for (const Phase phase : kPhases) text += fmt::format(" {:>10.3f}", phase_ms(variant, phase));
    text += fmt::format(
        " {:>10.1e} {:>12} {:>12}\n", variant.relative_error, ratio(variants, variant, whole_ms),
        ratio(variants, variant, [](const Variant& of) { return phase_ms(of, Phase::exchange); }));
  }
  text += fmt::format(
      "\nMedians of {} transforms; phases: the slowest member's. error: relative to {}, {:.1e} "
      "allowed.\n",
      variants.empty() ? 0 : variants.front().runs.size(), context.reference,
      tolerance(context.grid));
  if (context.library_s > 0) {
    text += fmt::format("{} takes {:.3f} ms, with one thread for each process.\n",
                        context.reference, 1e3 * context.library_s);
  }
  return text;
}

nlohmann::ordered_json json_report(const ReportContext& context,
                                   std::span<const Variant> variants) {
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  for (const Variant& variant : variants) {
    nlohmann::ordered_json record = {{"layout", name_of(variant.layout)},
                                     {"whole_ms", whole_ms(variant)}};
    for (const Phase phase : kPhases) {
      record[fmt::format("{}_ms", name_of(phase))] = phase_ms(variant, phase);
    }
    record["relative_error"] = variant.relative_error;
    records.push_back(record);
  }
  return {{"context",
           {{"rows", context.grid.rows},
            {"columns", context.grid.columns},
            {"processes", context.process_count},
            {"threads", context.thread_count},
            {"machine", context.machine},
            {"mpi_library", context.mpi_library},
            {"reference", context.reference},
            {"reference_ms", 1e3 * context.library_s},
            {"tolerance", tolerance(context.grid)}}},
          {"records", records}};
}

}  // namespace hycoll::fft
