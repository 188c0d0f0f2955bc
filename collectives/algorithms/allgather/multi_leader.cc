// Multi-leader allgather: every node receives the others' blocks through several ports at once.
//
// Idea: a node's part of the vector are the blocks of its members, and each lane has a share of
// every part (shares.h). The leader of a lane collects its share of the own part from the members'
// inputs in one output, exchanges it for those of the other nodes, and writes what it has, as it
// comes, from there to the outputs of all others, in one pass over memory. On a single node leaders
// write straight from the inputs to all outputs: with a lane per worker, each its own member's
// block.
//
// Source: hycoll; leaders as in DPML (M. Bayatpour et al., SC'17), the exchanges of MPICH (R.
// Thakur, R. Rabenseifner, W. Gropp, 2005) and of a circulant graph (J. L. Traeff, 2024), which
// Bruck's algorithm goes over the other way round (J. Bruck et al., 1997).
// Steps between nodes: N - 1 over a ring, log2 N by doubling, ceil(log2 N) over a circulant graph.
// Sent: n (N - 1) / N elements by every node for nodes of equally many members, the least possible.
// Memory passed over on a single node: n read, M n written, by all leaders together.
// Scratch: none.
// Serves: any shape with direct visibility; exchanges that send several parts at once need one
// lane, for with more the shares of one lane lie apart. In place a member's input is its block of
// its output, which only the leaders of that block touch.
//
// Example, 2 nodes of 2 members, 2 lanes: worker 0 copies block 0 from its member's input to its
// output, sends it to worker 2 and copies it to member 1, receives block 2 from worker 2 and copies
// it to member 1. Worker 1 does so with blocks 1 and 3.

#include <utility>
#include <vector>

#include "collectives/algorithms/allgather/allgather.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "collectives/algorithms/building_blocks/shares.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// The same chunks of the outputs of all members of a node but one; -1: of all.
std::vector<Span> outputs_but(const ScheduleBuilder& builder, const NodePhases& phases, int but,
                              ChunkRange chunks) {
  std::vector<Span> outputs;
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    if (member != but) outputs.push_back(span_of(builder.output(member), chunks));
  }
  return outputs;
}

void append_single_node(ScheduleBuilder& builder, const NodePhases& phases, int lane) {
  for (const Span& input :
       inputs_in(builder, phases.node(), share_of(builder, phases.node(), lane))) {
    builder.copy(phases.leader(lane),
                 outputs_but(builder, phases, -1, {input.first_chunk, input.chunk_count}), input);
  }
}

/// One of several nodes in one lane.
void append_exchange(ScheduleBuilder& builder, const NodePhases& phases, int lane,
                     const Exchange& exchange) {
  const int holder = holding_member(builder.shape(), phases.node(), lane);
  GatheredBlocks blocks = collected_shares(builder, phases, lane);
  blocks.on_arrival = [&](ChunkRange arrived, OnArrival when) {
    if (when != OnArrival::after_passing_on || phases.member_count() == 1) return;
    const ChunkRange chunks = blocks.chunks(arrived);
    builder.copy(blocks.strand, outputs_but(builder, phases, holder, chunks),
                 span_of(blocks.place, chunks));
  };
  exchange.allgather(builder, blocks);
}

}  // namespace

Schedule generate_multi_leader_allgather(std::string name, const Shape& shape,
                                         const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "leaders touch their members' buffers");
  ScheduleBuilder builder(Collective::allgather, std::move(name), shape,
                          shape.member_count() * chunks_per_block(shape), parameters.root,
                          parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      phases.await_members(lane);
      if (shape.node_count() == 1) {
        append_single_node(builder, phases, lane);
      } else {
        append_exchange(builder, phases, lane, parameters.exchange);
      }
      phases.announce(lane);
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      phases.await_lanes(member, 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
