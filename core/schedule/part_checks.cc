#include "core/schedule/part_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/packs.h"

namespace hycoll {
namespace {

/// The numbers that buffers, strands and flags of one schedule have in another one; kElsewhere for
/// those that it does not have.
struct Renumbering {
  std::vector<int> buffers;
  std::vector<int> in_packs;  ///< By buffer: what is added to numbers in it.
  std::vector<int> strands;
  std::vector<int> flags;
};

/// Appends the steps of a strand, with what they refer to.
void append_steps(const Schedule& from, const Strand& strand, const Renumbering& numbers,
                  Schedule& to, Strand& into) {
  for (const Step& step : strand.steps) {
    Step& copy = into.steps.emplace_back(step);
    copy.first_span = static_cast<int>(to.spans.size());
    copy.first_dependency = static_cast<int>(to.dependencies.size());
    if (step.kind == StepKind::signal || step.kind == StepKind::wait)
      copy.flag = numbers.flags[static_cast<std::size_t>(step.flag)];
    for (int s = 0; s < step.destination_count + step.source_count; ++s) {
      Span span = from.spans[static_cast<std::size_t>(step.first_span + s)];
      span.first_chunk += numbers.in_packs[static_cast<std::size_t>(span.buffer)];
      span.buffer = numbers.buffers[static_cast<std::size_t>(span.buffer)];
      to.spans.push_back(span);
    }
    for (const int dependency : from.dependencies_of(step)) to.dependencies.push_back(dependency);
  }
}

template <class Kind>
int first_difference(const std::vector<Kind>& one, const std::vector<Kind>& other) {
  const auto found = std::ranges::mismatch(one, other);
  return static_cast<int>(found.in1 - one.begin());
}

/// All but buffers, flags and steps.
Schedule frame_of(const Schedule& schedule, const ShapePart& part) {
  return {.collective = schedule.collective,
          .algorithm = schedule.algorithm,
          .shape = schedule.shape,
          .chunk_count = schedule.chunk_count,
          .root = schedule.root,
          .part = part,
          .buffers = {},
          .flags = {},
          .strands = {},
          .spans = {},
          .packed = {},
          .dependencies = {}};
}

bool belongs_to(const Buffer& buffer, const ShapePart& part) {
  if (buffer.role == BufferRole::staging) return part.nodes.holds(buffer.owner);
  return (is_of_member(buffer.role) ? part.members : part.workers).holds(buffer.owner);
}

/// Adds a buffer of another schedule, that is no member's; of a pack with its chunks, under the
/// next numbers. Notes its number, and how those in it differ.
void append_buffer(const Schedule& from, const Buffer& buffer, Schedule& to, Renumbering& numbers) {
  numbers.buffers.push_back(static_cast<int>(to.buffers.size()));
  numbers.in_packs.push_back(is_pack(from, buffer) ? number_count(to) - buffer.first_chunk : 0);
  const int difference = numbers.in_packs.back();
  if (is_pack(from, buffer)) {
    auto next =
        std::ranges::lower_bound(from.packed, buffer.first_chunk, {}, &PackedChunks::first_number);
    const int end = buffer.first_chunk + buffer.chunk_count;
    for (; next != from.packed.end() && next->first_number < end; ++next) {
      to.packed.push_back({next->first_number + difference, next->chunks});
    }
  }
  const int shares_with =
      buffer.shares_with < 0 ? -1 : numbers.buffers[static_cast<std::size_t>(buffer.shares_with)];
  to.buffers.push_back({buffer.role, buffer.owner, buffer.first_chunk + difference,
                        buffer.chunk_count, shares_with});
}

/// Adds a part to a schedule that has all members' buffers, and all workers' main strands.
void append_part(const Schedule& part, Schedule& to) {
  Renumbering numbers;
  for (const Buffer& buffer : part.buffers) {
    if (!is_of_member(buffer.role)) {
      append_buffer(part, buffer, to, numbers);
      continue;
    }
    numbers.buffers.push_back(buffer.role == BufferRole::input ? to.input(buffer.owner)
                                                               : to.output(buffer.owner));
    numbers.in_packs.push_back(0);
  }
  for (std::size_t s = 0; s < part.strands.size(); ++s) {
    const int worker = part.strands[s].worker;
    const bool is_main = std::cmp_less(s, part.part.workers.count);
    numbers.strands.push_back(is_main ? worker - to.part.workers.first
                                      : static_cast<int>(to.strands.size()));
    if (!is_main) to.strands.push_back({worker, {}});
  }
  for (const Flag& flag : part.flags) {
    numbers.flags.push_back(static_cast<int>(to.flags.size()));
    to.flags.push_back({flag.node, numbers.strands[static_cast<std::size_t>(flag.writer_strand)]});
  }
  for (std::size_t s = 0; s < part.strands.size(); ++s) {
    append_steps(part, part.strands[s], numbers, to,
                 to.strands[static_cast<std::size_t>(numbers.strands[s])]);
  }
}

std::vector<int> as_they_are(std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// A part with the steps of one worker only.
Schedule with_steps_of(const Schedule& part, int worker) {
  Schedule own = frame_of(part, part.part);
  own.buffers = part.buffers;
  own.packed = part.packed;
  own.flags = part.flags;
  const Renumbering same{.buffers = as_they_are(part.buffers.size()),
                         .in_packs = std::vector<int>(part.buffers.size(), 0),
                         .strands = as_they_are(part.strands.size()),
                         .flags = as_they_are(part.flags.size())};
  for (const Strand& strand : part.strands) {
    Strand& into = own.strands.emplace_back(Strand{strand.worker, {}});
    if (strand.worker == worker) append_steps(part, strand, same, own, into);
  }
  return own;
}

}  // namespace

Schedule restricted_to(const Schedule& schedule, NumberRange nodes) {
  Schedule part = frame_of(schedule, part_of(schedule.shape, nodes));
  Renumbering numbers;
  for (const Buffer& buffer : schedule.buffers) {
    if (belongs_to(buffer, part.part)) {
      append_buffer(schedule, buffer, part, numbers);
    } else {
      numbers.buffers.push_back(kElsewhere);
      numbers.in_packs.push_back(0);
    }
  }
  for (const Strand& strand : schedule.strands) {
    const bool is_kept = part.part.workers.holds(strand.worker);
    numbers.strands.push_back(is_kept ? static_cast<int>(part.strands.size()) : kElsewhere);
    if (is_kept) part.strands.push_back({strand.worker, {}});
  }
  for (const Flag& flag : schedule.flags) {
    const int writer = numbers.strands[static_cast<std::size_t>(flag.writer_strand)];
    numbers.flags.push_back(writer >= 0 ? static_cast<int>(part.flags.size()) : kElsewhere);
    if (writer >= 0) part.flags.push_back({flag.node, writer});
  }
  for (std::size_t s = 0; s < schedule.strands.size(); ++s) {
    const int kept = numbers.strands[s];
    if (kept < 0) continue;
    append_steps(schedule, schedule.strands[s], numbers, part,
                 part.strands[static_cast<std::size_t>(kept)]);
  }
  return part;
}

std::optional<std::string> check_parts(const Schedule& whole,
                                       const std::function<Schedule(NumberRange nodes)>& generate) {
  for (const int node : whole.part.nodes) {
    const Schedule expected = restricted_to(whole, only_node(node));
    // Restricted, too: spans stand in the order of the strands then.
    const Schedule part = restricted_to(generate(only_node(node)), only_node(node));
    if (part == expected) continue;
    const auto differs = [&](std::string_view what, int at) {
      return fmt::format("the part of node {} is not what the whole has there: {} {} differs", node,
                         what, at);
    };
    if (part.buffers != expected.buffers) {
      return differs("buffer", first_difference(part.buffers, expected.buffers));
    }
    if (part.flags != expected.flags) {
      return differs("flag", first_difference(part.flags, expected.flags));
    }
    if (part.packed != expected.packed) {
      return differs("packed range", first_difference(part.packed, expected.packed));
    }
    return differs("strand", first_difference(part.strands, expected.strands));
  }
  return {};
}

std::optional<std::string> check_workers(
    const Schedule& part, const std::function<Schedule(NumberRange workers)>& generate) {
  for (const int worker : part.part.workers) {
    const Schedule expected = with_steps_of(part, worker);
    const Schedule own = with_steps_of(generate({.first = worker, .count = 1}), worker);
    if (own == expected) continue;
    const auto differs = [&](std::string_view what, int at) {
      return fmt::format("what worker {} does is not what its node has there: {} {} differs",
                         worker, what, at);
    };
    if (own.buffers != expected.buffers) {
      return differs("buffer", first_difference(own.buffers, expected.buffers));
    }
    if (own.flags != expected.flags) {
      return differs("flag", first_difference(own.flags, expected.flags));
    }
    return differs("strand", first_difference(own.strands, expected.strands));
  }
  return {};
}

Schedule joined(std::span<const Schedule> parts) {
  HYCOLL_ASSERT(!parts.empty(), "a schedule has nodes");
  const NumberRange first = parts.front().part.nodes;
  const NumberRange last = parts.back().part.nodes;
  const NumberRange nodes{first.first, last.first + last.count - first.first};
  Schedule whole = frame_of(parts.front(), part_of(parts.front().shape, nodes));
  const auto add_member_buffers = [&](BufferRole role) {
    for (const Schedule& part : parts) {
      for (const Buffer& buffer : part.buffers) {
        if (buffer.role == role) whole.buffers.push_back(buffer);
      }
    }
  };
  add_member_buffers(BufferRole::input);
  add_member_buffers(BufferRole::output);
  for (const int worker : whole.part.workers) whole.strands.push_back({worker, {}});
  for (const Schedule& part : parts) append_part(part, whole);
  return whole;
}

}  // namespace hycoll
