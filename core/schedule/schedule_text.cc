#include "core/schedule/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "core/base/collective_traits.h"
#include "core/schedule/packs.h"

namespace hycoll {
namespace {

std::string plural(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string join_buffers(const Schedule& schedule, std::span<const Span> spans,
                         std::string_view separator) {
  std::string text;
  for (const Span& span : spans) {
    if (!text.empty()) text += separator;
    text += describe_buffer(schedule, span.buffer);
  }
  return text;
}

/// Its chunks as [first, end), several such ranges where they lie in a pack.
std::string list_chunks(const Schedule& schedule, const Span& span) {
  std::string text;
  for (int chunk = 0; chunk < span.chunk_count;) {
    const int first = chunk_at(schedule, span.first_chunk + chunk);
    int count = 1;
    while (chunk + count < span.chunk_count &&
           chunk_at(schedule, span.first_chunk + chunk + count) == first + count) {
      ++count;
    }
    text += fmt::format("{}[{}, {})", text.empty() ? "" : " ", first, first + count);
    chunk += count;
  }
  return text;
}

void append_strand(const Schedule& schedule, std::size_t strand, std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "    strand {}\n", strand);
  int number = 0;
  for (const Step& step : schedule.strands[strand].steps) {
    fmt::format_to(out, "      {:>4}  {}", number++, describe_step(schedule, step));
    const auto dependencies = schedule.dependencies_of(step);
    if (!dependencies.empty()) {
      fmt::format_to(out, "  (after {})", fmt::join(dependencies, ", "));
    }
    text += '\n';
  }
}

void append_worker(const Schedule& schedule, int node, int worker, std::string& text) {
  const Shape& shape = schedule.shape;
  text += fmt::format("  worker {}", worker);
  const int index = worker - shape.first_worker(node);
  if (index < shape.node(node).members) {
    text += fmt::format(", member {}", shape.first_member(node) + index);
  }
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    if (shape.leader(node, lane) == worker) text += fmt::format(", lane {}", lane);
  }
  text += '\n';
  for (std::size_t strand = 0; strand < schedule.strands.size(); ++strand) {
    if (schedule.strands[strand].worker == worker) append_strand(schedule, strand, text);
  }
}

std::string list_nodes(const Shape& shape) {
  std::string text;
  for (int n = 0; n < shape.node_count(); ++n) {
    const Node& node = shape.node(n);
    text += fmt::format("{}{}/{}", n == 0 ? "" : ", ", node.members, node.workers);
  }
  return text;
}

/// ", groups 4x2" where every node has the same; "" where all are flat.
std::string text_of_groups(const Shape& shape) {
  std::string text;
  for (const int node : shape.first_nodes()) {
    const std::string groups = to_text(shape.groups(node));
    if (text.empty()) text = groups;
    if (text != groups) return ", groups by node";
  }
  return shape.groups(0).is_flat() ? "" : ", groups " + text;
}

}  // namespace

std::string_view name_of(BufferRole role) noexcept {
  constexpr std::array<std::string_view, 6> names = {"input",   "output", "staging",
                                                     "scratch", "lines",  "stream"};
  return names[static_cast<std::size_t>(role)];
}

std::string_view name_of(Visibility visibility) noexcept {
  constexpr std::array<std::string_view, 2> names = {"direct", "staged"};
  return names[static_cast<std::size_t>(visibility)];
}

std::string to_text(const Shape& shape) {
  const Node& first = shape.node(0);
  std::string text = plural(shape.node_count(), "node");
  if (shape.node_runs().size() > 1) {
    text += fmt::format(" (members/workers {})", list_nodes(shape));
  } else {
    text += " x " + plural(first.members, "member");
    if (first.workers != first.members) text += fmt::format(" and {} workers", first.workers);
  }
  text +=
      ", " + plural(shape.lane_count(), "lane") + ", " + std::string(name_of(shape.visibility()));
  text += text_of_groups(shape);
  const bool shows_processes =
      shape.visibility() == Visibility::staged && !shape.processes().is_one_each();
  if (!shows_processes) return text;
  std::set<int> processes;
  for (int worker = 0; worker < shape.worker_count(); ++worker) {
    processes.insert(shape.process(worker));
  }
  return text + fmt::format(" between {} processes", processes.size());
}

std::string describe_call(const Schedule& schedule) {
  std::string text(schedule.collective.name);
  if (delivers_to_root(schedule.collective)) text += fmt::format(" to member {}", schedule.root);
  if (begins_at_root(schedule.collective)) text += fmt::format(" from member {}", schedule.root);
  return text + fmt::format(" '{}'", schedule.algorithm);
}

std::string describe_buffer(const Schedule& schedule, int buffer) {
  const Buffer& described = schedule.buffers[static_cast<std::size_t>(buffer)];
  const std::string text = fmt::format("{}({})", name_of(described.role), described.owner);
  return is_of_member(described.role) ? text : text + fmt::format("#{}", buffer);
}

std::string describe_step(const Schedule& schedule, const Step& step) {
  const auto destinations = schedule.destinations(step);
  const auto sources = schedule.sources(step);
  std::string text = fmt::format("{:<6}", name_of(step.kind));
  if (step.kind == StepKind::signal)
    return text + fmt::format("  flag {} = {}", step.flag, step.value);
  if (step.kind == StepKind::wait)
    return text + fmt::format("  flag {} >= {}", step.flag, step.value);
  const Span& span = destinations.empty() ? sources.front() : destinations.front();
  const std::string to = join_buffers(schedule, destinations, ", ");
  const std::string from =
      join_buffers(schedule, sources, step.kind == StepKind::reduce ? " op " : ", ");
  text += "  " + list_chunks(schedule, span) + "  ";
  switch (step.kind) {
    case StepKind::send:
      return text + fmt::format("{} -> node {}, lane {}, tag {}", from, step.peer_node, step.lane,
                                step.tag);
    case StepKind::recv:
      return text +
             fmt::format("{} <- node {}, lane {}, tag {}", to, step.peer_node, step.lane, step.tag);
    case StepKind::native:
      return text +
             fmt::format("{} <- all nodes' {}, lane {}, tag {}", to, from, step.lane, step.tag);
    default:
      return text + fmt::format("{} <- {}", to, from);
  }
}

std::string to_text(const Schedule& schedule, std::optional<int> node) {
  std::string text = fmt::format("{} on {}; {}\n", describe_call(schedule), to_text(schedule.shape),
                                 plural(schedule.chunk_count, "chunk"));
  for (const int n : schedule.part.nodes) {
    if (node && *node != n) continue;
    text +=
        fmt::format("node {}{}\n", n, schedule.shape.node(n).members == 0 ? ", aggregator" : "");
    const int first = schedule.shape.first_worker(n);
    for (int worker = first; worker < first + schedule.shape.node(n).workers; ++worker) {
      append_worker(schedule, n, worker, text);
    }
  }
  return text;
}

}  // namespace hycoll
