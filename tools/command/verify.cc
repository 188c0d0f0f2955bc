// hycoll verify: proves the schedules of a range of shapes.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/progress.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/pricing/price_options.h"
#include "tools/command/pricing/price_reports.h"
#include "tools/command/proving/sweep.h"

namespace hycoll::command {
namespace {

constexpr const char* kVerifySummary =
    "Prove the schedules of a range of shapes and all algorithms";
constexpr const char* kVerifyExplanation =
    "Proves that the schedules of a range of shapes perform their collective, whatever the timing: "
    "structure, messages, deadlocks, races, and the result of every element, in place and not. "
    "Messages are taken whole and cut into 3 segments; a reduce delivers to the first, the middle "
    "and the last member, and a broadcast begins there. Besides equal nodes, nodes of one member "
    "with a pool of workers are verified, and nodes with different numbers of members. Schedules "
    "for processes that cannot reach each other's buffers (staged) are made from these and proved, "
    "too, by default on fewer shapes.\n"
    "With --prices nothing is proved: calls on 2 to 1,024 nodes (--nodes) of 1 to 128 members, all "
    "nodes equal or the last one with one member, are priced as hycoll plan --price does, and "
    "where "
    "auto takes more than 1.3 times as long as the best, or jumps, is listed.\n"
    "Exit status: 0 if everything is proved; 1 and the first failing step if not; 2 for bad "
    "arguments.";

struct VerifyOptions {
  CollectiveOption collective{.name = ""};  // all
  std::string nodes;                        // "": the default, of proofs or of prices
  std::string members;                      // the same
  std::string lanes = "1:8";
  std::string algorithm;
  bool unequal = true;
  std::string visibility = "all";
  bool prices = false;
  PriceOptions price;
  std::string sizes = kPricedSizes;
  OutputOptions output;

  std::string nodes_or_default() const {
    return !nodes.empty() ? nodes : prices ? kPricedNodes : "1:17";
  }
  std::string members_or_default() const {
    return !members.empty() ? members : prices ? kPricedMembers : "1:8";
  }
};

SweepOptions sweep_options(const VerifyOptions& options) {
  std::optional<Collective> collective;
  if (!options.collective.name.empty()) collective = collective_of(options.collective.routine());
  return {
      .node_counts = parse_numbers("--nodes", options.nodes_or_default(), 1, kMaximumNodes),
      .member_counts = parse_numbers("--members", options.members_or_default(), 1, kMaximumMembers),
      .lane_counts = parse_numbers("--lanes", options.lanes, 1, kMaximumLanes),
      .collective = collective,
      .algorithm = options.algorithm,
      .unequal_nodes = options.unequal ? UnequalNodes::include : UnequalNodes::exclude,
      .visibility = options.visibility == "all"
                        ? std::nullopt
                        : std::optional(visibility_argument("--visibility", options.visibility))};
}

PriceGrid price_grid_of(const VerifyOptions& options) {
  PriceGrid grid{
      .collectives = {},
      .node_counts = parse_numbers("--nodes", options.nodes_or_default(), 2, kMaximumNodes),
      .member_counts = parse_numbers("--members", options.members_or_default(), 1, kMaximumMembers),
      .sizes = parse_sizes("--sizes", options.sizes)};
  std::ranges::sort(grid.sizes);
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    const bool is_asked_for = options.collective.name.empty() ||
                              collective == collective_of(options.collective.routine());
    if (is_asked_for) grid.collectives.push_back(collective);
  }
  return grid;
}

SweepResult run_with_progress(const std::vector<SweepCase>& cases) {
  ProgressBar progress(cases.size());
  return run_sweep(cases, [&](std::size_t count) { progress.advance(count); });
}

Report report_of(const VerifyOptions& options, const SweepResult& result, double seconds) {
  Report report;
  report.context = {
      {"command", "verify"},
      {"collective", options.collective.name.empty() ? "all" : options.collective.name},
      {"nodes", options.nodes_or_default()},
      {"members", options.members_or_default()},
      {"lanes", options.lanes},
      {"unequal", options.unequal},
      {"visibility", options.visibility},
      {"seconds", seconds},
      {"verified", !result.failure},
      {"failure", result.failure ? Json(*result.failure) : Json()}};
  for (const SweepCounts& counts : result.proved) {
    report.records.push_back({{"collective", counts.collective},
                              {"algorithm", counts.algorithm},
                              {"schedules", counts.schedule_count},
                              {"steps", counts.step_count},
                              {"verified", true}});
  }
  return report;
}

void print_result(std::FILE* human, const SweepResult& result, double seconds) {
  if (result.failure) {
    fmt::print(human, "not proved: {}\n", *result.failure);
    return;
  }
  TextTable table({fmt::format("{:<15} algorithm", "collective"), "schedules", "steps"});
  SweepCounts total{.collective = "all", .algorithm = "all"};
  for (const SweepCounts& counts : result.proved) {
    table.add_row({fmt::format("{:<15} {}", counts.collective, counts.algorithm),
                   std::to_string(counts.schedule_count), std::to_string(counts.step_count)});
    total.schedule_count += counts.schedule_count;
    total.step_count += counts.step_count;
  }
  fmt::print(human, "{}proved {} schedules with {} steps, in place and not, in {:.1f} s\n",
             table.to_text(), total.schedule_count, total.step_count, seconds);
}

class Verify final : public Subcommand {
 public:
  explicit Verify(CommandLine& line) : Subcommand(line.add_subcommand("verify", kVerifySummary)) {
    line_.add_explanation(kVerifyExplanation);
    options_.collective.add_to(line_, " (default: all; a barrier is an allreduce)");
    line_.add_option("--nodes", options_.nodes, "Node counts")
        .show_default(options_.nodes_or_default());
    line_.add_option("--members", options_.members, "Members per node")
        .show_default(options_.members_or_default());
    line_.add_option("--lanes", options_.lanes, "Lanes per node").show_default();
    line_.add_option("--algorithm", options_.algorithm, "Only this algorithm").type_name("NAME");
    line_.add_flag("--unequal,!--no-unequal", options_.unequal,
                   "Whether nodes with different numbers of members are covered (default: yes)");
    line_
        .add_option("--visibility", options_.visibility,
                    "direct: workers reach all buffers of their node; staged: their own member's "
                    "and staging only; all: both, staged on fewer shapes")
        .type_name("NAME")
        .show_default();
    line_.add_flag("--prices", options_.prices,
                   "Price what auto chooses instead, beside the best that there is");
    options_.price.add_to(line_, "With --prices: what steps cost instead, as in hycoll plan");
    line_.add_option("--sizes", options_.sizes, "With --prices: sizes of each member's input")
        .show_default();
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    if (options_.prices) {
      return report_price_sweep(price_grid_of(options_), options_.price.prices(), options_.output);
    }
    const auto start = std::chrono::steady_clock::now();
    const SweepOptions sweep = sweep_options(options_);
    const std::vector<SweepCase> cases = sweep_cases(sweep);
    if (cases.empty()) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("--algorithm '{}' serves none of these shapes: it serves {}. Give "
                              "other --nodes, --members or --lanes",
                              options_.algorithm, sweep_algorithms(sweep).front()->serves));
    }
    const SweepResult result = run_with_progress(cases);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    print_result(options_.output.human(), result, time.count());
    options_.output.write(report_of(options_, result, time.count()));
    return result.failure ? kNotProved : kSuccess;
  }

 private:
  VerifyOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_verify(CommandLine& line) { return std::make_unique<Verify>(line); }

}  // namespace hycoll::command
