#ifndef HYCOLL_CORE_SCHEDULE_SYNCHRONISER_H_
#define HYCOLL_CORE_SCHEDULE_SYNCHRONISER_H_

#include <climits>
#include <span>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// A step that moves or combines data, for a strand of a builder.
struct DataStep {
  static constexpr int kAtEnd = INT_MAX;

  StrandId strand;
  Step step;  ///< Kind, lane, peer and tag; where its spans are in DataSteps.
  /// Of an asynchronous step: the number of its strand's data steps before the first moment at
  /// which the strand may wait for its completion.
  int known_at = kAtEnd;
};

/// Steps, and the spans that they work on.
struct DataSteps {
  std::vector<DataStep> steps;
  std::vector<Span> spans;  ///< Of every step its destinations, then its sources.

  std::span<const Span> destinations(const Step& step) const {
    return std::span(spans).subspan(static_cast<std::size_t>(step.first_span),
                                    static_cast<std::size_t>(step.destination_count));
  }
  std::span<const Span> sources(const Step& step) const {
    return std::span(spans).subspan(
        static_cast<std::size_t>(step.first_span + step.destination_count),
        static_cast<std::size_t>(step.source_count));
  }
};

/// Adds the steps to a builder that has none yet, and the flags by which the strands wait for each
/// other: wherever two strands of a node touch the same memory, and one of them writes it, the
/// later step waits. A member's input and output count as the same memory. Each strand has one
/// flag at most, which it raises where others need it; waits that others imply are left out.
/// Nobody touches a member's buffers before its owner has entered, and the owner does not leave
/// before the others are done with them.
///
/// `steps` stand in an order in which they could be executed one after the other, where a send
/// or native has completed when all its partners have been issued. What is conflicting must be
/// known: the later of two such steps comes behind the moment `known_at` of the earlier one.
/// Executing them in this order is then possible with the flags, too, so nothing can deadlock.
///
/// Every worker of a node waits until all others have entered, as its last steps: then no worker
/// is more than one run ahead of another one of its node, so that memory which alternates between
/// two sets from run to run is free again when it is written.
Schedule synchronise(ScheduleBuilder builder, const DataSteps& steps);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_SYNCHRONISER_H_
