#ifndef HYCOLL_TOOLS_MEASURE_LINE_GAP_H_
#define HYCOLL_TOOLS_MEASURE_LINE_GAP_H_

#include <chrono>
#include <vector>

#include "numa/topology/topology.h"

namespace hycoll::measure {

/// The time in nanoseconds in which a thread on the core `reader` goes on from one flag to the next
/// of many that a thread on `writer` has raised, each in a cache line of its own: of each batch of
/// them. Empty if the two have taken longer than `patience` in all. The calling thread is not
/// bound.
///
/// Requires two cores with different Core::os_index. Errors: as bind_this_thread.
std::vector<double> line_gap_ns(const Topology& topology, const Core& reader, const Core& writer,
                                int batches, std::chrono::nanoseconds patience);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_LINE_GAP_H_
