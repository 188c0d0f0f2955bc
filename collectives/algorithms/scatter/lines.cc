// Lines: scatter of short blocks, in one cache-line transfer within the node.
//
// Idea: the root copies its node's part into lines, where data and signal travel together, and each
// member reads its own block there. If the root does not lead its node, the whole vector is in its
// lines, from which the leader reads the other nodes' parts; it takes part in the exchange. On
// other nodes the leader does what the root does on its own.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data.
// Steps: one transfer on a single node; the exchange and one otherwise, and one more before it for
// a root that does not lead.
// Cost: every member reads no lines but those of its own block.
// Serves: any shape with one lane whose leaders own a member, since leaders read and write lines.
//
// Example, 1 node of 3 members, root 1: member 1 writes its input to lines, and copies its own
// block; members 0 and 2 read one each.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "collectives/algorithms/building_blocks/rooted_parts.h"
#include "collectives/algorithms/building_blocks/shares.h"
#include "collectives/algorithms/scatter/scatter.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// The others of the node copy their blocks from lines, and the member who has them in `place`
/// directly, if they are not where they belong.
void append_blocks(ScheduleBuilder& builder, LinesPhases& phases, int owner, BufferId place,
                   BufferId lines) {
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    const ChunkRange block = builder.output_chunks(member);
    const Span output = span_of(builder.output(member), block);
    const Span source = span_of(member == owner ? place : lines, block);
    if (source != output) builder.copy(phases.strand(member), output, source);
  }
}

/// Lines of what the others of the node read there, if there are others.
BufferId publish_if_read(LinesPhases& phases, int owner, Span source) {
  return phases.member_count() > 1 ? phases.publish(owner, source).buffer : kNoBuffer;
}

/// In the root's lines is what all others of its node need: their blocks or, if one of them leads,
/// the other nodes' too.
void append_root_node(ScheduleBuilder& builder, LinesPhases& phases, const PartsTree& tree,
                      RootedParts parts) {
  const int root = builder.root();
  const int leading = phases.leading_member();
  const BufferId input = builder.input(root);
  const bool passes_on = leading != root && builder.shape().node_count() > 1;
  const BufferId lines = publish_if_read(
      phases, root,
      span_of(input, passes_on ? builder.all_chunks() : part_of(builder, phases.node())));
  if (!passes_on) {
    parts.places = {span_of(input, builder.all_chunks())};
  } else {
    parts.places = add_scratch_for(builder, builder.shape().worker_of_member(leading),
                                   ranges_below(tree, parts));
    for (const Span& place : parts.places) {
      builder.copy(parts.strand, place, span_of(lines, {place.first_chunk, place.chunk_count}));
    }
  }
  append_parts_scatter(builder, tree, parts);
  append_blocks(builder, phases, root, input, lines);
}

void append_other_node(ScheduleBuilder& builder, LinesPhases& phases, const PartsTree& tree,
                       RootedParts parts) {
  const int leading = phases.leading_member();
  if (phases.member_count() == 1 && is_leaf(tree, parts)) {
    parts.places = {span_of(builder.output(leading), builder.output_chunks(leading))};
  } else {
    parts.places = add_scratch_for(builder, builder.shape().worker_of_member(leading),
                                   ranges_below(tree, parts));
  }
  append_parts_scatter(builder, tree, parts);
  const Span part = place_of(parts.places, part_of(builder, phases.node()));
  append_blocks(builder, phases, leading, part.buffer, publish_if_read(phases, leading, part));
}

/// Nobody leaves before everybody on the node has entered, which the one has whose lines were read.
void append_end(LinesPhases& phases, int owner) {
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    phases.await_members_but(member, owner);
  }
}

}  // namespace

Schedule generate_lines_scatter(std::string name, const Shape& shape,
                                const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const PartsTree& tree = *parameters.exchange.parts_tree;
  ScheduleBuilder builder(Collective::scatter, std::move(name), shape, shape.member_count(),
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    LinesPhases phases(builder, node, Entry::announced);
    RootedParts parts = rooted_shares(builder, node, 0);
    parts.strand = phases.strand(phases.leading_member());
    if (parts.is_at_root()) {
      append_root_node(builder, phases, tree, std::move(parts));
      append_end(phases, parameters.root);
    } else {
      append_other_node(builder, phases, tree, std::move(parts));
      append_end(phases, phases.leading_member());
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
