#include "collectives/algorithms/alltoall/lane_tiles.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collectives/algorithms/alltoall/z_curve.h"
#include "collectives/algorithms/building_blocks/member_shares.h"

namespace hycoll {
namespace {

/// What a node has for some neighbouring members of one.
ChunkRange tile_for(const Shape& shape, int from_node, NumberRange to) {
  if (to.count == 0) return {};
  const ChunkRange first = tile_for(shape, from_node, to.first);
  return {.first = first.first, .count = first.count * to.count};
}

/// A lane's share of what one node has for another one, or for itself, if all lanes share it.
ChunkRange share_of_tile(const Shape& shape, int from_node, int to_node, int lane) {
  return tile_for(shape, from_node, share_of_members(shape, to_node, shape.lane_count(), lane));
}

/// One of so many segments of a tile, which has no more of them than blocks.
ChunkRange piece_of(ChunkRange tile, int segment_count, int segment) {
  const int pieces = std::min(segment_count, tile.count);
  if (segment >= pieces) return {};
  const auto end = [&](int segments) {
    return static_cast<int>(std::int64_t{tile.count} * segments / pieces);
  };
  return {.first = tile.first + end(segment), .count = end(segment + 1) - end(segment)};
}

/// The rounds of one lane. Alike on all nodes is which share of which distance is whose.
std::vector<TileRound> rounds_of(const Shape& shape, int node, int lane, int segment_count) {
  const int node_count = shape.node_count();
  const int lane_count = shape.lane_count();
  const int share_count = (lane_count + node_count - 2) / (node_count - 1);
  std::vector<TileRound> rounds;
  for (int number = lane; number < (node_count - 1) * share_count; number += lane_count) {
    const int distance = 1 + number / share_count;
    const int share = number % share_count;
    const int to = (node + distance) % node_count;
    const int from = (node + node_count - distance) % node_count;
    const ChunkRange sent = tile_for(shape, node, share_of_members(shape, to, share_count, share));
    const ChunkRange received =
        tile_for(shape, from, share_of_members(shape, node, share_count, share));
    const int longest = std::max(sent.count, received.count);
    for (int segment = 0; segment < std::min(segment_count, longest); ++segment) {
      rounds.push_back({.to_node = to,
                        .sent = piece_of(sent, segment_count, segment),
                        .from_node = from,
                        .received = piece_of(received, segment_count, segment)});
    }
  }
  return rounds;
}

}  // namespace

LaneTiles::LaneTiles(ScheduleBuilder& builder, const NodePhases& phases, int lane, BlockOrder order)
    : builder_(builder),
      phases_(phases),
      lane_(lane),
      order_(order),
      worker_(builder.shape().leader(phases.node(), lane)) {}

void LaneTiles::exchange(const GeneratorParameters& parameters,
                         const std::function<void()>& copy_inside) {
  const Shape& shape = builder_.shape();
  if (shape.node_count() == 1) return copy_inside();
  const Exchange& exchange = parameters.exchange;
  const int segments = exchange.segmentation == Segmentation::messages ? parameters.segments : 1;
  const std::vector<TileRound> rounds = rounds_of(shape, phases_.node(), lane_, segments);
  exchange.alltoall(
      builder_,
      {.lane = lane_,
       .node = phases_.node(),
       .worker = worker_,
       .strand = strand(),
       .rounds = rounds,
       .gather = [&](const TileRound& round) { return gathered(round.sent, round.slot); },
       .place = [&](const TileRound& round) { return place_for(round.received, round.slot); },
       .scatter = [&](const TileRound& round, StrandId strand) { scatter(round.received, strand); },
       .copy_inside = copy_inside,
       .is_in_place =
           [&](const TileRound& round) {
             return round.received.count == 0 ||
                    is_alone(round.received, first_pair(round.received).to);
           },
       .tile = [&](int from_node,
                   int to_node) { return share_of_tile(shape, from_node, to_node, lane_); },
       .collect = [&](Span place, ChunkRange tile) { collect(place, tile); },
       .deliver = [&](ChunkRange tile, Span place) { deliver(strand(), tile, place); }});
}

void LaneTiles::copy_inside(const Pair& pair) {
  const int chunk = chunk_of(builder_.shape(), pair);
  builder_.copy(strand(), span_of(builder_.output(pair.to), {chunk, 1}), block_in_input(chunk));
}

void LaneTiles::copy_inside(int receiver) {
  const ChunkRange tile = hycoll::tile_for(builder_.shape(), phases_.node(), receiver);
  const BufferId output = builder_.output(receiver);
  // Leaders who all began with the first member's blocks would wait for one another there, so each
  // begins behind its receiver. Of two members both have to be read anyway.
  constexpr int kFewMembers = 2;
  const int turned =
      tile.count > kFewMembers ? (receiver - phases_.first_member() + 1) % tile.count : 0;
  const ChunkRange behind{tile.first + turned, tile.count - turned};
  collect_of_one_receiver(span_of(output, behind), behind);
  const ChunkRange rest{tile.first, turned};
  if (rest.count > 0) collect_of_one_receiver(span_of(output, rest), rest);
}

Span LaneTiles::block_in_input(int chunk) const {
  return span_of(builder_.input(pair_of(builder_.shape(), chunk).from), {chunk, 1});
}

void LaneTiles::collect_of_one_receiver(Span place, ChunkRange blocks) {
  // Senders follow each other as their blocks do.
  const int first_sender = first_pair(blocks).from;
  std::vector<Span> sources;
  sources.reserve(static_cast<std::size_t>(blocks.count));
  for (int i = 0; i < blocks.count; ++i) {
    sources.push_back(span_of(builder_.input(first_sender + i), {blocks.first + i, 1}));
  }
  builder_.collect(strand(), place, sources);
}

void LaneTiles::collect(Span place, ChunkRange tile) {
  if (order_ == BlockOrder::by_receiver) {
    return visit_receivers(tile, [&](int /*receiver*/, ChunkRange blocks) {
      const int done = blocks.first - tile.first;
      collect_of_one_receiver({place.buffer, place.first_chunk + done, blocks.count}, blocks);
    });
  }
  const auto collect_one = [&](int i) {
    builder_.copy(strand(), {place.buffer, place.first_chunk + i, 1},
                  block_in_input(tile.first + i));
  };
  const int senders = phases_.member_count();
  const NumberRange rows{0, tile.count / senders};
  visit_z_curve(rows, {0, senders}, share_of_curve(rows, {0, senders}, 1, 0),
                [&](int to, int from) { collect_one(to * senders + from); });
}

void LaneTiles::deliver(StrandId strand, ChunkRange tile, Span place) {
  visit_receivers(tile, [&](int receiver, ChunkRange blocks) {
    const int done = blocks.first - tile.first;
    builder_.copy(strand, span_of(builder_.output(receiver), blocks),
                  {place.buffer, place.first_chunk + done, blocks.count});
  });
}

template <class Visit>
void LaneTiles::visit_receivers(ChunkRange tile, const Visit& visit) const {
  const Shape& shape = builder_.shape();
  const int from_node = shape.node_of_member(first_pair(tile).from);
  const int end = tile.first + tile.count;
  for (int first = tile.first; first < end;) {
    const int receiver = pair_of(shape, first).to;
    const ChunkRange all = hycoll::tile_for(shape, from_node, receiver);
    const int count = std::min(all.first + all.count, end) - first;
    visit(receiver, ChunkRange{.first = first, .count = count});
    first += count;
  }
}

bool LaneTiles::is_alone(ChunkRange tile, int member) const {
  const bool is_own =
      phases_.member_count() == 1 || builder_.shape().worker_of_member(member) == worker_;
  return tile.count == 1 && is_own;
}

BufferId LaneTiles::add_scratch(ChunkRange tile, int slot, std::map<int, BufferId>& slots) {
  if (slot < 0) return builder_.add_scratch(worker_, tile);
  const auto known = slots.find(slot);
  if (known != slots.end()) return builder_.add_scratch_over(known->second, tile);
  return slots[slot] = builder_.add_shared_scratch(worker_, tile);
}

Span LaneTiles::gathered(ChunkRange tile, int slot) {
  const int from = first_pair(tile).from;
  if (is_alone(tile, from)) return span_of(builder_.input(from), tile);
  const Span place = span_of(add_scratch(tile, slot, sending_), tile);
  collect(place, tile);
  return place;
}

Span LaneTiles::place_for(ChunkRange tile, int slot) {
  const int to = first_pair(tile).to;
  if (is_alone(tile, to)) return span_of(builder_.output(to), tile);
  const BufferId scratch = add_scratch(tile, slot, receiving_);
  places_.emplace(tile.first, scratch);
  return span_of(scratch, tile);
}

void LaneTiles::scatter(ChunkRange tile, StrandId strand) {
  if (is_alone(tile, first_pair(tile).to)) return;
  deliver(strand, tile, span_of(places_.at(tile.first), tile));
}

}  // namespace hycoll
