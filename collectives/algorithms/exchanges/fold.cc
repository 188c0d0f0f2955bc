#include "collectives/algorithms/exchanges/fold.h"

#include <bit>

namespace hycoll {

PairwiseFold::PairwiseFold(ScheduleBuilder& builder, const LaneVector& vector,
                           const std::vector<BufferId>& scratch) {
  const int node_count = builder.shape().node_count();
  fold_count_ = node_count - static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count)));
  for (int n = 0; n < node_count; ++n) {
    const auto node = static_cast<std::size_t>(n);
    const StrandId strand = vector.strands[node];
    const Span source = span_of(vector.sources[node], vector.chunks);
    const bool folds = n < 2 * fold_count_;
    if (folds && n % 2 == 0) {
      builder.send(strand, vector.lane, n + 1, source);
      continue;
    }
    if (folds) {
      const Span received = span_of(scratch[node], vector.chunks);
      builder.recv(strand, vector.lane, n - 1, received);
      builder.reduce(strand, {span_of(vector.results[node], vector.chunks)}, {received, source});
    }
    nodes_.push_back(n);
    folded_.push_back(folds ? vector.results[node] : vector.sources[node]);
  }
}

void PairwiseFold::unfold(ScheduleBuilder& builder, const LaneVector& vector) const {
  for (int n = 0; n < 2 * fold_count_; ++n) {
    const auto node = static_cast<std::size_t>(n);
    const Span result = span_of(vector.results[node], vector.chunks);
    if (n % 2 == 0) {
      builder.recv(vector.strands[node], vector.lane, n + 1, result);
    } else {
      builder.send(vector.strands[node], vector.lane, n - 1, result);
    }
  }
}

std::vector<BufferId> add_lane_scratch(ScheduleBuilder& builder, const LaneVector& vector) {
  std::vector<BufferId> scratch;
  for (int node = 0; node < builder.shape().node_count(); ++node) {
    const int leader = builder.shape().leader(node, vector.lane);
    scratch.push_back(builder.add_scratch(leader, vector.chunks));
  }
  return scratch;
}

void reduce_in_node_order(ScheduleBuilder& builder, StrandId strand, Span result, int node_a,
                          Span a, int node_b, Span b) {
  if (node_a < node_b) {
    builder.reduce(strand, {result}, {a, b});
  } else {
    builder.reduce(strand, {result}, {b, a});
  }
}

}  // namespace hycoll
