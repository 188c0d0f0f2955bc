#include "core/schedule/staging.h"

#include <algorithm>
#include <compare>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/builder.h"
#include "core/schedule/parts.h"
#include "core/schedule/synchroniser.h"
#include "core/schedule/value_flow.h"
#include "core/schedule/walk.h"

namespace hycoll {
namespace {

constexpr int kNone = -1;

struct UnsynchronisedSchedule {
  ScheduleBuilder builder;
  DataSteps steps;
};

class StagedSchedule {
 public:
  StagedSchedule(const verifier::Index& index, std::span<const int> order, const Shape& shape)
      : direct_(index.schedule),
        index_(index),
        order_(order),
        flow_(index, order, shape),
        builder_(direct_.collective, direct_.algorithm, shape, direct_.chunk_count, direct_.root,
                 direct_.part.nodes),
        staging_of_value_(flow_.values().size(), kNone),
        step_counts_(direct_.strands.size(), 0),
        new_step_(static_cast<std::size_t>(index.step_count()), kNone) {
    steps_.steps.reserve(static_cast<std::size_t>(index.step_count()));
  }

  /// Leaves the flags to the synchroniser.
  UnsynchronisedSchedule make() && {
    add_frame();
    place_staging();
    copy_in();
    for (const int id : order_) add_step(id);
    copy_out();
    return {.builder = std::move(builder_), .steps = std::move(steps_)};
  }

 private:
  /// The operands of a part of a step in which each lies in one buffer.
  struct Operands {
    std::vector<int> destinations;  // buffers
    std::vector<int> sources;
    friend bool operator==(const Operands&, const Operands&) = default;
  };
  struct Part {
    Operands operands;
    ChunkRange chunks;
  };

  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  /// What is no member's stays the same.
  void add_frame() {
    for (const Buffer& buffer : direct_.buffers) {
      if (!is_of_member(buffer.role)) builder_.repeat_buffer(buffer);
    }
    for (std::size_t s = static_cast<std::size_t>(builder_.strand_count());
         s < direct_.strands.size(); ++s) {
      builder_.add_strand(direct_.strands[s].worker);
    }
  }

  /// A value that is staged. `layer`: how many of the same worker, home and chunk it cannot
  /// replace.
  struct StagedValue {
    int worker;
    int home;
    int layer;
    int chunk;
    int value;
    friend auto operator<=>(const StagedValue&, const StagedValue&) = default;

    bool has_place_of(const StagedValue& other) const {
      return worker == other.worker && home == other.home && chunk == other.chunk;
    }
    bool is_beside(const StagedValue& other) const {
      return worker == other.worker && home == other.home && layer == other.layer &&
             (chunk == other.chunk || chunk == other.chunk + 1);
    }
  };

  /// Staged values lie where their first place was: in the staging of the worker that produces
  /// them, in a buffer for each run of neighbouring chunks. A value may replace an earlier one of
  /// the same place unless this has got further places.
  void place_staging() {
    const std::vector<StagedValue> values = staged_values();
    for (auto begin = values.begin(); begin != values.end();) {
      auto end = begin + 1;
      while (end != values.end() && end->is_beside(*(end - 1))) ++end;
      const int count = (end - 1)->chunk - begin->chunk + 1;
      const BufferId buffer =
          builder_.add_staging(direct_.shape.node_of_worker(begin->worker), {begin->chunk, count});
      for (; begin != end; ++begin) staging_of_value_[at(begin->value)] = buffer;
    }
  }

  std::vector<StagedValue> staged_values() const {
    std::vector<StagedValue> values;
    values.reserve(
        static_cast<std::size_t>(std::ranges::count_if(flow_.values(), &Value::is_staged)));
    for (int v = 0; std::cmp_less(v, flow_.values().size()); ++v) {
      const Value& value = flow_.values()[at(v)];
      if (value.is_staged) values.push_back({value.worker, value.home, 0, value.chunk, v});
    }
    // With their places, and in the order of their making: the inputs are in this order already.
    const auto sort = [&] {
      const auto sorted = std::ranges::is_sorted_until(values);
      std::sort(sorted, values.end());
      std::inplace_merge(values.begin(), sorted, values.end());
    };
    sort();
    for (std::size_t v = 1; v < values.size(); ++v) {
      if (!values[v].has_place_of(values[v - 1])) continue;
      const bool has_further_places = flow_.values()[at(values[v - 1].value)].place_count > 1;
      values[v].layer = values[v - 1].layer + (has_further_places ? 1 : 0);
    }
    sort();
    return values;
  }

  /// Phase 1: every owner copies what others read of its input, cut as they read it.
  void copy_in() {
    const std::vector<bool> is_cut = cuts_of_inputs();
    for (const int member : direct_.part.members) {
      const int input = builder_.input(member);
      const ChunkRange all = builder_.input_chunks(member);
      const int end = all.first + all.count;
      const StrandId strand = builder_.main_strand(direct_.shape.worker_of_member(member));
      for (int chunk = all.first; chunk < end;) {
        const int staging = staging_of_input(member, chunk);
        int count = 1;
        while (chunk + count < end && !is_cut[at(index_.cell({input, chunk + count, 1}))] &&
               staging_of_input(member, chunk + count) == staging) {
          ++count;
        }
        if (staging != kNone) {
          const Span destination = span_of(staging, {chunk, count});
          const Span source = span_of(input, {chunk, count});
          add(strand, {.kind = StepKind::copy}, std::span(&destination, 1), std::span(&source, 1));
        }
        chunk += count;
      }
    }
  }

  /// By cell, whether spans of a member's input begin there, or end before it.
  std::vector<bool> cuts_of_inputs() const {
    std::vector<bool> is_cut(at(index_.cell_count()) + 1, false);
    for (const Span& span : direct_.spans) {
      if (index_.role_of(span) != BufferRole::input) continue;
      const int first = index_.cell(span);
      is_cut[at(first)] = true;
      is_cut[at(first + span.chunk_count)] = true;
    }
    return is_cut;
  }

  int staging_of_input(int member, int chunk) const {
    return staging_of_value_[flow_.input_value(member, chunk)];
  }
  int staging_of(const Place& place) const {
    return staging_of_value_[static_cast<std::size_t>(place.value)];
  }

  void add(StrandId strand, Step step, std::span<const Span> destinations,
           std::span<const Span> sources) {
    ++step_counts_[at(strand)];
    step.first_span = static_cast<int>(steps_.spans.size());
    step.destination_count = static_cast<int>(destinations.size());
    step.source_count = static_cast<int>(sources.size());
    steps_.spans.insert(steps_.spans.end(), destinations.begin(), destinations.end());
    steps_.spans.insert(steps_.spans.end(), sources.begin(), sources.end());
    steps_.steps.push_back({.strand = strand, .step = step});
  }

  /// Phases 2 and 3: a step of the direct schedule, in as many parts as its operands need.
  void add_step(int id) {
    const Step& step = index_.step(id);
    const int strand = index_.place[static_cast<std::size_t>(id)].strand;
    for (const int dependency : direct_.dependencies_of(step)) {
      const int earlier = new_step_[static_cast<std::size_t>(index_.number(strand, dependency))];
      if (earlier == kNone) continue;
      int& known_at = steps_.steps[static_cast<std::size_t>(earlier)].known_at;
      known_at = std::min(known_at, step_counts_[static_cast<std::size_t>(strand)]);
    }
    if (step.kind == StepKind::signal || step.kind == StepKind::wait) return;
    const std::vector<Part> parts = parts_of(id, step);
    if (is_asynchronous(step.kind) && parts.size() > 1) return add_collected(id, step, parts);
    for (const Part& part : parts) add_part(id, step, part.operands, part.chunks);
  }

  std::vector<Part> parts_of(int id, const Step& step) const {
    const Span& whole = direct_.spans[static_cast<std::size_t>(step.first_span)];
    std::vector<Part> parts;
    for (int chunk = 0; chunk < whole.chunk_count; ++chunk) {
      Operands operands = operands_of(id, step, chunk);
      if (parts.empty() || parts.back().operands != operands) {
        parts.push_back({std::move(operands), {whole.first_chunk + chunk, 0}});
      }
      ++parts.back().chunks.count;
    }
    return parts;
  }

  /// A message of what several workers have staged is put together first.
  void add_collected(int id, const Step& step, const std::vector<Part>& parts) {
    HYCOLL_ASSERT(step.kind == StepKind::send, "what is received lies in one buffer");
    const Span& whole = direct_.spans[static_cast<std::size_t>(step.first_span)];
    const ChunkRange chunks{whole.first_chunk, whole.chunk_count};
    const int strand = index_.place[static_cast<std::size_t>(id)].strand;
    const BufferId message =
        builder_.add_scratch(direct_.strands[static_cast<std::size_t>(strand)].worker, chunks);
    for (const Part& part : parts) {
      const Span destination = span_of(message, part.chunks);
      const Span source = span_of(part.operands.sources.front(), part.chunks);
      add(strand, {.kind = StepKind::copy}, std::span(&destination, 1), std::span(&source, 1));
    }
    add_part(id, step, {.destinations = {}, .sources = {message}}, chunks);
  }

  Operands operands_of(int id, const Step& step, int chunk) const {
    const int strand = index_.place[static_cast<std::size_t>(id)].strand;
    const int worker = direct_.strands[static_cast<std::size_t>(strand)].worker;
    Operands operands;
    int staging = kNone;
    for (int s = step.first_span; s < step.first_span + step.destination_count; ++s) {
      const int buffer = direct_.spans[static_cast<std::size_t>(s)].buffer;
      if (!flow_.is_member_buffer(buffer)) {
        operands.destinations.push_back(buffer);
        continue;
      }
      const Place& place = flow_.operand(s, chunk);
      if (flow_.is_kept(place)) operands.destinations.push_back(buffer);
      if (flow_.value(place).producer == id) staging = staging_of(place);
    }
    if (staging != kNone) operands.destinations.push_back(staging);
    if (operands.destinations.empty() && step.destination_count > 0) return {};
    for (int s = 0; s < step.source_count; ++s) {
      const int source = step.first_span + step.destination_count + s;
      const Span& span = direct_.spans[at(source)];
      const bool is_reachable = !flow_.is_member_buffer(span.buffer) ||
                                flow_.is_read_directly(worker, step, source, chunk);
      operands.sources.push_back(is_reachable ? span.buffer
                                              : staging_of(flow_.operand(source, chunk)));
    }
    return operands;
  }

  void add_part(int id, const Step& step, const Operands& operands, ChunkRange chunks) {
    if (operands.destinations.empty() && operands.sources.empty()) {
      HYCOLL_ASSERT(!is_asynchronous(step.kind), "what is received is used");
      return;
    }
    const auto spans_in = [&](const std::vector<int>& buffers) {
      std::vector<Span> spans;
      spans.reserve(buffers.size());
      for (const int buffer : buffers) {
        HYCOLL_ASSERT(buffer != kNone, "what others read is staged");
        spans.push_back(span_of(buffer, chunks));
      }
      return spans;
    };
    new_step_[static_cast<std::size_t>(id)] = static_cast<int>(steps_.steps.size());
    add(index_.place[static_cast<std::size_t>(id)].strand, step, spans_in(operands.destinations),
        spans_in(operands.sources));
  }

  /// Phase 4: every owner copies to its output what others have computed, as it becomes available.
  void copy_out() {
    struct Copy {
      int when;
      int source;
      ChunkRange chunks;
    };
    std::vector<int> when(static_cast<std::size_t>(index_.step_count()), 0);
    for (std::size_t time = 0; time < order_.size(); ++time) {
      when[static_cast<std::size_t>(order_[time])] = static_cast<int>(time);
    }
    for (const int member : direct_.part.members) {
      const int output = builder_.output(member);
      const ChunkRange all = builder_.output_chunks(member);
      std::vector<Copy> copies;
      for (int chunk = all.first; chunk < all.first + all.count; ++chunk) {
        const Place& place = flow_.result(output, chunk);
        if (flow_.is_kept(place)) continue;
        const Value& value = flow_.value(place);
        const int source = value.home == builder_.input(member) ? value.home : staging_of(place);
        const int time = value.producer < 0 ? -1 : when[static_cast<std::size_t>(value.producer)];
        const bool continues = !copies.empty() && copies.back().when == time &&
                               copies.back().source == source &&
                               copies.back().chunks.first + copies.back().chunks.count == chunk;
        if (!continues) copies.push_back({time, source, {chunk, 0}});
        ++copies.back().chunks.count;
      }
      std::ranges::stable_sort(copies, {}, &Copy::when);
      const StrandId strand = builder_.main_strand(direct_.shape.worker_of_member(member));
      for (const Copy& copy : copies) {
        const Span destination = span_of(output, copy.chunks);
        const Span source = span_of(copy.source, copy.chunks);
        add(strand, {.kind = StepKind::copy}, std::span(&destination, 1), std::span(&source, 1));
      }
    }
  }

  const Schedule& direct_;
  const verifier::Index& index_;
  std::span<const int> order_;
  ValueFlow flow_;
  ScheduleBuilder builder_;
  std::vector<int> staging_of_value_;
  DataSteps steps_;
  std::vector<int> step_counts_;  // per strand
  std::vector<int> new_step_;     // per step of the direct schedule; of a message its one part
};

/// Whether a worker touches buffers that it does not reach in this shape.
bool touches_foreign_buffers(const Schedule& schedule, const Shape& shape) {
  return std::ranges::any_of(schedule.strands, [&](const Strand& strand) {
    return std::ranges::any_of(strand.steps, [&](const Step& step) {
      const auto spans =
          std::span(schedule.spans)
              .subspan(static_cast<std::size_t>(step.first_span),
                       static_cast<std::size_t>(step.destination_count + step.source_count));
      return std::ranges::any_of(spans, [&](const Span& span) {
        const Buffer& buffer = schedule.buffer_of(span);
        return is_of_member(buffer.role) && !shape.reaches(strand.worker, buffer.owner);
      });
    });
  });
}

/// What one node does, which nobody but its own workers need to know: messages stay as they are.
UnsynchronisedSchedule stage_values(const Schedule& direct, const Shape& shape) {
  const verifier::Index index(direct);
  std::vector<int> order;
  HYCOLL_ASSERT(!verifier::order_of_part(index, order), "a schedule to be staged is correct");
  return StagedSchedule(index, order, shape).make();
}

Schedule staged_node(const Schedule& direct, const Shape& shape) {
  UnsynchronisedSchedule values = stage_values(direct, shape);
  return synchronise(std::move(values.builder), values.steps);
}

}  // namespace

bool crosses_processes(const Schedule& direct, const Processes& processes) {
  return touches_foreign_buffers(direct, direct.shape.with_processes(processes));
}

Schedule staged(const Schedule& direct, const Processes& processes) {
  const Shape shape = direct.shape.with_processes(processes);
  if (!touches_foreign_buffers(direct, shape)) {
    Schedule schedule = direct;
    schedule.shape = shape;
    return schedule;
  }
  return staged_throughout(direct, shape.processes());
}

Schedule staged_throughout(const Schedule& direct, const Processes& processes) {
  const Shape shape = direct.shape.with_processes(processes);
  if (direct.part.nodes.count == 1) return staged_node(direct, shape);
  std::vector<Schedule> nodes;
  for (const int node : direct.part.nodes) {
    nodes.push_back(staged_node(restricted_to(direct, only_node(node)), shape));
  }
  return joined(nodes);
}

}  // namespace hycoll
