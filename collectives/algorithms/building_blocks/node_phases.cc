#include "collectives/algorithms/building_blocks/node_phases.h"

#include <algorithm>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {

NodePhases::NodePhases(ScheduleBuilder& builder, int node)
    : builder_(builder), node_(node), members_(Members::of_node(builder, node)) {
  const Shape& shape = builder.shape();
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    const int worker = shape.leader(node, lane);
    const StrandId main = builder.main_strand(worker);
    const bool taken = std::find(leaders_.begin(), leaders_.end(), main) != leaders_.end();
    leaders_.push_back(taken ? builder.add_strand(worker) : main);
    milestones_.push_back(builder.add_flag(leaders_.back()));
  }
}

void NodePhases::await_members(int lane) { members_.await_all(leader(lane)); }

void NodePhases::await_members_but(int lane, int known) {
  for (int member = first_member(); member <= last_member(); ++member) {
    if (member != known) await_member(lane, member);
  }
}

void NodePhases::await_member_as(StrandId strand, int member) { members_.await(strand, member); }

void NodePhases::await_member_of(int member, int other) {
  await_member_as(members_.strand(member), other);
}

void NodePhases::await_member(int lane, int member) {
  const Shape& shape = builder_.shape();
  if (shape.worker_of_member(member) == shape.leader(node_, lane)) return;
  await_member_as(leader(lane), member);
}

void NodePhases::announce(int lane) {
  builder_.signal(leader(lane), milestones_[static_cast<std::size_t>(lane)]);
}

void NodePhases::announce(int lane, const Span& announced) {
  builder_.signal(leader(lane), milestones_[static_cast<std::size_t>(lane)],
                  std::span(&announced, 1));
}

void NodePhases::await_lanes(int member, int milestone) {
  for (int lane = 0; lane < builder_.shape().lane_count(); ++lane) {
    await_lane_of(member, lane, milestone);
  }
}

void NodePhases::await_lane_of(int member, int lane, int milestone) {
  const int worker = builder_.shape().worker_of_member(member);
  if (builder_.shape().leader(node_, lane) == worker) return;
  await_lane(builder_.main_strand(worker), lane, milestone);
}

void NodePhases::await_lane(StrandId strand, int lane, int milestone) {
  builder_.wait(strand, milestones_[static_cast<std::size_t>(lane)], milestone);
}

NodeSum::NodeSum(ScheduleBuilder& builder, const NodePhases& phases, int lane,
                 std::vector<Span> places)
    : builder_(&builder), leader_(phases.leader(lane)), places_(std::move(places)) {
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    inputs_.push_back(builder.input(member));
  }
  if (inputs_.size() == 1) {
    places_ = {span_of(inputs_.front(), builder.all_chunks())};
  } else {
    missing_ = {builder.all_chunks()};
  }
}

NodeSum::NodeSum(ScheduleBuilder& builder, Span place) : builder_(&builder), places_{place} {}

Span NodeSum::at(ChunkRange chunks) {
  const Span place = place_of(places_, chunks);
  const auto end_of = [](const ChunkRange& range) { return range.first + range.count; };
  auto next = std::partition_point(missing_.begin(), missing_.end(), [&](const ChunkRange& range) {
    return end_of(range) <= chunks.first;
  });
  while (next != missing_.end() && next->first < end_of(chunks)) {
    const ChunkRange whole = *next;
    const int first = std::max(whole.first, chunks.first);
    const int end = std::min(end_of(whole), end_of(chunks));
    reduce(place, {first, end - first});
    next = missing_.erase(next);
    if (end < end_of(whole)) next = missing_.insert(next, {end, end_of(whole) - end});
    if (whole.first < first) next = missing_.insert(next, {whole.first, first - whole.first}) + 1;
  }
  return place;
}

void NodeSum::reduce(Span place, ChunkRange chunks) {
  const Span destination = span_of(place.buffer, chunks);
  std::vector<Span> sources;
  for (const BufferId input : inputs_) sources.push_back(span_of(input, chunks));
  builder_->reduce(leader_, std::span(&destination, 1), sources);
}

}  // namespace hycoll
