// How the leaders of one lane exchange tiles: what each node has for each other one.
//
// Rounds: round d goes d nodes forward and comes from d nodes behind, so that in every round each
// node sends one message and receives one, and no two send to the same node (a linear shift).
// Messages: N - 1 sent by every node, and in parts as many more as there are lanes for one tile.
// Sent: n (N - 1) / N elements by every node of equal ones, where n is what its members have in
// all.
//
// Sources: all receives and sends at once: isend-irecv of MPICH (R. Thakur, R. Rabenseifner, W.
// Gropp, 2005), and ONMPML where leaders gather (section 5.4); round by round: pairwise exchange
// (same); phases: L-a2a, MPML and NMPML (algorithms 1 and 3 of the same paper as ONMPML).

#include "collectives/algorithms/alltoall/exchange.h"

namespace hycoll {
namespace {

void receive(ScheduleBuilder& builder, const ExchangedTiles& tiles, const TileRound& round) {
  if (round.received.count == 0) return;
  builder.recv(tiles.strand, tiles.lane, round.from_node, tiles.place(round));
}

void send(ScheduleBuilder& builder, const ExchangedTiles& tiles, const TileRound& round,
          Span gathered) {
  builder.send(tiles.strand, tiles.lane, round.to_node, gathered);
}

void gather_and_send(ScheduleBuilder& builder, const ExchangedTiles& tiles,
                     const TileRound& round) {
  if (round.sent.count > 0) send(builder, tiles, round, tiles.gather(round));
}

void scatter(const ExchangedTiles& tiles, const TileRound& round) {
  if (round.received.count > 0) tiles.scatter(round);
}

}  // namespace

void append_shifted_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles) {
  for (const TileRound& round : tiles.rounds) receive(builder, tiles, round);
  for (const TileRound& round : tiles.rounds) gather_and_send(builder, tiles, round);
  for (const TileRound& round : tiles.rounds) scatter(tiles, round);
}

void append_pairwise_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles) {
  // A signal comes behind all messages that are under way: nobody waits for this one.
  const FlagId over = builder.add_flag(tiles.strand);
  for (const TileRound& round : tiles.rounds) {
    receive(builder, tiles, round);
    gather_and_send(builder, tiles, round);
    builder.signal(tiles.strand, over);
    scatter(tiles, round);
  }
}

void append_phased_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles) {
  std::vector<Span> gathered;
  for (const TileRound& round : tiles.rounds) {
    gathered.push_back(round.sent.count > 0 ? tiles.gather(round) : Span{});
  }
  for (std::size_t r = 0; r < tiles.rounds.size(); ++r) {
    const TileRound& round = tiles.rounds[r];
    receive(builder, tiles, round);
    if (round.sent.count > 0) send(builder, tiles, round, gathered[r]);
  }
  builder.signal(tiles.strand, builder.add_flag(tiles.strand));
  for (const TileRound& round : tiles.rounds) scatter(tiles, round);
}

}  // namespace hycoll
