#ifndef HYCOLL_TOOLS_COMMAND_REPRODUCING_PAPER_RESULTS_H_
#define HYCOLL_TOOLS_COMMAND_REPRODUCING_PAPER_RESULTS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/byte_sizes.h"
#include "core/base/collective.h"

namespace hycoll::command {

/// A line of a figure: an algorithm on a shape.
struct Curve {
  std::string_view name;
  std::string_view algorithm;
  int lanes = 1;
  int members = 0;    ///< Of a node; 0: the result's.
  bool flat = false;  ///< Each process is a node of its own, which knows nothing of its host.
  int processes = 0;  ///< Of a flat one; 0: all of the result's.
};

enum class Measure {
  speedup,          ///< At a size: the best time of the defenders over that of the challengers.
  best_speedup,     ///< The largest one over all sizes.
  mean_speedup,     ///< The mean over all sizes.
  break_even,       ///< Bytes from which on the challengers are faster.
  fastest_lanes,    ///< At a size: the lanes of the fastest challenger.
  throughput,       ///< At a size: MB/s of the fastest challenger.
  best_throughput,  ///< The largest one over all sizes.
};

/// A number that a paper's text has, and how it is told from times.
struct Claim {
  std::string_view what;
  Measure measure;
  std::vector<std::size_t> challengers;  ///< Indices of curves.
  std::vector<std::size_t> defenders = {};
  std::size_t size_bytes = 0;  ///< For measures at a size, one of the result's sizes.
  double paper = 0;
};

/// A figure, table or benchmark of a paper.
struct PaperResult {
  std::string_view name;
  std::string_view paper;
  std::string_view title;
  Collective collective;
  std::string_view platform;    ///< Of docs/platforms, without its ending.
  std::vector<int> torus = {};  ///< A part of the platform's torus; empty: all of the platform.
  int nodes;
  int members;
  int paper_nodes = 0;  ///< Where the paper has more; 0: as many.
  /// Of each member's input; for all-to-all of each block.
  std::vector<std::size_t> sizes_bytes;
  std::vector<Curve> curves;
  std::vector<Claim> claims;
  std::string_view note;            ///< What differs from the paper.
  std::string_view benchmark = {};  ///< Of the slides, whose messages are counted too.
};

/// What is not reproduced, and why.
struct LeftOut {
  std::string_view what;
  std::string_view reason;
};

// A file for each paper.
std::vector<PaperResult> dpml_results();
std::vector<PaperResult> onmpml_results();
std::vector<PaperResult> blue_gene_results();
std::vector<PaperResult> slides_results();
std::vector<PaperResult> ring_results();

/// Those of all papers.
std::vector<PaperResult> paper_results();

std::vector<LeftOut> left_out();

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_REPRODUCING_PAPER_RESULTS_H_
