#include "core/staging/value_flow.h"

#include <algorithm>
#include <utility>

#include "core/base/at.h"
#include "core/base/errors.h"
#include "core/schedule/pairs.h"

namespace hycoll {
namespace {

template <class Element>
Element& grown(std::vector<Element>& elements, int number) {
  if (elements.size() <= at(number)) elements.resize(at(number) + 1);
  return elements[at(number)];
}

}  // namespace

ValueFlow::ValueFlow(const Schedule& frame, const Shape& staged)
    : staged_(staged),
      part_(frame.part),
      has_blocks_(has_blocks(frame.collective)),
      has_pairs_(has_pairs(frame.collective)),
      first_worker_(frame.part.workers.first) {
  if (has_blocks_ && !has_pairs_)
    chunks_per_block_ = frame.chunk_count / frame.shape.member_count();
  for (const int worker : part_.workers) process_of_worker_.push_back(staged.process(worker));
  const std::size_t buffer_count = 2 * at(part_.members.count);
  int cell_count = 0;
  for (std::size_t buffer = 0; buffer < buffer_count; ++buffer) {
    const Buffer& whole = frame.buffers[buffer];
    owner_process_.push_back(
        process_of_worker_[at(staged.worker_of_member(whole.owner) - first_worker_)]);
    first_cell_.push_back(cell_count - whole.first_chunk);
    chunks_.push_back({whole.first_chunk, whole.chunk_count});
    cell_count += whole.chunk_count;
    if (2 * (buffer + 1) == buffer_count) input_count_ = std::exchange(cell_count, 0);
  }
  staged_inputs_.resize(at(input_count_), false);
  cuts_.resize(at(input_count_) + 1, false);
  outputs_.resize(at(cell_count));
}

int ValueFlow::cell_of(int buffer, int chunk) const {
  if (!has_pairs_) return first_cell_[at(buffer)] + chunk;
  const Pair pair = pair_of(staged_, chunk);
  return first_cell_[at(buffer)] + (is_input_buffer(buffer) ? pair.to : pair.from);
}

HeldValue ValueFlow::held(int buffer, int chunk) const {
  const auto cell = at(cell_of(buffer, chunk));
  return is_input_buffer(buffer) ? HeldValue(HeldValue::Kind::input, cell) : outputs_[cell];
}

bool ValueFlow::is_kept(HeldValue held) const {
  if (held.kind() != HeldValue::Kind::written) return held.kind() == HeldValue::Kind::input;
  const Place& place = places_[held.number()];
  return (place.is_read || place.is_result) && !(place.is_message && is_staged(place.value));
}

bool ValueFlow::is_renaming(const Step& step, std::span<const Span> sources) const {
  return step.kind == StepKind::copy && is_member_buffer(sources.front().buffer);
}

bool ValueFlow::must_be_contiguous(const Step& step, const Span& operand) const {
  if (!has_blocks_ || !is_asynchronous(step.kind)) return false;
  return operand.first_chunk / chunks_per_block_ !=
         (operand.first_chunk + operand.chunk_count - 1) / chunks_per_block_;
}

bool ValueFlow::is_read_directly(std::span<const Span> sources, std::size_t number,
                                 int chunk) const {
  const Span& whole = sources[number];
  if (!reaches(worker_, whole.buffer) || must_be_contiguous(step_, whole)) return false;
  if (!is_asynchronous(step_.kind)) return is_kept(source(number, chunk));
  for (int other = 0; other < whole.chunk_count; ++other) {
    if (!is_kept(source(number, other))) return false;
  }
  return true;
}

int& ValueFlow::level_of(int strand) { return grown(levels_, strand); }

/// What waits for a signal comes behind it.
void ValueFlow::order_by_flags(int strand, const Step& step) {
  std::vector<int>& levels = grown(signal_levels_, step.flag);
  int& level = level_of(strand);
  if (step.kind == StepKind::signal) {
    levels.push_back(level);
  } else if (std::cmp_less(levels.size(), step.value)) {
    is_in_order_ = false;
  } else {
    level = std::max(level, levels[at(step.value - 1)]);
  }
}

/// So does what reads lines or streams.
void ValueFlow::order_by_lines(const Schedule& frame, std::span<const Span> destinations,
                               std::span<const Span> sources) {
  const auto for_each_awaited = [&](std::span<const Span> spans, const auto& visit) {
    for (const Span& span : spans) {
      if (is_member_buffer(span.buffer)) continue;
      const Buffer& buffer = frame.buffer_of(span);
      if (!carries_signals(buffer.role)) continue;
      std::vector<bool>& written = grown(awaited_written_, span.buffer);
      written.resize(at(buffer.chunk_count), false);
      const auto first = written.begin() + (span.first_chunk - buffer.first_chunk);
      visit(first, first + span.chunk_count);
    }
  };
  for_each_awaited(sources, [&](auto first, auto last) {
    is_in_order_ = is_in_order_ && std::find(first, last, false) == last;
  });
  for_each_awaited(destinations, [](auto first, auto last) { std::fill(first, last, true); });
}

void ValueFlow::note_cuts(std::span<const Span> spans) {
  for (const Span& span : spans) {
    if (!is_member_buffer(span.buffer) || !is_input_buffer(span.buffer)) continue;
    const int first = input_value(span.buffer, span.first_chunk);
    cuts_[at(first)] = true;
    cuts_[at(first + span.chunk_count)] = true;
  }
}

void ValueFlow::learn(const Schedule& frame, int strand, const Step& step,
                      std::span<const Span> destinations, std::span<const Span> sources) {
  if (step.kind == StepKind::signal || step.kind == StepKind::wait) {
    return order_by_flags(strand, step);
  }
  order_by_lines(frame, destinations, sources);
  ++level_of(strand);
  const int worker = frame.strands[at(strand)].worker;
  const auto is_foreign = [&](const Span& span) {
    return is_member_buffer(span.buffer) && !reaches(worker, span.buffer);
  };
  crosses_processes_ = crosses_processes_ || std::ranges::any_of(destinations, is_foreign) ||
                       std::ranges::any_of(sources, is_foreign);
  note_cuts(destinations);
  note_cuts(sources);
  look_up_sources(sources);
  // What only gives others' buffers a value reads nothing: their owners fetch it from its producer.
  const bool reads = !is_renaming(step, sources) || !std::ranges::all_of(destinations, is_foreign);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    if (!is_member_buffer(sources[s].buffer)) continue;
    if (reads) read(worker, step, sources[s], s);
    if (!is_asynchronous(step.kind) || is_foreign(sources[s])) continue;
    messages_.push_back({.first = static_cast<int>(message_values_.size()),
                         .count = sources[s].chunk_count,
                         .is_read_where_it_is = !must_be_contiguous(step, sources[s])});
    for (int chunk = 0; chunk < sources[s].chunk_count; ++chunk) {
      message_values_.push_back(source(s, chunk));
    }
  }
  step_level_ = level_of(strand);
  write_all(worker, step, destinations, sources);
}

void ValueFlow::look_up_sources(std::span<const Span> sources) {
  sources_.clear();
  first_source_.clear();
  for (const Span& span : sources) {
    first_source_.push_back(static_cast<int>(sources_.size()));
    if (!is_member_buffer(span.buffer)) continue;
    for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
      sources_.push_back(held(span.buffer, span.first_chunk + chunk));
    }
  }
}

void ValueFlow::read(int worker, const Step& step, const Span& span, std::size_t number) {
  const bool is_reached = reaches(worker, span.buffer) && !must_be_contiguous(step, span);
  for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
    const HeldValue value = source(number, chunk);
    if (!value.is_known()) {
      is_in_order_ = false;
      return;
    }
    if (!is_reached || value.kind() == HeldValue::Kind::out_of_reach) {
      stage(value_of(value));
    } else if (value.kind() == HeldValue::Kind::written) {
      places_[value.number()].is_read = true;
    }
  }
}

void ValueFlow::write_all(int worker, const Step& step, std::span<const Span> destinations,
                          std::span<const Span> sources) {
  produced_ = -1;
  const bool renames = !sources.empty() && is_renaming(step, sources);
  for (const Span& span : destinations) {
    if (!is_member_buffer(span.buffer)) continue;
    if (!renames && produced_ < 0) {
      produced_ = input_count_ + next_value_;
      next_value_ += span.chunk_count;
      for (int chunk = 0; learns_ && chunk < span.chunk_count; ++chunk) {
        computed_.push_back({.producer = step_count_,
                             .level = step_level_,
                             .worker = worker,
                             .home = span.buffer,
                             .chunk = span.first_chunk + chunk});
      }
    }
    for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
      if (renames && !source(0, chunk).is_known()) {
        is_in_order_ = false;
        return;
      }
      write(worker, step, span, chunk, renames ? value_of(source(0, chunk)) : produced_ + chunk);
    }
  }
  ++step_count_;
}

void ValueFlow::write(int worker, const Step& step, const Span& span, int chunk, int value) {
  HeldValue& cell = outputs_[at(cell_of(span.buffer, span.first_chunk + chunk))];
  if (learns_ && !is_input(value)) ++computed_[at(value - input_count_)].place_count;
  if (!reaches(worker, span.buffer) || must_be_contiguous(step, span)) {
    cell = {HeldValue::Kind::out_of_reach, at(value)};
    return;
  }
  if (learns_) {
    places_.push_back({.value = value, .is_message = is_asynchronous(step.kind)});
  }
  cell = {HeldValue::Kind::written, next_place_++};
}

void ValueFlow::learn_results() {
  for (const int member : part_.members) {
    const int input = member - part_.members.first;
    const int output = part_.members.count + input;
    const int input_count = chunks_[at(input)].count;
    const int output_count = chunks_[at(output)].count;
    const int first_own = first_input_value(input);
    for (int cell = 0; is_in_order_ && cell < output_count; ++cell) {
      const HeldValue held = result(output, cell);
      if (!held.is_known()) {
        is_in_order_ = false;
      } else if (held.kind() == HeldValue::Kind::written) {
        places_[held.number()].is_result = true;
      } else {
        const int value = value_of(held);
        const bool is_own_input = value >= first_own && value < first_own + input_count;
        if (!is_own_input) stage(value);
      }
    }
  }
  if (is_in_order_) stage_whole_messages();
  std::ranges::fill(outputs_, HeldValue());
  learns_ = false;
  next_value_ = 0;
  next_place_ = 0;
  levels_ = {};
  signal_levels_ = {};
  awaited_written_ = {};
  messages_ = {};
  message_values_ = {};
}

/// What is sent together with something that is only in staging is staged, too, and what is
/// received is then only there.
void ValueFlow::stage_whole_messages() {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const ReachedMessage& message : messages_) {
      const auto values = std::span(message_values_).subspan(at(message.first), at(message.count));
      const bool is_kept_whole =
          std::ranges::all_of(values, [&](HeldValue held) { return is_kept(held); });
      if (message.is_read_where_it_is && is_kept_whole) continue;
      for (const HeldValue held : values) {
        const int value = value_of(held);
        has_changed = has_changed || !is_staged(value);
        stage(value);
      }
    }
  }
}

void ValueFlow::stage(int value) {
  if (is_input(value)) {
    staged_inputs_[at(value)] = true;
  } else {
    computed_[at(value - input_count_)].is_staged = true;
  }
}

bool ValueFlow::is_staged(int value) const {
  return is_input(value) ? is_input_staged(value) : computed(value).is_staged;
}

void ValueFlow::follow(const Schedule& frame, int strand, const Step& step,
                       std::span<const Span> destinations, std::span<const Span> sources) {
  worker_ = frame.strands[at(strand)].worker;
  step_ = step;
  look_up_sources(sources);
  write_all(worker_, step, destinations, sources);
}

}  // namespace hycoll
