#ifndef HYCOLL_THREADING_TRANSPORT_UCX_TRANSPORT_RACE_H_
#define HYCOLL_THREADING_TRANSPORT_UCX_TRANSPORT_RACE_H_

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "threading/transport/mpi/joint_setup.h"
#include "threading/transport/ucx/ucx_context.h"
#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll {

/// How long messages take over what lanes have had, and over what they could have instead, both
/// ways at once, and of long ones several.
struct TransportRace {
  /// The lengths that are measured.
  static constexpr std::array<std::size_t, 2> kBytes = {8, 128 << 10};

  std::array<double, kBytes.size()> old_us{};
  std::array<double, kBytes.size()> new_us{};
  /// What the new has taken for each microsecond of the old right before or after it: the machine
  /// may have become another one in between.
  std::array<double, kBytes.size()> ratios{};

  /// In the geometric mean of the lengths.
  double ratio() const;
  /// Whether messages over it come at all.
  bool new_arrives() const;
  /// E.g. "8 B in 0.40 us over UCX, 0.71 over MPI; 128 KiB in 21.0, 24.1".
  std::string text(std::string_view new_way, std::string_view old_way) const;
};

/// UCX against MPI, measured between the communicator's first and its last process, alternately;
/// all processes have the same figures. Collective, as a part of their set-up; takes some
/// milliseconds.
TransportRace race_transports(JointSetup& setup, const UcxContext& ucx, MPI_Comm communicator,
                              const UcxPeers& peers);

/// Likewise UCX with puts against UCX without. Takes two generations, of which that of `peers` is
/// the first.
TransportRace race_puts(JointSetup& setup, MPI_Comm communicator, const UcxPeers& peers);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_UCX_TRANSPORT_RACE_H_
