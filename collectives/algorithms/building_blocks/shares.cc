#include "collectives/algorithms/building_blocks/shares.h"

#include <algorithm>
#include <numeric>

#include "collectives/algorithms/building_blocks/chunks.h"

namespace hycoll {
namespace {

/// The buffers of a node's members as far as they lie in a range.
template <class BufferOf>
std::vector<Span> buffers_in(const Shape& shape, int node, ChunkRange chunks,
                             const BufferOf& buffer_of) {
  std::vector<Span> buffers;
  const int first = shape.first_member(node);
  for (int member = first; member < first + shape.node(node).members; ++member) {
    buffers.push_back(buffer_of(member));
  }
  return clip(buffers, chunks);
}

/// Whether a lane's share of a node's part has chunks of a member's block.
bool shares_block(const ScheduleBuilder& builder, int node, int lane, int member) {
  const int per_block = builder.chunk_count() / builder.shape().member_count();
  const ChunkRange share = share_of(builder, node, lane);
  return member * per_block < share.first + share.count && share.first < (member + 1) * per_block;
}

}  // namespace

std::vector<ChunkRange> NodeParts::ranges(int first, int count) const {
  if (lie_ == Lie::together) {
    const ChunkRange last = of_(first + count - 1);
    const int begin = of_(first).first;
    return {{begin, last.first + last.count - begin}};
  }
  std::vector<ChunkRange> ranges;
  for (int node = first; node < first + count; ++node) ranges.push_back(of_(node));
  return ranges;
}

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

NodeParts shares_of(const ScheduleBuilder& builder, int lane) {
  const bool is_only_lane = builder.shape().lane_count() == 1;
  return {is_only_lane ? NodeParts::Lie::together : NodeParts::Lie::apart,
          [&builder, lane](int node) { return share_of(builder, node, lane); }};
}

std::vector<Span> inputs_in(const ScheduleBuilder& builder, int node, ChunkRange chunks) {
  return buffers_in(builder.shape(), node, chunks, [&](int member) {
    return span_of(builder.input(member), builder.input_chunks(member));
  });
}

std::vector<Span> outputs_in(const ScheduleBuilder& builder, int node, ChunkRange chunks) {
  return buffers_in(builder.shape(), node, chunks, [&](int member) {
    return span_of(builder.output(member), builder.output_chunks(member));
  });
}

void append_end_of_sharing(const ScheduleBuilder& builder, NodePhases& phases, int member,
                           int root_milestone) {
  const Shape& shape = builder.shape();
  const int node = phases.node();
  if (member == builder.root()) phases.await_lanes(member, root_milestone);
  std::vector<int> led;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    if (shape.leader(node, lane) == shape.worker_of_member(member)) {
      led.push_back(lane);
    } else if (member != builder.root() && shares_block(builder, node, lane, member)) {
      phases.await_lane_of(member, lane, 1);
    }
  }
  for (int other = phases.first_member(); other <= phases.last_member(); ++other) {
    const bool is_known = std::ranges::any_of(led, [&](int lane) {
      return other == builder.root() || shares_block(builder, node, lane, other);
    });
    if (other != member && !is_known) phases.await_member_of(member, other);
  }
}

}  // namespace hycoll
