// Lines: allgather of short blocks, in as few cache-line transfers as possible.
//
// Idea: every member copies its block into lines, where data and signal travel together, and reads
// those of all others of its node. With several nodes the leader of each reads them, takes part in
// the exchange, and publishes the vector in lines of its own.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data.
// Steps: one transfer on a single node; two and the exchange otherwise.
// Cost: each member reads the blocks of all others from lines. It has read lines of everybody on
// its node then, or of somebody who has, so that nobody announces anything.
// Serves: any shape with one lane whose leaders own a member, since leaders read and write lines.
//
// Example, 2 nodes of 2 members: members 1 and 3 write their blocks to lines; member 0 reads that
// of 1, sends blocks 0 and 1 to member 2, receives 2 and 3 in its output and copies all to lines,
// which member 1 reads.

#include <utility>

#include "collectives/algorithms/allgather/allgather.h"
#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

void append_single_node(LinesPhases& phases) {
  if (phases.member_count() > 1) phases.publish_inputs();
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    phases.gather_inputs(member);
  }
}

/// One of several nodes.
void append_node(ScheduleBuilder& builder, LinesPhases& phases, const Exchange& exchange) {
  const int leading = phases.leading_member();
  phases.publish_inputs(leading);
  phases.gather_inputs(leading);
  GatheredBlocks blocks = gathered_shares(builder, phases.node(), 0);
  blocks.strand = phases.strand(leading);
  blocks.place = builder.output(leading);
  exchange.allgather(builder, blocks);
  if (phases.member_count() == 1) return;
  const Span lines = phases.publish(leading, span_of(blocks.place, builder.all_chunks()));
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    if (member == leading) continue;
    builder.copy(phases.strand(member), span_of(builder.output(member), builder.all_chunks()),
                 lines);
  }
}

}  // namespace

Schedule generate_lines_allgather(std::string name, const Shape& shape,
                                  const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  ScheduleBuilder builder(Collective::allgather, std::move(name), shape, shape.member_count(),
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    LinesPhases phases(builder, node, Entry::silent);
    if (shape.node_count() == 1) {
      append_single_node(phases);
    } else {
      append_node(builder, phases, parameters.exchange);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
