#ifndef HYCOLL_CORE_STAGING_VALUE_FLOW_H_
#define HYCOLL_CORE_STAGING_VALUE_FLOW_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"

namespace hycoll {

/// What a step computes or receives for one chunk of members' buffers. Copying keeps the value.
/// Values have numbers: first those that the inputs hold, chunk by chunk, then those of the steps.
struct ComputedValue {
  int producer;  ///< A number that only values of the same step have.
  int level;     ///< Steps and signals that come one after another before it is there.
  int worker;    ///< Who produces it.
  int home;      ///< The first member's buffer that it lies in.
  int chunk;
  int place_count = 0;     ///< Chunks of members' buffers that hold it at some time.
  bool is_staged = false;  ///< Some worker needs it that cannot reach it in a member's buffer.
};

/// What a chunk of a member's buffer holds between two writes.
class HeldValue {
 public:
  enum class Kind {
    out_of_reach,  ///< Of the worker that writes it.
    written,       ///< By a worker that may touch the buffer; its number is that of a place.
    input,         ///< What an input holds from the start.
  };

  constexpr HeldValue() = default;
  constexpr HeldValue(Kind kind, std::size_t number) noexcept
      : code_(static_cast<int>(number) * 4 + static_cast<int>(kind)) {}

  constexpr bool is_known() const noexcept { return code_ >= 0; }
  constexpr Kind kind() const noexcept { return static_cast<Kind>(code_ % 4); }
  constexpr std::size_t number() const noexcept { return static_cast<std::size_t>(code_ / 4); }

 private:
  int code_ = -1;
};

/// The values that flow through the members' buffers of a node when a schedule with direct
/// visibility is executed, and which of them have to be staged when workers see the buffers of
/// their own process only. The node's steps are shown twice, in an order in which they could be
/// executed: first to learn what is needed of the values, then to ask for it step by step. What is
/// remembered between goes with the chunks of outputs and the values that steps compute, not with
/// operands.
class ValueFlow {
 public:
  /// `frame` has the members' buffers; `staged` is its shape, but says what workers reach.
  ValueFlow(const Schedule& frame, const Shape& staged);

  /// A step, in the first look.
  void learn(const Schedule& frame, int strand, const Step& step,
             std::span<const Span> destinations, std::span<const Span> sources);
  /// The first look is over.
  void learn_results();

  /// Whether somebody touches buffers that it does not reach.
  bool crosses_processes() const noexcept { return crosses_processes_; }
  /// Whether all steps could be executed in the order of the first look: no step waits for what
  /// comes later.
  bool is_in_order() const noexcept { return is_in_order_; }

  /// A step that moves or combines data, in the second look: what is asked of operands below is
  /// asked of this step.
  void follow(const Schedule& frame, int strand, const Step& step,
              std::span<const Span> destinations, std::span<const Span> sources);

  /// The value in a chunk, counted from the span's first, of a destination in a member's buffer,
  /// when it has been written, or of such a source.
  HeldValue written(const Span& destination, int chunk) const {
    return held(destination.buffer, destination.first_chunk + chunk);
  }
  HeldValue source(std::size_t number, int chunk) const {
    return sources_[static_cast<std::size_t>(first_source_[number] + chunk)];
  }
  /// Whether the worker reads a chunk of a source in a member's buffer where it is, rather than in
  /// staging. A message is read in one place.
  bool is_read_directly(std::span<const Span> sources, std::size_t number, int chunk) const;
  /// The first of the values that the step produces in members' buffers, those of their chunks; -1
  /// if there are none.
  int produced() const noexcept { return produced_; }

  /// What a cell of a member's output holds in the end.
  HeldValue result(int buffer, int cell) const {
    return outputs_[static_cast<std::size_t>(begin_of(buffer) + cell)];
  }

  /// Whether an operand is the place itself, rather than staging. A message has one destination: it
  /// is received into staging if somebody needs it there.
  bool is_kept(HeldValue held) const;

  int value_of(HeldValue held) const {
    return held.kind() == HeldValue::Kind::written ? places_[held.number()].value
                                                   : static_cast<int>(held.number());
  }

  /// The values that members' inputs hold at the start.
  int input_count() const noexcept { return input_count_; }
  bool is_input(int value) const noexcept { return value < input_count_; }
  int input_value(int buffer, int chunk) const { return cell_of(buffer, chunk); }
  /// The first value of an input; those of the input's further cells follow (pairs.h).
  int first_input_value(int buffer) const { return begin_of(buffer); }
  bool is_input_staged(int value) const { return staged_inputs_[static_cast<std::size_t>(value)]; }
  /// Whether spans of operands begin at a chunk of an input, or end before it.
  bool is_cut(int input_value) const { return cuts_[static_cast<std::size_t>(input_value)]; }

  std::span<const ComputedValue> computed() const noexcept { return computed_; }
  const ComputedValue& computed(int value) const {
    return computed_[static_cast<std::size_t>(value - input_count_)];
  }

  bool is_member_buffer(int buffer) const noexcept {
    return static_cast<std::size_t>(buffer) < owner_process_.size();
  }
  /// Requires a member's buffer.
  bool reaches(int worker, int buffer) const {
    return process_of_worker_[static_cast<std::size_t>(worker - first_worker_)] ==
           owner_process_[static_cast<std::size_t>(buffer)];
  }

 private:
  /// A value that lies where its producer, or who copied it, may touch it.
  struct Place {
    int value;
    bool is_message;
    bool is_read = false;  ///< By a worker that may touch the buffer.
    bool is_result = false;
  };
  /// A message from a member's buffer that its sender reaches: what it holds, in message_values_.
  struct ReachedMessage {
    int first;
    int count;
    bool is_read_where_it_is;
  };

  /// Where the cells of a member's buffer begin, among those of inputs or outputs, and where that
  /// of a chunk is.
  int begin_of(int buffer) const {
    return first_cell_[static_cast<std::size_t>(buffer)] +
           chunks_[static_cast<std::size_t>(buffer)].first;
  }
  int cell_of(int buffer, int chunk) const;
  HeldValue held(int buffer, int chunk) const;
  /// Whether an operand lies in staging although the worker reaches the buffer: messages of several
  /// members' blocks, which are not contiguous when a run works on a slice of each block.
  bool must_be_contiguous(const Step& step, const Span& operand) const;
  bool is_input_buffer(int buffer) const noexcept {
    return 2 * static_cast<std::size_t>(buffer) < owner_process_.size();
  }
  bool is_renaming(const Step& step, std::span<const Span> sources) const;
  void look_up_sources(std::span<const Span> sources);
  void order_by_flags(int strand, const Step& step);
  void order_by_lines(const Schedule& frame, std::span<const Span> destinations,
                      std::span<const Span> sources);
  void read(int worker, const Step& step, const Span& source, std::size_t number);
  void write_all(int worker, const Step& step, std::span<const Span> destinations,
                 std::span<const Span> sources);
  void write(int worker, const Step& step, const Span& span, int chunk, int value);
  void note_cuts(std::span<const Span> spans);
  void stage(int value);
  bool is_staged(int value) const;
  void stage_whole_messages();
  int& level_of(int strand);

  Shape staged_;
  ShapePart part_;
  bool has_blocks_;
  bool has_pairs_;
  int chunks_per_block_ = 1;
  int first_worker_;
  std::vector<int> process_of_worker_;
  std::vector<int> owner_process_;  // per member's buffer
  std::vector<int> first_cell_;     // per member's buffer: of chunk 0, among inputs or outputs
  std::vector<ChunkRange> chunks_;  // per member's buffer
  int input_count_ = 0;
  std::vector<bool> staged_inputs_;
  std::vector<bool> cuts_;
  std::vector<HeldValue> outputs_;
  std::vector<ComputedValue> computed_;
  std::vector<Place> places_;
  std::vector<ReachedMessage> messages_;
  std::vector<HeldValue> message_values_;

  bool learns_ = true;
  int next_value_ = 0;
  std::size_t next_place_ = 0;
  int step_count_ = 0;
  int step_level_ = 0;
  bool crosses_processes_ = false;
  bool is_in_order_ = true;
  std::vector<int> levels_;                         // per strand
  std::vector<std::vector<int>> signal_levels_;     // per flag, by value
  std::vector<std::vector<bool>> awaited_written_;  // per buffer of lines or a stream, by chunk

  // Of the step at hand.
  int worker_ = 0;
  Step step_{};
  std::vector<HeldValue> sources_;
  std::vector<int> first_source_;  // per source, into sources_
  int produced_ = -1;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_STAGING_VALUE_FLOW_H_
