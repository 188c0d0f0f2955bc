// Allgather by putting: inside a node, whoever has a block writes it to all outputs.
//
// Idea: a leader writes the blocks of its share of the members to everybody's outputs, each by
// itself, so that what is for others is written past the caches where members are far from one
// another, and what stays with its member is not (multi-leader-ring writes a block to all outputs
// at once). With a lane for each member nobody reads what another one has written, and members find
// their inputs in their own caches when they write them again; direct-get, which reads, is faster
// where caches are near.
//
// Source: hycoll.
// Memory passed over: M n read, M n written, by all leaders together.
// Scratch: none.
// Serves: one node with direct visibility. In place a member's input is its block of its output,
// which is not copied.
//
// Example, 3 members, 3 lanes: worker 1 copies block 1 from the input of member 1 to the outputs of
// members 2, 0 and 1: each begins behind its own, for leaders who all began with the same member
// would wait for one another.

#include <utility>

#include "collectives/algorithms/allgather/allgather.h"
#include "collectives/algorithms/building_blocks/member_shares.h"
#include "core/base/errors.h"

namespace hycoll {

Schedule generate_direct_put_allgather(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct && shape.node_count() == 1,
                "leaders write to the outputs of all members");
  const int count = shape.member_count();
  ScheduleBuilder builder(Collective::allgather, std::move(name), shape, count, parameters.root,
                          parameters.nodes);
  append_for_members(builder, [&](StrandId leader, int from) {
    const ChunkRange block{.first = from, .count = 1};
    for (int distance = 1; distance <= count; ++distance) {
      builder.copy(leader, span_of(builder.output((from + distance) % count), block),
                   span_of(builder.input(from), block));
    }
  });
  return std::move(builder).finish();
}

}  // namespace hycoll
