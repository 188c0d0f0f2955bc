#ifndef HYCOLL_COLLECTIVES_JOB_SETUP_STEPS_H_
#define HYCOLL_COLLECTIVES_JOB_SETUP_STEPS_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace hycoll {

/// A collective of the MPI library's by which hycoll is set up. All processes of the set-up meet
/// before each of them (JointSetup), which is an allreduce of its own; what an allreduce of all has
/// to tell goes with a meeting.
struct SetupStep {
  enum class Kind { allgather, allreduce, broadcast, exscan, barrier };
  /// The processes that call it: all, those of this one's machine, those of its node, or the first
  /// one of each machine.
  enum class Among { all, machine, node, first_ones };

  std::string_view what;
  Kind kind;
  Among among;
  std::size_t size_bytes;  ///< That each process contributes, or the broadcast's.
};

/// How many processes call the steps of one kind.
struct SetupCounts {
  int all = 1;
  int machine = 1;
  int node = 1;
  int first_ones = 1;

  int among(SetupStep::Among among) const noexcept;
};

/// What the process map takes (ProcessMap): once in a process, for MPI_COMM_WORLD, where hycoll is
/// preloaded; otherwise once for a communicator.
struct MapSizes {
  int machine_count = 1;
  std::size_t description_bytes =
      0;                         ///< The longest machine's ranks, as describe_ranks() has them.
  std::size_t packed_bytes = 0;  ///< Of the map.
  std::size_t name_bytes = 0;    ///< The longest host name, and a byte.
  std::size_t names_bytes = 0;   ///< All of them.
  std::size_t mask_bytes = 8;    ///< Of the processing units that a process may use.
};
std::vector<SetupStep> map_steps(const MapSizes& sizes);

/// What every process says to all (MachineExchange::gather), if that differs between machines.
std::vector<SetupStep> gather_steps(const MapSizes& sizes);

/// What a communicator of the layout `processes` takes besides: one thread of each process, without
/// MpiCommunicator's own, whose messages and memory are the MPI library's, and without what the
/// first one between nodes does to measure transports.
struct CommunicatorSizes {
  int node_count = 1;
  int lane_count = 1;
  int leader_kinds = 1;  ///< Different lists of leaders and groups.
  /// Of a node's workers, told with the leaders; 0 where all nodes have too few for groups.
  int group_numbers = 0;
  bool has_groups = false;  ///< Some node is not flat.
  /// If there are several, which node has which is told on one machine; otherwise by gather_steps()
  /// besides.
  bool is_one_machine = false;
  bool is_over_ucx = false;  ///< The lanes, if there are several nodes.
};
std::vector<SetupStep> communicator_steps(const CommunicatorSizes& sizes);

/// What one process sends and receives in steps, if the MPI library does what textbooks say: rings
/// or doubling for an allgather, doubling for an allreduce and a scan, trees for a broadcast.
struct SetupTraffic {
  std::size_t received_bytes = 0;
  int messages = 0;  ///< That it receives one after the other, at most.
};
SetupTraffic traffic_of(std::span<const SetupStep> steps, const SetupCounts& counts);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_SETUP_STEPS_H_
