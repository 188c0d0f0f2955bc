// Recursive halving and doubling (reduce-scatter, then allgather), the butterfly.
//
// Idea: in step k every partner exchanges with the partner whose number differs in bit k one half
// of what it still works on: it keeps one half, reduces the peer's share into it, and gives the
// other half away. After log2 p steps each owns 1/p of the result; the same steps backwards collect
// it. Distances double, so that the operands are neighbouring ranges of nodes, in order: the tree
// is that of recursive doubling.
//
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004; named in DPML,
//         section 4.1, and as the butterfly in the ring paper, sections 1 and 5.
// Steps:  2 log2 p, and 2 more where N is not a power of two (fold.h).
// Sent:   2 n (p - 1) / p elements by every partner, the least possible for a power of two.
// Serves: any number of nodes. Chunks per lane: p.
//
// Example, 4 nodes, chunks 0..3: step 1, node 0 keeps 0-1 and gives 2-3 to node 1; step 2, it keeps
// 0 and gives 1 to node 2. Now node 0 owns chunk 0, node 1 chunk 2, node 2 chunk 1, node 3 chunk 3.
// Then backwards.

#include <vector>

#include "collectives/algorithms/exchanges/exchange.h"
#include "collectives/algorithms/exchanges/fold.h"

namespace hycoll {
namespace {

struct Halves {
  ChunkRange kept;
  ChunkRange given;
};

/// How a partner halves its range in the step of `distance`: a set bit keeps the upper half.
Halves halve(ChunkRange range, int partner, int distance) {
  const int half = range.count / 2;
  const ChunkRange lower{range.first, half};
  const ChunkRange upper{range.first + half, half};
  return (partner & distance) != 0 ? Halves{.kept = upper, .given = lower}
                                   : Halves{.kept = lower, .given = upper};
}

}  // namespace

void append_halving_doubling(ScheduleBuilder& builder, const LaneVector& vector) {
  const std::vector<BufferId> scratch = add_lane_scratch(builder, vector);
  const PairwiseFold fold(builder, vector, scratch);
  const int partner_count = fold.partner_count();
  std::vector<ChunkRange> owned(static_cast<std::size_t>(partner_count), vector.chunks);

  for (int distance = 1; distance < partner_count; distance *= 2) {
    for (int partner = 0; partner < partner_count; ++partner) {
      const int peer = fold.node(partner ^ distance);
      const int here = fold.node(partner);
      const auto node = static_cast<std::size_t>(here);
      const StrandId strand = vector.strands[node];
      const BufferId current = distance == 1 ? fold.folded(partner) : vector.results[node];
      ChunkRange& range = owned[static_cast<std::size_t>(partner)];
      const auto [kept, given] = halve(range, partner, distance);
      const Span received = span_of(scratch[node], kept);
      builder.recv(strand, vector.lane, peer, received);
      builder.send(strand, vector.lane, peer, span_of(current, given));
      reduce_in_node_order(builder, strand, span_of(vector.results[node], kept), here,
                           span_of(current, kept), peer, received);
      range = kept;
    }
  }
  for (int distance = partner_count / 2; distance >= 1; distance /= 2) {
    const std::vector<ChunkRange> before = owned;
    for (int partner = 0; partner < partner_count; ++partner) {
      const int peer = fold.node(partner ^ distance);
      const auto node = static_cast<std::size_t>(fold.node(partner));
      const StrandId strand = vector.strands[node];
      ChunkRange& range = owned[static_cast<std::size_t>(partner)];
      const ChunkRange other = before[static_cast<std::size_t>(partner ^ distance)];
      builder.recv(strand, vector.lane, peer, span_of(vector.results[node], other));
      builder.send(strand, vector.lane, peer, span_of(vector.results[node], range));
      range = {std::min(range.first, other.first), 2 * range.count};
    }
  }
  fold.unfold(builder, vector);
}

}  // namespace hycoll
