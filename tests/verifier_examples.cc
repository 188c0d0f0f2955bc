#include "tests/verifier_examples.h"

#include <utility>

#include "core/builder.h"

namespace hycoll::testing {
namespace {

ScheduleBuilder make_builder(std::string name, Shape shape, int chunk_count) {
  return ScheduleBuilder(Collective::allreduce, std::move(name), std::move(shape), chunk_count);
}

std::vector<Span> spans_of(const std::vector<BufferId>& buffers, ChunkRange chunks) {
  std::vector<Span> spans;
  for (const BufferId buffer : buffers) spans.push_back(span_of(buffer, chunks));
  return spans;
}

}  // namespace

Schedule central_example(int member_count) {
  ScheduleBuilder builder = make_builder("central", Shape::uniform(1, member_count, 1), 2);
  std::vector<Span> inputs;
  std::vector<Span> outputs;
  for (int member = 0; member < member_count; ++member) {
    inputs.push_back(span_of(builder.input(member), builder.all_chunks()));
    outputs.push_back(span_of(builder.output(member), builder.all_chunks()));
    if (member == 0) continue;
    const FlagId arrived = builder.add_flag(member);
    builder.signal(member, arrived);
    builder.wait(0, arrived);
  }
  builder.reduce(0, outputs, inputs);
  if (member_count == 1) return std::move(builder).finish();
  const FlagId done = builder.add_flag(0);
  builder.signal(0, done);
  for (int member = 1; member < member_count; ++member) builder.wait(member, done);
  return std::move(builder).finish();
}

Schedule staged_example(int member_count) {
  ScheduleBuilder builder =
      make_builder("staged", Shape::uniform(1, member_count, 1, Visibility::staged), 1);
  const ChunkRange all = builder.all_chunks();
  std::vector<BufferId> staging;
  std::vector<FlagId> flags;
  for (int member = 0; member < member_count; ++member) {
    staging.push_back(builder.add_staging(0, all));
    flags.push_back(builder.add_flag(member));
    builder.copy(member, span_of(staging.back(), all), span_of(builder.input(member), all));
    builder.signal(member, flags.back());
  }
  const auto wait_for_others = [&](int member, int value) {
    for (int other = 0; other < member_count; ++other) {
      if (other != member) builder.wait(member, flags[static_cast<std::size_t>(other)], value);
    }
  };
  for (int member = 0; member < member_count; ++member) {
    wait_for_others(member, 1);
    const Span output = span_of(builder.output(member), all);
    builder.reduce(member, std::span(&output, 1), spans_of(staging, all));
    builder.signal(member, flags[static_cast<std::size_t>(member)]);
  }
  for (int member = 0; member < member_count; ++member) wait_for_others(member, 2);
  return std::move(builder).finish();
}

Schedule lines_example(int member_count) {
  ScheduleBuilder builder = make_builder("lines", Shape::uniform(1, member_count, 1), 1);
  const ChunkRange all = builder.all_chunks();
  std::vector<BufferId> lines;
  for (int member = 0; member < member_count; ++member) {
    lines.push_back(builder.add_lines(member, all));
    builder.copy(member, span_of(lines.back(), all), span_of(builder.input(member), all));
  }
  for (int member = 0; member < member_count; ++member) {
    const Span output = span_of(builder.output(member), all);
    builder.reduce(member, std::span(&output, 1), spans_of(lines, all));
  }
  return std::move(builder).finish();
}

Schedule exchange_example() {
  ScheduleBuilder builder = make_builder("exchange", Shape::uniform(2, 1, 1), 1);
  const ChunkRange all = builder.all_chunks();
  for (int node = 0; node < 2; ++node) {
    const Span received = span_of(builder.add_scratch(node, all), all);
    const Span input = span_of(builder.input(node), all);
    const Span output = span_of(builder.output(node), all);
    builder.recv(node, 0, 1 - node, received);
    builder.send(node, 0, 1 - node, input);
    if (node == 0) {
      builder.reduce(node, {output}, {input, received});
    } else {
      builder.reduce(node, {output}, {received, input});
    }
  }
  return std::move(builder).finish();
}

Schedule chain_example(int node_count) {
  constexpr int kSegments = 2;
  ScheduleBuilder builder = make_builder("chain", Shape::uniform(node_count, 1, 1), kSegments);
  for (int node = 0; node < node_count; ++node) {
    const BufferId scratch = builder.add_scratch(node, builder.all_chunks());
    const bool is_first = node == 0;
    const bool is_last = node + 1 == node_count;
    const BufferId sum = is_first ? builder.input(node) : builder.output(node);
    if (!is_first) {
      for (int s = 0; s < kSegments; ++s) {
        builder.recv(node, 0, node - 1, span_of(scratch, {s, 1}));
      }
    }
    for (int s = 0; s < kSegments; ++s) {
      const Span received = span_of(scratch, {s, 1});
      if (!is_first) {
        builder.reduce(node, {span_of(sum, {s, 1})},
                       {received, span_of(builder.input(node), {s, 1})});
      }
      if (!is_last) builder.send(node, 0, node + 1, span_of(sum, {s, 1}));
    }
    for (int s = 0; s < kSegments; ++s) {
      const Span output = span_of(builder.output(node), {s, 1});
      if (!is_last) builder.recv(node, 0, node + 1, output);
      if (!is_first) builder.send(node, 0, node - 1, output);
    }
  }
  return std::move(builder).finish();
}

Schedule strands_example() {
  ScheduleBuilder builder = make_builder("strands", Shape::uniform(2, 1, 2), 2);
  for (int node = 0; node < 2; ++node) {
    const BufferId scratch = builder.add_scratch(node, builder.all_chunks());
    for (int lane = 0; lane < 2; ++lane) {
      const StrandId strand = lane == 0 ? builder.main_strand(node) : builder.add_strand(node);
      const Span received = span_of(scratch, {lane, 1});
      const Span output = span_of(builder.output(node), {lane, 1});
      const Span input = span_of(builder.input(node), {lane, 1});
      // Lane 0 exchanges, on lane 1 node 0 does the work.
      if (lane == 0 || node == 0) builder.recv(strand, lane, 1 - node, received);
      if (lane == 0 || node == 1) builder.send(strand, lane, 1 - node, input);
      if (node == 0) builder.reduce(strand, {output}, {input, received});
      if (node == 1 && lane == 0) builder.reduce(strand, {output}, {received, input});
      if (lane == 1 && node == 0) builder.send(strand, lane, 1 - node, output);
      if (lane == 1 && node == 1) builder.recv(strand, lane, 1 - node, output);
    }
  }
  return std::move(builder).finish();
}

Schedule native_example(int node_count) {
  ScheduleBuilder builder = make_builder("native", Shape::uniform(node_count, 2, 1), 1);
  const ChunkRange all = builder.all_chunks();
  for (int node = 0; node < node_count; ++node) {
    const int first = 2 * node;
    const int second = first + 1;
    const FlagId arrived = builder.add_flag(second);
    const FlagId done = builder.add_flag(first);
    const Span sum = span_of(builder.add_scratch(first, all), all);
    const Span result = span_of(builder.output(first), all);
    builder.signal(second, arrived);
    builder.wait(first, arrived);
    builder.reduce(first, {sum},
                   {span_of(builder.input(first), all), span_of(builder.input(second), all)});
    builder.native_allreduce(first, 0, result, sum);
    builder.copy(first, span_of(builder.output(second), all), result);
    builder.signal(first, done);
    builder.wait(second, done);
  }
  return std::move(builder).finish();
}

Schedule lines_and_messages_example() {
  ScheduleBuilder builder = make_builder("lines-and-messages", Shape::uniform(2, 2, 1), 1);
  const ChunkRange all = builder.all_chunks();
  for (int node = 0; node < 2; ++node) {
    const int first = 2 * node;
    const int second = first + 1;
    const Span gathered = span_of(builder.add_lines(second, all), all);
    const Span published = span_of(builder.add_lines(first, all), all);
    const Span received = span_of(builder.add_scratch(first, all), all);
    const Span output = span_of(builder.output(first), all);
    builder.copy(second, gathered, span_of(builder.input(second), all));
    builder.recv(first, 0, 1 - node, received);
    builder.reduce(first, {output}, {span_of(builder.input(first), all), gathered});
    builder.send(first, 0, 1 - node, output);
    if (node == 0) {
      builder.reduce(first, {output}, {output, received});
    } else {
      builder.reduce(first, {output}, {received, output});
    }
    builder.copy(first, published, output);
    builder.copy(second, span_of(builder.output(second), all), published);
  }
  return std::move(builder).finish();
}

std::vector<Schedule> all_examples() {
  return {central_example(1), central_example(2),          central_example(4),
          staged_example(2),  staged_example(3),           lines_example(2),
          lines_example(3),   exchange_example(),          chain_example(2),
          chain_example(4),   strands_example(),           native_example(1),
          native_example(3),  lines_and_messages_example()};
}

}  // namespace hycoll::testing
