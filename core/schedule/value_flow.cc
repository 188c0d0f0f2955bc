#include "core/schedule/value_flow.h"

#include <algorithm>

#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr int kNoPlace = -1;

}  // namespace

ValueFlow::ValueFlow(const verifier::Index& index, std::span<const int> order, const Shape& staged)
    : index_(index), staged_(staged) {
  const Schedule& schedule = index.schedule;
  int operand_count = 0;
  for (const Span& span : schedule.spans) {
    first_operand_.push_back(operand_count);
    if (is_member_buffer(span.buffer)) operand_count += span.chunk_count;
  }
  operand_places_.assign(static_cast<std::size_t>(operand_count), kNoPlace);
  cell_place_.assign(static_cast<std::size_t>(index.cell_count()), kNoPlace);
  add_inputs();
  for (const int id : order) add_step(id);
  add_results();
  stage_whole_messages();
}

const Place& ValueFlow::result(int buffer, int chunk) const {
  const int cell = index_.cell({buffer, chunk, 1});
  return places_[static_cast<std::size_t>(cell_place_[static_cast<std::size_t>(cell)])];
}

bool ValueFlow::is_kept(const Place& place) const {
  if (!place.is_reached) return false;
  if (place.writer == Value::kInput) return true;
  const bool is_message = is_asynchronous(index_.step(place.writer).kind);
  return (place.is_read || place.is_result) && !(is_message && value(place).is_staged);
}

bool ValueFlow::is_renaming(const Step& step) const {
  return step.kind == StepKind::copy &&
         is_member_buffer(index_.schedule.sources(step).front().buffer);
}

bool ValueFlow::must_be_contiguous(const Step& step, const Span& operand) const {
  const Schedule& schedule = index_.schedule;
  if (!has_blocks(schedule.collective) || !is_asynchronous(step.kind)) return false;
  return block_of(schedule, operand.first_chunk) !=
         block_of(schedule, operand.first_chunk + operand.chunk_count - 1);
}

bool ValueFlow::is_read_directly(int worker, const Step& step, int span, int chunk) const {
  const Span& source = index_.schedule.spans[static_cast<std::size_t>(span)];
  if (!reaches(worker, source.buffer) || must_be_contiguous(step, source)) return false;
  if (!is_asynchronous(step.kind)) return is_kept(operand(span, chunk));
  for (int other = 0; other < source.chunk_count; ++other) {
    if (!is_kept(operand(span, other))) return false;
  }
  return true;
}

void ValueFlow::add_inputs() {
  const Schedule& schedule = index_.schedule;
  for (const int member : schedule.part.members) {
    const int worker = schedule.shape.worker_of_member(member);
    const int input = schedule.input(member);
    const Buffer& buffer = buffer_at(input);
    for (int chunk = buffer.first_chunk; chunk < buffer.first_chunk + buffer.chunk_count; ++chunk) {
      HYCOLL_ASSERT(input_value(member, chunk) == values_.size(), "inputs come first");
      cell_place_[values_.size()] = static_cast<int>(places_.size());
      places_.push_back({.value = static_cast<int>(values_.size()),
                         .buffer = input,
                         .writer = Value::kInput,
                         .is_reached = true});
      values_.push_back({.producer = Value::kInput,
                         .worker = worker,
                         .home = input,
                         .chunk = chunk,
                         .place_count = 1});
    }
  }
}

void ValueFlow::add_step(int id) {
  const Step& step = index_.step(id);
  const int strand = index_.place[static_cast<std::size_t>(id)].strand;
  const int worker = index_.schedule.strands[static_cast<std::size_t>(strand)].worker;
  const int first_source = step.first_span + step.destination_count;
  const auto is_foreign = [&](const Span& span) {
    return is_member_buffer(span.buffer) && !reaches(worker, span.buffer);
  };
  // What only gives others' buffers a value reads nothing: their owners fetch it from its producer.
  const bool reads =
      !is_renaming(step) || !std::ranges::all_of(index_.schedule.destinations(step), is_foreign);
  for (int s = 0; s < step.source_count; ++s) {
    const Span& span = index_.schedule.spans[static_cast<std::size_t>(first_source + s)];
    if (!is_member_buffer(span.buffer)) continue;
    const int first = first_operand_[static_cast<std::size_t>(first_source + s)];
    for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
      operand_places_[static_cast<std::size_t>(first + chunk)] =
          cell_place_[static_cast<std::size_t>(index_.cell(span) + chunk)];
    }
    if (reads) read(worker, step, first_source + s);
    if (is_asynchronous(step.kind) && reaches(worker, span.buffer)) {
      reached_messages_.push_back({worker, id, first_source + s});
    }
  }
  if (is_renaming(step)) {
    rename(id, step);
  } else {
    produce(id, step);
  }
}

void ValueFlow::read(int worker, const Step& step, int span) {
  const Span& source = index_.schedule.spans[static_cast<std::size_t>(span)];
  const int first = first_operand_[static_cast<std::size_t>(span)];
  for (int chunk = first; chunk < first + source.chunk_count; ++chunk) {
    const int at = operand_places_[static_cast<std::size_t>(chunk)];
    HYCOLL_ASSERT(at != kNoPlace, "nothing is read before it is written");
    Place& place = places_[static_cast<std::size_t>(at)];
    if (place.is_reached && reaches(worker, place.buffer) && !must_be_contiguous(step, source)) {
      place.is_read = true;
    } else {
      values_[static_cast<std::size_t>(place.value)].is_staged = true;
    }
  }
}

void ValueFlow::rename(int id, const Step& step) {
  const int source = step.first_span + step.destination_count;
  for (int d = step.first_span; d < source; ++d) {
    const Span& span = index_.schedule.spans[static_cast<std::size_t>(d)];
    for (int chunk = 0; is_member_buffer(span.buffer) && chunk < span.chunk_count; ++chunk) {
      write(id, d, chunk, operand(source, chunk).value);
    }
  }
}

void ValueFlow::produce(int id, const Step& step) {
  const int strand = index_.place[static_cast<std::size_t>(id)].strand;
  const int worker = index_.schedule.strands[static_cast<std::size_t>(strand)].worker;
  const int end = step.first_span + step.destination_count;
  int first_value = -1;
  for (int d = step.first_span; d < end; ++d) {
    const Span& span = index_.schedule.spans[static_cast<std::size_t>(d)];
    if (!is_member_buffer(span.buffer)) continue;
    if (first_value < 0) {
      first_value = static_cast<int>(values_.size());
      for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
        values_.push_back({.producer = id,
                           .worker = worker,
                           .home = span.buffer,
                           .chunk = span.first_chunk + chunk});
      }
    }
    for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
      write(id, d, chunk, first_value + chunk);
    }
  }
}

void ValueFlow::write(int id, int span, int chunk, int value) {
  const Span& written = index_.schedule.spans[static_cast<std::size_t>(span)];
  const int strand = index_.place[static_cast<std::size_t>(id)].strand;
  const int worker = index_.schedule.strands[static_cast<std::size_t>(strand)].worker;
  const int place = static_cast<int>(places_.size());
  cell_place_[static_cast<std::size_t>(index_.cell(written) + chunk)] = place;
  operand_places_[static_cast<std::size_t>(first_operand_[static_cast<std::size_t>(span)] +
                                           chunk)] = place;
  ++values_[static_cast<std::size_t>(value)].place_count;
  places_.push_back({.value = value,
                     .buffer = written.buffer,
                     .writer = id,
                     .is_reached = reaches(worker, written.buffer) &&
                                   !must_be_contiguous(index_.step(id), written)});
}

void ValueFlow::add_results() {
  for (const int member : index_.schedule.part.members) {
    const int output = index_.schedule.output(member);
    const Buffer& buffer = buffer_at(output);
    for (int chunk = 0; chunk < buffer.chunk_count; ++chunk) {
      const int cell = index_.cell({output, buffer.first_chunk + chunk, 1});
      Place& place = places_[static_cast<std::size_t>(cell_place_[static_cast<std::size_t>(cell)])];
      place.is_result = true;
      Value& value = values_[static_cast<std::size_t>(place.value)];
      const bool is_own_input = value.home == index_.schedule.input(member);
      if (!place.is_reached && !is_own_input) value.is_staged = true;
    }
  }
}

/// What is sent together with something that is only in staging is staged, too, and what is
/// received is then only there.
void ValueFlow::stage_whole_messages() {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const ReachedMessage& message : reached_messages_) {
      if (is_read_directly(message.worker, index_.step(message.step), message.span, 0)) continue;
      const Span& span = index_.schedule.spans[static_cast<std::size_t>(message.span)];
      for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
        Value& value = values_[static_cast<std::size_t>(operand(message.span, chunk).value)];
        has_changed = has_changed || !value.is_staged;
        value.is_staged = true;
      }
    }
  }
}

}  // namespace hycoll
