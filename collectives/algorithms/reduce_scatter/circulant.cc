// Reduce-scatter over a circulant graph: parts/circulant.cc has it, with its formulas and an
// example.
//
// Against the others: as few steps as halving has for powers of two, for every number of nodes; and
// no node sends more than all parts but its own, where halving has nodes that fold.
// Source: J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024.
// With several lanes the chunks of a lane lie apart, and messages carry one part each: their number
// is that of pairwise then.

#include "collectives/algorithms/parts/circulant.h"

#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {

void append_circulant_exchange(ScheduleBuilder& builder, PartedVector& vector) {
  const auto parts = [&](int first, int count) {
    return ranges_of_parts(vector.parts, first, count);
  };
  for (const int node : builder.nodes()) {
    const auto n = static_cast<std::size_t>(node);
    append_circulant_reduce_scatter(builder, {.lane = vector.lane,
                                              .node = node,
                                              .parts = parts,
                                              .strand = vector.strands[n],
                                              .sum = vector.sums[n],
                                              .results = vector.results[n]});
  }
}

}  // namespace hycoll
