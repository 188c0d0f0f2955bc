// hycoll explain: why this algorithm.

#include <fmt/format.h>

#include <string>

#include "core/base/price_text.h"
#include "core/base/types.h"
#include "tools/command/explaining/explanation.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/sizes.h"
#include "tools/command/pricing/price_options.h"

namespace hycoll::command {
namespace {

constexpr const char* kExplainSummary = "Explain which algorithm is chosen between nodes, and why";
constexpr const char* kExplainExplanation =
    "Says which algorithm `auto` takes for a call between nodes, where its time goes, between "
    "which "
    "sizes the choice holds, how close the next one is, and the same of all others. Times are "
    "walks "
    "through schedules with a machine's prices: nothing is run. Where the time goes is told by "
    "what "
    "would be saved if one thing cost nothing (docs/explain.md).\n"
    "  hycoll explain allreduce --nodes 16 --members 8 --bytes 64Ki\n"
    "  hycoll explain broadcast --nodes 100 --bytes 4Mi --machine machine.json\n"
    "On one node thresholds decide, which were measured (docs/measurements.md): hycoll bench "
    "COLLECTIVE --algorithm all measures them here.";

struct ExplainOptions {
  CollectiveOption collective;
  int nodes = 2;
  int members = 1;
  int lanes = 0;  // 0: chosen
  std::string bytes = "1Ki";
  std::string type = "float";
  PriceOptions price;
  OutputOptions output;
};

class Explain final : public Subcommand {
 public:
  explicit Explain(CommandLine& line)
      : Subcommand(line.add_subcommand("explain", kExplainSummary)) {
    line_.add_explanation(kExplainExplanation);
    options_.collective.add_to(line_);
    line_.add_option("--nodes", options_.nodes, "Nodes, two or more")
        .check(between(2, kMaximumNodes))
        .show_default();
    line_.add_option("--members", options_.members, "Members per node")
        .check(between(1, kMaximumMembers))
        .show_default();
    line_.add_option("--lanes", options_.lanes, "Lanes per node (default: chosen)")
        .check(between(1, kMaximumLanes));
    line_.add_option("--bytes", options_.bytes, "Size of each member's vector").show_default();
    add_type_option(line_, options_.type);
    options_.price.add_to(line_, "What steps cost instead: some of " + price_keys());
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    const Routine routine = options_.collective.routine();
    const DataType type = data_type_argument("--type", options_.type);
    const std::size_t size_bytes =
        routine == Routine::barrier ? 1 : parse_size("--bytes", options_.bytes);
    if (routine != Routine::barrier) check_size_fits(size_bytes, "--bytes", type);
    const PriceQuestion question{
        .collective = collective_of(routine),
        .nodes = {{.node = {.members = options_.members, .workers = options_.members},
                   .count = options_.nodes}},
        .size_bytes = size_bytes,
        .requested_lanes = options_.lanes};
    const MachinePrices prices = options_.price.prices();
    const Explanation explanation =
        explain(question, prices, routine == Routine::barrier ? 1 : size_of(type));
    fmt::print(options_.output.human(), "{}", explanation_text(explanation, prices));
    options_.output.write(explanation_report(explanation, prices));
    return kSuccess;
  }

 private:
  ExplainOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_explain(CommandLine& line) {
  return std::make_unique<Explain>(line);
}

}  // namespace hycoll::command
