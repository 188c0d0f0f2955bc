#ifndef HYCOLL_CORE_SIMULATION_FLOW_NETWORK_H_
#define HYCOLL_CORE_SIMULATION_FLOW_NETWORK_H_

#include <optional>
#include <string>
#include <vector>

namespace hycoll {

/// Bytes on their way from one host to another.
struct Flow {
  int id;  ///< Of those under way at the same time.
  int from_host;
  int to_host;  ///< Another one.
  double size_bytes;
};

struct FlowEnd {
  int id;
  double time_us;
};

/// What passed over a link, in one direction.
struct LinkUse {
  std::string link;
  double size_bytes;
  double gb_per_s;  ///< What the link can carry.
};

/// A network whose flows share links. Hosts are numbered from 0 on. For one thread.
class FlowNetwork {
 public:
  virtual ~FlowNetwork() = default;

  virtual int host_count() const = 0;
  virtual std::string host_name(int host) const = 0;

  /// Of the links on the way from one host to another one.
  virtual double latency_us(int from_host, int to_host) = 0;

  /// Forgets what has passed, and begins at time 0 again. Requires that nothing is under way.
  virtual void reset() = 0;

  /// Times are in ascending order, over begin() and next().
  virtual void begin(const Flow& flow, double time_us) = 0;

  /// The next flow that ends, or nothing if none does until then. Requires that one is under way if
  /// `until_us` is infinite.
  virtual std::optional<FlowEnd> next(double until_us) = 0;

  /// Of all flows since the last reset(), in any order; links without flows may be left out.
  virtual std::vector<LinkUse> link_uses() = 0;

 protected:
  FlowNetwork() = default;
  FlowNetwork(const FlowNetwork&) = default;
  FlowNetwork& operator=(const FlowNetwork&) = default;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SIMULATION_FLOW_NETWORK_H_
