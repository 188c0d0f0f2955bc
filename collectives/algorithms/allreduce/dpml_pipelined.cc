// DPML-Pipelined: each lane's partition cut into k parts whose exchanges are in flight together.
//
// Idea: with long vectors even the partition of one of many leaders is a long message, and a leader
// that first reduces all of it leaves the network idle meanwhile. So the leader cuts its partition
// into k parts: it reduces one part over the members of its node, starts that part's exchange and
// reduces the next part while the first is under way. Parts are published as they complete.
//
// Source: M. Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
// Multi-Leader Design, SC'17, section 4.2 and equation 5. The paper cuts after the node's reduction
// and waits for all parts; here the reduction and the last phase are cut, too, and overlap.
//
// Phases: those of DPML (dpml.cc), for every part. A leader has a strand for each part (at most
// kMaximumTracksPerWorker; part p runs on track p modulo their number, after part p minus this
// number, and the track's flag counts the parts that are done). Native calls of a lane are one
// strand, for MPI matches them by their order: reduce part 0, call 0, reduce part 1, call 1, ...,
// then the copies as the calls complete.
// Steps: k times those of the exchange, the k in flight together.
// Sent: the same number of elements as without pipelining.
// Scratch: n.
// Serves: what DPML serves. k = segments; 1 is DPML itself.
//
// Example, 2 nodes of 1 member, 1 lane, k = 2, recursive doubling: each node sends its lower half,
// then its upper half, and reduces the lower one when the peer's has come, whether or not anything
// of the upper halves has.

#include <utility>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/allreduce/multi_leader.h"
#include "core/base/errors.h"

namespace hycoll {

Schedule generate_dpml_pipelined_allreduce(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "dpml reads its members' buffers");
  const int parts = parameters.segments;
  const int per_part = parameters.exchange.chunks_per_lane(shape.node_count(), 1);
  const int tracks =
      parameters.exchange.help == ExchangeHelp::mpi_library ? 1 : tracks_per_lane(shape, parts);
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape,
                          per_part * parts * shape.lane_count(), parameters.root, parameters.nodes);
  append_multi_leader(builder, parameters.exchange,
                      cut_vector(shape.lane_count(), parts, tracks, per_part));
  return std::move(builder).finish();
}

}  // namespace hycoll
