#include "collectives/algorithms/parts/shares.h"

#include <numeric>

#include "collectives/algorithms/parts/chunks.h"

namespace hycoll {

int chunks_per_block(const Shape& shape) {
  int chunks = 1;
  for (const int node : shape.first_nodes()) {
    const int lanes = shape.lane_count();
    chunks = std::lcm(chunks, lanes / std::gcd(lanes, shape.node(node).members));
  }
  return chunks;
}

ChunkRange part_of(const ScheduleBuilder& builder, int node) {
  const Shape& shape = builder.shape();
  const int per_block = builder.chunk_count() / shape.member_count();
  return {shape.first_member(node) * per_block, shape.node(node).members * per_block};
}

ChunkRange share_of(const ScheduleBuilder& builder, int node, int lane) {
  return segment_of(part_of(builder, node), builder.shape().lane_count(), lane);
}

}  // namespace hycoll
