#ifndef HYCOLL_THREADING_MPI_ENDPOINT_H_
#define HYCOLL_THREADING_MPI_ENDPOINT_H_

#include <mpi.h>

#include <string>
#include <vector>

#include "threading/endpoint.h"
#include "threading/mpi_types.h"

namespace hycoll {

/// Throws Error (environment), with the text of MPI's error and what hycoll was doing, unless
/// `code` is MPI_SUCCESS.
void check_mpi(int code, const char* what);

/// A communicator of its own per lane: messages of different lanes never wait for one another in
/// matching, as far as the MPI library can make use of it. The communicator carries the assertions
/// that allow that: no wildcards.
class MpiEndpoint : public Endpoint {
 public:
  /// Collective over `parent`; its ranks are the nodes. `node_names` is used by describe_node.
  MpiEndpoint(MPI_Comm parent, std::vector<std::string> node_names);
  ~MpiEndpoint() override;
  MpiEndpoint(const MpiEndpoint&) = delete;
  MpiEndpoint& operator=(const MpiEndpoint&) = delete;

  EndpointRequest send(int peer_node, int tag, const void* source, std::size_t size_bytes) override;
  EndpointRequest receive(int peer_node, int tag, void* destination,
                          std::size_t size_bytes) override;
  EndpointRequest allreduce(int tag, const void* source, void* destination, std::size_t count,
                            DataType type, Operator op) override;
  void blocking_allreduce(int tag, const void* source, void* destination, std::size_t count,
                          DataType type, Operator op) override;
  bool test(EndpointRequest& request) override;
  void cancel(EndpointRequest& request) override;
  void progress() override;
  int tag_count() const override { return tag_count_; }
  std::string describe_node(int node) const override;

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int tag_count_ = 0;
  std::vector<std::string> node_names_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MPI_ENDPOINT_H_
