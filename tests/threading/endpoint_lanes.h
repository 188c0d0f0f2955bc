#ifndef HYCOLL_TESTS_THREADING_ENDPOINT_LANES_H_
#define HYCOLL_TESTS_THREADING_ENDPOINT_LANES_H_

// Lanes over each transport, and what their tests send.

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/world.h"
#include "threading/transport/mpi/mpi_endpoint.h"
#include "threading/transport/ucx/ucx_context.h"
#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll::tests {

using Lanes = std::vector<std::unique_ptr<Endpoint>>;

inline Lanes lanes_over_mpi(int count) {
  JointSetup setup(MPI_COMM_WORLD);
  const auto messages = std::make_shared<const MpiCommunicator>(setup, MPI_COMM_WORLD);
  Lanes lanes;
  for (int lane = 0; lane < count; ++lane) {
    lanes.push_back(std::make_unique<MpiEndpoint>(messages, messages, lane, count, nullptr));
  }
  return lanes;
}

/// Peers on this machine, or treated as if they were on another one.
enum class Way { ucx_here, ucx_here_unmailed, ucx_elsewhere, ucx_here_puts, ucx_elsewhere_puts };

inline bool has_puts(Way way) {
  return way == Way::ucx_here_puts || way == Way::ucx_elsewhere_puts;
}
inline bool is_here(Way way) { return way != Way::ucx_elsewhere && way != Way::ucx_elsewhere_puts; }

inline Lanes lanes_over_ucx(int count, Way way, UcxPeers peers = {}) {
  static std::uint32_t generation = 0;
  peers.generation = ++generation;
  peers.runs_here = [way](int) { return is_here(way); };
  if (way == Way::ucx_here_unmailed) peers.most_mails = 0;
  JointSetup setup(MPI_COMM_WORLD);
  const auto messages = std::make_shared<const MpiCommunicator>(setup, MPI_COMM_WORLD);
  Lanes lanes;
  for (int lane = 0; lane < count; ++lane) {
    lanes.push_back(std::make_unique<UcxEndpoint>(
        has_puts(way) ? UcxContext::with_puts() : UcxContext::shared(), messages, messages, lane,
        count, nullptr, peers));
  }
  return lanes;
}

inline void with_each_transport(int lane_count, const std::function<void(Lanes&)>& check) {
  {
    INFO("over MPI");
    Lanes lanes = lanes_over_mpi(lane_count);
    check(lanes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (const Way way :
       {Way::ucx_here, Way::ucx_here_unmailed, Way::ucx_elsewhere, Way::ucx_here_puts}) {
    INFO("over UCX");
    CAPTURE(way);
    Lanes lanes = lanes_over_ucx(lane_count, way);
    check(lanes);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Some bytes that differ by sender, tag and place.
inline std::vector<std::uint8_t> message(int sender, int tag, std::size_t size_bytes) {
  std::vector<std::uint8_t> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + static_cast<std::size_t>(sender) * 31 +
                                         static_cast<std::size_t>(tag));
  }
  return bytes;
}

inline int right() { return (world_rank() + 1) % world_size(); }
inline int left() { return (world_rank() + world_size() - 1) % world_size(); }

inline void wait_for(Endpoint& lane, EndpointRequest& request) {
  while (!lane.test(request)) std::this_thread::yield();
}

/// A barrier, driving the lane meanwhile.
inline void meet_others(Endpoint& lane) {
  int arrived = 0;
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  while (arrived == 0) {
    MPI_Test(&barrier, &arrived, MPI_STATUS_IGNORE);
    lane.advance();
  }
}

/// Receives and compares.
inline void check_received(Endpoint& lane, int from, int tag,
                           const std::vector<std::uint8_t>& expected) {
  std::vector<std::uint8_t> received(expected.size());
  EndpointRequest receive = lane.receive(from, tag, received.data(), received.size());
  wait_for(lane, receive);
  CHECK(received == expected);
}

/// Exchanges one message with tag 0: the `number`-th of so many bytes.
inline void exchange(Endpoint& lane, int to, int from, int number, std::size_t size_bytes) {
  const auto sent = message(world_rank(), number, size_bytes);
  std::vector<std::uint8_t> received(size_bytes);
  EndpointRequest receive = lane.receive(from, 0, received.data(), size_bytes);
  EndpointRequest send = lane.send(to, 0, sent.data(), size_bytes);
  wait_for(lane, send);
  wait_for(lane, receive);
  CHECK(received == message(from, number, size_bytes));
}

inline void greet(Endpoint& lane, std::size_t size_bytes = sizeof(int)) {
  exchange(lane, right(), left(), 0, size_bytes);
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_THREADING_ENDPOINT_LANES_H_
