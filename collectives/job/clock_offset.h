#ifndef HYCOLL_COLLECTIVES_JOB_CLOCK_OFFSET_H_
#define HYCOLL_COLLECTIVES_JOB_CLOCK_OFFSET_H_

#include <mpi.h>

#include "threading/tracing/trace_file.h"
#include "threading/transport/mpi/joint_setup.h"

namespace hycoll {

/// How far this process's steady clock is from that of the communicator's first process. Processes
/// of a machine share the clock; one of each other machine exchanges some short messages with the
/// first process, of which the fastest counts: it has been half as long on the way as it took, give
/// or take that half. Afterwards clocks may drift apart, by some microseconds a minute.
///
/// Collective, as a part of the set-up; `machine_count` machines run the processes.
ClockOffset agree_on_clock(JointSetup& setup, MPI_Comm communicator, int machine_count);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_CLOCK_OFFSET_H_
