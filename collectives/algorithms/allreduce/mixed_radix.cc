// Mixed radix: reduce-scatter, then allgather, in groups of more than two nodes.
//
// Idea: halving and doubling with a radix for each round, whose product is N. In a round the r
// nodes of a group, which differ in one digit of their numbers, cut what they all work on into r
// ranges. Each keeps the range of its digit, sends every other one its own, and combines what it
// gets in one pass. After the last round a node owns one block; the same rounds backwards collect
// the others. The messages of a round are under way together, so there are fewer rounds to wait
// for than with halves, and nobody folds where N is no power of two.
//
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004, with the groups
// of M. Ruefenacht, M. Bull, S. Booth, Generalisation of Recursive Doubling for AllReduce, 2017.
// Steps: 2 k for k radices (radices.h).
// Messages: 2 (r - 1) for each radix r, from every node.
// Sent: 2 n (N - 1) / N elements by every node, the least possible.
// Scratch: n (r - 1) / r for the largest radix.
// Serves: any number of nodes. A prime number is one round, in which all send to all.
// Chunks per lane: N. The operands of a round are neighbouring ranges of nodes, in order.
//
// Example, 10 nodes, radices 5 and 2, chunks 0..9: node 0 keeps 0-1 and gives 2-3, 4-5, 6-7, 8-9 to
// nodes 1 to 4. Then it keeps 0 and gives 1 to node 5. Nodes 0 to 9 own the chunks 0, 2, 4, 6, 8,
// 1, 3, 5, 7, 9. Then backwards.

#include <span>
#include <vector>

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/radices.h"

namespace hycoll {
namespace {

/// The nodes that differ in one digit, by that: those of node `first`, `first + distance`, ...
struct DigitGroup {
  int first;
  int distance;
  int radix;
  int digit;          ///< This node's.
  ChunkRange chunks;  ///< What all of them work on.

  int node(int of_digit) const { return first + of_digit * distance; }
  ChunkRange range(int of_digit) const {
    const int count = chunks.count / radix;
    return {chunks.first + of_digit * count, count};
  }
  ChunkRange kept() const { return range(digit); }
};

/// A node's groups, round by round.
std::vector<DigitGroup> groups_of(int node, int node_count, ChunkRange chunks) {
  std::vector<DigitGroup> groups;
  int distance = 1;
  for (const int radix : radices_of(node_count)) {
    const int digit = node / distance % radix;
    groups.push_back({.first = node - digit * distance,
                      .distance = distance,
                      .radix = radix,
                      .digit = digit,
                      .chunks = groups.empty() ? chunks : groups.back().kept()});
    distance *= radix;
  }
  return groups;
}

/// Calls body(to, from) with the digits of all others of a group, those next to this node first,
/// so that not all send to the same one at once.
template <class Body>
void for_each_peer(const DigitGroup& group, const Body& body) {
  for (int step = 1; step < group.radix; ++step) {
    body((group.digit + step) % group.radix, (group.digit + group.radix - step) % group.radix);
  }
}

/// What one node does in one lane.
class MixedRadixSteps {
 public:
  MixedRadixSteps(ScheduleBuilder& builder, const LaneVector& vector)
      : builder_(builder),
        vector_(vector),
        groups_(groups_of(vector.node, builder.shape().node_count(), vector.chunks)),
        held_(vector.source) {
    // The first radix is the largest, so later rounds need less.
    const int leader = builder.shape().leader(vector.node, vector.lane);
    for (int peer = 1; peer < groups_.front().radix; ++peer) {
      received_.push_back(builder.add_scratch(leader, groups_.front().kept()));
    }
  }

  void append() {
    for (const DigitGroup& group : groups_) reduce_scatter(group);
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) allgather(*group);
  }

 private:
  void reduce_scatter(const DigitGroup& group) {
    std::vector<Span> operands(static_cast<std::size_t>(group.radix), span_of(held_, group.kept()));
    std::size_t place = 0;
    for_each_peer(group, [&](int to, int from) {
      const Span received = span_of(received_[place++], group.kept());
      builder_.recv(vector_.strand, vector_.lane, group.node(from), received);
      builder_.send(vector_.strand, vector_.lane, group.node(to), span_of(held_, group.range(to)));
      operands[static_cast<std::size_t>(from)] = received;
    });
    const Span combined = span_of(vector_.result, group.kept());
    builder_.reduce(vector_.strand, std::span(&combined, 1), operands);
    held_ = vector_.result;
  }

  void allgather(const DigitGroup& group) {
    for_each_peer(group, [&](int to, int from) {
      builder_.recv(vector_.strand, vector_.lane, group.node(from),
                    span_of(vector_.result, group.range(from)));
      builder_.send(vector_.strand, vector_.lane, group.node(to),
                    span_of(vector_.result, group.kept()));
    });
  }

  ScheduleBuilder& builder_;
  const LaneVector& vector_;
  std::vector<DigitGroup> groups_;
  BufferId held_;                   // where what the node works on lies
  std::vector<BufferId> received_;  // from each other node of a group
};

}  // namespace

void append_mixed_radix(ScheduleBuilder& builder, const LaneVector& vector) {
  MixedRadixSteps(builder, vector).append();
}

}  // namespace hycoll
