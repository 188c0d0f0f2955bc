// Native exchange: the MPI library's own allreduce between the leaders of a lane.
//
// Idea: the library knows its network, and may offload. Each lane has its own communicator, so L of
// these run at once.
//
// Source: DPML, section 4.1, third phase ("the algorithm dynamically chosen by the MPI library").
// Steps and bytes: the library's.
// Serves: any number of nodes, on endpoints over MPI. Whether all nodes get the same bits is the
// library's promise.

#include "collectives/algorithms/allreduce/exchange.h"

namespace hycoll {

void append_native(ScheduleBuilder& builder, const LaneVector& vector) {
  for (std::size_t node = 0; node < vector.strands.size(); ++node) {
    builder.native_allreduce(vector.strands[node], vector.lane,
                             span_of(vector.results[node], vector.chunks),
                             span_of(vector.sources[node], vector.chunks));
  }
}

}  // namespace hycoll
