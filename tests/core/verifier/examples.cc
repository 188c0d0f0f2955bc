#include "tests/core/verifier/examples.h"

#include <algorithm>
#include <utility>

#include "core/schedule/builder.h"

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

ChunkRange intersection(ChunkRange a, ChunkRange b) {
  const int first = std::max(a.first, b.first);
  const int end = std::min(a.first + a.count, b.first + b.count);
  return {.first = first, .count = std::max(end - first, 0)};
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

Schedule central_example(const CollectiveTraits& collective, int member_count, int root) {
  const int chunk_count = has_blocks(collective) ? 2 * member_count : 2;
  ScheduleBuilder builder(collective, "central", Shape::uniform(1, member_count, 1), chunk_count,
                          root);
  for (int member = 1; member < member_count; ++member) {
    const FlagId arrived = builder.add_flag(member);
    builder.signal(member, arrived);
    builder.wait(0, arrived);
  }
  // The last one first: in place, its input is not needed for the others.
  for (int member = member_count - 1; member >= 0; --member) {
    const ChunkRange chunks = builder.output_chunks(member);
    if (chunks.count == 0) continue;
    if (combines(collective)) {
      const int contributors = !is_prefix(collective)                          ? member_count
                               : collective.result == Result::inclusive_prefix ? member + 1
                                                                               : member;
      std::vector<Span> inputs;
      for (int other = 0; other < contributors; ++other) {
        inputs.push_back(span_of(builder.input(other), chunks));
      }
      const Span output = span_of(builder.output(member), chunks);
      builder.reduce(0, std::span(&output, 1), inputs);
      continue;
    }
    for (int other = 0; other < member_count; ++other) {
      const ChunkRange common = intersection(chunks, builder.input_chunks(other));
      if (common.count == 0) continue;
      builder.copy(0, span_of(builder.output(member), common),
                   span_of(builder.input(other), common));
    }
  }
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

Schedule streams_example(int member_count) {
  constexpr int kChunks = 2;
  ScheduleBuilder builder = make_builder("streams", Shape::uniform(1, member_count, 1), kChunks);
  std::vector<FlagId> arrived;
  std::vector<BufferId> streams;
  for (int member = 0; member < member_count; ++member) {
    arrived.push_back(builder.add_flag(member));
    builder.signal(member, arrived.back());
    streams.push_back(builder.add_stream(member, builder.all_chunks()));
  }
  for (int member = 0; member < member_count; ++member) {
    std::vector<BufferId> operands;
    std::vector<FlagId> read;
    for (int other = 0; other < member_count; ++other) {
      if (other == member) {
        operands.push_back(builder.input(member));
        continue;
      }
      builder.wait(member, arrived[static_cast<std::size_t>(other)]);
      const StrandId strand = builder.add_strand(member);
      operands.push_back(builder.add_scratch(member, builder.all_chunks()));
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        builder.copy(strand, span_of(operands.back(), {chunk, 1}),
                     span_of(streams[static_cast<std::size_t>(other)], {chunk, 1}));
      }
      read.push_back(builder.add_flag(strand));
      builder.signal(strand, read.back());
    }
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      builder.copy(member, span_of(streams[static_cast<std::size_t>(member)], {chunk, 1}),
                   span_of(builder.input(member), {chunk, 1}));
    }
    for (const FlagId flag : read) builder.wait(member, flag);
    const Span output = span_of(builder.output(member), builder.all_chunks());
    builder.reduce(member, std::span(&output, 1), spans_of(operands, builder.all_chunks()));
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

Schedule natives_example() {
  ScheduleBuilder builder = make_builder("natives", Shape::uniform(2, 1, 2), 2);
  for (int node = 0; node < 2; ++node) {
    for (int lane = 0; lane < 2; ++lane) {
      builder.native_allreduce(node, lane, span_of(builder.output(node), {lane, 1}),
                               span_of(builder.input(node), {lane, 1}));
    }
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

Schedule chain_reduce_example(int node_count, int root) {
  constexpr int kSegments = 2;
  ScheduleBuilder builder(Collective::reduce, "chain", Shape::uniform(node_count, 1, 1), kSegments,
                          root);
  for (int node = 0; node < node_count; ++node) {
    // The sums of the nodes below and above, where they come by.
    const bool has_below = node > 0 && node <= root;
    const bool has_above = node + 1 < node_count && node >= root;
    const BufferId below = builder.add_scratch(node, builder.all_chunks());
    const BufferId above = builder.add_scratch(node, builder.all_chunks());
    for (int s = 0; s < kSegments; ++s) {
      const Span input = span_of(builder.input(node), {s, 1});
      std::vector<Span> operands;
      if (has_below) {
        operands.push_back(span_of(below, {s, 1}));
        builder.recv(node, 0, node - 1, operands.back());
      }
      operands.push_back(input);
      if (has_above) {
        operands.push_back(span_of(above, {s, 1}));
        builder.recv(node, 0, node + 1, operands.back());
      }
      if (node == root) {
        const Span output = span_of(builder.output(node), {s, 1});
        builder.reduce(node, std::span(&output, 1), operands);
        continue;
      }
      Span sum = input;
      if (has_below || has_above) {
        sum = span_of(has_below ? below : above, {s, 1});
        builder.reduce(node, std::span(&sum, 1), operands);
      }
      builder.send(node, 0, node < root ? node + 1 : node - 1, sum);
    }
  }
  return std::move(builder).finish();
}

Schedule blocks_example(int member_count) {
  ScheduleBuilder builder(Collective::reduce_scatter, "blocks", Shape::uniform(1, member_count, 1),
                          2 * member_count);
  std::vector<FlagId> flags;
  for (int member = 0; member < member_count; ++member) {
    flags.push_back(builder.add_flag(member));
    builder.signal(member, flags.back());
  }
  const auto wait_for_others = [&](int member, int value) {
    for (int other = 0; other < member_count; ++other) {
      if (other != member) builder.wait(member, flags[static_cast<std::size_t>(other)], value);
    }
  };
  for (int member = 0; member < member_count; ++member) {
    wait_for_others(member, 1);
    const ChunkRange block = builder.output_chunks(member);
    std::vector<Span> inputs;
    for (int other = 0; other < member_count; ++other) {
      inputs.push_back(span_of(builder.input(other), block));
    }
    const Span output = span_of(builder.output(member), block);
    builder.reduce(member, std::span(&output, 1), inputs);
    builder.signal(member, flags[static_cast<std::size_t>(member)]);
  }
  for (int member = 0; member < member_count; ++member) wait_for_others(member, 2);
  return std::move(builder).finish();
}

Schedule chain_scan_example(Collective collective, int node_count) {
  constexpr int kSegments = 2;
  ScheduleBuilder builder(collective, "chain", Shape::uniform(node_count, 1, 1), kSegments);
  for (int node = 0; node < node_count; ++node) {
    const bool is_last = node + 1 == node_count;
    const BufferId received = builder.add_scratch(node, builder.all_chunks());
    const BufferId summed = builder.add_scratch(node, builder.all_chunks());
    for (int s = 0; s < kSegments; ++s) {
      const Span input = span_of(builder.input(node), {s, 1});
      const Span output = span_of(builder.output(node), {s, 1});
      const Span before = span_of(received, {s, 1});
      const bool is_scan = collective == Collective::scan;
      const Span sum = node == 0 ? input : is_scan ? output : span_of(summed, {s, 1});
      if (node > 0) {
        builder.recv(node, 0, node - 1, before);
        if (is_scan || !is_last) builder.reduce(node, {sum}, {before, input});
      }
      if (!is_last) builder.send(node, 0, node + 1, sum);
      if (is_scan && node == 0) builder.copy(node, output, input);
      if (!is_scan && node > 0) builder.copy(node, output, before);
    }
  }
  return std::move(builder).finish();
}

namespace {

/// The strands of the aggregator example's middle node: what lane `lane` receives from both sides,
/// the leader of the other lane reduces.
void append_aggregator(ScheduleBuilder& builder, int lane, std::span<const int> result_nodes) {
  constexpr int kNode = 1;
  const ChunkRange chunk{lane, 1};
  const StrandId leader = builder.shape().leader(kNode, lane);
  const StrandId helper = builder.shape().leader(kNode, 1 - lane);
  const Span below = span_of(builder.add_staging(kNode, chunk), chunk);
  const Span above = span_of(builder.add_staging(kNode, chunk), chunk);
  const Span result = span_of(builder.add_staging(kNode, chunk), chunk);
  const FlagId received = builder.add_flag(leader);
  const FlagId reduced = builder.add_flag(helper);
  builder.recv(leader, lane, 0, below);
  builder.recv(leader, lane, 2, above);
  builder.signal(leader, received);
  builder.wait(helper, received);
  builder.reduce(helper, {result}, {below, above});
  builder.signal(helper, reduced);
  builder.wait(leader, reduced);
  for (const int node : result_nodes) builder.send(leader, lane, node, result);
}

}  // namespace

Schedule aggregator_example(Collective collective) {
  const bool is_allreduce = collective == Collective::allreduce;
  ScheduleBuilder builder(collective, "aggregator", Shape({{2, 2}, {0, 2}, {1, 1}}, 2), 2,
                          is_allreduce ? 0 : 1);
  const int root = is_allreduce ? 2 : 1;
  const std::vector<int> result_nodes = is_allreduce ? std::vector{0, 2} : std::vector{0};
  const FlagId arrived[] = {builder.add_flag(0), builder.add_flag(1)};
  const FlagId done[] = {builder.add_flag(0), builder.add_flag(1)};
  for (const int lane : {0, 1}) builder.signal(lane, arrived[lane]);
  for (const int lane : {0, 1}) {
    const ChunkRange chunk{lane, 1};
    const Span sum = span_of(builder.add_scratch(lane, chunk), chunk);
    const Span result = span_of(builder.output(is_allreduce ? lane : root), chunk);
    builder.wait(lane, arrived[1 - lane]);
    builder.reduce(lane, {sum},
                   {span_of(builder.input(0), chunk), span_of(builder.input(1), chunk)});
    builder.send(lane, lane, 1, sum);
    builder.recv(lane, lane, 1, result);
    if (is_allreduce) builder.copy(lane, span_of(builder.output(1 - lane), chunk), result);
    builder.signal(lane, done[lane]);
    append_aggregator(builder, lane, result_nodes);
    builder.send(4, lane, 1, span_of(builder.input(2), chunk));
    if (is_allreduce) builder.recv(4, lane, 1, span_of(builder.output(2), chunk));
  }
  for (const int lane : {0, 1}) builder.wait(1 - lane, done[lane]);
  return std::move(builder).finish();
}

std::vector<Schedule> all_examples() {
  std::vector<Schedule> examples = {
      central_example(1), central_example(2),          central_example(4),
      staged_example(2),  staged_example(3),           lines_example(2),
      lines_example(3),   exchange_example(),          chain_example(2),
      chain_example(4),   strands_example(),           native_example(1),
      native_example(3),  natives_example(),           streams_example(2),
      streams_example(3), lines_and_messages_example()};
  for (const int members : {1, 2, 3}) {
    for (const Collective collective :
         {Collective::reduce_scatter, Collective::scan, Collective::exscan}) {
      examples.push_back(central_example(collective, members));
    }
    for (int root = 0; root < members; ++root) {
      examples.push_back(central_example(Collective::reduce, members, root));
      examples.push_back(central_example(Collective::broadcast, members, root));
    }
  }
  for (int root = 0; root < 3; ++root) examples.push_back(chain_reduce_example(3, root));
  for (const int members : {2, 3}) examples.push_back(blocks_example(members));
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    for (const int nodes : {2, 4}) examples.push_back(chain_scan_example(collective, nodes));
  }
  for (const Collective collective : {Collective::allreduce, Collective::reduce}) {
    examples.push_back(aggregator_example(collective));
  }
  for (const int members : {2, 3}) {
    examples.push_back(central_example(kAllgather, members));
    examples.push_back(central_example(kGather, members, members - 1));
    examples.push_back(central_example(kScatter, members, members - 1));
    examples.push_back(ring_allgather_example(members));
  }
  examples.push_back(paired_allgather_example());
  examples.push_back(packed_alltoall_example());
  return examples;
}

}  // namespace hycoll::testing
