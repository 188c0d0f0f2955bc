// DPML scan and exscan: several leaders per node, each with a partition of the vector.
//
// Idea: the leader of a lane reduces its partition over the members of its node to the node's
// total, learns from the leaders of the same lane on the other nodes what precedes its node, and
// writes the prefixes into the outputs of its members. The total is computed in the output of the
// node's last member, whose input occurs in no other prefix: so a scan in place loses nothing,
// needs no scratch for it, and the last prefix is one step away from it. On a single node there is
// nothing to learn, and no total.
//
// Prefixes of a scan build on one another: each reads the one before, which is in the cache where
// the partition is cut into segments. Those of an exscan are computed from the last member to the
// first, each from the inputs before it, so that in place no input is overwritten that is still
// needed. Nodes with many members are divided into groups, and the combination of all before a
// group is carried along, in turn in scratch and in the last member's output.
//
// Source: the phases of M. Bayatpour et al., Scalable Reduction Collectives with Data
// Partitioning-based Multi-Leader Design, SC'17, section 4.1, brought to scans by us.
// Memory passed over on a single node: a scan reads (2 M - 1) n and writes M n; an exscan of up to
// 8 members reads M (M - 1) n / 2 and writes (M - 1) n.
// Scratch: what precedes the node (n, where there are several members) and what the exchange adds:
// at most 2 n.
// Serves: any shape with direct visibility. The operands stand in rank order.
//
// Example, 2 nodes of 2 members with the values a, b, c, d, one lane, chain: the leader of node 0
// computes ab in the output of member 1 and sends it, then copies a. That of node 1 computes cd in
// the output of member 3, gets ab, and computes ab cd there and ab c in that of member 2.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/node_phases.h"
#include "collectives/algorithms/scan/exchange.h"
#include "collectives/algorithms/scan/scan.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// The members of an exscan that are computed directly from all inputs before them.
constexpr int kMostMembersInOneGroup = 8;

/// Writes the prefixes of one node and lane.
class Prefixes {
 public:
  Prefixes(ScheduleBuilder& builder, const NodePhases& phases, const ScanVector& vector,
           Collective collective)
      : builder_(builder),
        phases_(phases),
        collective_(collective),
        strand_(phases.leader(vector.lane)),
        before_(vector.self.exclusive),
        carried_(before_) {
    if (collective == Collective::exscan && before_ == kNoBuffer && group_count() > 1) {
      carried_ =
          builder.add_scratch(builder.shape().leader(phases.node(), vector.lane), vector.chunks);
    }
  }

  /// Those that the exchange has not written itself.
  void append(ChunkRange chunks) {
    const bool is_only_node = builder_.shape().node_count() == 1;
    const bool has_member_0_alone = phases_.last_member() == 0;
    if (collective_ == Collective::scan) {
      append_scan(chunks, phases_.last_member() - (is_only_node || has_member_0_alone ? 0 : 1));
    } else if (phases_.member_count() > 1) {
      append_exscan(chunks);
    }
  }

 private:
  /// The prefixes of a scan from the first member to `last`.
  void append_scan(ChunkRange chunks, int last) {
    for (int member = phases_.first_member(); member <= last; ++member) {
      std::vector<Span> operands;
      if (member > phases_.first_member()) {
        operands.push_back(span_of(builder_.output(member - 1), chunks));
      } else if (before_ != kNoBuffer) {
        operands.push_back(span_of(before_, chunks));
      }
      operands.push_back(span_of(builder_.input(member), chunks));
      fold(builder_.output(member), operands);
    }
  }

  /// The prefixes of an exscan, of all members.
  void append_exscan(ChunkRange chunks) {
    BufferId before = before_;
    int first = phases_.first_member();
    for (int group = 0; group < group_count(); ++group) {
      const int end = phases_.first_member() + (group + 1) * phases_.member_count() / group_count();
      BufferId after = before;
      if (group + 1 < group_count()) {
        // An odd number of groups: what precedes the last one never lies in its own output.
        after = group % 2 == 0 ? builder_.output(phases_.last_member()) : carried_;
        fold(after, operands_before(end, first, before, chunks));
      }
      for (int member = end - 1; member >= first; --member) {
        const std::vector<Span> operands = operands_before(member, first, before, chunks);
        if (!operands.empty()) fold(builder_.output(member), operands);
      }
      first = end;
      before = after;
    }
  }

  int group_count() const {
    if (phases_.member_count() <= kMostMembersInOneGroup) return 1;
    return phases_.member_count() / 4 * 2 + 1;
  }

  /// What precedes the group, and the inputs from its first member on that precede another one.
  std::vector<Span> operands_before(int member, int first, BufferId before,
                                    ChunkRange chunks) const {
    std::vector<Span> operands;
    if (before != kNoBuffer) operands.push_back(span_of(before, chunks));
    for (int other = first; other < member; ++other) {
      operands.push_back(span_of(builder_.input(other), chunks));
    }
    return operands;
  }

  void fold(BufferId destination, const std::vector<Span>& operands) {
    const Span result =
        span_of(destination, {operands.front().first_chunk, operands.front().chunk_count});
    if (operands.size() == 1) {
      builder_.copy(strand_, result, operands.front());
    } else {
      builder_.reduce(strand_, std::span(&result, 1), operands);
    }
  }

  ScheduleBuilder& builder_;
  const NodePhases& phases_;
  Collective collective_;
  StrandId strand_;
  BufferId before_;   // what precedes the node
  BufferId carried_;  // what precedes every second group
};

/// What a node brings into the exchange of a lane, and where it wants the results.
ScanNode begin_node(ScheduleBuilder& builder, const NodePhases& phases, int lane, ChunkRange chunks,
                    Collective collective) {
  const bool is_scan = collective == Collective::scan;
  const bool is_alone = phases.member_count() == 1;
  const BufferId last_output = builder.output(phases.last_member());
  ScanNode node{.strand = phases.leader(lane),
                .sum = {builder, phases, lane, {span_of(last_output, chunks)}},
                .inclusive = is_scan || !is_alone ? last_output : kNoBuffer,
                .needs_inclusive = is_scan,
                .exclusive = kNoBuffer};
  if (phases.node() == 0 || (is_scan && is_alone)) return node;
  const int leader = builder.shape().leader(phases.node(), lane);
  node.exclusive = is_alone ? last_output : builder.add_scratch(leader, chunks);
  return node;
}

/// One node in one lane.
void append_lane(ScheduleBuilder& builder, NodePhases& phases, int lane, int segments,
                 const GeneratorParameters& parameters) {
  const int per_lane = builder.chunk_count() / builder.shape().lane_count();
  const ChunkRange chunks{lane * per_lane, per_lane};
  phases.await_members(lane);
  ScanVector vector{.lane = lane,
                    .chunks = chunks,
                    .segments = segments,
                    .node = phases.node(),
                    .self = begin_node(builder, phases, lane, chunks, parameters.collective)};
  Prefixes prefixes(builder, phases, vector, parameters.collective);
  vector.on_prefix = [&](ChunkRange completed) { prefixes.append(completed); };
  append_scan_exchange(builder, parameters.exchange, vector);
  phases.announce(lane);
}

}  // namespace

Schedule generate_dpml_scan(std::string name, const Shape& shape,
                            const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "dpml reads its members' buffers");
  const Exchange& exchange = parameters.exchange;
  HYCOLL_ASSERT(exchange.scan != append_direct_scan, "direct needs too much scratch");
  const int segments = exchange.segmentation == Segmentation::messages ? parameters.segments : 1;
  ScheduleBuilder builder(
      parameters.collective, std::move(name), shape,
      exchange.chunks_per_lane(shape.node_count(), segments) * shape.lane_count(), parameters.root,
      parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      append_lane(builder, phases, lane, segments, parameters);
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      phases.await_lanes(member, 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
