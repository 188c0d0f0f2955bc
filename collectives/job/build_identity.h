#ifndef HYCOLL_COLLECTIVES_JOB_BUILD_IDENTITY_H_
#define HYCOLL_COLLECTIVES_JOB_BUILD_IDENTITY_H_

#include <string>

namespace hycoll {

/// Which hycoll this process runs, as far as its processes must run the same: "version 0.1.0,
/// memory layout 1234567890abcdef". The number stands for the sizes of what processes share and
/// send. Builds for different processors are alike.
std::string build_identity();

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_BUILD_IDENTITY_H_
