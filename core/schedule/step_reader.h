#ifndef HYCOLL_CORE_SCHEDULE_STEP_READER_H_
#define HYCOLL_CORE_SCHEDULE_STEP_READER_H_

#include <cstdint>
#include <functional>
#include <span>

#include "core/schedule/schedule.h"

namespace hycoll {

/// Whether somebody wants to know which steps a step depends on.
enum class Dependencies : std::uint8_t { inferred, ignored };

/// Is shown the steps of a schedule one after the other, those of every strand in their order, so
/// that nobody has to keep them.
class StepReader {
 public:
  virtual ~StepReader() = default;

  /// Where dependencies are ignored a builder shows none, and keeps nothing from which to infer
  /// them.
  Dependencies dependencies() const noexcept { return dependencies_; }

  /// `frame` has the buffers, flags and strands that there are so far, those of the operands among
  /// them, but perhaps no steps. The spans are the step's operands, whatever it says of them
  /// itself; `dependencies` the asynchronous steps on which it depends, by their numbers among
  /// those of its strand.
  virtual void read(const Schedule& frame, int strand, const Step& step,
                    std::span<const Span> destinations, std::span<const Span> sources,
                    std::span<const int> dependencies) = 0;

 protected:
  explicit StepReader(Dependencies dependencies = Dependencies::inferred)
      : dependencies_(dependencies) {}
  StepReader(const StepReader&) = default;
  StepReader& operator=(const StepReader&) = default;

 private:
  Dependencies dependencies_;
};

/// Shows a reader that ignores dependencies the steps of a schedule, strand by strand.
void show_steps(const Schedule& schedule, StepReader& reader);

/// Shows a reader the steps of a schedule, the same ones in the same order each time. Returns its
/// buffers, flags and strands.
using StepReplay = std::function<Schedule(StepReader& reader)>;

/// What a generator is asked for: the steps of some nodes. A reader is shown them in the order in
/// which the generator adds them, and the schedule that the generator returns has none.
struct PartRequest {
  NumberRange nodes = kAllNodes;
  StepReader* reader = nullptr;

  PartRequest() = default;
  PartRequest(NumberRange some_nodes, StepReader* shown_to = nullptr)
      : nodes(some_nodes), reader(shown_to) {}
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_STEP_READER_H_
