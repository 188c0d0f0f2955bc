#include "threading/program/program_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
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

bool holds_signals(const Schedule& frame, std::span<const Span> spans) {
  return std::ranges::any_of(
      spans, [&](const Span& span) { return carries_signals(frame.buffer_of(span).role); });
}

/// Of a step with lines or streams. Lines are written whole, by a copy with one destination.
void count_lines(const Schedule& frame, const Step& step, std::span<const Span> destinations,
                 std::span<const Span> sources, ProgramNeeds& needs) {
  const auto is_lines = [&](const Span& span) {
    return frame.buffer_of(span).role == BufferRole::lines;
  };
  for (const Span& span : destinations) {
    if (!is_lines(span)) continue;
    const bool whole = span.chunk_count == frame.buffer_of(span).chunk_count;
    const bool is_known = step.kind == StepKind::copy && whole && destinations.size() == 1;
    if (!is_known) needs.accesses_lines_otherwise = true;
  }
  const bool reads_lines = step.kind == StepKind::copy || step.kind == StepKind::reduce;
  if (!reads_lines && std::ranges::any_of(sources, is_lines)) needs.accesses_lines_otherwise = true;
}

/// A worker among those of the frame's part.
std::size_t own(const Schedule& frame, int worker) {
  return static_cast<std::size_t>(worker - frame.part.workers.first);
}

void count_flags(const Schedule& frame, const std::vector<bool>& is_arrival, ProgramNeeds& needs) {
  std::vector<int> cells(static_cast<std::size_t>(frame.part.workers.count), 0);
  for (std::size_t f = 0; f < frame.flags.size(); ++f) {
    if (is_arrival[f]) continue;
    needs.has_flags_or_staging = true;
    const auto writer = static_cast<std::size_t>(frame.flags[f].writer_strand);
    needs.flags = std::max(needs.flags, ++cells[own(frame, frame.strands[writer].worker)]);
  }
}

void count_buffers(const Schedule& frame, ProgramNeeds& needs) {
  std::vector<int> lines(static_cast<std::size_t>(frame.part.workers.count), 0);
  for (std::size_t b = 0; b < frame.buffers.size(); ++b) {
    const Buffer& buffer = frame.buffers[b];
    if (buffer.role == BufferRole::stream) needs.streams = static_cast<int>(b) + 1;
    if (buffer.role == BufferRole::staging || buffer.role == BufferRole::stream) {
      needs.has_flags_or_staging = true;
    }
    if (buffer.role != BufferRole::lines) continue;
    needs.lines_buffers = std::max(needs.lines_buffers, ++lines[own(frame, buffer.owner)]);
    needs.lines_chunks = std::max(needs.lines_chunks, buffer.chunk_count);
  }
}

std::vector<bool> arrival_flags(const Schedule& frame, const RaisedFlags& raised) {
  std::vector<bool> is_arrival(frame.flags.size(), false);
  for (std::size_t f = 0; f < std::min(frame.flags.size(), raised.times.size()); ++f) {
    const auto [node, strand] = frame.flags[f];
    const int worker = frame.strands[static_cast<std::size_t>(strand)].worker;
    const int index = worker - frame.shape.first_worker(node);
    const bool is_owners =
        strand == worker - frame.part.workers.first && index < frame.shape.node(node).members;
    is_arrival[f] = is_owners && raised.times[f] == 1 &&
                    std::cmp_equal(raised.first_raised[static_cast<std::size_t>(strand)], f);
  }
  return is_arrival;
}

template <class Element>
Element& grown_to(std::vector<Element>& elements, int index, const Element& fresh) {
  const auto at = static_cast<std::size_t>(index);
  if (elements.size() <= at) elements.resize(at + 1, fresh);
  return elements[at];
}

/// The bytes of the largest range of so many chunks. Which ones a node keeps in lines differs from
/// node to node, and balanced chunks differ by a cache line.
std::size_t most_bytes_of(int chunk_count, const ProgramExtent& extent) {
  const int first_count = std::min(chunk_count, extent.partition.chunk_count());
  // The first ones are the longest.
  if (extent.partition.is_balanced()) {
    return extent.partition.range(0, first_count).size() * extent.element_bytes;
  }
  std::size_t most = 0;
  for (int first = 0; first + chunk_count <= extent.partition.chunk_count(); ++first) {
    most = std::max(most, extent.partition.range(first, chunk_count).size());
  }
  return most * extent.element_bytes;
}

}  // namespace

void ProgramNeeds::add(const ProgramNeeds& other) {
  workers = std::max(workers, other.workers);
  flags = std::max(flags, other.flags);
  lines_buffers = std::max(lines_buffers, other.lines_buffers);
  streams = std::max(streams, other.streams);
  operands = std::max(operands, other.operands);
  tags = std::max(tags, other.tags);
  signals = std::max(signals, other.signals);
  lines_chunks = std::max(lines_chunks, other.lines_chunks);
  has_flags_or_staging |= other.has_flags_or_staging;
  accesses_lines_otherwise |= other.accesses_lines_otherwise;
  moves_several_blocks |= other.moves_several_blocks;
  has_natives_that_must_not_block |= other.has_natives_that_must_not_block;
}

void count_step(const Schedule& frame, const Step& step, std::span<const Span> destinations,
                std::span<const Span> sources, ProgramNeeds& needs) {
  needs.operands = std::max(
      {needs.operands, static_cast<int>(destinations.size()), static_cast<int>(sources.size())});
  if (is_asynchronous(step.kind)) needs.tags = std::max(needs.tags, step.tag + 1);
  const bool has_signals = holds_signals(frame, destinations) || holds_signals(frame, sources);
  if (has_signals) count_lines(frame, step, destinations, sources, needs);
  const bool is_in_one_piece = is_asynchronous(step.kind) || has_signals;
  if (is_in_one_piece && has_blocks(frame.collective) &&
      touches_several_blocks(frame, destinations, sources)) {
    needs.moves_several_blocks = true;
  }
}

void RaisedFlags::note(int strand, const Step& step) {
  const bool raises = step.kind == StepKind::signal;
  int& first = grown_to(first_raised, strand, kNothing);
  if (first == kNothing) first = raises ? step.flag : kNoFlag;
  if (raises) ++grown_to(times, step.flag, 0);
}

void NeedsReader::read(const Schedule& frame, int strand, const Step& step,
                       std::span<const Span> destinations, std::span<const Span> sources,
                       std::span<const int> /*dependencies*/) {
  StrandCounts& counts = grown_to(strands_, strand, {});
  if (counts.steps == 0 || step.kind == StepKind::signal) raised_.note(strand, step);
  ++counts.steps;
  if (step.kind == StepKind::signal) needs_.signals = std::max(needs_.signals, step.value);
  if (step.kind == StepKind::signal || step.kind == StepKind::wait) return;
  counts.spans += destinations.size() + sources.size();
  if (is_asynchronous(step.kind)) ++counts.asynchronous;
  if (step.kind == StepKind::native) ++counts.natives;
  count_step(frame, step, destinations, sources, needs_);
}

ProgramNeeds NeedsReader::needs(const Schedule& frame) const {
  ProgramNeeds needs = needs_;
  for (const int node : frame.part.nodes) {
    needs.workers = std::max(needs.workers, frame.shape.node(node).workers);
  }
  count_flags(frame, arrival_flags(frame, raised_), needs);
  count_buffers(frame, needs);
  needs.has_natives_that_must_not_block = !natives_may_block(frame, strands_);
  return needs;
}

ProgramNeeds needs_of(const Schedule& schedule) {
  NeedsReader reader;
  show_steps(schedule, reader);
  return reader.needs(schedule);
}

bool natives_may_block(const Schedule& frame, std::span<const StrandCounts> counts) {
  std::vector<int> strands_of_worker(static_cast<std::size_t>(frame.part.workers.count), 0);
  const auto strands_of = [&](std::size_t strand) -> int& {
    return strands_of_worker[own(frame, frame.strands[strand].worker)];
  };
  for (std::size_t s = 0; s < counts.size(); ++s) {
    if (counts[s].steps > 0) ++strands_of(s);
  }
  for (std::size_t s = 0; s < counts.size(); ++s) {
    if (counts[s].natives > 0 && strands_of(s) > 1) return false;
  }
  return true;
}

void require_within_limits(const ProgramNeeds& needs, const std::string& algorithm,
                           const ProgramExtent& extent) {
  const auto require = [&](bool holds, const char* what, std::size_t limit) {
    if (holds) return;
    throw Error(
        ErrorKind::unsupported,
        fmt::format("algorithm '{}' needs more {} than the executor has ({}); choose another "
                    "algorithm, fewer lanes or fewer segments",
                    algorithm, what, limit));
  };
  const auto require_at_most = [&](auto count, auto limit, const char* what) {
    require(std::cmp_less_equal(count, limit), what, static_cast<std::size_t>(limit));
  };
  require_at_most(needs.workers, kMostWorkers, "workers of one node");
  require_at_most(needs.flags, kFlagsPerWorker, "flags of one worker");
  require_at_most(needs.streams, kMostStreams, "streams");
  require_at_most(needs.lines_buffers, kLinesBuffersPerWorker, "lines buffers of one worker");
  if (needs.lines_chunks > 0) {
    require_at_most(most_bytes_of(needs.lines_chunks, extent), kMaximumLinesBytes,
                    "bytes in one lines buffer");
  }
  require_at_most(needs.operands, kMostOperands, "operands of one step");
  require_at_most(needs.tags, extent.tag_count, "tags");
  require_at_most(needs.signals, kMaximumSignals, "signals on one flag");
  require(!needs.accesses_lines_otherwise, "ways to access lines", 1);
  require(!extent.has_gaps || !needs.moves_several_blocks, "slices of several blocks at once", 0);
}

NodeMemory::Section memory_section_for(const ProgramNeeds& needs, const ProgramExtent& extent) {
  const bool is_compact = !needs.has_flags_or_staging &&
                          (needs.lines_chunks == 0 ||
                           most_bytes_of(needs.lines_chunks, extent) <= kMaximumCompactLinesBytes);
  return is_compact ? NodeMemory::Section::compact : NodeMemory::Section::rest;
}

std::vector<bool> arrival_flags(const Schedule& schedule) {
  RaisedFlags raised;
  for (std::size_t s = 0; s < schedule.strands.size(); ++s) {
    for (const Step& step : schedule.strands[s].steps) raised.note(static_cast<int>(s), step);
  }
  return arrival_flags(schedule, raised);
}

bool holds_all_blocks(const CollectiveTraits& collective, BufferRole role) {
  if (!has_blocks(collective)) return false;
  return (role == BufferRole::input && collective.input.extent != Extent::block) ||
         (role == BufferRole::output && collective.output.extent != Extent::block);
}

bool touches_several_blocks(const Schedule& frame, std::span<const Span> destinations,
                            std::span<const Span> sources) {
  const Span& chunks = destinations.empty() ? sources.front() : destinations.front();
  const int last = chunks.first_chunk + chunks.chunk_count - 1;
  if (block_of(frame, chunks.first_chunk) == block_of(frame, last)) return false;
  const auto holds_them = [&](const Span& span) {
    return holds_all_blocks(frame.collective, frame.buffer_of(span).role);
  };
  return std::ranges::any_of(destinations, holds_them) || std::ranges::any_of(sources, holds_them);
}

bool touches_signals(const Schedule& schedule, const Step& step) {
  return holds_signals(schedule, schedule.destinations(step)) ||
         holds_signals(schedule, schedule.sources(step));
}

}  // namespace hycoll
