#include "collectives/algorithms/allgather/exchange.h"

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/shares.h"

namespace hycoll {

GatheredBlocks gathered_shares(const ScheduleBuilder& builder, int node, int lane) {
  return {.lane = lane,
          .count = builder.shape().node_count(),
          .number = node,
          .nodes = [](int number) { return number; },
          .chunks =
              [&builder, lane](ChunkRange blocks) {
                const ChunkRange first = share_of(builder, blocks.first, lane);
                const ChunkRange last = share_of(builder, blocks.first + blocks.count - 1, lane);
                return ChunkRange{first.first, last.first + last.count - first.first};
              },
          .strand = kElsewhere,
          .place = kNoBuffer};
}

GatheredBlocks collected_shares(ScheduleBuilder& builder, const NodePhases& phases, int lane) {
  GatheredBlocks blocks = gathered_shares(builder, phases.node(), lane);
  blocks.strand = phases.leader(lane);
  blocks.place = builder.output(holding_member(builder.shape(), phases.node(), lane));
  for (const Span& input :
       inputs_in(builder, phases.node(), share_of(builder, phases.node(), lane))) {
    builder.copy(blocks.strand, span_of(blocks.place, {input.first_chunk, input.chunk_count}),
                 input);
  }
  return blocks;
}

}  // namespace hycoll
