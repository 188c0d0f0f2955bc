// Allgather between the nodes: over a ring, by recursive doubling, and over a circulant graph.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication
// Operations in MPICH, 2005; P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for
// Clusters of Workstations, 2009, section 4 (the ring's second half); J. L. Traeff, Optimal,
// Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024 (the circulant graph).
// Steps: N - 1 over the ring, log2 N by doubling, ceil(log2 N) over the circulant graph, where what
// a node sends may reach over the last block to the first one, in two messages.
// Sent: n (N - 1) / N elements by every node for equal blocks, the least possible.
//
// Example, 4 nodes. Ring: node 1 sends its block 1 to node 2, then 0, then 3. Doubling: node 1
// exchanges block 1 for 0 with node 0, then both for 2 and 3 with node 3. Circulant, 5 nodes: node
// 1 sends block 1 to node 0 and gets 2, sends 1 to node 4 and gets 3, sends 1 and 2 to node 3 and
// gets 4 and 0.

#include "collectives/algorithms/parts/allgather.h"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/algorithms/parts/chunks.h"
#include "collectives/algorithms/parts/circulant.h"
#include "collectives/algorithms/parts/ring.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// What both ways do with the blocks.
class Gathering {
 public:
  explicit Gathering(const GatheredBlocks& gathered) : gathered_(gathered) {}

  int count() const { return static_cast<int>(gathered_.nodes.size()); }

  bool wants(int number, ChunkRange blocks) const {
    return !gathered_.wants || gathered_.wants(number, blocks);
  }

  Span own(int number, ChunkRange blocks) const {
    return span_of(gathered_.places[node(number)], chunks_of(blocks));
  }

  Span received(int number, ChunkRange blocks) const {
    if (!gathered_.receives_in) return own(number, blocks);
    return span_of(gathered_.receives_in(number, blocks), chunks_of(blocks));
  }

  void arrive(int number, ChunkRange blocks, OnArrival when) const {
    if (gathered_.on_arrival) gathered_.on_arrival(number, blocks, when);
  }

 private:
  std::size_t node(int number) const {
    return static_cast<std::size_t>(gathered_.nodes[static_cast<std::size_t>(number)]);
  }

  ChunkRange chunks_of(ChunkRange blocks) const {
    const ChunkRange first = gathered_.blocks[static_cast<std::size_t>(blocks.first)];
    const ChunkRange last =
        gathered_.blocks[static_cast<std::size_t>(blocks.first + blocks.count - 1)];
    return {first.first, last.first + last.count - first.first};
  }

  const GatheredBlocks& gathered_;
};

}  // namespace

void append_ring_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered) {
  const Gathering blocks(gathered);
  const int count = blocks.count();
  // What a node sends in a step.
  const auto sent = [&](int number, int step) {
    return ChunkRange{(number + count - step) % count, 1};
  };
  append_ring_trip(builder, {.lane = gathered.lane,
                             .nodes = gathered.nodes,
                             .strands = gathered.strands,
                             .step_count = count - 1,
                             .receive = [&](int number, int step, int) -> std::optional<Span> {
                               const ChunkRange block = sent(number, step + 1);
                               if (!blocks.wants(number, block)) return std::nullopt;
                               return blocks.received(number, block);
                             },
                             .forward = [&](int number, int step, int) -> std::optional<Span> {
                               const ChunkRange block = sent(number, step);
                               blocks.arrive(number, block, OnArrival::before_passing_on);
                               if (!blocks.wants((number + 1) % count, block)) return std::nullopt;
                               return blocks.own(number, block);
                             },
                             .on_forwarded =
                                 [&](int number, int step, int) {
                                   blocks.arrive(number, sent(number, step),
                                                 OnArrival::after_passing_on);
                                 }});
}

void append_doubling_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered) {
  const Gathering blocks(gathered);
  const int count = blocks.count();
  HYCOLL_ASSERT(std::has_single_bit(static_cast<unsigned>(count)), "doubling needs 2^k nodes");
  const auto held = [](int number, int distance) {
    return ChunkRange{number / distance * distance, distance};
  };
  for (int number = 0; number < count; ++number) {
    const int node = gathered.nodes[static_cast<std::size_t>(number)];
    const StrandId strand = gathered.strands[static_cast<std::size_t>(node)];
    ChunkRange arrived = held(number, 1);
    for (int distance = 1; distance < count; distance *= 2) {
      const int other = number ^ distance;
      const int peer = gathered.nodes[static_cast<std::size_t>(other)];
      const ChunkRange taken = held(other, distance);
      const ChunkRange given = held(number, distance);
      if (blocks.wants(number, taken)) {
        builder.recv(strand, gathered.lane, peer, blocks.received(number, taken));
      }
      blocks.arrive(number, arrived, OnArrival::before_passing_on);
      if (blocks.wants(other, given)) {
        builder.send(strand, gathered.lane, peer, blocks.own(number, given));
      }
      blocks.arrive(number, arrived, OnArrival::after_passing_on);
      arrived = taken;
    }
    blocks.arrive(number, arrived, OnArrival::before_passing_on);
    blocks.arrive(number, arrived, OnArrival::after_passing_on);
  }
}

void append_circulant_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered) {
  const Gathering blocks(gathered);
  const int count = blocks.count();
  const std::vector<int> skips = circulant_skips(count);
  for (int number = 0; number < count; ++number) {
    const auto node = [&](int other) {
      return gathered.nodes[static_cast<std::size_t>(other % count)];
    };
    const StrandId strand = gathered.strands[static_cast<std::size_t>(node(number))];
    std::vector<ChunkRange> arrived{{number, 1}};
    const auto arrive = [&](OnArrival when) {
      for (const ChunkRange& range : arrived) blocks.arrive(number, range, when);
    };
    for (std::size_t round = skips.size() - 1; round > 0; --round) {
      const int skip = skips[round];
      const int sent_count = skips[round - 1] - skip;
      std::vector<ChunkRange> taken = cyclic_ranges(number + skip, sent_count, count);
      for (const ChunkRange& range : taken) {
        if (!blocks.wants(number, range)) continue;
        builder.recv(strand, gathered.lane, node(number + skip), blocks.received(number, range));
      }
      arrive(OnArrival::before_passing_on);
      const int receiver = (number + count - skip) % count;
      for (const ChunkRange& range : cyclic_ranges(number, sent_count, count)) {
        if (!blocks.wants(receiver, range)) continue;
        builder.send(strand, gathered.lane, node(receiver), blocks.own(number, range));
      }
      arrive(OnArrival::after_passing_on);
      arrived = std::move(taken);
    }
    arrive(OnArrival::before_passing_on);
    arrive(OnArrival::after_passing_on);
  }
}

}  // namespace hycoll
