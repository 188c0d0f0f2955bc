// Aggregation tree: in-network reduction by nodes that have no members.
//
// Idea: the hosts' leaders send their sums up a tree of aggregators. An aggregator combines what
// its children send, in rank order, and sends one vector up; the root's result is multicast down.
// A host sends and receives the vector once, however many hosts there are. The aggregators stand
// for the switches of a network that reduces by itself; here they are processes.
//
// Source: M. Bayatpour et al. (DPML), SC'17, sections 2.2 and 4.3; R. L. Graham et al., Scalable
// Hierarchical Aggregation Protocol (SHArP), COM-HPC 2016.
// Steps: 2 d for a tree of depth d, where d = ceil(log_f H) for A = (H - 1) / (f - 1) aggregators
// of f children; receiving from f children takes f message times at an aggregator.
// Sent: n by every contribution; f n down and n up by an aggregator.
// Reductions: (f - 1) n at an aggregator, none at a host.
// Scratch: 2 n at an aggregator (what is combined, and what comes in), none at a host.
// Serves: shapes whose last nodes are aggregators, at least one.
//
// Example, 4 hosts with a, b, c, d and 2 aggregators, 5 edges: aggregator 4 takes hosts 0 to 2 and
// sends abc to aggregator 5, which takes it and d, and sends abcd to both; aggregator 4 passes it
// on.

#include "collectives/algorithms/building_blocks/aggregation.h"

#include <algorithm>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// Adds a node's steps of one part. Aggregators talk to one another on the first lane.
class Aggregation {
 public:
  Aggregation(ScheduleBuilder& builder, const AggregationTree& tree, const AggregatedPart& part)
      : builder_(builder), tree_(tree), part_(part) {}

  void append() {
    if (tree_.is_host(part_.node)) return contribute();
    if (!tree_.is_used(part_.node)) return;
    parent_ = tree_.parent(part_.node);
    children_ = tree_.children(part_.node);
    combine();
    multicast();
  }

 private:
  static constexpr int kTreeLane = 0;

  Span on(BufferId buffer) const { return span_of(buffer, part_.chunks); }

  /// The lanes on which a child and its parent exchange, in rank order.
  std::vector<int> lanes_of(int child) const {
    return tree_.is_host(child) ? part_.lanes(child) : std::vector{kTreeLane};
  }

  void contribute() {
    const int parent = tree_.parent(part_.node);
    for (const Contribution& own : part_.contributions) {
      builder_.send(own.strand, own.lane, parent, on(own.source));
    }
    for (const Contribution& own : part_.contributions) {
      builder_.recv(own.strand, own.lane, parent, on(own.result));
    }
  }

  /// The first vector is received where the others are reduced into.
  void combine() {
    const int worker = builder_.shape().leader(part_.node, kTreeLane);
    BufferId received = kNoBuffer;
    for (const int child : children_) {
      for (const int lane : lanes_of(child)) {
        const bool is_first = combined_ == kNoBuffer;
        BufferId& buffer = is_first ? combined_ : received;
        if (buffer == kNoBuffer) buffer = builder_.add_scratch(worker, part_.chunks);
        builder_.recv(part_.strand, lane, child, on(buffer));
        if (is_first) continue;
        builder_.reduce(part_.strand, {on(combined_)}, {on(combined_), on(received)});
      }
    }
    if (parent_ >= 0) builder_.send(part_.strand, kTreeLane, parent_, on(combined_));
  }

  void multicast() {
    const Span combined = on(combined_);
    if (parent_ >= 0) builder_.recv(part_.strand, kTreeLane, parent_, combined);
    for (const int child : children_) {
      for (const int lane : lanes_of(child)) builder_.send(part_.strand, lane, child, combined);
    }
  }

  ScheduleBuilder& builder_;
  const AggregationTree& tree_;
  const AggregatedPart& part_;
  int parent_ = -1;  // of an aggregator
  std::vector<int> children_;
  BufferId combined_ = kNoBuffer;
};

}  // namespace

int host_count(const Shape& shape) {
  int hosts = 0;
  for (const EqualNodes& run : shape.node_runs()) {
    if (run.node.members == 0) break;
    hosts += run.count;
  }
  return hosts;
}

bool has_aggregators_last(const Shape& shape) {
  const std::vector<EqualNodes> runs = shape.node_runs();
  const auto aggregates = [](const EqualNodes& run) { return run.node.members == 0; };
  const auto first = std::ranges::find_if(runs, aggregates);
  return first != runs.begin() && first != runs.end() &&
         std::all_of(first, runs.end(), aggregates) && shape.visibility() == Visibility::direct;
}

AggregationTree::AggregationTree(const Shape& shape) {
  HYCOLL_ASSERT(has_aggregators_last(shape), "an aggregation tree needs aggregators");
  const int hosts = hycoll::host_count(shape);
  const int aggregators = std::min(shape.node_count() - hosts, std::max(1, hosts - 1));
  const int edges = hosts - 1 + aggregators;
  fan_in_ = edges / aggregators;
  const int all_wide = edges % aggregators;
  Pass pass{.roots = hosts, .first_aggregator = 0};
  while (pass.first_aggregator < aggregators) {
    const int wide_left = std::max(0, all_wide - pass.first_aggregator);
    pass.wide = std::min(wide_left, pass.roots / (fan_in_ + 1));
    if (pass.wide == wide_left) {
      pass.narrow = std::min(aggregators - pass.first_aggregator - pass.wide,
                             (pass.roots - pass.wide * (fan_in_ + 1)) / fan_in_);
    }
    passes_.push_back(pass);
    pass = {.roots = pass.roots - taken(pass) + aggregators_of(pass),
            .first_aggregator = pass.first_aggregator + aggregators_of(pass)};
  }
  HYCOLL_ASSERT(pass.roots == 1, "one node is left");
  passes_.push_back(pass);
}

std::size_t AggregationTree::pass_of(int aggregator) const {
  const auto behind =
      std::ranges::upper_bound(passes_, aggregator - host_count(), {}, &Pass::first_aggregator);
  return static_cast<std::size_t>(behind - passes_.begin()) - 1;
}

int AggregationTree::root_at(std::size_t pass, int position) const {
  for (; pass > 0; --pass) {
    const Pass& before = passes_[pass - 1];
    const int made = aggregators_of(before);
    if (position < made) return host_count() + before.first_aggregator + position;
    position += taken(before) - made;
  }
  return position;
}

int AggregationTree::parent(int node) const {
  std::size_t pass = 0;
  int position = node;
  if (!is_host(node)) {
    pass = pass_of(node);
    position = node - host_count() - passes_[pass].first_aggregator;
    ++pass;
  }
  for (; pass + 1 < passes_.size(); ++pass) {
    const Pass& here = passes_[pass];
    if (position < taken(here)) {
      const int in_wide = here.wide * (fan_in_ + 1);
      const int index = position < in_wide ? position / (fan_in_ + 1)
                                           : here.wide + (position - in_wide) / fan_in_;
      return host_count() + here.first_aggregator + index;
    }
    position += aggregators_of(here) - taken(here);
  }
  return -1;
}

std::vector<int> AggregationTree::children(int aggregator) const {
  const std::size_t pass = pass_of(aggregator);
  const int index = aggregator - host_count() - passes_[pass].first_aggregator;
  const int end = first_child(passes_[pass], index + 1);
  std::vector<int> children;
  for (int position = first_child(passes_[pass], index); position < end; ++position) {
    children.push_back(root_at(pass, position));
  }
  return children;
}

void append_aggregation(ScheduleBuilder& builder, const AggregationTree& tree,
                        const AggregatedPart& part) {
  Aggregation(builder, tree, part).append();
}

}  // namespace hycoll
