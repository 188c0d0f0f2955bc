#include "tools/command/reproducing/paper_results.h"

#include <algorithm>
#include <iterator>

namespace hycoll::command {

std::vector<PaperResult> paper_results() {
  std::vector<PaperResult> all;
  for (const auto results :
       {dpml_results, onmpml_results, blue_gene_results, slides_results, ring_results}) {
    std::ranges::move(results(), std::back_inserter(all));
  }
  return all;
}

std::vector<LeftOut> left_out() {
  return {
      {.what = "DPML, figure 1",
       .reason = "throughput of pairs of processes: hycoll calibrate measures it"},
      {.what = "DPML, figure 8",
       .reason = "SHArP reduces in switches; hycoll's aggregators are processes, which take a "
                 "message at a time"},
      {.what = "DPML, figure 11", .reason = "applications"},
      {.what = "ONMPML, figures 1 to 4",
       .reason = "throughput of the machines; the text has no numbers of these pictures"},
      {.what = "ONMPML, figure 11", .reason = "applications"},
      {.what = "Blue Gene/P, figures 6, 7 and 9",
       .reason = "the collective network, which broadcasts and reduces in hardware"},
      {.what = "Blue Gene/P, figure 8", .reason = "system calls of its kernel"},
  };
}

}  // namespace hycoll::command
