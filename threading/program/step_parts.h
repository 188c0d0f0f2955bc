#ifndef HYCOLL_THREADING_PROGRAM_STEP_PARTS_H_
#define HYCOLL_THREADING_PROGRAM_STEP_PARTS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"

namespace hycoll {

/// What one instruction does of a step that moves or combines data.
struct StepPart {
  std::span<const Span> destinations;
  std::span<const Span> sources;
  Span chunks;                ///< Of the first operand those that the part works on,
  int skipped = 0;            ///< which follow so many others in every operand.
  std::size_t row_count = 1;  ///< As Instruction::row_count.
};

/// Cuts steps into parts: where slices leave gaps between blocks, as operands are contiguous only
/// within a block, and where a copy collects.
class StepParts {
 public:
  StepParts(const Schedule& schedule, bool has_gaps) : schedule_(schedule), has_gaps_(has_gaps) {}

  /// Calls visit(part) for each.
  template <class Visit>
  void visit(const Step& step, const Visit& visit) const {
    const auto destinations = schedule_.destinations(step);
    const auto sources = schedule_.sources(step);
    if (!collects(step)) return visit_contiguous({destinations, sources, {}}, visit);
    int done = 0;
    for (std::span<const Span> left = sources; !left.empty();) {
      const std::size_t row_count = row_length(left);
      Span row = collected_part(destinations.front(), done, left.front());
      row.chunk_count *= static_cast<int>(row_count);
      visit_contiguous({.destinations = std::span(&row, 1),
                        .sources = left.first(1),
                        .chunks = {},
                        .row_count = row_count},
                       visit);
      done += row.chunk_count;
      left = left.subspan(row_count);
    }
  }

 private:
  /// The parts in which all operands are contiguous.
  template <class Visit>
  void visit_contiguous(StepPart part, const Visit& visit) const {
    const Span& whole =
        part.destinations.empty() ? part.sources.front() : part.destinations.front();
    if (!must_be_cut(part)) {
      part.chunks = whole;
      return visit(part);
    }
    for (const Span& chunks : blocks_of(whole)) {
      part.chunks = chunks;
      // Numbers in packs differ from those of the same chunks elsewhere.
      part.skipped = chunks.first_chunk - whole.first_chunk;
      visit(part);
    }
  }

  /// How many of the sources, from the first on, are the same block of neighbouring members'
  /// inputs. With gaps between blocks parts have one each.
  std::size_t row_length(std::span<const Span> sources) const;
  bool must_be_cut(const StepPart& part) const;
  std::vector<Span> blocks_of(const Span& whole) const;

  const Schedule& schedule_;
  bool has_gaps_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_STEP_PARTS_H_
