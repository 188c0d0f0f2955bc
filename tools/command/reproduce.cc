// hycoll reproduce: the benchmarks of papers.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/models/broadcast_slides.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/table.h"
#include "tools/command/proving/reproduction.h"

namespace hycoll::command {
namespace {

constexpr const char* kReproduceSummary = "Count what the benchmarks of a paper send";
constexpr const char* kReproduceExplanation =
    "The three benchmarks of the bandwidth-saving broadcast (H. Zhou et al., P2S2 2015):\n"
    "  A  512 KiB to 16 MiB on 16, 64 and 256 ranks\n"
    "  B  12288, 524287 and 1048576 bytes on 9, 17, 33, 65 and 129 ranks\n"
    "  C  12 KiB to 3 MiB on 129 ranks\n"
    "Compares the messages and bytes of all ranks with scatter-ring-allgather (the native "
    "algorithm) and scatter-ring-allgather-opt, counted from their schedules with the scatter and "
    "one rank on every node. Nothing is run or timed. The saved messages are compared with the sum "
    "over the ranks of the chunks that one owns after the scatter, less one.";

/// What one benchmark found.
struct Result {
  BroadcastBenchmark benchmark;
  std::vector<BroadcastSaving> savings;
};

std::vector<BroadcastBenchmark> chosen_benchmarks(const std::vector<std::string>& names) {
  const std::vector<BroadcastBenchmark> all = broadcast_benchmarks();
  if (names.empty()) return all;
  std::vector<BroadcastBenchmark> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &BroadcastBenchmark::name);
    if (found == all.end()) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("BENCHMARK '{}' does not exist. Give A, B, C or nothing for all", name));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

Result run_benchmark(const BroadcastBenchmark& benchmark) {
  Result result{.benchmark = benchmark, .savings = {}};
  for (const int rank_count : benchmark.rank_counts) {
    std::ranges::copy(count_savings(rank_count, benchmark.sizes_bytes),
                      std::back_inserter(result.savings));
  }
  return result;
}

double share(std::size_t part, std::size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

Report report_of(const std::vector<Result>& results) {
  Report report;
  report.context = {{"command", "reproduce"},
                    {"source", "Zhou et al., P2S2 2015"},
                    {"native", "scatter-ring-allgather"},
                    {"optimised", "scatter-ring-allgather-opt"}};
  for (const Result& result : results) {
    for (const BroadcastSaving& saving : result.savings) {
      report.records.push_back(
          {{"benchmark", result.benchmark.name},
           {"ranks", saving.rank_count},
           {"bytes", saving.size_bytes},
           {"native_messages", saving.native.message_count},
           {"optimised_messages", saving.optimised.message_count},
           {"saved_messages", saving.saved_messages()},
           {"surplus_after_scatter", models::saved_messages(saving.rank_count)},
           {"native_bytes", saving.native.sent_bytes},
           {"optimised_bytes", saving.optimised.sent_bytes},
           {"saved_bytes", saving.saved_bytes()},
           {"saved_share", share(saving.saved_bytes(), saving.native.sent_bytes)}});
    }
  }
  return report;
}

void print_result(std::FILE* human, const Result& result) {
  TextTable table({"ranks", "bytes", "messages", "optimised", "saved", "MB", "optimised", "saved"});
  const auto megabytes = [](std::size_t size_bytes) {
    return fmt::format("{:.2f}", static_cast<double>(size_bytes) / 1e6);
  };
  for (const BroadcastSaving& saving : result.savings) {
    table.add_row(
        {std::to_string(saving.rank_count), std::to_string(saving.size_bytes),
         std::to_string(saving.native.message_count),
         std::to_string(saving.optimised.message_count), std::to_string(saving.saved_messages()),
         megabytes(saving.native.sent_bytes), megabytes(saving.optimised.sent_bytes),
         fmt::format("{:.1f} %", 100 * share(saving.saved_bytes(), saving.native.sent_bytes))});
  }
  fmt::print(human, "{}: {}\n{}\n", result.benchmark.name, result.benchmark.title, table.to_text());
}

/// A difference between schedules and formula would be a defect of hycoll.
void check_formula(const std::vector<Result>& results) {
  for (const Result& result : results) {
    for (const BroadcastSaving& saving : result.savings) {
      HYCOLL_ASSERT(
          std::cmp_equal(saving.saved_messages(), models::saved_messages(saving.rank_count)),
          "the ring saves what is owned after the scatter");
    }
  }
}

class Reproduce final : public Subcommand {
 public:
  explicit Reproduce(CommandLine& line)
      : Subcommand(line.add_subcommand("reproduce", kReproduceSummary)) {
    line_.add_explanation(kReproduceExplanation);
    line_.add_option("benchmarks", names_, "A, B or C (default: all)").type_name("BENCHMARK");
    output_.add_to(line_);
  }

  ExitStatus run() override {
    output_.check();
    std::vector<Result> results;
    for (const BroadcastBenchmark& benchmark : chosen_benchmarks(names_)) {
      results.push_back(run_benchmark(benchmark));
    }
    check_formula(results);
    for (const Result& result : results) print_result(output_.human(), result);
    output_.write(report_of(results));
    return kSuccess;
  }

 private:
  std::vector<std::string> names_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Subcommand> add_reproduce(CommandLine& line) {
  return std::make_unique<Reproduce>(line);
}

}  // namespace hycoll::command
