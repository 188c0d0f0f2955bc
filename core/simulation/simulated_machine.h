#ifndef HYCOLL_CORE_SIMULATION_SIMULATED_MACHINE_H_
#define HYCOLL_CORE_SIMULATION_SIMULATED_MACHINE_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "core/drawing/shared_resources.h"
#include "core/schedule/shape.h"
#include "core/simulation/flow_network.h"
#include "core/simulation/platform.h"
#include "core/simulation/shared_memory.h"

namespace hycoll {

/// Hosts of a platform on which the nodes of a schedule run.
///
/// An endpoint sends one message after the other, each as a flow that shares the links on its way;
/// it is busy with it until the flow ends, but not less long than its own rate takes. A message is
/// there when its last byte has left, plus the prices' alpha and the latencies of the links.
/// Between nodes on one host it passes through that host's memory instead, at a core's rate.
/// Workers are on the cores of their host in their order, spread evenly; each moves bytes through
/// the memory of its own domain. A signal to another domain takes longer than one within a domain,
/// as a cache line does (kPublishedTimes).
class SimulatedMachine final : public SharedResources {
 public:
  /// The hosts of the nodes, by node; nodes may share one. The platform and the network outlive
  /// this object. Throws Error (invalid_argument), which names the platform's numbers, if a host
  /// has fewer cores than workers.
  SimulatedMachine(const Platform& platform, const Shape& shape,
                   const std::vector<int>& host_of_node, FlowNetwork& network);

  std::optional<MessagePassage> carry(const SharedMessage& message, double time_us) override;
  std::optional<double> move(const SharedMove& move, double time_us) override;
  std::optional<SharedCompletion> next(double until_us) override;
  double signal_us(int from_worker, int to_worker) const override;

 private:
  struct Place {
    int node;
    int host;
    int domain;   // among those of all hosts
    int package;  // the same
  };
  struct Message {
    int step;
    int from_worker;
    int to_worker;
    int endpoint;  // the sender's
    double size_bytes;
    double least_end_us;  // its endpoint cannot send it sooner
  };
  struct Sent {
    double time_us;
    int slot;
    friend bool operator>(const Sent& a, const Sent& b) {
      return std::pair(a.time_us, a.slot) > std::pair(b.time_us, b.slot);
    }
  };
  struct Endpoint {
    bool sends = false;
    std::deque<int> waiting;
  };

  void place_workers(const Platform& platform, const Shape& shape,
                     const std::vector<int>& host_of_node);
  const Place& place(int worker) const { return places_[static_cast<std::size_t>(worker)]; }
  int keep(const Message& message);
  void send(int slot, double time_us);
  SharedCompletion finish_message(int slot, double time_us);
  SharedCompletion finish_memory();

  const MachinePrices& prices_;
  FlowNetwork& network_;
  double endpoint_bytes_per_us_;
  int lane_count_;
  std::vector<Place> places_;  // by worker
  SharedMemory memory_;
  bool is_memory_limited_;
  std::vector<Endpoint> endpoints_;  // by node, then by lane
  std::vector<Message> messages_;    // by the numbers of flows, of which some are unused
  std::vector<int> unused_;
  int flows_ = 0;  // under way in the network
  // Whose flows have ended, but whose endpoints have not sent them yet.
  std::priority_queue<Sent, std::vector<Sent>, std::greater<>> endings_;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SIMULATION_SIMULATED_MACHINE_H_
