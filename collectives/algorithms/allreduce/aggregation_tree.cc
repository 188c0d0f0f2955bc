// Aggregation tree: every host's leader sends its sum up a tree of aggregators, which combine, and
// gets the result back. The tree, its formulas and an example: parts/aggregation.cc.

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/parts/aggregation.h"

namespace hycoll {

void append_aggregation_tree(ScheduleBuilder& builder, const LaneVector& vector) {
  AggregatedPart part{.chunks = vector.chunks, .contributions = {}, .strands = vector.strands};
  for (int host = 0; host < host_count(builder.shape()); ++host) {
    const auto node = static_cast<std::size_t>(host);
    part.contributions.push_back({{.lane = vector.lane,
                                   .strand = vector.strands[node],
                                   .source = vector.sources[node],
                                   .result = vector.results[node]}});
  }
  append_aggregation(builder, aggregation_tree(builder.shape()), part);
}

}  // namespace hycoll
