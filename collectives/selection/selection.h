#ifndef HYCOLL_COLLECTIVES_SELECTION_SELECTION_H_
#define HYCOLL_COLLECTIVES_SELECTION_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/selection/groups.h"
#include "collectives/selection/tuning_table.h"
#include "core/base/machine_prices.h"
#include "core/schedule/shape.h"

namespace hycoll {

/// Whether the MPI library could reduce the elements by itself.
enum class NativeReduction : std::uint8_t { possible, impossible };

/// How far the threads of a node that is alone are from one another, whose plans these are; unknown
/// where the members are processes, on several nodes, or nobody looks.
enum class Nearness : std::uint8_t { unknown, near, far };

/// What Options::exchange_kib is where nobody says otherwise.
inline constexpr std::size_t kDefaultExchangeBytes = std::size_t{64} << 20;

/// What selection looks at. The same on all processes, so that all decide alike.
struct SelectionQuery {
  Collective collective = Collective::allreduce;
  std::vector<EqualNodes> nodes;  ///< Members, and the workers that could take part, of every node
                                  ///< that has members.
  std::size_t size_bytes = 0;     ///< Of the vector: the longer of a member's buffers.
  OperandOrder order = OperandOrder::any;  ///< At least this is needed.
  NativeReduction native = NativeReduction::possible;
  /// Of an all-to-all: only the two members of a pair know how long its block is.
  bool has_unequal_pairs = false;
  int root = 0;             ///< Of a collective that has one: a member.
  int requested_lanes = 0;  ///< 0: selection decides.
  /// "auto"; or a name, for the collectives that have an algorithm of that name; or a list such as
  /// "allreduce:dpml-ring:4,reduce:dpml-binomial", whose parts are [COLLECTIVE:]NAME[:LANES]; the
  /// lanes override requested_lanes. A name such as "dpml" stands for its variants ("dpml-ring"),
  /// among which selection decides. The other collectives select for themselves.
  std::string_view requested_algorithm = "auto";
  int aggregators = 0;  ///< Further nodes, without members, for the algorithms that need them.
  int sockets = 1;      ///< That the workers of a node run on, at most.
  /// Whether workers of a node are processes that do not reach each other's buffers.
  Visibility visibility = Visibility::direct;
  Nearness nearness = Nearness::unknown;
  /// As BindingOptions has it.
  std::size_t streaming_threshold_bytes = SIZE_MAX;
  /// What calls take inside the nodes, where workers are in groups; null elsewhere.
  const InsideCosts* inside = nullptr;
  /// What a node's leaders may hold of an all-to-all.
  std::size_t exchange_limit_bytes = kDefaultExchangeBytes;
  /// By which ways between nodes are compared.
  MachinePrices prices = {};
  /// What has been measured to be fastest, which goes before the rules where nothing is requested;
  /// or null.
  const TuningTable* tuning = nullptr;

  std::size_t node_count() const noexcept;
};

/// What a call uses.
struct SelectedPlan {
  std::string_view algorithm;  ///< Of all that there are: the name stays.
  int lanes = 1;
  int workers_per_node = 1;  ///< Upper bound; a node with fewer uses all of them.
  int segments = 1;
  int aggregators = 0;  ///< Nodes without members, of one worker each, after the others.
  /// Those that an algorithm follows which follows groups.
  GroupLevels group_levels = kAllGroupLevels;
  friend bool operator==(const SelectedPlan&, const SelectedPlan&) = default;
};

/// The plan for a call. Asking for lanes or an algorithm overrides that part of the rule; an
/// algorithm that needs aggregators is taken only if it is asked for. Throws Error (unsupported) if
/// the requested algorithm does not keep the order that is needed, or needs aggregators where there
/// are none, or cannot do the reduction where it wants to: in the MPI library, on aggregators.
SelectedPlan select(const SelectionQuery& query);

/// Throws Error (invalid_argument) unless this is "auto", the name of an algorithm of some
/// collective, or a list as SelectionQuery::requested_algorithm takes.
void check_requested_algorithm(std::string_view requested);

/// The most lanes that a part of such a list asks for; 0 if none does. Throws as above if a number
/// cannot be read.
int most_requested_lanes(std::string_view requested);

/// The most lanes that a worker drives: each needs flags of its own.
inline constexpr int kMostLanesOfWorker = 8;

/// The most lanes that a rule chooses: as many as a node has workers, but for the node that has
/// fewest not more than its workers can drive.
int most_chosen_lanes(std::span<const EqualNodes> nodes);

/// The nodes, and after them so many aggregators, of one worker each.
std::vector<EqualNodes> with_aggregators(std::vector<EqualNodes> nodes, int aggregators);

/// Whether the leaders of an all-to-all may hold all that their node sends and receives
/// (SelectionQuery::exchange_limit_bytes). If not, only algorithms that cut it are chosen.
bool leaders_may_hold_all(const SelectionQuery& query);

/// What the rules share.
int fewest_workers(std::span<const EqualNodes> nodes);
int most_workers(std::span<const EqualNodes> nodes);
int most_members(std::span<const EqualNodes> nodes);

/// The segments of each message of an exchange whose messages have `message_bytes` bytes.
int segments_for(std::size_t message_bytes) noexcept;

/// The segments into which an algorithm's messages, or partitions, are cut with so many lanes.
int segments_of(const SelectionQuery& query, const Algorithm& algorithm, int lanes);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_SELECTION_SELECTION_H_
