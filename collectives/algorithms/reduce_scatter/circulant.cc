// Reduce-scatter over a circulant graph: parts/circulant.cc has it, with its formulas and an
// example.
//
// Against the others: as few steps as halving has for powers of two, for every number of nodes; and
// no node sends more than all parts but its own, where halving has nodes that fold.
// Source: J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024.
// With several lanes the chunks of a lane lie apart, and messages carry one part each: their number
// is that of pairwise then.

#include "collectives/algorithms/building_blocks/circulant.h"

#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {

void append_circulant_exchange(ScheduleBuilder& builder, PartedVector& vector) {
  append_circulant_reduce_scatter(
      builder, {.lane = vector.lane,
                .node = vector.node,
                .parts = [&](int first, int count) { return vector.parts.ranges(first, count); },
                .strand = vector.strand,
                .sum = vector.sum,
                .results = vector.results});
}

}  // namespace hycoll
