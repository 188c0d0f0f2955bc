#ifndef HYCOLL_COLLECTIVES_JOB_TUNING_AGREEMENT_H_
#define HYCOLL_COLLECTIVES_JOB_TUNING_AGREEMENT_H_

#include <memory>
#include <string>

#include "collectives/selection/tuning_table.h"
#include "threading/transport/mpi/joint_setup.h"

namespace hycoll {

/// The table in a file that each process reads. Null on all, with a line on standard error from who
/// `speaks`, if a process cannot read it, or their files differ. Collective, as a part of the
/// set-up.
std::shared_ptr<const TuningTable> agree_on_tuning(JointSetup& setup, const std::string& path,
                                                   bool speaks);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_TUNING_AGREEMENT_H_
