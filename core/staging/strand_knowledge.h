#ifndef HYCOLL_CORE_STAGING_STRAND_KNOWLEDGE_H_
#define HYCOLL_CORE_STAGING_STRAND_KNOWLEDGE_H_

#include <compare>
#include <span>
#include <vector>

#include "core/schedule/number_range.h"

namespace hycoll {

/// A moment in a strand: before its data step number `position`.
struct StrandMoment {
  int strand;
  int position;
  friend auto operator<=>(const StrandMoment&, const StrandMoment&) = default;
};

/// Which positions of the other strands each strand knows to be reached, as it goes on. Of what
/// strands have known only that is kept which others may learn by waiting for them, and what
/// strands learn they look up when it may matter.
class StrandKnowledge {
 public:
  explicit StrandKnowledge(int strand_count);

  bool knows(int by, const StrandMoment& moment);
  /// Remembers what the strand of a moment knows now. In ascending order.
  void keep(const StrandMoment& moment);
  /// What the strand of a moment that has been kept knew then; empty if that was nothing.
  std::span<const int> of(const StrandMoment& moment) const;
  /// Waiting before its step number `position` a strand learns what another one knew.
  void learn(int strand, int position, const StrandMoment& moment);

 private:
  static constexpr int kNothing = -1;
  struct Moments {
    int position;
    int row;
  };
  struct Known {
    std::vector<int> clock;         // by strand; none of who knows nothing
    std::vector<NumberRange> rows;  // that it has learned besides, and are not in the clock yet
    int row = kNothing;             // where all that it knows has been kept
    int first_learned = 0;          // before which step it first knew something
    std::vector<Moments> kept;
  };

  int row_of(const StrandMoment& moment) const;
  void look_up(Known& known) const;

  std::vector<Known> strands_;
  std::vector<std::vector<int>> rows_;
  std::vector<int> furthest_;  // by strand, in any row
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_STAGING_STRAND_KNOWLEDGE_H_
