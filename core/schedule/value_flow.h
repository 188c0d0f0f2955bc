#ifndef HYCOLL_CORE_SCHEDULE_VALUE_FLOW_H_
#define HYCOLL_CORE_SCHEDULE_VALUE_FLOW_H_

#include <span>
#include <vector>

#include "core/schedule/index.h"

namespace hycoll {

/// What one chunk of a member's buffer holds between two writes, as the input of the collective or
/// computed or received by a step. Copying keeps the value.
struct Value {
  static constexpr int kInput = -1;

  int producer;  ///< A step's number, or kInput.
  int worker;    ///< Who produces it; of an input its owner.
  int home;      ///< The first member's buffer that it lies in.
  int chunk;
  int place_count = 0;     ///< Chunks of members' buffers that hold it at some time.
  bool is_staged = false;  ///< Some worker needs it that cannot reach it in a member's buffer.
};

/// A value in one chunk of a member's buffer.
struct Place {
  int value;
  int buffer;
  int writer;            ///< A step's number, or Value::kInput.
  bool is_reached;       ///< The worker that writes it may touch the buffer.
  bool is_read = false;  ///< By a worker that may touch the buffer.
  bool is_result = false;
};

/// The values that flow through the members' buffers of a schedule with direct visibility, and
/// which of them have to be staged when workers see the buffers of their own process only.
class ValueFlow {
 public:
  /// All outlive the flow. The order is one from check_deadlock(). `staged` is the schedule's
  /// shape, but says what workers reach.
  ValueFlow(const verifier::Index& index, std::span<const int> order, const Shape& staged);

  const std::vector<Value>& values() const noexcept { return values_; }

  /// The value in a chunk (counted from the span's first) of an operand of a step: a span by its
  /// index in Schedule::spans, in a member's buffer.
  const Place& operand(int span, int chunk) const {
    return places_[static_cast<std::size_t>(operand_places_[static_cast<std::size_t>(
        first_operand_[static_cast<std::size_t>(span)] + chunk)])];
  }
  const Value& value(const Place& place) const {
    return values_[static_cast<std::size_t>(place.value)];
  }
  /// What a chunk of a member's output holds in the end.
  const Place& result(int buffer, int chunk) const;

  /// Whether an operand is the place itself, rather than staging. A message has one destination: it
  /// is received into staging if somebody needs it there.
  bool is_kept(const Place& place) const;

  /// The value in a chunk of a member's input at the start, by its number.
  std::size_t input_value(int member, int chunk) const {
    return static_cast<std::size_t>(index_.cell({index_.schedule.input(member), chunk, 1}));
  }

  bool is_member_buffer(int buffer) const { return is_of_member(buffer_at(buffer).role); }
  /// Requires a member's buffer.
  bool reaches(int worker, int buffer) const {
    return staged_.reaches(worker, buffer_at(buffer).owner);
  }
  /// Whether the step only gives a value in members' buffers further places.
  bool is_renaming(const Step& step) const;
  /// Whether a worker reads a chunk of a source, a span in a member's buffer, where it is, rather
  /// than in staging. A message is read in one place.
  bool is_read_directly(int worker, const Step& step, int span, int chunk) const;

 private:
  /// A message from a member's buffer that its sender reaches.
  struct ReachedMessage {
    int worker;
    int step;
    int span;
  };

  const Buffer& buffer_at(int buffer) const {
    return index_.schedule.buffers[static_cast<std::size_t>(buffer)];
  }
  /// Whether an operand lies in staging although the worker reaches the buffer: messages of several
  /// members' blocks, which are not contiguous when a run works on a slice of each block.
  bool must_be_contiguous(const Step& step, const Span& operand) const;
  void stage_whole_messages();
  void add_inputs();
  void add_step(int id);
  void read(int worker, const Step& step, int span);
  void rename(int id, const Step& step);
  void produce(int id, const Step& step);
  void write(int id, int span, int chunk, int value);
  void add_results();

  const verifier::Index& index_;
  const Shape& staged_;
  std::vector<int> first_operand_;  // per span, into operand_places_
  std::vector<int> operand_places_;
  std::vector<int> cell_place_;  // per cell: what it holds now, in the end the results
  std::vector<Value> values_;
  std::vector<Place> places_;
  std::vector<ReachedMessage> reached_messages_;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_VALUE_FLOW_H_
