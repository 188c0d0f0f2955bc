// Which all-to-all a call uses.
//
// One node: lines between few members while a member reads no more than a few hundred bytes there,
// then a lane per worker, whose leader copies what is for its member, or along the Z-curve where
// leaders reach all buffers, and several blocks lie in one cache line. Where members are threads
// who are far from one another, or whose buffers no cache holds, each leader writes what its member
// has. Several nodes: with as many leaders as are worth it (costs.h), overlapped, in
// phases or in segments, in segments where all of it would be more than leaders may hold; by
// Bruck's algorithm where many nodes have little for one another.

#include "collectives/algorithms/alltoall/alltoall.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "collectives/selection/costs.h"
#include "collectives/selection/lanes.h"
#include "collectives/selection/rules.h"

namespace hycoll {
namespace {

constexpr std::string_view kOverlapped = "onmpml";
constexpr std::string_view kCacheOblivious = "sh-numa-co";

/// Where several blocks lie in one cache line. Through staging its blocks would go over a third
/// process. Fewer members are a square of one each.
bool follows_curve(const SelectionQuery& query, int members, std::size_t block_bytes) {
  constexpr std::size_t kLineBytes = 64;
  constexpr int kLeastMembers = 4;
  return members >= kLeastMembers && block_bytes < kLineBytes && !query.has_unequal_pairs &&
         query.visibility == Visibility::direct;
}

/// Whether leaders write to others' outputs instead of reading their inputs.
bool puts(const SelectionQuery& query, int members) {
  if (query.nearness == Nearness::unknown || query.has_unequal_pairs) return false;
  const std::size_t buffers_bytes = 2 * static_cast<std::size_t>(members) * query.size_bytes;
  return query.nearness == Nearness::far || buffers_bytes >= query.streaming_threshold_bytes;
}

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const int members = query.nodes.front().node.members;
  const std::size_t block_bytes = query.size_bytes / static_cast<std::size_t>(members);
  const std::size_t read_bytes = block_bytes * static_cast<std::size_t>(members - 1);
  const bool through_lines =
      members <= kMostMembersWithLines && reads_through_lines(query, read_bytes);
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines                                ? "lines"
                   : follows_curve(query, members, block_bytes) ? kCacheOblivious
                   : puts(query, members)                       ? "direct-put"
                                                                : kOverlapped;
  return plan;
}

/// The messages of one worker, on a node that may have few of them.
double rounds_of(const LaneCosts& costs) {
  constexpr double kMostLanesInTurn = 4;
  const double own = std::max((costs.nodes - 1) / costs.lanes, 1.0);
  return costs.lanes_of_worker > kMostLanesInTurn ? own * costs.lanes_of_worker : own;
}

/// A worker who leads many lanes, on a node that has few, sends their messages one after the other,
/// whatever the others wait for.
double with_busiest_worker(const LaneCosts& costs, double time) {
  const double rounds = std::max((costs.nodes - 1) / costs.lanes, 1.0);
  return std::max(time, costs.own_alpha + rounds * costs.lanes_of_worker * costs.message_of_lane);
}

/// What a node's leaders do for one lane's rounds, and the card for all of them.
struct Led {
  explicit Led(const LaneCosts& costs)
      : messages(rounds_of(costs) * costs.message_of_lane),
        moved(costs.members * costs.elsewhere),
        hearing(costs.hearing_of_members + costs.hearing_of_lanes) {
    copies = (costs.members + moved) * costs.vector_copy / costs.lanes;
    if (costs.members == 1) copies = (1 - costs.elsewhere) * costs.vector_copy;  // its own block
  }

  double messages;
  double moved;  ///< By the card, in rows.
  double hearing;
  double copies = 0;
};

/// How much longer the card takes where several lanes send to several nodes at once: the first
/// message of each leader waits for those of all others. Where there are more leaders than other
/// nodes, these share messages, and it takes so many times as long.
double in_the_way(const LaneCosts& costs, double shared) {
  if (costs.lanes <= 2 || costs.nodes <= 2) return 1;
  const double others = costs.nodes - 1;
  return costs.lanes <= others ? 1 + (costs.lanes - 1) / others : shared;
}

/// The same where a leader's messages go one after the other, cut into so many segments.
double in_the_way_of_segments(const LaneCosts& costs, double segments) {
  return 1 + (in_the_way(costs, 2) - 1) / segments;
}

/// What a node has for another one.
double tile_bytes(const LaneCosts& costs) {
  return costs.members * costs.elsewhere * costs.lanes * static_cast<double>(costs.lane_bytes) /
         (costs.nodes - 1);
}

/// How much longer the card takes where leaders have all their messages under way at once, and
/// these are long: at the nodes that receive them more arrives than switches have room for, and is
/// sent again (docs/measurements.md, "All-to-alls on hosts with cores of their own").
double all_at_once(const LaneCosts& costs) {
  constexpr double kLongMessageBytes = 128 * 1024;
  const double sharing = std::max(costs.lanes / (costs.nodes - 1), 1.0);
  return tile_bytes(costs) / sharing >= kLongMessageBytes ? 1.15 : 1;
}

/// A leader's messages, and its copies, take turns with its own messages only. With more than two
/// leaders messages to one node wait for one another, and keep others from leaving.
double overlapped_leaders(const LaneCosts& costs, double /*segments*/) {
  const Led led(costs);
  const double card = led.moved * costs.card * in_the_way(costs, 1.6) * all_at_once(costs);
  if (costs.members == 1) {
    return costs.own_alpha + led.hearing + std::max(led.messages + led.copies, card);
  }
  const double rounds = std::max((costs.nodes - 1) / costs.lanes, 1.0);
  return with_busiest_worker(
      costs, costs.own_alpha + led.hearing + overlapped(led.messages + led.copies, card, rounds));
}

/// In phases everything is under way at once, so that hardly anything waits.
double phased_leaders(const LaneCosts& costs, double /*segments*/) {
  const Led led(costs);
  const double card = led.moved * costs.card * in_the_way(costs, 1.45) * all_at_once(costs);
  return with_busiest_worker(
      costs, costs.own_alpha + led.hearing + led.copies + std::max(led.messages, card));
}

/// A leader has two segments under way each way, and copies others meanwhile: it waits for half of
/// the card's time, a single one for all of it. With few segments, messages keep others from
/// leaving.
double bounded_leaders(const LaneCosts& costs, double segments) {
  const Led led(costs);
  const double card = led.moved * costs.card;
  const double waiting = costs.lanes > 1 ? card / 2 : card;
  // A leader's own blocks leave from where they are, and arrive where they belong, one by one.
  const double uncopied = segments >= costs.members * costs.members
                              ? 2 * costs.elsewhere * costs.vector_copy / costs.lanes
                              : 0;
  return costs.own_alpha + led.hearing +
         std::max(card * in_the_way_of_segments(costs, segments),
                  segments * led.messages + led.copies - uncopied + waiting);
}

/// The same where nothing forces them to it: not where nothing is gathered, or all of a message at
/// once.
double windowed_leaders(const LaneCosts& costs, double segments) {
  if (costs.members == 1 || segments == 1) return std::numeric_limits<double>::infinity();
  return bounded_leaders(costs, segments);
}

/// A node passes on what is for others: fewer messages one after another, and more bytes, which are
/// not worth it where they keep the card longer than the messages that a leader would send, however
/// much these are in one another's way.
template <int radix>
double bruck(const LaneCosts& costs, double /*segments*/) {
  const auto nodes = static_cast<std::size_t>(costs.nodes);
  // With a digit for every distance nothing is passed on. What is left is that all lanes share
  // every tile, which is worth it where several members have lanes, and shares are short enough to
  // be under way to one node all at once.
  constexpr double kShortShareBytes = 16 * 1024;
  const bool has_short_shares = tile_bytes(costs) / costs.lanes <= kShortShareBytes;
  if (nodes <= radix && (costs.members <= 2 || !has_short_shares)) {
    return std::numeric_limits<double>::infinity();
  }
  double steps = 0;
  double messages = 0;
  double tiles = 0;
  for (std::size_t unit = 1; unit < nodes; unit *= radix) {
    const std::size_t zeros =
        nodes / (unit * radix) * unit + std::min(nodes % (unit * radix), unit);
    steps += 1;
    messages += static_cast<double>(std::min<std::size_t>(radix - 1, (nodes - 1) / unit));
    tiles += static_cast<double>(nodes - zeros);
  }
  const double hops = tiles / (costs.nodes - 1);
  const double own = costs.members * costs.elsewhere;  // in rows
  const double passed_on = own * (hops - 1);
  if (passed_on * costs.card > rounds_of(costs) * costs.message_of_lane) {
    return std::numeric_limits<double>::infinity();
  }
  // A worker that leads many lanes has few members, but passes on as much as others.
  const double copies = std::max((costs.members + own + passed_on) / costs.lanes,
                                 passed_on * costs.lanes_of_worker / costs.lanes);
  return costs.hearing_of_members + costs.hearing_of_lanes +
         steps * (costs.own_alpha - costs.message_of_lane) + messages * costs.message +
         overlapped(copies * costs.vector_copy, (own + passed_on) * costs.card, messages);
}

constexpr std::array kCandidates = {
    Candidate{kOverlapped, overlapped_leaders},
    Candidate{"mpml", phased_leaders},
    Candidate{"multi-leader-pairwise", windowed_leaders},
    Candidate{"multi-leader-bruck-2", bruck<2>},
    Candidate{"multi-leader-bruck-4", bruck<4>},
    Candidate{"multi-leader-bruck-8", bruck<8>},
};

constexpr std::array kBoundedCandidates = {
    Candidate{"multi-leader-pairwise", bounded_leaders},
};

}  // namespace

bool leaders_may_hold_all(const SelectionQuery& query) {
  const double members = most_members(query.nodes);
  if (members == 1 || query.visibility == Visibility::staged || query.has_unequal_pairs) {
    return true;  // nothing is held, it is sliced, or nobody knows
  }
  const double elsewhere = LaneCosts(query, 1).elsewhere;
  return 2 * members * elsewhere * static_cast<double>(query.size_bytes) <=
         static_cast<double>(query.exchange_limit_bytes);
}

constinit const SelectionRule kAlltoallRule{select_on_one_node, kCandidates};
constinit const SelectionRule kBoundedAlltoallRule{select_on_one_node, kBoundedCandidates};

}  // namespace hycoll
