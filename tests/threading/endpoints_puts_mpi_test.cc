// Long messages between lanes over UCX, which are put; peers that end; workers that are handed on.

#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/errors.h"
#include "tests/support/world.h"
#include "tests/threading/endpoint_lanes.h"
#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll::tests {
namespace {

/// Exchanges as many long messages with the neighbours as it takes until they are put, and some
/// more; returns how many of those the process has put.
std::uint64_t puts_among(Endpoint& lane, int to, int from, int messages) {
  constexpr std::size_t kBytes = 100'000;
  constexpr int kFirst = 3;  // an offer, which may have to wait for the connection
  std::uint64_t puts_before = 0;
  for (int i = 0; i < kFirst + messages; ++i) {
    if (i == kFirst) puts_before = UcxEndpoint::put_count();
    exchange(lane, to, from, i, kBytes);
    lane.advance();
  }
  return UcxEndpoint::put_count() - puts_before;
}

TEST_CASE("long messages are put, where that needs no help of the one who receives them") {
  if (world_size() == 1) return;
  for (const Way way : {Way::ucx_here, Way::ucx_here_puts, Way::ucx_elsewhere_puts}) {
    CAPTURE(way);
    Lanes lanes = lanes_over_ucx(1, way);
    const std::uint64_t puts = puts_among(*lanes.front(), right(), left(), 20);
    // Between machines there is TCP here.
    CHECK(puts == (way == Way::ucx_here_puts ? 20 : 0));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("what is put keeps its place among messages with equal tags, and its room is bounded") {
  if (world_size() == 1) return;
  constexpr int kMessages = 60;
  const auto bytes_of = [](int i) {
    return std::array<std::size_t, 5>{40'000, 7, 300'000, 524'288, 700'000}[i % 5];
  };
  Lanes lanes = lanes_over_ucx(1, Way::ucx_here_puts);
  Endpoint& lane = *lanes.front();
  puts_among(lane, right(), left(), 1);
  const std::uint64_t puts_before = UcxEndpoint::put_count();
  std::vector<std::vector<std::uint8_t>> sent;
  std::vector<EndpointRequest> sends;
  for (int i = 0; i < kMessages; ++i) {
    sent.push_back(message(world_rank(), i, bytes_of(i)));
    sends.push_back(lane.send(right(), 5, sent.back().data(), sent.back().size()));
  }
  CHECK(UcxEndpoint::put_count() > puts_before);
  for (int i = 0; i < kMessages; ++i) {
    check_received(lane, left(), 5, message(left(), i, bytes_of(i)));
  }
  for (EndpointRequest& send : sends) wait_for(lane, send);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("what is put into a receive of another length, or one that is given up, is noticed") {
  if (world_size() == 1) return;
  Lanes lanes = lanes_over_ucx(1, Way::ucx_here_puts);
  Endpoint& lane = *lanes.front();
  puts_among(lane, right(), left(), 1);
  const std::uint64_t puts_before = UcxEndpoint::put_count();
  const auto sent = message(world_rank(), 0, 50'000);
  // Shorter than a notice, as long, longer, and longer than the message.
  const std::array<std::size_t, 6> lengths = {8, 32, 100, 40'000, 60'000, 600'000};
  for (const std::size_t length : lengths) {
    CAPTURE(length);
    std::vector<std::uint8_t> received(length);
    EndpointRequest receive = lane.receive(left(), 6, received.data(), length);
    EndpointRequest send = lane.send(right(), 6, sent.data(), sent.size());
    wait_for(lane, send);
    CHECK_THROWS_WITH_AS(wait_for(lane, receive), doctest::Contains("HYCOLL_CHECK=1"), Error);
  }
  std::vector<std::uint8_t> untouched(50'000);
  EndpointRequest receive = lane.receive(left(), 6, untouched.data(), untouched.size());
  CHECK(lane.cancel(receive));
  MPI_Barrier(MPI_COMM_WORLD);
  lane.discard(left(), 6, untouched.size());
  EndpointRequest send = lane.send(right(), 6, sent.data(), sent.size());
  wait_for(lane, send);
  CHECK(puts_among(lane, right(), left(), 10) == 10);
  CHECK(untouched == std::vector<std::uint8_t>(50'000));
  CHECK(UcxEndpoint::put_count() - puts_before >= lengths.size());
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a landing that is not used for long is given to another peer") {
  if (world_size() < 3) return;
  Lanes lanes = lanes_over_ucx(1, Way::ucx_here_puts, {.most_landings = 1, .long_unused = 20});
  Endpoint& lane = *lanes.front();
  CHECK(puts_among(lane, right(), left(), 10) == 10);
  CHECK(puts_among(lane, left(), right(), 10) == 0);
  puts_among(lane, left(), right(), 80);
  CHECK(puts_among(lane, left(), right(), 10) == 10);
  CHECK(puts_among(lane, right(), left(), 10) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("who waits for a peer elsewhere that has ended gets an error that names it") {
  if (world_size() == 1) return;
  Lanes lanes = lanes_over_ucx(1, Way::ucx_elsewhere);
  Endpoint& lane = *lanes.front();
  int value = 1;
  EndpointRequest send = lane.send(right(), 0, &value, sizeof value);
  EndpointRequest receive = lane.receive(left(), 0, &value, sizeof value);
  wait_for(lane, send);
  wait_for(lane, receive);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == world_size() - 1) {
    // With something under way its worker is not handed on.
    lane.discard(left(), 1, sizeof value);
    lanes.clear();
  } else if (world_rank() == 0) {
    receive = lane.receive(left(), 1, &value, sizeof value);
    CHECK_THROWS_WITH_AS(wait_for(lane, receive), doctest::Contains("cannot be reached any more"),
                         Error);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("lanes hand their workers on, and do not get each other's messages") {
  for (int round = 0; round < 20; ++round) {
    Lanes lanes = lanes_over_ucx(2, round % 2 == 0 ? Way::ucx_here : Way::ucx_here_puts);
    int lane_number = 0;
    for (const auto& lane : lanes) {
      int sent = 100 * round + 10 * world_rank() + lane_number;
      int received = -1;
      EndpointRequest send = lane->send(right(), 3, &sent, sizeof sent);
      EndpointRequest receive = lane->receive(left(), 3, &received, sizeof received);
      wait_for(*lane, send);
      wait_for(*lane, receive);
      CHECK(received == 100 * round + 10 * left() + lane_number);
      ++lane_number;
    }
    if (round % 5 == 0) lanes.front()->discard(left(), 3, sizeof(int));  // never sent
  }
}

}  // namespace
}  // namespace hycoll::tests
