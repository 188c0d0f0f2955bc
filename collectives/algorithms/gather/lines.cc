// Lines: gather of short blocks, in one cache-line transfer within the node.
//
// Idea: members copy their blocks into lines, where data and signal travel together, and the root
// reads them; the others only wait until everybody has entered, which each finds in one cache line
// per member that is written anyway. On other nodes the leader reads the lines and takes part in
// the exchange. A root that does not lead its node gets the vector through lines of its leader.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data.
// Steps: one transfer on a single node; one, the exchange, and one more for a root that does not
// lead otherwise.
// Serves: any shape with one lane whose leaders own a member, since leaders read and write lines.
//
// Example, 1 node of 3 members, root 1: members 0 and 2 write their lines; member 1 reads both, and
// copies its own block.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "collectives/algorithms/building_blocks/rooted_parts.h"
#include "collectives/algorithms/building_blocks/shares.h"
#include "collectives/algorithms/gather/gather.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// The node of a root that leads it, or the only one.
void append_root_node(ScheduleBuilder& builder, LinesPhases& phases, const PartsTree& tree,
                      RootedParts parts) {
  const int root = builder.root();
  parts.places = {span_of(builder.output(root), builder.all_chunks())};
  parts.collect = [&] { phases.gather_inputs(root); };
  phases.publish_inputs(root);
  append_parts_gather(builder, tree, parts);
}

/// The node of a root that another one leads, who has only so many lines: it hands everything over.
void append_led_root_node(ScheduleBuilder& builder, LinesPhases& phases, const PartsTree& tree,
                          RootedParts parts) {
  const int root = builder.root();
  const int leading = phases.leading_member();
  const Span all =
      span_of(builder.add_scratch(builder.shape().worker_of_member(leading), builder.all_chunks()),
              builder.all_chunks());
  parts.places = {all};
  parts.collect = [&] { phases.gather_inputs(leading, all.buffer); };
  phases.publish_inputs(leading);
  append_parts_gather(builder, tree, parts);
  const Span lines = phases.publish(leading, all);
  builder.copy(phases.strand(root), span_of(builder.output(root), builder.all_chunks()), lines);
}

void append_other_node(ScheduleBuilder& builder, LinesPhases& phases, const PartsTree& tree,
                       RootedParts parts) {
  const int leading = phases.leading_member();
  if (phases.member_count() == 1 && is_leaf(tree, parts)) {
    parts.places = {span_of(builder.input(leading), builder.input_chunks(leading))};
  } else {
    parts.places = add_scratch_for(builder, builder.shape().worker_of_member(leading),
                                   ranges_below(tree, parts));
    phases.publish_inputs(leading);
    parts.collect = [&] {
      const ChunkRange own = part_of(builder, phases.node());
      phases.gather_inputs(leading, place_of(parts.places, own).buffer);
    };
  }
  append_parts_gather(builder, tree, parts);
}

/// Who reads the inputs of the node in lines knows that all have entered, and so does the root, who
/// is that or reads lines that are written afterwards.
void append_end(LinesPhases& phases, int reader, int root) {
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    if (member != reader && member != root) phases.await_members(member);
  }
}

}  // namespace

Schedule generate_lines_gather(std::string name, const Shape& shape,
                               const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const PartsTree& tree = *parameters.exchange.parts_tree;
  ScheduleBuilder builder(Collective::gather, std::move(name), shape, shape.member_count(),
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    LinesPhases phases(builder, node, Entry::announced);
    RootedParts parts = rooted_shares(builder, node, 0);
    parts.strand = phases.strand(phases.leading_member());
    const int leading = phases.leading_member();
    const bool is_led_by_root = shape.node_count() == 1 || leading == parameters.root;
    const bool is_at_root = parts.is_at_root();
    if (!is_at_root) {
      append_other_node(builder, phases, tree, std::move(parts));
    } else if (is_led_by_root) {
      append_root_node(builder, phases, tree, std::move(parts));
    } else {
      append_led_root_node(builder, phases, tree, std::move(parts));
    }
    append_end(phases, is_at_root && is_led_by_root ? parameters.root : leading, parameters.root);
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
