#include <fmt/format.h>

#include <vector>

#include "core/base/collective_traits.h"
#include "core/schedule/packs.h"
#include "core/schedule/pairs.h"
#include "core/schedule/schedule_text.h"
#include "core/verifier/structure.h"

namespace hycoll::verifier {
namespace {

/// The numbers of spans that a kind of step can have.
struct SpanCounts {
  int destinations;
  int sources;
  bool or_more_destinations = false;
  bool or_more_sources = false;
};

SpanCounts span_counts_of(StepKind kind) {
  switch (kind) {
    case StepKind::send:
      return {0, 1};
    case StepKind::recv:
      return {1, 0};
    case StepKind::reduce:
      return {1, 1, true, true};
    case StepKind::copy:
      return {1, 1, true, true};
    case StepKind::native:
      return {1, 1};
    case StepKind::signal:
    case StepKind::wait:
      return {0, 0};
  }
  return {0, 0};
}

class SpanCheck {
 public:
  explicit SpanCheck(const Schedule& schedule) : schedule_(schedule) {
    for (const Buffer& buffer : schedule.buffers) {
      buffer_node_.push_back(node_of_buffer(schedule.shape, buffer));
      first_line_.push_back(line_written_.size());
      if (carries_signals(buffer.role)) {
        line_written_.resize(line_written_.size() + static_cast<std::size_t>(buffer.chunk_count));
      }
    }
  }

  Problem check_step(const Step& step, const StepContext& context) {
    if (step.kind > StepKind::native) {
      return fmt::format("there is no kind {}", static_cast<int>(step.kind));
    }
    if (Problem problem = check_counts(step); !problem.empty()) return problem;
    const bool is_combined = step.kind == StepKind::reduce || step.kind == StepKind::native;
    if (is_combined && !combines(schedule_.collective)) {
      return fmt::format("has no operator, for {} combines nothing", schedule_.collective.name);
    }
    const std::span<const Span> destinations = schedule_.destinations(step);
    const std::span<const Span> sources = schedule_.sources(step);
    if (destinations.empty() && sources.empty()) return {};
    const Span& first = destinations.empty() ? sources.front() : destinations.front();
    for (std::size_t i = 0; i < destinations.size(); ++i) {
      Problem problem = check_span(step, context, destinations[i], first);
      if (problem.empty()) problem = check_write(context, destinations, i);
      if (!problem.empty()) return problem;
    }
    if (collects(step)) return check_collected(step, context, first, sources);
    for (const Span& source : sources) {
      Problem problem = check_span(step, context, source, first);
      if (!problem.empty()) return problem;
    }
    return {};
  }

 private:
  Problem check_collected(const Step& step, const StepContext& context, const Span& destination,
                          std::span<const Span> sources) const {
    int done = 0;
    for (const Span& source : sources) {
      if (source.chunk_count < 1 || source.chunk_count > destination.chunk_count - done) {
        return fmt::format("collects {} chunks after {} in a destination of {}", source.chunk_count,
                           done, destination.chunk_count);
      }
      Problem problem =
          check_span(step, context, source, collected_part(destination, done, source));
      if (!problem.empty()) return problem;
      if (carries_signals(schedule_.buffer_of(source).role)) {
        return fmt::format("collects from {} {}, which carry signals",
                           name_of(schedule_.buffer_of(source).role), source.buffer);
      }
      done += source.chunk_count;
    }
    if (done == destination.chunk_count) return {};
    return fmt::format("collects {} chunks in a destination of {}", done, destination.chunk_count);
  }

  Problem check_counts(const Step& step) const {
    const SpanCounts expected = span_counts_of(step.kind);
    const bool fits = (step.destination_count == expected.destinations ||
                       (expected.or_more_destinations && step.destination_count > 1)) &&
                      (step.source_count == expected.sources ||
                       (expected.or_more_sources && step.source_count > 1));
    if (!fits) {
      return fmt::format("has {} destinations and {} sources, expected {}{} and {}{}",
                         step.destination_count, step.source_count, expected.destinations,
                         expected.or_more_destinations ? " or more" : "", expected.sources,
                         expected.or_more_sources ? " or more" : "");
    }
    if (collects(step) && !has_pairs(schedule_.collective)) {
      return fmt::format("collects {} sources, which only collectives with pairs do",
                         step.source_count);
    }
    if (collects(step) && step.destination_count > 1) {
      return fmt::format("collects {} sources in {} destinations, expected 1", step.source_count,
                         step.destination_count);
    }
    const std::size_t total = schedule_.spans.size();
    if (is_within(step.first_span, step.destination_count, total) &&
        is_within(step.first_span + step.destination_count, step.source_count, total)) {
      return {};
    }
    return fmt::format("has spans from {} on that lie outside the schedule's {}", step.first_span,
                       total);
  }

  Problem check_span(const Step& step, const StepContext& context, const Span& span,
                     const Span& first) const {
    if (!in_range(span.buffer, schedule_.buffers.size())) {
      return fmt::format("names buffer {} of {}", span.buffer, schedule_.buffers.size());
    }
    const Buffer& buffer = schedule_.buffers[static_cast<std::size_t>(span.buffer)];
    if (!holds(schedule_, buffer, span)) {
      return fmt::format("names {} chunks from {} on of buffer {}, which has {} from {} on",
                         span.chunk_count, span.first_chunk, span.buffer, buffer.chunk_count,
                         buffer.first_chunk);
    }
    // The first one is known to name numbers that there are.
    if (!hold_the_same(schedule_, span, first)) {
      return fmt::format("mixes {} chunks from {} on with {} from {} on", first.chunk_count,
                         first.first_chunk, span.chunk_count, span.first_chunk);
    }
    return check_visible(step, context, span);
  }

  Problem check_visible(const Step& step, const StepContext& context, const Span& span) const {
    const Buffer& buffer = schedule_.buffers[static_cast<std::size_t>(span.buffer)];
    const int node = buffer_node_[static_cast<std::size_t>(span.buffer)];
    if (node != context.node) return fmt::format("touches buffer {} of node {}", span.buffer, node);
    switch (buffer.role) {
      case BufferRole::input:
      case BufferRole::output:
        if (schedule_.shape.reaches(context.worker, buffer.owner)) return {};
        return fmt::format("touches the {} of member {}, which is staged: only its process sees it",
                           name_of(buffer.role), buffer.owner);
      case BufferRole::scratch:
        if (buffer.owner == context.worker) return {};
        return fmt::format("touches the scratch of worker {}", buffer.owner);
      case BufferRole::lines:
        if (is_asynchronous(step.kind)) {
          return fmt::format("touches lines {}, which only a copy or a reduce may do", span.buffer);
        }
        if (owns_member(context)) return {};
        return fmt::format("touches lines {}, which only workers with a member may do",
                           span.buffer);
      case BufferRole::stream:
        if (step.kind == StepKind::copy && step.destination_count == 1 && owns_member(context)) {
          return {};
        }
        return fmt::format(
            "touches stream {}, which only copies to one destination by workers with a member may",
            span.buffer);
      case BufferRole::staging:
        return {};
    }
    return {};
  }

  bool owns_member(const StepContext& context) const {
    const Shape& shape = schedule_.shape;
    return context.worker - shape.first_worker(context.node) < shape.node(context.node).members;
  }

  Problem check_write(const StepContext& context, std::span<const Span> destinations,
                      std::size_t i) {
    const Span& span = destinations[i];
    for (const Span& earlier : destinations.first(i)) {
      if (earlier.buffer == span.buffer) return fmt::format("writes buffer {} twice", span.buffer);
    }
    const Buffer& buffer = schedule_.buffers[static_cast<std::size_t>(span.buffer)];
    if (buffer.role == BufferRole::input) {
      return fmt::format("writes the input of member {}", buffer.owner);
    }
    if (!carries_signals(buffer.role)) return {};
    if (buffer.owner != context.worker) {
      return fmt::format("writes {} {}, which only worker {} may do", name_of(buffer.role),
                         span.buffer, buffer.owner);
    }
    const std::size_t first = first_line_[static_cast<std::size_t>(span.buffer)] +
                              static_cast<std::size_t>(span.first_chunk - buffer.first_chunk);
    for (std::size_t line = first; line < first + static_cast<std::size_t>(span.chunk_count);
         ++line) {
      if (line_written_[line]) {
        return fmt::format("writes {} {}, which have been written before in the same run",
                           name_of(buffer.role), span.buffer);
      }
      line_written_[line] = true;
    }
    return {};
  }

  const Schedule& schedule_;
  std::vector<int> buffer_node_;
  std::vector<std::size_t> first_line_;  // per buffer, into line_written_
  std::vector<bool> line_written_;       // per chunk of lines and streams
};

}  // namespace

std::optional<Finding> check_spans(const Schedule& schedule) {
  SpanCheck check(schedule);
  return first_problem(schedule, [&](const Step& step, const StepContext& context) {
    return check.check_step(step, context);
  });
}

}  // namespace hycoll::verifier
