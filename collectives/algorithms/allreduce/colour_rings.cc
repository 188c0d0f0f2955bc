// Colours and core specialisation: edge-disjoint rings of a torus, one worker for the network.
//
// Idea: the vector is cut into colours, one per lane, and each colour goes round the nodes on a
// ring of its own, such that no two rings share a link of the torus: all links work at once. On
// every node worker 0 does nothing but drive these rings, so messages never wait for a reduction in
// memory. The other workers take one colour each: they reduce it over the members, part after part,
// and tell worker 0 by a message counter how far they are; worker 0 tells them by message counters
// which parts are complete, and they copy these to the members.
//
// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
// Techniques over the Blue Gene/P Supercomputer, 2009, section 5.C. As there, a colour's parts (of
// Pwidth bytes; here `segments` of them) are reduced along the ring to a root and broadcast from it
// (chain.cc), not scattered and gathered: parts then become complete in the order in which
// they were reduced, on all nodes, which is what a counter can tell. There every core copies all
// colours into its own buffer; here a core copies its colour into all buffers. The rings: torus.h.
//
// Steps: 2 (N - 1) + k - 1 at the length of a part, n / (L k).
// Sent: 2 n elements at most by every node; the ring of the flat exchange sends 2 n (N - 1) / N.
// Reductions: (M - 1) n by the other workers, n by worker 0.
// Scratch: n, at worker 0.
// Serves: any shape with direct visibility. Up to three lanes have rings without a common link,
// fewer where the torus of torus_dimensions(N) has fewer (a prime number of nodes is one ring);
// further lanes use them again, from another node on and in the other direction. With several
// members there are further workers; a single worker does both. The order of the operands is that
// of the ring: the same on every node, but not rank order.
//
// Example, 2 nodes of 2 members, 1 lane, 2 parts: worker 1 of each node reduces the lower half of
// both inputs and raises its counter to 1, then the upper half, to 2. Worker 0 of the first node
// sends each half as soon as it is counted; worker 0 of the second one adds its own and sends the
// sum back, and both raise counters for their workers 1, which copy the half to the other member.

#include <utility>
#include <vector>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/allreduce/multi_leader.h"
#include "collectives/algorithms/building_blocks/members.h"
#include "collectives/algorithms/torus/torus.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr int kNetworkWorker = 0;

/// The workers of one node and what they tell each other. With one member nobody but the network's
/// worker has anything to do.
class ColourNode {
 public:
  ColourNode(ScheduleBuilder& builder, int node, const VectorParts& parts)
      : builder_(builder),
        first_worker_(builder.shape().first_worker(node)),
        worker_count_(builder.shape().node(node).workers),
        members_(Members::of_node(builder, node)) {
    StrandPool pool(builder_);
    for (std::size_t track = 0; track < parts.track_lanes.size(); ++track) {
      network_.push_back(pool.next(first_worker_ + kNetworkWorker));
      complete_.push_back(builder_.add_flag(network_.back()));
    }
    if (members_.count() == 1) return;
    for (int lane = 0; lane < builder_.shape().lane_count(); ++lane) {
      colours_.push_back(pool.next(first_worker_ + colour_worker(lane)));
      reduced_.push_back(builder_.add_flag(colours_.back()));
      copied_.push_back(builder_.add_flag(colours_.back()));
      members_.await_all(colours_.back());
    }
  }

  StrandId network(int track) const { return network_[at(track)]; }
  BufferId result() const { return builder_.output(members_.first()); }

  /// The colour's worker reduces a part; the network's waits for it. Returns where the sum lies.
  BufferId append_reduction(const VectorPart& part) {
    if (members_.count() == 1) return builder_.input(members_.first());
    const StrandId colour = colours_[at(part.lane)];
    std::vector<Span> inputs;
    for (int member = members_.first(); member <= members_.last(); ++member) {
      inputs.push_back(span_of(builder_.input(member), part.chunks));
    }
    const std::vector<Span> sums =
        is_alone() ? outputs_from(0, part) : std::vector{span_of(result(), part.chunks)};
    builder_.reduce(colour, sums, inputs);
    if (is_alone()) return result();
    builder_.signal(colour, reduced_[at(part.lane)]);
    builder_.wait(network(part.track), reduced_[at(part.lane)]);
    return result();
  }

  void append_announcement(const VectorPart& part) {
    if (members_.count() == 1 || is_alone()) return;
    builder_.signal(network(part.track), complete_[at(part.track)]);
  }

  /// The colour's worker copies a complete part to the other members.
  void append_copy(const VectorPart& part) {
    if (members_.count() == 1 || is_alone()) return;
    const StrandId colour = colours_[at(part.lane)];
    builder_.wait(colour, complete_[at(part.track)], part.turn);
    builder_.copy(colour, outputs_from(1, part), span_of(result(), part.chunks));
  }

  /// Every member waits until all colours have been copied.
  void append_end() {
    for (std::size_t lane = 0; lane < colours_.size(); ++lane) {
      builder_.signal(colours_[lane], copied_[lane]);
      for (int member = members_.first(); member <= members_.last(); ++member) {
        const StrandId strand = members_.strand(member);
        if (strand != colours_[lane]) builder_.wait(strand, copied_[lane]);
      }
    }
  }

 private:
  template <class Index>
  static std::size_t at(Index index) {
    return static_cast<std::size_t>(index);
  }

  /// Whether there is no network.
  bool is_alone() const { return builder_.shape().node_count() == 1; }

  /// The colours are dealt to all workers but the network's.
  int colour_worker(int lane) const { return 1 + lane % (worker_count_ - 1); }

  /// The outputs of the members from the node's given one on.
  std::vector<Span> outputs_from(int index, const VectorPart& part) const {
    std::vector<Span> outputs;
    for (int member = members_.first() + index; member <= members_.last(); ++member) {
      outputs.push_back(span_of(builder_.output(member), part.chunks));
    }
    return outputs;
  }

  ScheduleBuilder& builder_;
  int first_worker_;
  int worker_count_;
  Members members_;
  std::vector<StrandId> network_;  // by track
  std::vector<FlagId> complete_;   // by track
  std::vector<StrandId> colours_;  // by lane, like those below
  std::vector<FlagId> reduced_;
  std::vector<FlagId> copied_;
};

/// The same shape with all lanes driven by one worker of each node.
Shape with_network_worker(const Shape& shape) {
  const auto lanes = static_cast<std::size_t>(shape.lane_count());
  return Shape(shape.node_runs(), shape.lane_count(), shape.visibility(),
               std::vector<int>(lanes, kNetworkWorker));
}

/// In the chain along a lane's ring, whose root is its last node.
TreePlace place_in_ring(const LaneRings& rings, int lane, int node) {
  const int first = rings.first(lane);
  const int next = rings.next(lane, node);
  TreePlace place;
  if (next != first) place.parent = next;
  if (node != first) place.children = {rings.previous(lane, node)};
  return place;
}

}  // namespace

Schedule generate_colour_rings_allreduce(std::string name, const Shape& asked,
                                         const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(asked.visibility() == Visibility::direct, "workers read their members' buffers");
  const Shape shape = with_network_worker(asked);
  const int parts_per_lane = parameters.segments;
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape,
                          shape.lane_count() * parts_per_lane, parameters.root, parameters.nodes);
  const VectorParts parts =
      cut_vector(shape.lane_count(), parts_per_lane, tracks_per_lane(shape, parts_per_lane), 1);
  const LaneRings rings(shape.node_count(), shape.lane_count());
  for (const int n : builder.nodes()) {
    ColourNode node(builder, n, parts);
    for (const VectorPart& part : parts.parts) {
      append_exchange(builder, parameters.exchange,
                      {.lane = part.lane,
                       .chunks = part.chunks,
                       .node = n,
                       .strand = node.network(part.track),
                       .source = node.append_reduction(part),
                       .result = node.result(),
                       .place = place_in_ring(rings, part.lane, n)});
      node.append_announcement(part);
    }
    for (const VectorPart& part : parts.parts) node.append_copy(part);
    node.append_end();
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
