#ifndef HYCOLL_THREADING_TRANSPORT_MPI_MPI_ENDPOINT_H_
#define HYCOLL_THREADING_TRANSPORT_MPI_MPI_ENDPOINT_H_

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "threading/transport/endpoint.h"
#include "threading/transport/mpi/check_mpi.h"
#include "threading/transport/mpi/joint_setup.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {

/// A communicator of hycoll's own, without wildcards and with errors returned; freed with the
/// object. Making one is a step of a set-up, whose processes meet before: those of `parent`.
class MpiCommunicator {
 public:
  /// Collective over `parent`: its duplicate.
  MpiCommunicator(JointSetup& setup, MPI_Comm parent);
  /// Collective over `parent`: those who pass the same color, in its order. Whoever passes
  /// MPI_UNDEFINED holds MPI_COMM_NULL.
  MpiCommunicator(JointSetup& setup, MPI_Comm parent, int color);
  /// The same, in the order of the keys, which all differ.
  MpiCommunicator(JointSetup& setup, MPI_Comm parent, int color, int key);
  /// Collective over `parent`: its processes on this one's machine, in their order.
  static std::shared_ptr<const MpiCommunicator> of_machine(JointSetup& setup, MPI_Comm parent);
  /// Collective over `parent`: those processes that have these ranks, in their order. The others
  /// get null.
  static std::shared_ptr<const MpiCommunicator> among(JointSetup& setup, MPI_Comm parent,
                                                      std::span<const int> ranks);
  /// Somebody else's, which outlives the object.
  static std::shared_ptr<const MpiCommunicator> borrowed(MPI_Comm communicator);
  ~MpiCommunicator();
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  MPI_Comm handle() const noexcept { return handle_; }

 private:
  MpiCommunicator() = default;
  void return_errors() const;

  MPI_Comm handle_ = MPI_COMM_NULL;
  bool is_borrowed_ = false;
};

/// The communicators through which lanes send, each its own while there are few: messages of
/// different lanes never wait for one another in matching, as far as the MPI library can make use
/// of it. MPI libraries have some thousands of communicators, so many lanes share these few, and
/// divide their tags. All are made at once, for a nonblocking call must not wait for others.
class LaneCommunicators {
 public:
  static constexpr int kMaximumCount = 8;

  /// Collective over `parent`. `maximum_count` communicators at most.
  LaneCommunicators(JointSetup& setup, MPI_Comm parent, int lane_count,
                    int maximum_count = kMaximumCount);

  /// Of a lane, which is number lane_on_it() of lanes_on_each() there.
  const std::shared_ptr<const MpiCommunicator>& of(int lane) const {
    return communicators_[static_cast<std::size_t>(lane) % communicators_.size()];
  }
  int lane_on_it(int lane) const noexcept { return lane / static_cast<int>(communicators_.size()); }
  int lanes_on_each() const noexcept { return lane_on_it(lane_count_ - 1) + 1; }

 private:
  int lane_count_;
  std::vector<std::shared_ptr<const MpiCommunicator>> communicators_;
};

/// The name of a communicator's process, by its rank, for messages. Null: as they are numbered.
using PeerNames = std::function<std::string(int peer)>;

/// A lane over MPI. Either it has a communicator of its own, or it shares one with other lanes.
class MpiEndpoint : public Endpoint {
 public:
  /// Lane `lane` of `lane_count` that share the communicator for messages, whose ranks are the
  /// peers. The transport's own collectives run on `leaders`, the processes that drive this lane;
  /// null if there are none. `peer_names` is used by describe_peer.
  MpiEndpoint(std::shared_ptr<const MpiCommunicator> messages,
              std::shared_ptr<const MpiCommunicator> leaders, int lane, int lane_count,
              PeerNames peer_names);
  ~MpiEndpoint() override;
  MpiEndpoint(const MpiEndpoint&) = delete;
  MpiEndpoint& operator=(const MpiEndpoint&) = delete;

  EndpointRequest send(int peer, int tag, const void* source, std::size_t size_bytes) override;
  EndpointRequest receive(int peer, int tag, void* destination, std::size_t size_bytes) override;
  EndpointRequest allreduce(int tag, const void* source, void* destination, std::size_t count,
                            DataType type, Operator op) override;
  void blocking_allreduce(int tag, const void* source, void* destination, std::size_t count,
                          DataType type, Operator op) override;
  bool test(EndpointRequest& request) override;
  bool cancel(EndpointRequest& request) override;
  void leave_alone(EndpointRequest& request) override;
  void send_failure(int peer, int tag) override;
  void discard(int peer, int tag, std::size_t size_bytes) override;
  void advance() override {}  // progress() drives all
  void progress() override;
  int tag_count() const override { return tag_count_; }
  std::string describe_peer(int node) const override;

 protected:
  MPI_Comm messages() const noexcept { return messages_->handle(); }
  int own_rank() const noexcept { return rank_; }
  int own_tag(int tag) const noexcept { return tag * lane_count_ + lane_; }
  [[noreturn]] void throw_short(int peer, std::size_t received_bytes,
                                std::size_t expected_bytes) const;

 private:
  /// A receive of a message that is dropped.
  struct Discard {
    std::unique_ptr<std::byte[]> room;
    MPI_Request request;
  };
  /// Forgets those whose messages have come.
  void end_discards();

  std::shared_ptr<const MpiCommunicator> messages_;
  std::shared_ptr<const MpiCommunicator> leaders_;
  int lane_;
  int lane_count_;
  int rank_ = 0;
  int tag_count_ = 0;
  PeerNames peer_names_;
  std::vector<Discard> discards_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_MPI_MPI_ENDPOINT_H_
