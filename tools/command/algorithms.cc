// hycoll algorithms: what there is to choose from, by name.

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "collectives/algorithms/registry.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

constexpr const char* kAlgorithmsSummary = "List the algorithms of a collective, or of all";
constexpr const char* kAlgorithmsExplanation =
    "Lists the algorithms that can be called by name (--algorithm, HYCOLL_ALGORITHM, "
    "Options::algorithm): what each does, the shapes that it serves, the order of the operands, "
    "what segments cut, and its source.\n"
    "  hycoll algorithms\n"
    "  hycoll algorithms alltoall\n"
    "For alltoall the design space of the paper on ONMPML (table 1) follows, with the algorithm "
    "of hycoll that has such leaders and such an exchange.";

/// What GeneratorParameters::segments cuts.
std::string_view cut_by_segments(const Algorithm& algorithm) {
  switch (algorithm.segmentation) {
    case Segmentation::messages:
      return "messages";
    case Segmentation::partition:
      return "partition";
    case Segmentation::none:
      break;
  }
  return "none";
}

/// A column of table 1 of the paper: how a method moves data, and what it makes use of.
struct AlltoallDesign {
  std::string_view method;
  std::string_view between_nodes;
  std::string_view inside_nodes;
  bool has_leaders;
  bool has_many_leaders;
  bool is_numa_aware;
  bool uses_many_endpoints;
  bool overlaps;
  /// What has such leaders and exchanges here; "" if nothing has.
  std::string_view algorithm;
};

constexpr std::array kAlltoallDesigns = {
    AlltoallDesign{"SH-NUMA-CO", "MVAPICH2", "shared heap", true, false, true, false, true,
                   "sh-numa-co"},
    AlltoallDesign{"SA-orig", "MVAPICH", "shared memory", true, true, false, true, false, "mpml"},
    AlltoallDesign{"elan_alltoall", "RDMA", "shared memory", true, false, false, true, false,
                   "l-a2a"},
    AlltoallDesign{"PAIRWISE-SLR", "MPI P2P", "MPI P2P", true, false, false, false, true,
                   "multi-leader-pairwise, 1 lane"},
    AlltoallDesign{"BRUCK-SLR", "MPI P2P", "MPI P2P", true, false, false, false, true,
                   "bruck-2, bruck-4, bruck-8"},
    AlltoallDesign{"ONMPML", "RDMA", "shared heap", true, true, true, true, true, "onmpml"},
};

Json record_of(const Algorithm& algorithm) {
  return {{"collective", name_of(algorithm.collective)},
          {"algorithm", algorithm.name},
          {"summary", algorithm.summary},
          {"serves", algorithm.serves},
          {"order", name_of(algorithm.order)},
          {"segments_cut", cut_by_segments(algorithm)},
          {"source", algorithm.source}};
}

Json record_of(const AlltoallDesign& design) {
  return {{"method", design.method},
          {"between_nodes", design.between_nodes},
          {"inside_nodes", design.inside_nodes},
          {"leaders", design.has_leaders},
          {"many_leaders", design.has_many_leaders},
          {"numa_aware", design.is_numa_aware},
          {"many_endpoints", design.uses_many_endpoints},
          {"overlap", design.overlaps},
          {"algorithm", design.algorithm.empty() ? Json() : Json(design.algorithm)}};
}

void print_algorithm(std::FILE* human, const Algorithm& algorithm) {
  fmt::print(human,
             "  {}\n      {}\n      serves {}; operands in order: {}; segments cut: {}\n      {}\n",
             algorithm.name, algorithm.summary, algorithm.serves, name_of(algorithm.order),
             cut_by_segments(algorithm), algorithm.source);
}

void print_designs(std::FILE* human) {
  TextTable table({"method", "between nodes", "inside", "leaders", "many", "NUMA-aware",
                   "many endpoints", "overlap", "here"});
  const auto word = [](bool has) { return std::string(has ? "yes" : "no"); };
  for (const AlltoallDesign& design : kAlltoallDesigns) {
    table.add_row({std::string(design.method), std::string(design.between_nodes),
                   std::string(design.inside_nodes), word(design.has_leaders),
                   word(design.has_many_leaders), word(design.is_numa_aware),
                   word(design.uses_many_endpoints), word(design.overlaps),
                   design.algorithm.empty() ? "-" : std::string(design.algorithm)});
  }
  fmt::print(human, "\nthe design space of all-to-all (ONMPML, table 1)\n{}", table.to_text());
}

class Algorithms final : public Subcommand {
 public:
  explicit Algorithms(CommandLine& line)
      : Subcommand(line.add_subcommand("algorithms", kAlgorithmsSummary)) {
    line_.add_explanation(kAlgorithmsExplanation);
    collective_.add_to(line_, " (default: all)");
    output_.add_to(line_);
  }

  ExitStatus run() override {
    output_.check();
    std::optional<Collective> only;
    if (!collective_.name.empty()) only = collective_of(collective_.routine());
    Report report{.context = {{"command", "algorithms"}}, .records = {}};
    for (const Algorithm* algorithm : all_algorithms()) {
      if (only && algorithm->collective != *only) continue;
      const std::string_view collective = name_of(algorithm->collective);
      if (report.records.empty() || report.records.back().at("collective") != collective) {
        fmt::print(output_.human(), "{}\n", collective);
      }
      print_algorithm(output_.human(), *algorithm);
      report.records.push_back(record_of(*algorithm));
    }
    if (only == Collective::alltoall) {
      print_designs(output_.human());
      for (const AlltoallDesign& design : kAlltoallDesigns) {
        report.context["designs"].push_back(record_of(design));
      }
    }
    output_.write(report);
    return kSuccess;
  }

 private:
  CollectiveOption collective_{.name = ""};
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Subcommand> add_algorithms(CommandLine& line) {
  return std::make_unique<Algorithms>(line);
}

}  // namespace hycoll::command
