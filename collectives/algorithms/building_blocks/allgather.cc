// Allgather between the nodes: over a ring, by recursive doubling, over a circulant graph, by
// Bruck's algorithm, and by exchanges between neighbours.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication
// Operations in MPICH, 2005; P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for
// Clusters of Workstations, 2009, section 4 (the ring's second half); J. L. Traeff, Optimal,
// Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024 (the circulant graph); J. Bruck et
// al., Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems,
// 1997, section 4; J. Chen et al., Performance Evaluation of Allgather Algorithms on Terascale
// Linux Cluster with Fast Ethernet, 2005 (neighbour exchange).
// Steps: N - 1 over the ring, log2 N by doubling, ceil(log2 N) over the circulant graph and by
// Bruck's algorithm, where what a node sends may reach over the last block to the first one, in two
// messages; N / 2 between neighbours.
//
// The circulant graph and Bruck's algorithm are one procedure over different distances: each node
// sends what it has, from its own block on, to the node at a distance before it. Bruck's distances
// are the powers of two, the graph's are N halved again and again, rounded up: the same for a power
// of two and one less, otherwise other messages, as many of them and as many blocks in all. Bruck's
// blocks lie in the order of their distance until a rotation at the end; here they arrive where
// they belong.
//
// Sent: n (N - 1) / N elements by every node for equal blocks, the least possible.
//
// Example, 4 nodes. Ring: node 1 sends its block 1 to node 2, then 0, then 3. Doubling: node 1
// exchanges block 1 for 0 with node 0, then both for 2 and 3 with node 3. Circulant, 5 nodes: node
// 1 sends block 1 to node 0 and gets 2, sends 1 to node 4 and gets 3, sends 1 and 2 to node 3 and
// gets 4 and 0. Bruck, 5 nodes: it sends 1 to 0 and gets 2, sends 1 and 2 to 4 and gets 3 and 4,
// sends 1 to 2 and gets 0. Neighbours, 6 nodes: it exchanges 1 for 0 with node 0, both for 2 and 3
// with node 2, and these for 4 and 5 with node 0.

#include "collectives/algorithms/building_blocks/allgather.h"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/circulant.h"
#include "collectives/algorithms/building_blocks/ring.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// What all ways do with the blocks.
class Gathering {
 public:
  Gathering(ScheduleBuilder& builder, const GatheredBlocks& gathered)
      : builder_(builder), gathered_(gathered) {}

  ChunkRange wanted(int number, ChunkRange blocks) const {
    return gathered_.wanted ? gathered_.wanted(number, blocks) : blocks;
  }
  bool wants(int number, ChunkRange blocks) const { return wanted(number, blocks).count > 0; }

  Span own(ChunkRange blocks) const { return span_of(gathered_.place, gathered_.chunks(blocks)); }

  Span received(ChunkRange blocks) const {
    if (!gathered_.receives_in) return own(blocks);
    return span_of(gathered_.receives_in(blocks), gathered_.chunks(blocks));
  }

  void receive(int from, ChunkRange blocks) const {
    const ChunkRange lacked = wanted(gathered_.number, blocks);
    if (lacked.count == 0) return;
    builder_.recv(gathered_.strand, gathered_.lane, gathered_.nodes(from), received(lacked));
  }

  void send(int to, ChunkRange blocks) const {
    const ChunkRange lacked = wanted(to, blocks);
    if (lacked.count == 0) return;
    builder_.send(gathered_.strand, gathered_.lane, gathered_.nodes(to), own(lacked));
  }

  void arrive(ChunkRange blocks, OnArrival when) const {
    if (gathered_.on_arrival) gathered_.on_arrival(blocks, when);
  }

 private:
  ScheduleBuilder& builder_;
  const GatheredBlocks& gathered_;
};

/// Over distances of which the first is the number of nodes and the last one is 1, each at least
/// half of the one before. They are gone through backwards.
void append_distant_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered,
                              const std::vector<int>& distances) {
  const Gathering blocks(builder, gathered);
  const int count = gathered.count;
  const int number = gathered.number;
  std::vector<ChunkRange> arrived{{number, 1}};
  const auto arrive = [&](OnArrival when) {
    for (const ChunkRange& range : arrived) blocks.arrive(range, when);
  };
  for (std::size_t round = distances.size() - 1; round > 0; --round) {
    const int distance = distances[round];
    const int sent_count = distances[round - 1] - distance;
    std::vector<ChunkRange> taken = cyclic_ranges(number + distance, sent_count, count);
    for (const ChunkRange& range : taken) blocks.receive((number + distance) % count, range);
    arrive(OnArrival::before_passing_on);
    for (const ChunkRange& range : cyclic_ranges(number, sent_count, count)) {
      blocks.send((number + count - distance) % count, range);
    }
    arrive(OnArrival::after_passing_on);
    arrived = std::move(taken);
  }
  arrive(OnArrival::before_passing_on);
  arrive(OnArrival::after_passing_on);
}

/// The number of nodes, and before it all powers of two that are less.
std::vector<int> bruck_distances(int count) {
  std::vector<int> distances{count};
  if (count == 1) return distances;
  const auto last = std::bit_floor(static_cast<unsigned>(count - 1));
  for (int distance = static_cast<int>(last); distance > 0; distance /= 2) {
    distances.push_back(distance);
  }
  return distances;
}

}  // namespace

void append_ring_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered) {
  const Gathering blocks(builder, gathered);
  const int count = gathered.count;
  const int next = (gathered.number + 1) % count;
  // What the node sends in a step.
  const auto sent = [&](int step) {
    return ChunkRange{(gathered.number + count - step) % count, 1};
  };
  append_ring_trip(builder, {.lane = gathered.lane,
                             .strand = gathered.strand,
                             .previous_node = gathered.nodes((gathered.number + count - 1) % count),
                             .next_node = gathered.nodes(next),
                             .step_count = count - 1,
                             .receive = [&](int step, int) -> std::optional<Span> {
                               const ChunkRange block = sent(step + 1);
                               if (!blocks.wants(gathered.number, block)) return std::nullopt;
                               return blocks.received(block);
                             },
                             .forward = [&](int step, int) -> std::optional<Span> {
                               const ChunkRange block = sent(step);
                               blocks.arrive(block, OnArrival::before_passing_on);
                               if (!blocks.wants(next, block)) return std::nullopt;
                               return blocks.own(block);
                             },
                             .on_forwarded =
                                 [&](int step, int) {
                                   blocks.arrive(sent(step), OnArrival::after_passing_on);
                                 }});
}

void append_doubling_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered) {
  const Gathering blocks(builder, gathered);
  const int count = gathered.count;
  const int number = gathered.number;
  HYCOLL_ASSERT(std::has_single_bit(static_cast<unsigned>(count)), "doubling needs 2^k nodes");
  const auto held = [](int holder, int distance) {
    return ChunkRange{holder / distance * distance, distance};
  };
  ChunkRange arrived = held(number, 1);
  for (int distance = 1; distance < count; distance *= 2) {
    const int other = number ^ distance;
    const ChunkRange taken = held(other, distance);
    blocks.receive(other, taken);
    blocks.arrive(arrived, OnArrival::before_passing_on);
    blocks.send(other, held(number, distance));
    blocks.arrive(arrived, OnArrival::after_passing_on);
    arrived = taken;
  }
  blocks.arrive(arrived, OnArrival::before_passing_on);
  blocks.arrive(arrived, OnArrival::after_passing_on);
}

void append_circulant_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered) {
  append_distant_allgather(builder, gathered, circulant_skips(gathered.count));
}

void append_bruck_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered) {
  append_distant_allgather(builder, gathered, bruck_distances(gathered.count));
}

void append_neighbour_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered) {
  const Gathering blocks(builder, gathered);
  const int count = gathered.count;
  const int number = gathered.number;
  HYCOLL_ASSERT(count % 2 == 0, "neighbours exchange in pairs");
  // Of the pairs the even node is the first one. Others come from both sides in turn, those from
  // one side each from two nodes further away than the one before.
  const int direction = number % 2 == 0 ? 1 : -1;
  const auto at_distance = [&](int distance) {
    return (number + count + direction * distance) % count;
  };
  const auto pair_of_step = [&](int step) {
    const int block = at_distance(step % 2 == 0 ? step : -step - 1);
    return ChunkRange{block / 2 * 2, 2};
  };
  ChunkRange arrived{number, 1};
  for (int step = 0; step < count / 2; ++step) {
    const int other = at_distance(step % 2 == 0 ? 1 : -1);
    const ChunkRange taken = step == 0 ? ChunkRange{other, 1} : pair_of_step(step);
    blocks.receive(other, taken);
    blocks.arrive(arrived, OnArrival::before_passing_on);
    blocks.send(other, step == 1 ? pair_of_step(0) : arrived);
    blocks.arrive(arrived, OnArrival::after_passing_on);
    arrived = taken;
  }
  blocks.arrive(arrived, OnArrival::before_passing_on);
  blocks.arrive(arrived, OnArrival::after_passing_on);
}

}  // namespace hycoll
