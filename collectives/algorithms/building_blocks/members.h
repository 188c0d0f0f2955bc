#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBERS_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBERS_H_

#include <span>
#include <vector>

#include "core/schedule/builder.h"

namespace hycoll {

/// Whether members say that they have entered. Those who write lines that all others read need
/// not: who has read them knows.
enum class Entry { announced, silent };

/// Neighbouring members of one node, each of whom may announce that it has entered and that its
/// buffers may be touched: what every way of leading a node begins with (NodePhases, LinesPhases,
/// LeaderGroup).
class Members {
 public:
  /// Adds a flag for each that announces, and its announcement. To be constructed before any other
  /// step of the members' workers is added.
  Members(ScheduleBuilder& builder, int first, int count, Entry entry = Entry::announced);

  /// All of a node.
  static Members of_node(ScheduleBuilder& builder, int node, Entry entry = Entry::announced);

  int first() const noexcept { return first_; }
  int last() const noexcept { return first_ + count_ - 1; }
  int count() const noexcept { return count_; }

  /// The main strand of a member's worker.
  StrandId strand(int member) const {
    return builder_.main_strand(builder_.shape().worker_of_member(member));
  }

  /// A flag more for each member, raised by its main strand, in their order.
  std::vector<FlagId> add_flags() const;

  /// The flag of a member among those of all.
  FlagId flag_of(const std::vector<FlagId>& flags, int member) const {
    return flags[static_cast<std::size_t>(member - first_)];
  }

  /// A strand of another worker waits until the member has entered. Requires its announcement.
  void await(StrandId strand, int member) const {
    builder_.wait(strand, flag_of(entered_, member));
  }

  /// The same of all members but those of the strand's own worker.
  void await_all(StrandId strand) const;

 private:
  ScheduleBuilder& builder_;
  int first_;
  int count_;
  std::vector<FlagId> entered_;
};

/// The member in whose output the leader of a lane collects what is to be in all: its own or, if
/// the leader owns none, the node's first.
int holding_member(const Shape& shape, int node, int lane);

/// Members who read others' buffers say that they are done, and all leave when these are. Strands
/// and `reads` are by member; of those who read nothing the others know that they have entered.
void append_departure(ScheduleBuilder& builder, std::span<const StrandId> strands,
                      const std::vector<bool>& reads);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBERS_H_
