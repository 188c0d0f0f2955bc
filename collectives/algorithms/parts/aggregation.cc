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
// Sent: n by every contribution; f n down and n up by an aggregator. Reductions: (f - 1) n at an
// aggregator, none at a host. Scratch: 2 n at an aggregator (what is combined, and what comes in),
// none at a host.
// Serves: shapes whose last nodes are aggregators, at least one.
//
// Example, 4 hosts with a, b, c, d and 2 aggregators, 5 edges: aggregator 4 takes hosts 0 to 2 and
// sends abc to aggregator 5, which takes it and d, and sends abcd to both; aggregator 4 passes it
// on.

#include "collectives/algorithms/parts/aggregation.h"

#include <algorithm>

#include "collectives/algorithms/parts/chunks.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// Adds a node's steps of one part. Aggregators talk to one another on the first lane.
class Aggregation {
 public:
  Aggregation(ScheduleBuilder& builder, const AggregationTree& tree, const AggregatedPart& part)
      : builder_(builder), tree_(tree), part_(part) {}

  void append() {
    if (is_host(part_.node)) return contribute();
    const int index = part_.node - static_cast<int>(tree_.host_parents.size());
    if (index >= static_cast<int>(tree_.vertices.size())) return;  // not used
    const auto& vertex = tree_.vertices[static_cast<std::size_t>(index)];
    combine(vertex);
    multicast(vertex);
  }

 private:
  static constexpr int kTreeLane = 0;

  Span on(BufferId buffer) const { return span_of(buffer, part_.chunks); }

  bool is_host(int node) const {
    return static_cast<std::size_t>(node) < tree_.host_parents.size();
  }

  /// The lanes on which a child and its parent exchange, in rank order.
  std::vector<int> lanes_of(int child) const {
    return is_host(child) ? part_.lanes(child) : std::vector{kTreeLane};
  }

  void contribute() {
    const int parent = tree_.host_parents[static_cast<std::size_t>(part_.node)];
    for (const Contribution& own : part_.contributions) {
      builder_.send(own.strand, own.lane, parent, on(own.source));
    }
    for (const Contribution& own : part_.contributions) {
      builder_.recv(own.strand, own.lane, parent, on(own.result));
    }
  }

  /// The first vector is received where the others are reduced into.
  void combine(const AggregationTree::Vertex& vertex) {
    const int worker = builder_.shape().leader(vertex.node, kTreeLane);
    BufferId received = kNoBuffer;
    for (const int child : vertex.children) {
      for (const int lane : lanes_of(child)) {
        const bool is_first = combined_ == kNoBuffer;
        BufferId& buffer = is_first ? combined_ : received;
        if (buffer == kNoBuffer) buffer = builder_.add_scratch(worker, part_.chunks);
        builder_.recv(part_.strand, lane, child, on(buffer));
        if (is_first) continue;
        builder_.reduce(part_.strand, {on(combined_)}, {on(combined_), on(received)});
      }
    }
    if (vertex.parent >= 0) builder_.send(part_.strand, kTreeLane, vertex.parent, on(combined_));
  }

  void multicast(const AggregationTree::Vertex& vertex) {
    const Span combined = on(combined_);
    if (vertex.parent >= 0) builder_.recv(part_.strand, kTreeLane, vertex.parent, combined);
    for (const int child : vertex.children) {
      for (const int lane : lanes_of(child)) builder_.send(part_.strand, lane, child, combined);
    }
  }

  ScheduleBuilder& builder_;
  const AggregationTree& tree_;
  const AggregatedPart& part_;
  BufferId combined_ = kNoBuffer;
};

}  // namespace

int host_count(const Shape& shape) {
  int hosts = 0;
  while (hosts < shape.node_count() && shape.node(hosts).members > 0) ++hosts;
  return hosts;
}

bool has_aggregators_last(const Shape& shape) {
  const int hosts = host_count(shape);
  if (hosts == 0 || hosts == shape.node_count()) return false;
  for (int node = hosts; node < shape.node_count(); ++node) {
    if (shape.node(node).members > 0) return false;
  }
  return shape.visibility() == Visibility::direct;
}

AggregationTree aggregation_tree(const Shape& shape) {
  HYCOLL_ASSERT(has_aggregators_last(shape), "an aggregation tree needs aggregators");
  const int hosts = host_count(shape);
  const int aggregators = std::min(shape.node_count() - hosts, std::max(1, hosts - 1));
  AggregationTree tree;
  tree.host_parents.resize(static_cast<std::size_t>(hosts), -1);
  std::vector<int> roots;  // of the trees so far, from left to right
  for (int host = 0; host < hosts; ++host) roots.push_back(host);
  std::size_t next = 0;
  for (int i = 0; i < aggregators; ++i) {
    const int edges = hosts - 1 + aggregators;
    const auto fan_in = static_cast<std::size_t>(edges / aggregators + (i < edges % aggregators));
    if (roots.size() - next < fan_in) next = 0;
    const auto first = roots.begin() + static_cast<std::ptrdiff_t>(next);
    const auto last = first + static_cast<std::ptrdiff_t>(fan_in);
    tree.vertices.push_back({.node = hosts + i, .parent = -1, .children = {first, last}});
    for (auto child = first; child != last; ++child) {
      (*child < hosts ? tree.host_parents[static_cast<std::size_t>(*child)]
                      : tree.vertices[static_cast<std::size_t>(*child - hosts)].parent) = hosts + i;
    }
    *first = hosts + i;
    roots.erase(first + 1, last);
    ++next;
  }
  return tree;
}

void append_aggregation(ScheduleBuilder& builder, const AggregationTree& tree,
                        const AggregatedPart& part) {
  Aggregation(builder, tree, part).append();
}

}  // namespace hycoll
