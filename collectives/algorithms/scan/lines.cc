// Lines: scan and exscan of short vectors, in one cache-line transfer within the node.
//
// Idea: as in the allreduce through lines (allreduce/lines.cc) members copy their inputs into
// lines, where data and signal travel together. Every member reads the lines of those before it
// and computes its own prefix. With more nodes the leader of each also computes the node's total,
// takes part in the exchange, and publishes what precedes the node in lines of its own.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data, and the single leader of DPML.
// Steps: one transfer on a single node; two and the exchange otherwise.
// Cost: M (M - 1) n / 2 elements read through lines on every node, and (M - 1) n more by its
// leader.
// Serves: any shape with one lane whose leaders own a member, since leaders read and write lines.
//
// Example, 1 node of 3 members, scan: member 2 reads the lines of members 0 and 1 and computes a b
// c with its own; member 0 waits until the others have entered.

#include <utility>

#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "collectives/algorithms/scan/exchange.h"
#include "collectives/algorithms/scan/scan.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// One node.
class LinesScan {
 public:
  LinesScan(ScheduleBuilder& builder, Collective collective, int node)
      : builder_(builder),
        is_scan_(collective == Collective::scan),
        chunks_(builder.all_chunks()),
        phases_(builder, node, Entry::announced) {}

  void append(const Exchange& exchange, int segments) {
    if (builder_.shape().node_count() == 1) {
      phases_.publish_inputs(phases_.last_member());
      append_first_node(Sum::nobodys);
      return;
    }
    const bool is_alone = phases_.member_count() == 1;
    ScanVector vector{.lane = 0,
                      .chunks = chunks_,
                      .segments = segments,
                      .node = phases_.node(),
                      .self = is_alone ? begin_alone() : begin()};
    append_scan_exchange(builder_, exchange, vector);
    if (phases_.node() == 0) {
      append_first_node(Sum::of_leader);
    } else if (!is_alone) {
      append_later_node(vector.self.exclusive);
    }
  }

 private:
  /// Who has read all lines of a node.
  enum class Sum { of_leader, nobodys };

  StrandId strand(int member) const {
    return builder_.main_strand(builder_.shape().worker_of_member(member));
  }
  Span output(int member) const { return span_of(builder_.output(member), chunks_); }

  /// A node with one member: the exchange itself writes its output.
  ScanNode begin_alone() {
    const int member = phases_.first_member();
    const bool has_exclusive = !is_scan_ && member > 0;
    return {.strand = strand(member),
            .sum = {builder_, span_of(builder_.input(member), chunks_)},
            .inclusive = is_scan_ ? builder_.output(member) : kNoBuffer,
            .needs_inclusive = is_scan_,
            .exclusive = has_exclusive ? builder_.output(member) : kNoBuffer};
  }

  /// A node with several members: the leader wants to know what precedes it.
  ScanNode begin() {
    const int leading = phases_.leading_member();
    const int worker = builder_.shape().worker_of_member(leading);
    const BufferId sum = builder_.add_scratch(worker, chunks_);
    phases_.publish_inputs(leading == phases_.last_member() ? leading : -1);
    phases_.reduce_inputs(leading, span_of(sum, chunks_));
    const bool is_first = phases_.node() == 0;
    return {.strand = strand(leading),
            .sum = {builder_, span_of(sum, chunks_)},
            .inclusive = sum,
            .needs_inclusive = false,
            .exclusive = is_first ? kNoBuffer : builder_.add_scratch(worker, chunks_)};
  }

  /// The last member whose input occurs in a member's prefix.
  int last_operand(int member) const { return is_scan_ ? member : member - 1; }

  void append_first_node(Sum sum) {
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      if (last_operand(member) >= phases_.first_member()) {
        phases_.reduce_inputs(member, output(member), last_operand(member), {});
      }
      const bool has_read_all = sum == Sum::of_leader && member == phases_.leading_member();
      if (!has_read_all) phases_.await_members(member, member + 1);
    }
  }

  /// Whoever reads the leader's lines knows that everybody has entered.
  void append_later_node(BufferId exclusive) {
    const int leading = phases_.leading_member();
    const Span lines = phases_.publish(leading, span_of(exclusive, chunks_));
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      const Span before = member == leading ? span_of(exclusive, chunks_) : lines;
      if (is_scan_ && member == phases_.last_member()) {
        phases_.reduce_inputs(member, output(member));
        builder_.reduce(strand(member), {output(member)}, {before, output(member)});
      } else {
        phases_.reduce_inputs(member, output(member), last_operand(member), {before});
      }
    }
  }

  ScheduleBuilder& builder_;
  bool is_scan_;
  ChunkRange chunks_;
  LinesPhases phases_;
};

}  // namespace

bool serves_direct_scan(const Shape& shape) {
  return serves_one_lane_led_by_members(shape) && shape.node_count() <= 64;
}

Schedule generate_lines_scan(std::string name, const Shape& shape,
                             const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const Exchange& exchange = parameters.exchange;
  const bool is_cut = shape.node_count() > 1 && exchange.segmentation == Segmentation::messages;
  const int segments = is_cut ? parameters.segments : 1;
  ScheduleBuilder builder(parameters.collective, std::move(name), shape,
                          exchange.chunks_per_lane(shape.node_count(), segments), parameters.root,
                          parameters.nodes);
  for (const int node : builder.nodes()) {
    LinesScan(builder, parameters.collective, node).append(exchange, segments);
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
