#include <array>
#include <utility>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/pairs.h"
#include "tests/core/verifier/examples.h"

namespace hycoll::testing {

Schedule packed_alltoall_example() {
  const Shape shape = Shape::uniform(2, 2, 1);
  ScheduleBuilder builder(Collective::alltoall, "packed", shape, 16);
  const auto block = [&](int from, int to) {
    return ChunkRange{.first = chunk_of(shape, {.from = from, .to = to}), .count = 1};
  };
  for (int node = 0; node < 2; ++node) {
    const int leader = 2 * node;
    const int neighbour = leader + 1;
    const FlagId arrived = builder.add_flag(neighbour);
    builder.signal(neighbour, arrived);
    builder.wait(leader, arrived);
    const auto other = [&](int member) { return 2 - leader + member; };
    std::array<BufferId, 2> packs{};
    for (const bool is_sent : {true, false}) {
      // By the sender: those from one member lie apart in their numbers.
      std::vector<ChunkRange> blocks;
      for (const int from : {0, 1}) {
        for (const int to : {0, 1}) {
          blocks.push_back(is_sent ? block(leader + from, other(to))
                                   : block(other(from), leader + to));
        }
      }
      packs[is_sent ? 0 : 1] = builder.add_pack(leader, blocks);
    }
    for (const int from : {0, 1}) {
      for (const int to : {0, 1}) {
        builder.copy(leader, builder.in_pack(packs[0], {2 * from + to, 1}),
                     span_of(builder.input(leader + from), block(leader + from, other(to))));
      }
    }
    builder.send(leader, 0, 1 - node, builder.in_pack(packs[0], {0, 4}));
    builder.recv(leader, 0, 1 - node, builder.in_pack(packs[1], {0, 4}));
    for (const int to : {0, 1}) {
      for (const int from : {0, 1}) {
        builder.copy(leader, span_of(builder.output(leader + to), block(other(from), leader + to)),
                     builder.in_pack(packs[1], {2 * from + to, 1}));
      }
      std::vector<Span> inside;
      for (const int from : {0, 1}) {
        inside.push_back(span_of(builder.input(leader + from), block(leader + from, leader + to)));
      }
      builder.collect(
          leader, span_of(builder.output(leader + to), tile_for(shape, node, leader + to)), inside);
    }
    const FlagId done = builder.add_flag(leader);
    builder.signal(leader, done);
    builder.wait(neighbour, done);
  }
  return std::move(builder).finish();
}

}  // namespace hycoll::testing
