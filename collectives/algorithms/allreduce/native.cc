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
  builder.native_allreduce(vector.strand, vector.lane, vector.whole_result(),
                           vector.whole_source());
}

}  // namespace hycoll
