// Allgather by getting: inside a node, whoever wants a block reads it where it is.
//
// Idea: a leader fills the outputs of its share of the members, block by block, from all others'
// inputs; each member's own block follows when all leaders are done. Nobody writes to an output but
// its member's leader, so with a lane for each member every line that is written lies in the
// writer's cache. Where leaders write their blocks to all outputs instead (multi-leader-ring),
// others' caches hold these lines, and give them up one by one, which takes many times as long as
// to read them (docs/measurements.md, "Who copies between threads").
//
// Source: hycoll.
// Memory passed over: M n read, M n written, by all leaders together.
// Scratch: none.
// Serves: one node with direct visibility. In place a member's input is its block of its output,
// which others read: so it is copied last, which is nothing then.
//
// Example, 3 members, 3 lanes: worker 1 copies blocks 2 and 0 from the inputs of members 2 and 0 to
// the output of member 1, and in the end block 1: each begins with what is behind its own, for
// leaders who all began with the same block would wait for one another.

#include <utility>

#include "collectives/algorithms/allgather/allgather.h"
#include "collectives/algorithms/building_blocks/member_shares.h"
#include "core/base/errors.h"

namespace hycoll {

Schedule generate_direct_get_allgather(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct && shape.node_count() == 1,
                "leaders read the inputs of all members");
  const int count = shape.member_count();
  ScheduleBuilder builder(Collective::allgather, std::move(name), shape, count, parameters.root,
                          parameters.nodes);
  const auto get = [&](StrandId strand, int to, int from) {
    const ChunkRange block{.first = from, .count = 1};
    builder.copy(strand, span_of(builder.output(to), block), span_of(builder.input(from), block));
  };
  append_for_members(
      builder,
      [&](StrandId leader, int to) {
        for (int distance = 1; distance < count; ++distance) {
          get(leader, to, (to + distance) % count);
        }
      },
      [&](StrandId strand, int member) { get(strand, member, member); });
  return std::move(builder).finish();
}

}  // namespace hycoll
