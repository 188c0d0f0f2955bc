#ifndef HYCOLL_COLLECTIVES_ALLREDUCE_H_
#define HYCOLL_COLLECTIVES_ALLREDUCE_H_

#include <string>

#include "collectives/algorithm.h"
#include "core/schedule.h"

namespace hycoll {

/// The data-partitioned multi-leader allreduce; see allreduce_dpml.cc. Serves every shape with
/// Visibility::direct.
Schedule generate_dpml_allreduce(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters);

/// The same with each lane's partition cut into `segments` parts whose exchanges are in flight
/// together; see allreduce_dpml_pipelined.cc.
Schedule generate_dpml_pipelined_allreduce(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters);

/// Allreduce of short vectors through signal-carrying lines; see allreduce_lines.cc. Serves every
/// shape with one lane and direct visibility whose leaders own a member.
Schedule generate_lines_allreduce(std::string name, const Shape& shape,
                                  const GeneratorParameters& parameters);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALLREDUCE_H_
