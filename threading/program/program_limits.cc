#include "threading/program/program_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"

namespace hycoll {
namespace {

/// The largest value of what an instruction or operand keeps.
template <class Field>
constexpr std::size_t largest() {
  return std::numeric_limits<Field>::max();
}
constexpr std::size_t kMostWorkers = largest<decltype(Operand::index)>();
constexpr std::size_t kMostOperands = largest<decltype(Instruction::source_count)>();
constexpr std::size_t kMostStreams = std::size_t{1} << kStreamBits;
static_assert(kMostOperands == largest<decltype(Instruction::destination_count)>() &&
              kMostOperands == largest<decltype(Instruction::lines_source_count)>());
static_assert(kMostStreams <= largest<decltype(Operand::lines_buffer)>() + 1);

class LimitsCheck {
 public:
  explicit LimitsCheck(const LimitsQuery& query) : query_(query), schedule_(query.schedule) {}

  void run() const {
    check_workers();
    check_flags();
    check_buffers();
    for (const Strand& strand : schedule_.strands) {
      for (const Step& step : strand.steps) check_step(step);
    }
  }

 private:
  /// A worker among those of the part.
  std::size_t own(int worker) const {
    return static_cast<std::size_t>(worker - schedule_.part.workers.first);
  }

  void check_workers() const {
    for (const int node : schedule_.part.nodes) {
      require_at_most(schedule_.shape.node(node).workers, kMostWorkers, "workers of one node");
    }
  }

  void check_flags() const {
    const std::vector<bool> is_arrival = arrival_flags(schedule_);
    std::vector<int> cells(static_cast<std::size_t>(schedule_.part.workers.count), 0);
    for (std::size_t f = 0; f < schedule_.flags.size(); ++f) {
      if (is_arrival[f]) continue;
      const auto writer = static_cast<std::size_t>(schedule_.flags[f].writer_strand);
      require_at_most(++cells[own(schedule_.strands[writer].worker)], kFlagsPerWorker,
                      "flags of one worker");
    }
  }

  void check_buffers() const {
    std::vector<int> lines(static_cast<std::size_t>(schedule_.part.workers.count), 0);
    for (std::size_t b = 0; b < schedule_.buffers.size(); ++b) {
      const Buffer& buffer = schedule_.buffers[b];
      if (buffer.role == BufferRole::stream) require_at_most(b + 1, kMostStreams, "streams");
      if (buffer.role != BufferRole::lines) continue;
      require_at_most(++lines[own(buffer.owner)], kLinesBuffersPerWorker,
                      "lines buffers of one worker");
      const std::size_t size_bytes =
          query_.partition.range(buffer.first_chunk, buffer.chunk_count).size() *
          query_.element_bytes;
      require_at_most(size_bytes, kMaximumLinesBytes, "bytes in one lines buffer");
    }
  }

  void check_step(const Step& step) const {
    require_at_most(std::max(step.destination_count, step.source_count), kMostOperands,
                    "operands of one step");
    if (is_asynchronous(step.kind)) require_at_most(step.tag + 1, query_.tag_count, "tags");
    if (step.kind == StepKind::signal) {
      require_at_most(step.value, kMaximumSignals, "signals on one flag");
    }
    if (step.kind == StepKind::signal || step.kind == StepKind::wait) return;
    check_lines(step);
    const bool is_whole = is_asynchronous(step.kind) || touches_signals(schedule_, step);
    const bool is_cut = query_.has_gaps && touches_several_blocks(schedule_, step);
    require(!is_whole || !is_cut, "slices of several blocks at once", 0);
  }

  /// Lines are written whole, by a copy with one destination.
  void check_lines(const Step& step) const {
    const auto spans =
        std::span(schedule_.spans)
            .subspan(static_cast<std::size_t>(step.first_span),
                     static_cast<std::size_t>(step.destination_count + step.source_count));
    for (std::size_t s = 0; s < spans.size(); ++s) {
      const Buffer& buffer = schedule_.buffers[static_cast<std::size_t>(spans[s].buffer)];
      if (buffer.role != BufferRole::lines) continue;
      const bool written = std::cmp_less(s, step.destination_count);
      const bool whole = spans[s].chunk_count == buffer.chunk_count;
      const bool data_step =
          step.kind == StepKind::copy || (step.kind == StepKind::reduce && !written);
      require(data_step && (!written || (whole && step.destination_count == 1)),
              "ways to access lines", 1);
    }
  }

  template <class Count, class Limit>
  void require_at_most(Count count, Limit limit, const char* what) const {
    require(std::cmp_less_equal(count, limit), what, static_cast<std::size_t>(limit));
  }

  void require(bool holds, const char* what, std::size_t limit) const {
    if (holds) return;
    throw Error(
        ErrorKind::unsupported,
        fmt::format("algorithm '{}' needs more {} than the executor has ({}); choose another "
                    "algorithm, fewer lanes or fewer segments",
                    schedule_.algorithm, what, limit));
  }

  const LimitsQuery& query_;
  const Schedule& schedule_;
};

}  // namespace

void require_within_limits(const LimitsQuery& query) { LimitsCheck(query).run(); }

std::vector<bool> arrival_flags(const Schedule& schedule) {
  std::vector<int> signals(schedule.flags.size(), 0);
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      if (step.kind == StepKind::signal) ++signals[static_cast<std::size_t>(step.flag)];
    }
  }
  std::vector<bool> is_arrival(schedule.flags.size(), false);
  for (std::size_t f = 0; f < schedule.flags.size(); ++f) {
    const auto [node, strand] = schedule.flags[f];
    const Strand& writer = schedule.strands[static_cast<std::size_t>(strand)];
    const int index = writer.worker - schedule.shape.first_worker(node);
    if (signals[f] != 1 || strand != writer.worker - schedule.part.workers.first ||
        index >= schedule.shape.node(node).members) {
      continue;
    }
    const Step& first = writer.steps.front();
    is_arrival[f] = first.kind == StepKind::signal && std::cmp_equal(first.flag, f);
  }
  return is_arrival;
}

bool holds_all_blocks(const CollectiveTraits& collective, BufferRole role) {
  if (!has_blocks(collective)) return false;
  return (role == BufferRole::input && collective.input.extent == Extent::vector) ||
         (role == BufferRole::output && collective.output.extent == Extent::vector);
}

bool touches_several_blocks(const Schedule& schedule, const Step& step) {
  const Span& chunks = schedule.spans[static_cast<std::size_t>(step.first_span)];
  const int last = chunks.first_chunk + chunks.chunk_count - 1;
  if (block_of(schedule, chunks.first_chunk) == block_of(schedule, last)) return false;
  const auto holds_them = [&](const Span& span) {
    return holds_all_blocks(schedule.collective, schedule.buffer_of(span).role);
  };
  return std::ranges::any_of(schedule.destinations(step), holds_them) ||
         std::ranges::any_of(schedule.sources(step), holds_them);
}

bool touches_signals(const Schedule& schedule, const Step& step) {
  const auto is_signal = [&](const Span& span) {
    return carries_signals(schedule.buffers[static_cast<std::size_t>(span.buffer)].role);
  };
  return std::ranges::any_of(schedule.destinations(step), is_signal) ||
         std::ranges::any_of(schedule.sources(step), is_signal);
}

}  // namespace hycoll
