// DPML: data-partitioned multi-leader allreduce.
//
// Idea: the vector is cut into L partitions, one per lane. The leader of a lane reduces its
// partition over the members of its node, combines it with the leaders of the same lane on the
// other nodes, and hands the result back to the members; all lanes at once. The paper's leaders are
// processes, so members first copy into shared memory and last copy out of it. Here leaders see
// their members' buffers: the first phase is a signal, and on a single node one reduce reads every
// input and writes every output, passing over memory once.
//
// Source: M. Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
// Multi-Leader Design, SC'17,
//         section 4.1 (the four phases) and equations 2 to 7.
// Phases: 1 arrive (a signal instead of the copy); 2 reduce over the M members of a node: (M - 1) n
// / L by each leader;
//         3 exchange of n / L by each leader; 4 publish: leaders copy to all members when there are
//         as many lanes as members, otherwise members copy from the leader (the direct broadcast of
//         the paper).
// Serves: any shape with direct visibility: unequal nodes, nodes with fewer workers than lanes (a
// worker then drives
//         several lanes, a strand each), members fewer than workers. One lane: the classical single
//         leader. One member per node and one lane: the flat exchange.
//
// Example, 2 nodes of 2 members, 2 lanes, ring: worker 0 of each node reduces the lower half of
// both members' inputs, exchanges it with worker 0 of the other node and copies the result into the
// other member's output; worker 1 does so with the upper half.

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/allreduce.h"
#include "core/builder.h"
#include "core/errors.h"

namespace hycoll {
namespace {

/// The members, lanes, flags and strands of one node.
struct NodePlan {
  int node;
  int first_member;
  int member_count;
  std::vector<FlagId> arrived;    // per member: its buffers may be touched
  std::vector<FlagId> copied;     // per member: it has copied all that it wanted (pull)
  std::vector<FlagId> published;  // per lane: its result is there
  std::vector<StrandId> leader;   // per lane
};

/// Who copies results into the members' outputs in the last phase.
enum class Publishing { push, pull };

Publishing publishing_of(const ScheduleBuilder& builder, const NodePlan& plan) {
  return builder.shape().lane_count() >= plan.member_count ? Publishing::push : Publishing::pull;
}

/// Strands of the node's leaders: a worker's first lane runs on its main strand, every further one
/// on its own.
std::vector<StrandId> add_leader_strands(ScheduleBuilder& builder, int node) {
  const Shape& shape = builder.shape();
  std::vector<StrandId> leaders;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    const StrandId main = builder.main_strand(shape.leader(node, lane));
    const bool taken = std::find(leaders.begin(), leaders.end(), main) != leaders.end();
    leaders.push_back(taken ? builder.add_strand(shape.leader(node, lane)) : main);
  }
  return leaders;
}

NodePlan plan_node(ScheduleBuilder& builder, int node) {
  const Shape& shape = builder.shape();
  NodePlan plan{.node = node,
                .first_member = shape.first_member(node),
                .member_count = shape.node(node).members,
                .arrived = {},
                .copied = {},
                .published = {},
                .leader = add_leader_strands(builder, node)};
  for (int i = 0; i < plan.member_count; ++i) {
    const StrandId owner = builder.main_strand(shape.worker_of_member(plan.first_member + i));
    plan.arrived.push_back(builder.add_flag(owner));
    if (publishing_of(builder, plan) == Publishing::pull)
      plan.copied.push_back(builder.add_flag(owner));
  }
  for (const StrandId leader : plan.leader) plan.published.push_back(builder.add_flag(leader));
  return plan;
}

/// The member in whose output a lane's partition is combined: the leader's own, where it has one.
int combining_member(const ScheduleBuilder& builder, const NodePlan& plan, int lane) {
  const int worker = builder.shape().leader(plan.node, lane);
  const int index = worker - builder.shape().first_worker(plan.node);
  return plan.first_member + index % plan.member_count;
}

bool owns(const ScheduleBuilder& builder, const NodePlan& plan, int lane, int member) {
  return builder.shape().worker_of_member(member) == builder.shape().leader(plan.node, lane);
}

/// Phases 1 and 2: waits for the members and reduces their partitions. Returns where the node's sum
/// lies.
BufferId append_node_reduction(ScheduleBuilder& builder, const NodePlan& plan, int lane,
                               ChunkRange chunks) {
  const StrandId leader = plan.leader[static_cast<std::size_t>(lane)];
  std::vector<Span> inputs;
  std::vector<Span> outputs;
  for (int i = 0; i < plan.member_count; ++i) {
    const int member = plan.first_member + i;
    if (!owns(builder, plan, lane, member)) {
      builder.wait(leader, plan.arrived[static_cast<std::size_t>(i)]);
    }
    inputs.push_back(span_of(builder.input(member), chunks));
    outputs.push_back(span_of(builder.output(member), chunks));
  }
  if (plan.member_count == 1) return builder.input(plan.first_member);

  const bool finished_by_one_pass =
      builder.shape().node_count() == 1 && publishing_of(builder, plan) == Publishing::push;
  const BufferId combined = builder.output(combining_member(builder, plan, lane));
  if (finished_by_one_pass) {
    builder.reduce(leader, outputs, inputs);
  } else {
    const Span destination = span_of(combined, chunks);
    builder.reduce(leader, std::span(&destination, 1), inputs);
  }
  return combined;
}

/// Phase 4 as the leader does it.
void append_publish(ScheduleBuilder& builder, const NodePlan& plan, int lane, ChunkRange chunks) {
  const StrandId leader = plan.leader[static_cast<std::size_t>(lane)];
  const int combined = combining_member(builder, plan, lane);
  std::vector<Span> others;
  for (int member = plan.first_member; member < plan.first_member + plan.member_count; ++member) {
    if (member != combined) others.push_back(span_of(builder.output(member), chunks));
  }
  const bool copies = builder.shape().node_count() > 1 && !others.empty() &&
                      publishing_of(builder, plan) == Publishing::push;
  if (copies) builder.copy(leader, others, span_of(builder.output(combined), chunks));
  builder.signal(leader, plan.published[static_cast<std::size_t>(lane)]);
}

/// Phase 4 as a member does it: it waits for every lane and, when pulling, copies and says so.
void append_collect(ScheduleBuilder& builder, const NodePlan& plan, int member,
                    const std::vector<ChunkRange>& lane_chunks) {
  const StrandId strand = builder.main_strand(builder.shape().worker_of_member(member));
  const bool pulls = publishing_of(builder, plan) == Publishing::pull;
  for (std::size_t lane = 0; lane < lane_chunks.size(); ++lane) {
    const int combined = combining_member(builder, plan, static_cast<int>(lane));
    if (plan.leader[lane] != strand) builder.wait(strand, plan.published[lane]);
    if (pulls && combined != member) {
      builder.copy(strand, span_of(builder.output(member), lane_chunks[lane]),
                   span_of(builder.output(combined), lane_chunks[lane]));
    }
  }
  if (pulls)
    builder.signal(strand, plan.copied[static_cast<std::size_t>(member - plan.first_member)]);
}

/// When pulling, a member whose output held a lane's result stays until the others have copied it.
void append_farewell(ScheduleBuilder& builder, const NodePlan& plan, int member) {
  bool holds_a_lane = false;
  for (int lane = 0; lane < builder.shape().lane_count(); ++lane) {
    holds_a_lane = holds_a_lane || combining_member(builder, plan, lane) == member;
  }
  if (!holds_a_lane || publishing_of(builder, plan) == Publishing::push) return;
  const StrandId strand = builder.main_strand(builder.shape().worker_of_member(member));
  for (int i = 0; i < plan.member_count; ++i) {
    if (plan.first_member + i != member) {
      builder.wait(strand, plan.copied[static_cast<std::size_t>(i)]);
    }
  }
}

}  // namespace

Schedule generate_dpml_allreduce(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "dpml reads its members' buffers");
  const int per_lane =
      chunks_per_lane(parameters.exchange, shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape,
                          per_lane * shape.lane_count());
  std::vector<NodePlan> plans;
  for (int node = 0; node < shape.node_count(); ++node) {
    plans.push_back(plan_node(builder, node));
    for (int i = 0; i < plans.back().member_count; ++i) {
      builder.signal(builder.main_strand(shape.worker_of_member(plans.back().first_member + i)),
                     plans.back().arrived[static_cast<std::size_t>(i)]);
    }
  }

  std::vector<ChunkRange> lane_chunks;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    lane_chunks.push_back({lane * per_lane, per_lane});
    LaneVector vector{
        .lane = lane, .chunks = lane_chunks.back(), .strands = {}, .sources = {}, .results = {}};
    for (const NodePlan& plan : plans) {
      vector.strands.push_back(plan.leader[static_cast<std::size_t>(lane)]);
      vector.sources.push_back(append_node_reduction(builder, plan, lane, vector.chunks));
      vector.results.push_back(builder.output(combining_member(builder, plan, lane)));
    }
    append_exchange(builder, parameters.exchange, vector);
    for (const NodePlan& plan : plans) append_publish(builder, plan, lane, vector.chunks);
  }

  for (const NodePlan& plan : plans) {
    for (int i = 0; i < plan.member_count; ++i) {
      append_collect(builder, plan, plan.first_member + i, lane_chunks);
    }
  }
  for (const NodePlan& plan : plans) {
    for (int i = 0; i < plan.member_count; ++i) {
      append_farewell(builder, plan, plan.first_member + i);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
