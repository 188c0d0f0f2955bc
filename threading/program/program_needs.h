#ifndef HYCOLL_THREADING_PROGRAM_PROGRAM_NEEDS_H_
#define HYCOLL_THREADING_PROGRAM_PROGRAM_NEEDS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/partition.h"
#include "core/schedule/schedule.h"
#include "core/schedule/step_reader.h"
#include "core/staging/synchroniser.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// What nodes need of the executor to run a schedule: all that has to be known alike on all nodes,
/// so that all refuse it, or none, and all run it the same way. More is more.
struct ProgramNeeds {
  int workers = 0;                        ///< Of one node.
  int flags = 0;                          ///< Of one worker.
  int lines_buffers = 0;                  ///< Of one worker.
  int streams = 0;                        ///< Numbers of buffers that are streams.
  int operands = 0;                       ///< Of one step.
  int tags = 0;                           ///< Of one schedule.
  int signals = 0;                        ///< On one flag.
  int lines_chunks = 0;                   ///< In one lines buffer.
  bool has_flags_or_staging = false;      ///< Or streams: more than the compact memory.
  bool accesses_lines_otherwise = false;  ///< Than as form_of() can.
  bool moves_several_blocks = false;      ///< In one piece, which slices of blocks are not.
  bool has_natives_that_must_not_block = false;

  /// What both need.
  void add(const ProgramNeeds& other);
  friend bool operator==(const ProgramNeeds&, const ProgramNeeds&) = default;
};

/// Which flags are raised how often, and which ones first of all.
struct RaisedFlags {
  static constexpr int kNothing = -1;  ///< No step so far.
  static constexpr int kNoFlag = -2;

  std::vector<int> times;         ///< By flag, as far as they have been raised.
  std::vector<int> first_raised;  ///< By strand: the flag that its very first step raises.

  /// Of each strand the steps are noted in their order; those that raise nothing tell something
  /// only if they are the first.
  void note(int strand, const Step& step);
};

/// Counts what some nodes need whose steps it is shown, so that nobody has to keep them.
class NeedsReader final : public StepReader {
 public:
  NeedsReader() : StepReader(Dependencies::ignored) {}

  void read(const Schedule& frame, int strand, const Step& step, std::span<const Span> destinations,
            std::span<const Span> sources, std::span<const int> dependencies) override;

  /// When all steps have been shown of the part that has these buffers, flags and strands.
  ProgramNeeds needs(const Schedule& frame) const;

  /// But for what is watched.
  const std::vector<StrandCounts>& strands() const noexcept { return strands_; }

 private:
  ProgramNeeds needs_;  // of the steps, each by itself
  RaisedFlags raised_;
  std::vector<StrandCounts> strands_;
};

/// What the nodes of a schedule, or of a part of one, need.
ProgramNeeds needs_of(const Schedule& schedule);

/// Counts into `needs` what a step that moves or combines data needs by itself. The spans are its
/// operands, in buffers of the frame.
void count_step(const Schedule& frame, const Step& step, std::span<const Span> destinations,
                std::span<const Span> sources, ProgramNeeds& needs);

/// What a schedule is bound to, as far as the executor's limits depend on it.
struct ProgramExtent {
  const Partition& partition;
  std::size_t element_bytes = 1;
  int tag_count = 0;      ///< As BindingOptions has it.
  bool has_gaps = false;  ///< Between the slices of neighbouring blocks.
};

/// Throws Error (unsupported), in the algorithm's name, if more of anything is needed than the
/// executor has. Every count that is kept in fewer bits than the schedule has it in is bounded
/// here.
void require_within_limits(const ProgramNeeds& needs, const std::string& algorithm,
                           const ProgramExtent& extent);

/// The section of the nodes' memory that a run needs: the compact one, if that suffices.
NodeMemory::Section memory_section_for(const ProgramNeeds& needs, const ProgramExtent& extent);

/// For each flag, whether it is raised once, by a member's owner as its very first step. It says no
/// more then than that the owner has entered, which the executor announces anyway.
std::vector<bool> arrival_flags(const Schedule& schedule);

/// As natives_may_block() (core/schedule/schedule.h) of the schedule with these strands.
bool natives_may_block(const Schedule& frame, std::span<const StrandCounts> counts);

/// Whether a member's buffer of this role holds blocks of, from or for all members, which are not
/// contiguous when a run works on a slice of each.
bool holds_all_blocks(const CollectiveTraits& collective, BufferRole role);

/// Whether one of a step's operands is such a buffer, and it touches chunks of several blocks
/// there. Requires a collective with blocks.
bool touches_several_blocks(const Schedule& frame, std::span<const Span> destinations,
                            std::span<const Span> sources);

/// Whether a step touches lines or streams. Such steps stay even if they are empty: what they write
/// or read is a signal.
bool touches_signals(const Schedule& schedule, const Step& step);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PROGRAM_NEEDS_H_
