#include "tools/command/measuring/leader_lanes.h"

#include <utility>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

Options options_with(Options::Transport transport, Options::Puts puts) {
  Options options;
  options.transport = transport;
  options.puts = puts;
  return options;
}

}  // namespace

Topology core_share(MPI_Comm comm) {
  return JointSetup::run(
      comm, [&](JointSetup& setup) { return ProcessGroup(setup, comm, Options{}).topology(); });
}

std::unique_ptr<LeaderLanes> LeaderLanes::make(MPI_Comm comm, Options::Transport transport,
                                               Options::Puts puts, int leader_count) {
  return JointSetup::run(comm, [&](JointSetup& setup) {
    return std::unique_ptr<LeaderLanes>(
        new LeaderLanes(setup, comm, options_with(transport, puts), leader_count));
  });
}

LeaderLanes::LeaderLanes(JointSetup& setup, MPI_Comm comm, const Options& options, int leader_count)
    : group_(setup, comm, options),
      transport_(LaneTransport::agreed(group_, leader_count)),
      communicators_(setup, group_.control(), leader_count) {}

std::unique_ptr<Endpoint> LeaderLanes::open(int leader) const {
  return transport_.open(communicators_.of(leader), nullptr, communicators_.lane_on_it(leader),
                         communicators_.lanes_on_each(), group_.process_names(), Leading::here);
}

std::string LeaderLanes::name() const { return description().substr(0, description().find(" (")); }

std::vector<TransportRate> measure_transports(MPI_Comm comm, const Topology& topology,
                                              std::span<const Core> cores, std::size_t size_bytes) {
  std::vector<std::unique_ptr<LeaderLanes>> transports;
  std::vector<measure::LaneMaker> makers;
  struct Way {
    Options::Transport transport;
    Options::Puts puts;
  };
  for (const Way way : {Way{Options::Transport::mpi, Options::Puts::off},
                        Way{Options::Transport::ucx, Options::Puts::off},
                        Way{Options::Transport::ucx, Options::Puts::on}}) {
    try {
      auto lanes = LeaderLanes::make(comm, way.transport, way.puts, static_cast<int>(cores.size()));
      if (lanes->takes_puts() != (way.puts == Options::Puts::on)) continue;
      makers.emplace_back([&lanes = *lanes](int leader) { return lanes.open(leader); });
      transports.push_back(std::move(lanes));
    } catch (const Error& error) {
      // On all processes.
      if (error.kind() != ErrorKind::environment) throw;
    }
  }
  const auto measured =
      measure::measure_leader_concurrency(comm, topology, cores, makers, size_bytes);
  std::vector<TransportRate> rates;
  for (std::size_t i = 0; i < transports.size(); ++i) {
    rates.push_back({.transport = transports[i]->name(), .leaders = measured[i]});
  }
  return rates;
}

}  // namespace hycoll::command
