// How the leaders of one lane exchange tiles: what each node has for each other one.
//
// Rounds: round d goes d nodes forward and comes from d nodes behind, so that in every round each
// node sends one message and receives one, and no two send to the same node (a linear shift).
// Messages: N - 1 sent by every node, and in parts as many more as there are lanes for one tile.
// Sent: n (N - 1) / N elements by every node of equal ones, where n is what its members have in
// all.
//
// Scratch: every tile that is sent or received by itself, or two of each way in turn.
//
// Sources: all receives and sends at once: isend-irecv of MPICH (R. Thakur, R. Rabenseifner, W.
// Gropp, 2005), and ONMPML where leaders gather (section 5.4); round by round: pairwise exchange
// (same); phases: L-a2a, MPML and NMPML (algorithms 1 and 3 of the same paper as ONMPML).

#include "collectives/algorithms/alltoall/exchange.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hycoll {
namespace {

void receive(ScheduleBuilder& builder, const ExchangedTiles& tiles, const TileRound& round) {
  if (round.received.count == 0) return;
  builder.recv(tiles.strand, tiles.lane, round.from_node, tiles.place(round));
}

/// No chunks if nothing is sent.
Span gather(const ExchangedTiles& tiles, const TileRound& round) {
  return round.sent.count > 0 ? tiles.gather(round) : Span{};
}

void send(ScheduleBuilder& builder, const ExchangedTiles& tiles, const TileRound& round,
          Span gathered) {
  if (gathered.chunk_count == 0) return;
  builder.send(tiles.strand, tiles.lane, round.to_node, gathered);
}

void gather_and_send(ScheduleBuilder& builder, const ExchangedTiles& tiles,
                     const TileRound& round) {
  send(builder, tiles, round, gather(tiles, round));
}

void scatter(const ExchangedTiles& tiles, const TileRound& round) {
  if (round.received.count > 0) tiles.scatter(round, tiles.strand);
}

/// Strands of a leader's that receive and scatter: what one waits for keeps no other one waiting.
class Arrivals {
 public:
  /// Of those that one strand receives each waits for the one before, so many rounds before it.
  static constexpr std::size_t kMostStrands = 8;

  /// What lies where it belongs, or is the only one to be scattered, is received by the strand that
  /// sends.
  Arrivals(ScheduleBuilder& builder, const ExchangedTiles& tiles)
      : builder_(builder), tiles_(tiles), strand_of_(tiles.rounds.size(), tiles.strand) {
    std::vector<std::size_t> scattered;
    for (std::size_t r = 0; r < tiles.rounds.size(); ++r) {
      const TileRound& round = tiles.rounds[r];
      if (round.received.count > 0 && !tiles.is_in_place(round)) scattered.push_back(r);
    }
    if (scattered.size() < 2) return;
    for (std::size_t s = 0; s < std::min(scattered.size(), kMostStrands); ++s) {
      strands_.push_back(builder.add_strand(tiles.worker));
    }
    for (std::size_t i = 0; i < scattered.size(); ++i) {
      strand_of_[scattered[i]] = strands_[i % strands_.size()];
    }
  }

  void receive_all() {
    for (std::size_t r = 0; r < strand_of_.size(); ++r) {
      const TileRound& round = tiles_.rounds[r];
      if (round.received.count == 0) continue;
      builder_.recv(strand_of_[r], tiles_.lane, round.from_node, tiles_.place(round));
    }
    if (strands_.empty()) return;
    // The leader has heard of all members, into whose outputs the others scatter.
    const FlagId entered = builder_.add_flag(tiles_.strand);
    builder_.signal(tiles_.strand, entered, {});
    for (const StrandId strand : strands_) builder_.wait(strand, entered);
  }

  /// The leader goes on when all is scattered.
  void scatter_all() {
    for (std::size_t r = 0; r < strand_of_.size(); ++r) {
      const TileRound& round = tiles_.rounds[r];
      if (round.received.count > 0) tiles_.scatter(round, strand_of_[r]);
    }
    for (const StrandId strand : strands_) {
      const FlagId scattered = builder_.add_flag(strand);
      builder_.signal(strand, scattered);
      builder_.wait(tiles_.strand, scattered);
    }
  }

 private:
  ScheduleBuilder& builder_;
  const ExchangedTiles& tiles_;
  std::vector<StrandId> strands_;
  std::vector<StrandId> strand_of_;  // by round
};

}  // namespace

void append_shifted_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles) {
  Arrivals arrivals(builder, tiles);
  arrivals.receive_all();
  for (const TileRound& round : tiles.rounds) gather_and_send(builder, tiles, round);
  tiles.copy_inside();
  arrivals.scatter_all();
}

void append_pairwise_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles) {
  if (tiles.rounds.empty()) return tiles.copy_inside();
  // A signal comes behind all messages that are under way: nobody waits for this one.
  const FlagId over = builder.add_flag(tiles.strand);
  for (const TileRound& round : tiles.rounds) {
    receive(builder, tiles, round);
    gather_and_send(builder, tiles, round);
    if (&round == &tiles.rounds.front()) tiles.copy_inside();
    builder.signal(tiles.strand, over);
    scatter(tiles, round);
  }
}

void append_windowed_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles) {
  if (tiles.rounds.empty()) return tiles.copy_inside();
  constexpr std::size_t kSlots = 2;
  std::vector<TileRound> rounds = tiles.rounds;
  for (std::size_t r = 0; r < rounds.size(); ++r) rounds[r].slot = static_cast<int>(r % kSlots);
  // Messages between members' own buffers are in no slot's way: a signal comes behind all that is
  // under way.
  const FlagId over = builder.add_flag(tiles.strand);
  receive(builder, tiles, rounds.front());
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const Span gathered = gather(tiles, rounds[r]);
    send(builder, tiles, rounds[r], gathered);
    if (r == 0) tiles.copy_inside();
    const bool is_held =
        gathered.chunk_count > 0 && builder.role_of(gathered.buffer) == BufferRole::scratch;
    if (!is_held && tiles.is_in_place(rounds[r])) builder.signal(tiles.strand, over);
    if (r + 1 < rounds.size()) receive(builder, tiles, rounds[r + 1]);
    scatter(tiles, rounds[r]);
  }
  builder.signal(tiles.strand, over);
}

void append_phased_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles) {
  std::vector<Span> gathered;
  for (const TileRound& round : tiles.rounds) gathered.push_back(gather(tiles, round));
  for (std::size_t r = 0; r < tiles.rounds.size(); ++r) {
    receive(builder, tiles, tiles.rounds[r]);
    send(builder, tiles, tiles.rounds[r], gathered[r]);
  }
  tiles.copy_inside();
  builder.signal(tiles.strand, builder.add_flag(tiles.strand));
  for (const TileRound& round : tiles.rounds) scatter(tiles, round);
}

}  // namespace hycoll
