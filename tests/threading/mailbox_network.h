#ifndef HYCOLL_TESTS_THREADING_MAILBOX_NETWORK_H_
#define HYCOLL_TESTS_THREADING_MAILBOX_NETWORK_H_

#include <memory>
#include <vector>

#include "threading/transport/endpoint.h"

namespace hycoll {

/// A network between emulated nodes of one process: for the random driver, for tests under
/// ThreadSanitizer, and for measuring an algorithm without MPI. Endpoints of different nodes and
/// lanes may be used concurrently.
class MailboxNetwork {
 public:
  /// When a send completes: at once, its bytes having been copied, or when they have been received.
  /// A correct schedule works with both, and with any mixture.
  enum class Delivery { eager, rendezvous, alternating };

  MailboxNetwork(int node_count, int lane_count, Delivery delivery);
  ~MailboxNetwork();

  /// The endpoint of a node's lane. Lives as long as the network.
  Endpoint& endpoint(int node, int lane);

 private:
  struct Mail;
  class MailboxEndpoint;
  int lane_count_;
  std::unique_ptr<Mail> mail_;
  std::vector<std::unique_ptr<MailboxEndpoint>> endpoints_;
};

}  // namespace hycoll

#endif  // HYCOLL_TESTS_THREADING_MAILBOX_NETWORK_H_
