#include "collectives/algorithms/allreduce/multi_leader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {

VectorParts cut_vector(int lane_count, int parts_per_lane, int tracks_per_lane,
                       int chunks_per_part) {
  VectorParts result;
  for (int lane = 0; lane < lane_count; ++lane) {
    result.track_lanes.insert(result.track_lanes.end(), static_cast<std::size_t>(tracks_per_lane),
                              lane);
  }
  for (int part = 0; part < parts_per_lane; ++part) {
    for (int lane = 0; lane < lane_count; ++lane) {
      result.parts.push_back(
          {.lane = lane,
           .chunks = {(lane * parts_per_lane + part) * chunks_per_part, chunks_per_part},
           .track = lane * tracks_per_lane + part % tracks_per_lane,
           .turn = part / tracks_per_lane + 1});
    }
  }
  return result;
}

int tracks_per_lane(const Shape& shape, int parts) {
  int most = 1;
  for (const int node : shape.first_nodes()) {
    std::vector<int> lanes_of_worker(static_cast<std::size_t>(shape.node(node).workers), 0);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      const int leader = shape.leader(node, lane) - shape.first_worker(node);
      most = std::max(most, ++lanes_of_worker[static_cast<std::size_t>(leader)]);
    }
  }
  return std::clamp(kMaximumTracksPerWorker / most, 1, parts);
}

StrandPool::StrandPool(ScheduleBuilder& builder)
    : builder_(builder),
      main_taken_(static_cast<std::size_t>(builder.part().workers.count), false) {}

StrandId StrandPool::next(int worker) {
  const auto index = static_cast<std::size_t>(worker - builder_.part().workers.first);
  if (main_taken_[index]) return builder_.add_strand(worker);
  main_taken_[index] = true;
  return builder_.main_strand(worker);
}

LeaderGroup::LeaderGroup(ScheduleBuilder& builder, Members members, int lane_count,
                         std::vector<Leader> leaders)
    : builder_(builder), members_(members), lane_count_(lane_count), leaders_(std::move(leaders)) {
  if (pulls()) copied_ = members_.add_flags();
  for (const Leader& leader : leaders_) published_.push_back(builder_.add_flag(leader.strand));
}

int LeaderGroup::combining_member(int track) const {
  const Shape& shape = builder_.shape();
  const int node = shape.node_of_member(members_.first());
  const int index = leader(track).worker - shape.first_worker(node) + shape.first_member(node);
  const int within = index - members_.first();
  return within < 0 ? members_.first() : members_.first() + within % members_.count();
}

BufferId LeaderGroup::result(int track) const { return builder_.output(combining_member(track)); }

bool LeaderGroup::is_finished_by_reduction() const {
  return builder_.shape().node_count() == 1 && !pulls() && members_.count() > 1;
}

BufferId LeaderGroup::append_reduction(const VectorPart& part) {
  const StrandId strand = leader(part.track).strand;
  if (part.turn == 1) members_.await_all(strand);
  if (members_.count() == 1) return builder_.input(members_.first());
  const bool is_finished = is_finished_by_reduction();
  std::vector<Span> inputs;
  std::vector<Span> outputs;
  inputs.reserve(static_cast<std::size_t>(members_.count()));
  for (int member = members_.first(); member <= members_.last(); ++member) {
    inputs.push_back(span_of(builder_.input(member), part.chunks));
    if (is_finished) outputs.push_back(span_of(builder_.output(member), part.chunks));
  }
  if (!is_finished) outputs = {span_of(result(part.track), part.chunks)};
  builder_.reduce(strand, outputs, inputs);
  return result(part.track);
}

void LeaderGroup::append_push(const VectorPart& part) {
  if (pulls() || is_finished_by_reduction()) return;
  std::vector<Span> others;
  for (int member = members_.first(); member <= members_.last(); ++member) {
    if (builder_.output(member) != result(part.track)) {
      others.push_back(span_of(builder_.output(member), part.chunks));
    }
  }
  if (others.empty()) return;
  builder_.copy(leader(part.track).strand, others, span_of(result(part.track), part.chunks));
}

void LeaderGroup::append_announcement(const VectorPart& part) {
  builder_.signal(leader(part.track).strand, published(part.track));
}

void LeaderGroup::append_collection(std::span<const VectorPart> parts) {
  for (int member = members_.first(); member <= members_.last(); ++member) collect(member, parts);
  if (!pulls()) return;
  for (int member = members_.first(); member <= members_.last(); ++member) stay(member);
}

void LeaderGroup::collect(int member, std::span<const VectorPart> parts) {
  const StrandId strand = members_.strand(member);
  if (!pulls()) {
    for (std::size_t track = 0; track < leaders_.size(); ++track) {
      if (leaders_[track].strand != strand) builder_.wait(strand, published_[track]);
    }
    return;
  }
  for (const VectorPart& part : parts) {
    if (leader(part.track).strand != strand) {
      builder_.wait(strand, published(part.track), part.turn);
    }
    if (builder_.output(member) == result(part.track)) continue;
    builder_.copy(strand, span_of(builder_.output(member), part.chunks),
                  span_of(result(part.track), part.chunks));
  }
  builder_.signal(strand, members_.flag_of(copied_, member));
}

void LeaderGroup::stay(int member) {
  const auto holds = [&](std::size_t track) {
    return combining_member(static_cast<int>(track)) == member;
  };
  bool holds_results = false;
  for (std::size_t track = 0; track < leaders_.size(); ++track) {
    holds_results = holds_results || holds(track);
  }
  if (!holds_results) return;
  const StrandId strand = members_.strand(member);
  for (int other = members_.first(); other <= members_.last(); ++other) {
    if (other != member) builder_.wait(strand, members_.flag_of(copied_, other));
  }
}

namespace {

/// The leaders' strands on one node, and its members' group if it has members.
class MultiLeader {
 public:
  MultiLeader(ScheduleBuilder& builder, const Exchange& exchange, const VectorParts& parts,
              int node)
      : builder_(builder), exchange_(exchange), parts_(parts), node_(node) {
    const Shape& shape = builder_.shape();
    StrandPool pool(builder_);
    for (const int lane : parts_.track_lanes) {
      const int worker = shape.leader(node, lane);
      leaders_.push_back(
          {worker, keeps_company() ? builder_.add_strand(worker) : pool.next(worker)});
    }
    if (shape.node(node).members == 0) return;
    group_.emplace(builder_, Members::of_node(builder_, node), shape.lane_count(), leaders_);
  }

  void append() {
    for (const VectorPart& part : parts_.parts) {
      append_exchange(builder_, exchange_, reduced(part));
      if (!is_native()) publish(part);
    }
    if (is_native()) publish_together();
    if (group_) group_->append_collection(parts_.parts);
    if (keeps_company()) append_company();
  }

 private:
  bool is_native() const { return exchange_.help == ExchangeHelp::mpi_library; }

  /// Whether native calls are to be under way while others are issued. A worker with a single
  /// strand may block inside the MPI library and would make them one after the other, so leaders
  /// then have two: their main strand waits.
  bool keeps_company() const {
    return is_native() && parts_.parts.size() > parts_.track_lanes.size();
  }

  /// Phases 1 and 2.
  LaneVector reduced(const VectorPart& part) {
    return {.lane = part.lane,
            .chunks = part.chunks,
            .node = node_,
            .strand = leaders_[static_cast<std::size_t>(part.track)].strand,
            .source = group_ ? group_->append_reduction(part) : kNoBuffer,
            .result = group_ ? group_->result(part.track) : kNoBuffer};
  }

  void publish(const VectorPart& part) {
    if (!group_) return;
    group_->append_push(part);
    group_->append_announcement(part);
  }

  /// An announcement waits for all that its strand has under way, so those of a track whose calls
  /// are under way together come last; copies only wait for their own part.
  void publish_together() {
    for (const VectorPart& part : parts_.parts) group_->append_push(part);
    for (const VectorPart& part : parts_.parts) group_->append_announcement(part);
  }

  void append_company() {
    const Shape& shape = builder_.shape();
    for (std::size_t track = 0; track < parts_.track_lanes.size(); ++track) {
      const int worker = leaders_[track].worker;
      const bool owns_member = worker - shape.first_worker(node_) < shape.node(node_).members;
      if (owns_member) continue;  // it waits as a member
      builder_.wait(builder_.main_strand(worker), group_->published(static_cast<int>(track)));
    }
  }

  ScheduleBuilder& builder_;
  const Exchange& exchange_;
  const VectorParts& parts_;
  int node_;
  std::vector<LeaderGroup::Leader> leaders_;  // by track
  std::optional<LeaderGroup> group_;
};

}  // namespace

void append_multi_leader(ScheduleBuilder& builder, const Exchange& exchange,
                         const VectorParts& parts) {
  for (const int node : builder.nodes()) MultiLeader(builder, exchange, parts, node).append();
}

}  // namespace hycoll
