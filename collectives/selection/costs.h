#ifndef HYCOLL_COLLECTIVES_SELECTION_COSTS_H_
#define HYCOLL_COLLECTIVES_SELECTION_COSTS_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "collectives/selection/selection.h"

namespace hycoll {

/// Between nodes the rules take what formulas say is cheapest, with the query's prices
/// (decision 51). The formulas are those of the algorithms' files, in the time
/// that a node needs which has most to do, and `hycoll verify --prices` compares what follows from
/// them with walks through schedules.

/// What a lane's leader, and its node, need for a call with so many lanes, in microseconds.
struct LaneCosts {
  LaneCosts(const SelectionQuery& query, int lanes);

  double nodes;       ///< N.
  double steps;       ///< ceil(lg N).
  double full_steps;  ///< floor(lg N).
  double partners;    ///< 2 to the power of that.
  bool folds;         ///< Whether N is no power of two.
  double members;     ///< Of the node that has most.
  double elsewhere;   ///< Of all members the part that is not on that node.
  int lanes;
  std::size_t lane_bytes;

  double lanes_of_worker;       ///< On the node with fewest workers,
  double lanes_of_root_worker;  ///< and on the root's, or the first one.
  /// As many lanes as have the card in turn: they share it, so that most go along with others.
  double overlapping_lanes;
  double alpha;             ///< A message, and the same of all other lanes of its worker.
  double own_alpha;         ///< A message where every lane has a worker.
  double message_of_lane;   ///< Each further message,
  double message;           ///< and the same of all other lanes of its worker.
  double card;              ///< The whole vector on the node's network card, which all lanes share,
                            ///< or a lane's part on its endpoint, if that takes longer.
  double endpoint;          ///< A lane's part on its endpoint.
  double own_combine;       ///< Combining a lane's vector with another one,
  double combine;           ///< and those of the other lanes of its worker.
  double hearing_of_lanes;  ///< Of members, that all lanes are done; from the pool's workers, too.
  double hearing_of_members;  ///< Of a leader, that all members have entered.
  double inputs;              ///< Combining a lane's part of the inputs of all members.
  double outputs;             ///< Copying what all lanes have to the outputs of all members.
  double prefixes;     ///< Combining what all members are to have with what is before their node.
  double combined;     ///< How often a scan combines what a node receives.
  double handed_on;    ///< Copying a lane's vector that an exscan has received into an output.
  double vector_copy;  ///< Of one core.
  double gap;          ///< Each flag, line or block that a worker goes on to.

  double without_own(double parts) const { return 1 - 1 / parts; }
};

/// Steps of an exchange that follow one another: in each of them every lane sends a part of its
/// vector, and goes on when it has received one.
struct Rounds {
  double count;
  double part;                 ///< Of a lane's vector, in the first of them;
  double ratio = 1;            ///< in each further one so many times that.
  double combined = 0;         ///< How often what is received is.
  double segments = 1;         ///< Messages that each part is cut into.
  double lanes_of_worker = 0;  ///< 0: those of the node with fewest workers.
  /// Of what a node receives: whether who sends it has waited for this node in an earlier round.
  enum class Sender : std::uint8_t { is_fresh, has_waited } sender = Sender::is_fresh;
};

/// What they take. The card carries the messages of one lane, or of one segment, while others wait
/// for theirs or are combined: a round takes as long as the card, as the worker of several lanes,
/// or as one message and what follows from it, whatever is most.
double time_of(const LaneCosts& costs, const Rounds& rounds);

/// Rounds whose parts are halved, or doubled, from or to a half: of all blocks but one.
Rounds halving(double count, double blocks);  ///< Combines.
Rounds doubling(double count, double blocks);

/// An algorithm that a rule may take, with its formula.
struct Candidate {
  std::string_view algorithm;
  double (*cost)(const LaneCosts& costs, double segments);
};

/// The cheapest of those that serve the call, with the cheapest number of lanes: a power of two, or
/// the most that may be chosen, for each lane that a node with fewer has no worker for is driven by
/// one that has another. Requires one candidate that keeps any order, with any lanes.
SelectedPlan cheapest(const SelectionQuery& query, std::span<const Candidate> candidates);

/// Two things that go on at once in so many segments, each of one after the other.
double overlapped(double one, double other, double segments);

/// Receiving so large a part of each lane's vector and combining it, in so many segments: a worker
/// combines one of its lanes' while those of another are under way.
double received_and_combined(const LaneCosts& costs, double part, double segments = 1);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_SELECTION_COSTS_H_
