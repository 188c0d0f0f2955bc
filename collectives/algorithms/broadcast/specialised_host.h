#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_SPECIALISED_HOST_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_SPECIALISED_HOST_H_

#include <cstddef>
#include <vector>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// Where a host of a core-specialised broadcast stands in the tree.
struct SpecialisedPlace {
  static constexpr int kNobody = -1;
  int injection;          ///< The lane of what it sends.
  int reception;          ///< The lane of what it receives.
  int parent = kNobody;   ///< A node; nobody's for the root, and where there is a single host.
  std::vector<int> to{};  ///< The nodes that it sends to.
};

/// The workers of one host, each with one task: to inject, to receive, or to copy. One segment is
/// one chunk.
class SpecialisedHost {
 public:
  SpecialisedHost(ScheduleBuilder& builder, int node, SpecialisedPlace tree);

  /// The tasks of the receiver, who announces every segment, and of the injector, who announces
  /// that all is sent.
  void append_network();

  /// The others' tasks.
  void append_copies();

  /// Members who copy say that they are done, and all leave when these are. Of those who do not,
  /// they know that they have entered.
  void append_end() { append_departure(builder_, strands_, copies_); }

 private:
  Span segment(int s) const { return span_of(place_.buffer, {s, 1}); }
  StrandId strand_of(int member) const {
    return strands_[static_cast<std::size_t>(member - phases_.first_member())];
  }
  bool leads(int member, int lane) const;
  int member_of(int lane) const;
  /// Who makes the copy of the injector's member: the first with no task in the network.
  int helper_of(int injecting) const;
  void append_reception();
  /// Whoever owns the place leaves only when the network is done with it.
  void await_network(StrandId strand);
  void append_copy(int member, int other);

  ScheduleBuilder& builder_;
  NodePhases phases_;
  SpecialisedPlace tree_;
  bool is_root_;
  BroadcastPlace place_;
  std::vector<StrandId> strands_;  // per member
  std::vector<bool> copies_;       // per member
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_SPECIALISED_HOST_H_
