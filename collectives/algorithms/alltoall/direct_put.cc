// All-to-all by putting: inside a node, whoever has a block writes it where it belongs.
//
// Idea: a leader writes the blocks of its share of the members to everybody's outputs. With a lane
// for each member nobody reads what another one has written, so where members are far from one
// another all of it can be written past the caches, without asking for a line that another cache
// holds; and members find their inputs in their own caches when they write them again. The others
// (onmpml) read from everybody's inputs: that is faster where caches are near.
//
// Source: hycoll.
// Memory passed over: M n read, M n written, by all leaders together.
// Scratch: none.
// Serves: one node with direct visibility.
//
// Example, 3 members, 3 lanes: worker 1 copies from the input of member 1 the blocks for members 2,
// 0 and 1 to their outputs: each begins behind its own, for leaders who all began with the same
// member would wait for one another.

#include <utility>

#include "collectives/algorithms/alltoall/alltoall.h"
#include "collectives/algorithms/building_blocks/member_shares.h"
#include "core/base/errors.h"
#include "core/schedule/pairs.h"

namespace hycoll {

Schedule generate_direct_put_alltoall(std::string name, const Shape& shape,
                                      const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct && shape.node_count() == 1,
                "leaders write to the outputs of all members");
  const int count = shape.member_count();
  ScheduleBuilder builder(Collective::alltoall, std::move(name), shape, count * count,
                          parameters.root, parameters.nodes);
  append_for_members(builder, [&](StrandId leader, int from) {
    for (int distance = 1; distance <= count; ++distance) {
      const int to = (from + distance) % count;
      const ChunkRange block{.first = chunk_of(shape, {.from = from, .to = to}), .count = 1};
      builder.copy(leader, span_of(builder.output(to), block), span_of(builder.input(from), block));
    }
  });
  return std::move(builder).finish();
}

}  // namespace hycoll
