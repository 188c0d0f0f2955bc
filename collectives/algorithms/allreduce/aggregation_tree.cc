// Aggregation tree: every host's leader sends its sum up a tree of aggregators, which combine, and
// gets the result back. The tree, its formulas and an example: parts/aggregation.cc.

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/aggregation.h"

namespace hycoll {

void append_aggregation_tree(ScheduleBuilder& builder, const LaneVector& vector) {
  AggregatedPart part{.node = vector.node,
                      .chunks = vector.chunks,
                      .contributions = {},
                      .strand = vector.strand,
                      .lanes = [&](int) { return std::vector{vector.lane}; }};
  if (builder.shape().node(vector.node).members > 0) {
    part.contributions = {{.lane = vector.lane,
                           .strand = vector.strand,
                           .source = vector.source,
                           .result = vector.result}};
  }
  append_aggregation(builder, AggregationTree(builder.shape()), part);
}

}  // namespace hycoll
