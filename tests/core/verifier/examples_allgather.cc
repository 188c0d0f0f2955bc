#include <utility>

#include "core/schedule/builder.h"
#include "tests/core/verifier/examples.h"

namespace hycoll::testing {

Schedule ring_allgather_example(int node_count) {
  constexpr int kSegments = 2;
  ScheduleBuilder builder(kAllgather, "ring", Shape::uniform(node_count, 1, 1),
                          kSegments * node_count);
  const auto segment = [&](int node, int block, int s) {
    const int owner = (block + node_count) % node_count;
    return span_of(builder.output(node), {owner * kSegments + s, 1});
  };
  for (int node = 0; node < node_count; ++node) {
    const ChunkRange block = builder.input_chunks(node);
    builder.copy(node, span_of(builder.output(node), block), span_of(builder.input(node), block));
    const int next = (node + 1) % node_count;
    const int previous = (node + node_count - 1) % node_count;
    for (int round = 0; round < node_count - 1; ++round) {
      for (int s = 0; s < kSegments; ++s) {
        builder.send(node, 0, next, segment(node, node - round, s));
        builder.recv(node, 0, previous, segment(node, node - round - 1, s));
      }
    }
  }
  return std::move(builder).finish();
}

Schedule paired_allgather_example() {
  ScheduleBuilder builder(kAllgather, "paired", Shape::uniform(2, 2, 1), 4);
  for (int node = 0; node < 2; ++node) {
    const int leader = 2 * node;
    const int neighbour = leader + 1;
    const FlagId arrived = builder.add_flag(neighbour);
    builder.signal(neighbour, arrived);
    builder.wait(leader, arrived);
    for (const int member : {leader, neighbour}) {
      builder.copy(leader, span_of(builder.output(leader), {member, 1}),
                   span_of(builder.input(member), {member, 1}));
    }
    builder.send(leader, 0, 1 - node, span_of(builder.output(leader), {leader, 2}));
    builder.recv(leader, 0, 1 - node, span_of(builder.output(leader), {2 - leader, 2}));
    builder.copy(leader, span_of(builder.output(neighbour), builder.all_chunks()),
                 span_of(builder.output(leader), builder.all_chunks()));
    const FlagId done = builder.add_flag(leader);
    builder.signal(leader, done);
    builder.wait(neighbour, done);
  }
  return std::move(builder).finish();
}

}  // namespace hycoll::testing
