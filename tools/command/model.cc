// hycoll model: the closed forms of papers beside walks through schedules.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/base/price_text.h"
#include "core/base/types.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/sizes.h"
#include "tools/command/modelling/model_comparison.h"
#include "tools/command/modelling/model_report.h"
#include "tools/command/pricing/price_options.h"

namespace hycoll::command {
namespace {

constexpr const char* kModelSummary = "Evaluate the papers' equations, beside the price of a plan";
constexpr const char* kModelExplanation =
    "Evaluates what a paper says of an algorithm, term by term, for a range of sizes. Beside the "
    "sum stands what the schedule of that algorithm takes with the same costs, as in hycoll plan "
    "--price. The equations, their symbols and why both differ: docs/models.md.\n"
    "  hycoll model --list\n"
    "  hycoll model allreduce --algorithm dpml-recursive-doubling --nodes 64 --members 28 --lanes "
    "16 --svg dpml.svg\n"
    "  hycoll model alltoall --algorithm onmpml --nodes 16 --members 32 --lanes 4 --domains 4 "
    "--price memory=40GB/s\n"
    "Members are the papers' processes; lanes are their leaders, network endpoints or colours; "
    "segments are the sub-partitions of pipelined algorithms. Of alltoall, a size is what a member "
    "sends to all others and itself.";

struct ModelOptions {
  CollectiveOption collective;
  std::string algorithm;
  bool list = false;
  int nodes = 16;
  int members = 0;   // 0: kUsualMembers, or 1
  int lanes = 0;     // 0: usual_lanes()
  int segments = 0;  // 0: chosen
  int domains = 1;
  std::string visibility;  // "": as the paper's processes share memory
  std::string type = "float";
  std::string sizes = "1Ki:16Mi";
  PriceOptions price;
  std::string svg_path;
  OutputOptions output;
};

constexpr int kUsualMembers = 4;

/// With what the options leave open.
ModelCall call_of(const ModelOptions& options, const ClosedForm& form) {
  const int usual_members = form.has_one_process ? 1 : kUsualMembers;
  const int members = options.members > 0 ? options.members : usual_members;
  const int usual_lanes = form.usual_lanes(options.nodes, members);
  return {.nodes = options.nodes,
          .members = members,
          .lanes = options.lanes > 0 ? options.lanes : usual_lanes,
          .domains = options.domains};
}

ModelQuestion question_of(const ModelOptions& options) {
  const ClosedForm& form =
      find_closed_form(collective_of(options.collective.routine()), options.algorithm);
  const DataType type = data_type_argument("--type", options.type);
  ModelQuestion question{
      .form = &form,
      .call = call_of(options, form),
      .requested_segments = options.segments,
      .visibility = options.visibility.empty()
                        ? form.visibility
                        : visibility_argument("--visibility", options.visibility),
      .sizes = parse_sizes("--sizes", options.sizes)};
  question.call.item_bytes = static_cast<double>(size_of(type));
  for (const std::size_t size_bytes : question.sizes) check_size_fits(size_bytes, "--sizes", type);
  return question;
}

class Model final : public Subcommand {
 public:
  explicit Model(CommandLine& line) : Subcommand(line.add_subcommand("model", kModelSummary)) {
    line_.add_explanation(kModelExplanation);
    options_.collective.add_to(line_);
    line_
        .add_option("--algorithm", options_.algorithm,
                    "A name that --list tells (default: the collective's first one)")
        .type_name("NAME");
    line_.add_flag("--list", options_.list, "List the algorithms that papers have equations for");
    add_shape_options();
    line_.add_option("--sizes", options_.sizes, "Sizes of each member's input").show_default();
    add_type_option(line_, options_.type);
    options_.price.add_to(line_, "What steps cost instead: some of " + price_keys());
    options_.output.add_file(line_, "--svg", options_.svg_path,
                             "Draw time over size, a line for the model and one for the plan");
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    if (options_.list) {
      fmt::print(options_.output.human(), "{}", forms_text());
      options_.output.write(forms_report());
      return kSuccess;
    }
    const ModelQuestion question = question_of(options_);
    const MachinePrices prices = options_.price.prices();
    const std::vector<ModelPoint> points = compare_with_walk(question, prices);
    fmt::print(options_.output.human(), "{}", model_text(question, points));
    if (!options_.svg_path.empty()) {
      write_file("--svg", options_.svg_path, model_picture(question, points));
    }
    options_.output.write(model_report(question, prices, points));
    return kSuccess;
  }

 private:
  void add_shape_options() {
    line_.add_option("--nodes", options_.nodes, "Nodes")
        .check(between(1, kMaximumNodes))
        .show_default();
    line_
        .add_option("--members", options_.members,
                    "Members per node (default: 4, of flat algorithms 1)")
        .check(between(1, kMaximumMembers));
    line_
        .add_option("--lanes", options_.lanes,
                    "Lanes per node (default: the paper's, or as many as can lead)")
        .check(between(1, kMaximumLanes));
    line_
        .add_option("--segments", options_.segments,
                    "Parts into which vectors are cut (default: as hycoll chooses where the paper "
                    "cuts them, otherwise 1)")
        .check(between(1, kMaximumSegments));
    line_
        .add_option("--domains", options_.domains,
                    "NUMA domains of a node, over which leaders are spread; the walk has one")
        .check(between(1, kMaximumMembers))
        .show_default();
    line_
        .add_option("--visibility", options_.visibility,
                    "Of the walk: direct, where workers reach all buffers of their node, or "
                    "staged (default: as the paper's processes share memory)")
        .type_name("NAME");
  }

  ModelOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_model(CommandLine& line) { return std::make_unique<Model>(line); }

}  // namespace hycoll::command
