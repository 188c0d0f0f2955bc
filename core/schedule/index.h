#ifndef HYCOLL_CORE_SCHEDULE_INDEX_H_
#define HYCOLL_CORE_SCHEDULE_INDEX_H_

#include <vector>

#include "core/schedule/pairs.h"
#include "core/schedule/schedule.h"

namespace hycoll::verifier {

/// The place of a step in the schedule.
struct StepPlace {
  int strand;
  int step;
};

/// The node in whose memory a buffer lies. Requires an owner that exists.
int node_of_buffer(const Shape& shape, const Buffer& buffer);

/// Flat tables over a schedule, for everything that walks over all of its steps. A step's number is
/// its position when all strands are laid end to end; a cell is one chunk of lines or of a stream.
///
/// Requires a schedule that passed check_structure(), and which outlives the index.
struct Index {
  explicit Index(const Schedule& schedule);

  const Schedule& schedule;
  std::vector<int> strand_node;
  std::vector<int> first_step;   ///< Number of each strand's first step; the total at the end.
  std::vector<StepPlace> place;  ///< Of each step, by its number.
  std::vector<int> buffer_node;
  std::vector<int> first_cell;    ///< Of each buffer; the total at the end.
  std::vector<int> first_signal;  ///< Of each flag, into signal_step; the total at the end.
  std::vector<int> signal_step;   ///< Number of the step that raises a flag to 1, 2, ...
  /// Number of the step that writes a cell, or -1.
  std::vector<int> awaited_writer;

  int step_count() const { return first_step.back(); }
  int cell_count() const { return first_cell.back(); }
  int number(int strand, int step) const {
    return first_step[static_cast<std::size_t>(strand)] + step;
  }
  const Step& step(int number) const {
    const StepPlace& at = place[static_cast<std::size_t>(number)];
    return schedule.strands[static_cast<std::size_t>(at.strand)]
        .steps[static_cast<std::size_t>(at.step)];
  }
  /// The cell of the first chunk of an awaited span; those of its further chunks follow.
  int cell(const Span& span) const {
    return first_cell[static_cast<std::size_t>(span.buffer)] + cell_in(schedule, span);
  }
  BufferRole role_of(const Span& span) const {
    return schedule.buffers[static_cast<std::size_t>(span.buffer)].role;
  }
  bool is_awaited(const Span& span) const { return carries_signals(role_of(span)); }
  bool is_stream(const Span& span) const { return role_of(span) == BufferRole::stream; }
  /// Number of the step that a wait waits for.
  int awaited_signal(const Step& wait) const {
    return signal_step[static_cast<std::size_t>(first_signal[static_cast<std::size_t>(wait.flag)] +
                                                wait.value - 1)];
  }

 private:
  void index_strands();
  void index_buffers();
  void index_signals();
  void index_awaited();
};

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_SCHEDULE_INDEX_H_
