// Bruck's all-to-all of any radix: few messages, each of many tiles, which go several ways.
//
// Idea: what a node has for the one at distance d in front of it goes there in as many hops as d
// has digits in base r that are not 0: for the digit z at place k, z r^k nodes forward. In step k a
// node sends one message for each z from 1 to r - 1, of all tiles that it holds whose distances
// have this digit there: its own, and those that have come to it in the steps before. Tiles lie in
// packs (core/schedule/packs.h) in the order of their distances, so that r^k tiles that arrive
// together for one node, or go on together, are neighbours in both packs: they are copied at once.
//
// Every lane has a share of every tile, by who is to have it.
//
// Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
// All-to-All Communications in Multiport Message-Passing Systems, 1997, section 3 (the index
// operation). There blocks are rotated first and last, here they are gathered in order and
// scattered from where they arrive.
// Steps: ceil(log_r N).
// Messages: of every leader one for each z r^k < N, at most (r - 1) ceil(log_r N).
// Sent: by every node of M members M^2 blocks for each digit of 1, ..., N - 1 that is not 0: less
// than ceil(log_r N) (r - 1) / r times as many as it has, and a row more at most.
// Scratch: what is sent, and as much that is received.
// Serves: any shape with direct visibility.
//
// Example, 5 nodes, radix 2: node 0 has tiles for the nodes at distances 1 to 4. Step 0: those at 1
// and 3 go to node 1, and it gets node 4's for 0 and 2. Step 1: its own at 2 and node 4's at 3, for
// node 2, go there. Step 2: its own at 4 goes to node 4.

#include <algorithm>
#include <vector>

#include "collectives/algorithms/alltoall/exchange.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// A digit at a place of the numbers of a radix, and the message for distances that have it there.
struct Digit {
  int unit;  ///< What it counts: a power of the radix.
  int value;

  int distance() const { return unit * value; }
};

/// What one message has, in the order of the distances from which the tiles come: in runs of as
/// many as the digit counts, whose distances differ below the digit, and which are for one node.
/// In a run distances fall: tiles for a node are numbered by the nodes that they come from.
class BruckPack {
 public:
  /// `holder`: the node that sends it.
  BruckPack(ScheduleBuilder& builder, const ExchangedTiles& tiles, int radix, int holder,
            Digit digit)
      : radix_(radix), node_count_(builder.shape().node_count()), holder_(holder), digit_(digit) {
    std::vector<ChunkRange> ranges;
    int cells = 0;
    for (int first = digit.distance(); first < node_count_; first += digit.unit * radix) {
      for (int below = run_length(first) - 1; below >= 0; --below) {
        begins_.push_back(cells);
        const ChunkRange chunks = tiles.tile(from(below), to(first));
        if (chunks.count == 0) continue;
        cells += chunks.count;
        add(chunks, ranges);
      }
    }
    begins_.push_back(cells);
    if (cells > 0) buffer_ = builder.add_pack(tiles.worker, ranges);
  }

  bool is_empty() const { return begins_.back() == 0; }
  const Digit& digit() const { return digit_; }

  /// The node to which a run's tiles are to go, by its first distance, and where they come from, by
  /// what their distances are more than that.
  int to(int first) const { return (holder_ + first) % node_count_; }
  int from(int below) const { return (holder_ + node_count_ - below) % node_count_; }

  /// How many distances from a run's first one on there are.
  int run_length(int first) const { return std::min(digit_.unit, node_count_ - first); }

  /// Of the tiles of neighbouring distances.
  Span span(const ScheduleBuilder& builder, int distance, int count) const {
    const int first = distance - distance % digit_.unit;
    const int run = first / (digit_.unit * radix_);  // only the last one may be shorter
    const int behind = run * digit_.unit + first + run_length(first) - distance;
    const auto begin = begins_[static_cast<std::size_t>(behind - count)];
    return builder.in_pack(buffer_, {begin, begins_[static_cast<std::size_t>(behind)] - begin});
  }

  Span whole(const ScheduleBuilder& builder) const {
    return builder.in_pack(buffer_, {0, begins_.back()});
  }

 private:
  static void add(ChunkRange chunks, std::vector<ChunkRange>& ranges) {
    if (!ranges.empty() && ranges.back().first + ranges.back().count == chunks.first) {
      ranges.back().count += chunks.count;
    } else {
      ranges.push_back(chunks);
    }
  }

  int radix_;
  int node_count_;
  int holder_;
  Digit digit_;
  std::vector<int> begins_;  // cells before each tile, and all
  BufferId buffer_ = kElsewhere;
};

/// One lane of one node.
class BruckLane {
 public:
  BruckLane(ScheduleBuilder& builder, const ExchangedTiles& tiles, int radix)
      : builder_(builder), tiles_(tiles), radix_(radix), node_count_(builder.shape().node_count()) {
    for (int unit = 1; unit < node_count_; unit = next_unit(unit)) {
      for (int value = 1; value < radix && value <= (node_count_ - 1) / unit; ++value) {
        const Digit digit{.unit = unit, .value = value};
        sent_.emplace_back(builder, tiles, radix, tiles.node, digit);
        received_.emplace_back(builder, tiles, radix, node_before(digit.distance()), digit);
      }
    }
  }

  void append() {
    for (const BruckPack& pack : received_) {
      if (pack.is_empty()) continue;
      builder_.recv(tiles_.strand, tiles_.lane, node_before(pack.digit().distance()),
                    pack.whole(builder_));
    }
    gather(1);
    for (int unit = 1; unit < node_count_; unit = next_unit(unit)) {
      for (const BruckPack& pack : sent_) {
        if (pack.digit().unit != unit || pack.is_empty()) continue;
        builder_.send(tiles_.strand, tiles_.lane, pack.to(pack.digit().distance()),
                      pack.whole(builder_));
      }
      // While they are under way.
      if (next_unit(unit) < node_count_) gather(next_unit(unit));
      for (const BruckPack& pack : received_) {
        if (pack.digit().unit == unit && !pack.is_empty()) distribute(pack);
      }
    }
  }

 private:
  /// Of the next place; the number of nodes if no distance has a digit there.
  int next_unit(int unit) const {
    return unit > (node_count_ - 1) / radix_ ? node_count_ : unit * radix_;
  }
  int node_before(int distance) const {
    return (tiles_.node + node_count_ - distance) % node_count_;
  }

  /// Puts the node's own tiles into the packs of a step: those whose distances have only zeros
  /// below.
  void gather(int unit) {
    for (const BruckPack& pack : sent_) {
      if (pack.digit().unit != unit) continue;
      for (int distance = pack.digit().distance(); distance < node_count_;
           distance += unit * radix_) {
        const ChunkRange tile = tiles_.tile(tiles_.node, pack.to(distance));
        if (tile.count > 0) tiles_.collect(pack.span(builder_, distance, 1), tile);
      }
    }
  }

  /// What a pack has is for this node, where its digit is the last one, or goes on.
  void distribute(const BruckPack& pack) {
    const auto [unit, value] = pack.digit();
    for (int first = pack.digit().distance(); first < node_count_; first += unit * radix_) {
      const int length = pack.run_length(first);
      if (first >= unit * radix_) {
        pass_on(pack, first, length);
        continue;
      }
      for (int below = 0; below < length; ++below) {
        const ChunkRange tile = tiles_.tile(pack.from(below), tiles_.node);
        if (tile.count > 0) tiles_.deliver(tile, pack.span(builder_, first + below, 1));
      }
    }
  }

  void pass_on(const BruckPack& pack, int first, int length) {
    const Span source = pack.span(builder_, first, length);
    if (source.chunk_count == 0) return;
    int unit = next_unit(pack.digit().unit);
    while (first / unit % radix_ == 0) unit = next_unit(unit);
    const auto next = std::ranges::find_if(sent_, [&](const BruckPack& other) {
      return other.digit().unit == unit && other.digit().value == first / unit % radix_;
    });
    builder_.copy(tiles_.strand, next->span(builder_, first, length), source);
  }

  ScheduleBuilder& builder_;
  const ExchangedTiles& tiles_;
  int radix_;
  int node_count_;
  std::vector<BruckPack> sent_;      // in the order of the messages
  std::vector<BruckPack> received_;  // likewise
};

}  // namespace

void append_bruck_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles, int radix) {
  HYCOLL_ASSERT(radix >= 2, "a radix has digits");
  BruckLane(builder, tiles, radix).append();
  tiles.copy_inside();
}

}  // namespace hycoll
