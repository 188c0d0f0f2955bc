// What executors count on from a lane's messages, over each transport.

#include <doctest/doctest.h>
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "tests/support/world.h"
#include "tests/threading/endpoint_lanes.h"
#include "threading/transport/ucx/ucx_context.h"
#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll::tests {
namespace {

/// Driving all lanes meanwhile, as a leader of several does.
void wait_as_leader(const Lanes& lanes, Endpoint& lane, EndpointRequest& request) {
  while (!lane.test(request)) {
    for (const auto& other : lanes) other->advance();
  }
}

TEST_CASE("a program's signal handlers are its own after UCX has been loaded") {
  struct sigaction before {};
  struct sigaction after {};
  before.sa_handler = [](int) { std::_Exit(99); };
  sigaction(SIGBUS, &before, nullptr);
  CHECK(found_ucx().library != nullptr);
  sigaction(SIGBUS, nullptr, &after);
  const bool is_kept = after.sa_handler == before.sa_handler;
  CHECK(is_kept);
  before.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &before, nullptr);
}

TEST_CASE("messages of every length arrive, from oneself, too") {
  with_each_transport(1, [](Lanes& lanes) {
    Endpoint& lane = *lanes.front();
    for (const int distance : {0, 1}) {
      const int to = (world_rank() + distance) % world_size();
      const int from = (world_rank() + world_size() - distance) % world_size();
      int tag = 0;
      for (const std::size_t size_bytes : {1, 8, 100, 8 << 10, 9001, 64 << 10, 1 << 20, 5 << 20}) {
        CAPTURE(size_bytes);
        const auto sent = message(world_rank(), tag, size_bytes);
        std::vector<std::uint8_t> received(size_bytes);
        EndpointRequest receive = lane.receive(from, tag, received.data(), size_bytes);
        EndpointRequest send = lane.send(to, tag, sent.data(), size_bytes);
        wait_for(lane, send);
        wait_for(lane, receive);
        CHECK(received == message(from, tag, size_bytes));
        ++tag;
      }
    }
  });
}

TEST_CASE("tags tell messages apart, order those with equal ones, on each lane") {
  constexpr int kLanes = 3;
  constexpr int kMessages = 50;
  with_each_transport(kLanes, [](Lanes& lanes) {
    std::vector<EndpointRequest> requests;
    std::vector<int> sent(kLanes * kMessages);
    std::vector<int> received(kLanes * kMessages, -1);
    const auto at = [](int lane, int i) { return static_cast<std::size_t>(lane * kMessages + i); };
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < kMessages; ++i) {
        sent[at(lane, i)] = world_rank() * 1000 + lane * 100 + i;
        requests.push_back(lanes[static_cast<std::size_t>(lane)]->send(
            right(), i % 5, &sent[at(lane, i)], sizeof(int)));
      }
    }
    for (int lane = kLanes - 1; lane >= 0; --lane) {
      for (int tag = 4; tag >= 0; --tag) {
        for (int i = tag; i < kMessages; i += 5) {
          Endpoint& own = *lanes[static_cast<std::size_t>(lane)];
          EndpointRequest request = own.receive(left(), tag, &received[at(lane, i)], sizeof(int));
          wait_as_leader(lanes, own, request);
        }
      }
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      wait_as_leader(lanes, *lanes[i / kMessages], requests[i]);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < kMessages; ++i) {
        CHECK(received[at(lane, i)] == left() * 1000 + lane * 100 + i);
      }
    }
  });
}

TEST_CASE("every lane may be driven by a thread of its own") {
  constexpr int kLanes = 2;
  with_each_transport(kLanes, [](Lanes& lanes) {
    std::vector<std::thread> leaders;
    std::vector<int> wrong(kLanes);
    for (int lane = 0; lane < kLanes; ++lane) {
      leaders.emplace_back([&, lane] {
        Endpoint& own = *lanes[static_cast<std::size_t>(lane)];
        for (int i = 0; i < 200; ++i) {
          const std::size_t size_bytes = static_cast<std::size_t>(i % 40 == 0 ? 200'000 : 24);
          const auto sent = message(world_rank(), i, size_bytes);
          std::vector<std::uint8_t> received(size_bytes);
          EndpointRequest send = own.send(right(), i % 4, sent.data(), size_bytes);
          EndpointRequest receive = own.receive(left(), i % 4, received.data(), size_bytes);
          wait_for(own, receive);
          wait_for(own, send);
          if (received != message(left(), i, size_bytes)) ++wrong[static_cast<std::size_t>(lane)];
        }
      });
    }
    for (std::thread& leader : leaders) leader.join();
    CHECK(wrong == std::vector<int>(kLanes));
  });
}

TEST_CASE("a message of another length, and a failure, are told to the receiver") {
  with_each_transport(1, [](Lanes& lanes) {
    Endpoint& lane = *lanes.front();
    const std::vector<std::uint8_t> bytes(64);
    std::vector<std::uint8_t> received(64);
    EndpointRequest send = lane.send(right(), 1, bytes.data(), 24);
    EndpointRequest receive = lane.receive(left(), 1, received.data(), 64);
    wait_for(lane, send);
    CHECK_THROWS_WITH_AS(wait_for(lane, receive),
                         doctest::Contains("expected 64 bytes from process"), Error);
    CHECK(receive.handle == 0);
    lane.send_failure(right(), 2);
    receive = lane.receive(left(), 2, received.data(), 64);
    CHECK_THROWS_WITH_AS(wait_for(lane, receive), doctest::Contains("has failed in this call"),
                         Error);
    // MPI libraries do not survive a message that is too long.
    if (dynamic_cast<UcxEndpoint*>(&lane) != nullptr) {
      send = lane.send(right(), 3, bytes.data(), 64);
      receive = lane.receive(left(), 3, received.data(), 8);
      wait_for(lane, send);
      CHECK_THROWS_WITH_AS(wait_for(lane, receive), doctest::Contains("HYCOLL_CHECK=1"), Error);
    }
    // The lane goes on.
    send = lane.send(right(), 1, bytes.data(), 64);
    receive = lane.receive(left(), 1, received.data(), 64);
    wait_for(lane, send);
    wait_for(lane, receive);
    CHECK(received == bytes);
  });
}

TEST_CASE("a receive can be given up, before its message and after") {
  with_each_transport(1, [](Lanes& lanes) {
    Endpoint& lane = *lanes.front();
    std::vector<int> received = {-1, -1};
    EndpointRequest receive = lane.receive(left(), 1, &received[0], sizeof(int));
    CHECK(lane.cancel(receive));
    CHECK(receive.handle == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const int value = 7;
    lane.discard(left(), 1, sizeof(int));
    EndpointRequest send = lane.send(right(), 1, &value, sizeof(int));
    wait_for(lane, send);
    // What is dropped is not taken for what comes next.
    const int next = 8;
    send = lane.send(right(), 1, &next, sizeof(int));
    receive = lane.receive(left(), 1, &received[1], sizeof(int));
    wait_for(lane, send);
    wait_for(lane, receive);
    CHECK(received == std::vector{-1, 8});
  });
}

TEST_CASE("what is left alone arrives, and a lane may end with operations under way") {
  with_each_transport(1, [](Lanes& lanes) {
    Endpoint& lane = *lanes.front();
    const auto sent = message(world_rank(), 0, 300'000);
    std::vector<std::uint8_t> received(sent.size());
    EndpointRequest send = lane.send(right(), 0, sent.data(), sent.size());
    lane.leave_alone(send);
    EndpointRequest receive = lane.receive(left(), 0, received.data(), received.size());
    wait_for(lane, receive);
    CHECK(received == message(left(), 0, received.size()));
    // Those that wait for the left one's receive.
    meet_others(lane);
    lane.discard(left(), 9, 1000);  // never sent
  });
}

TEST_CASE("many long messages need nothing of a receiver who has them all") {
  with_each_transport(1, [](Lanes& lanes) {
    // More answers than a queue of UCX's holds, to a sender that does not look at it meanwhile.
    constexpr std::size_t kMessages = 700;
    constexpr std::size_t kBytes = 40'000;
    Endpoint& lane = *lanes.front();
    const bool sends = world_rank() % 2 == 0;
    const int peer = world_rank() ^ 1;
    if (peer >= world_size()) {
      MPI_Barrier(MPI_COMM_WORLD);
      return;
    }
    const auto sent = message(0, 0, kBytes);
    std::vector<std::vector<std::uint8_t>> received(sends ? 0 : kMessages);
    std::vector<EndpointRequest> requests;
    for (std::size_t i = 0; i < kMessages; ++i) {
      if (sends) {
        requests.push_back(lane.send(peer, 0, sent.data(), kBytes));
      } else {
        received[i].resize(kBytes);
        requests.push_back(lane.receive(peer, 0, received[i].data(), kBytes));
      }
    }
    for (EndpointRequest& request : requests) {
      if (sends && &request == &requests.back()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      wait_for(lane, request);
    }
    for (const auto& one : received) CHECK(one == sent);
    // Whoever has received does not drive the lane here.
    MPI_Barrier(MPI_COMM_WORLD);
  });
}

TEST_CASE("what has been sent arrives without its sender's help") {
  with_each_transport(1, [](Lanes& lanes) {
    // In lengths that leave parts of messages over where something is full.
    constexpr int kMostMessages = 5000;
    constexpr std::size_t kBytes = 7'001;
    Endpoint& lane = *lanes.front();
    const int peer = world_rank() ^ 1;
    if (peer >= world_size()) return;
    const auto expected = message(0, 0, kBytes);
    const auto is_over = [&lane](EndpointRequest& request) {
      for (int look = 0; look < 100; ++look) {
        if (lane.test(request)) return true;
      }
      return false;
    };
    // So that they are connected.
    int number = 0;
    EndpointRequest greeting = lane.send(peer, 0, &number, sizeof number);
    wait_for(lane, greeting);
    greeting = lane.receive(peer, 0, &number, sizeof number);
    wait_for(lane, greeting);
    // What helps the first time must help again, though it has not been over when the sender went
    // on.
    for (int round = 0; round < 2; ++round) {
      int sent_count = 0;
      if (world_rank() % 2 == 0) {
        EndpointRequest last = lane.send(peer, 0, expected.data(), kBytes);
        for (; sent_count < kMostMessages && is_over(last); ++sent_count) {
          last = lane.send(peer, 0, expected.data(), kBytes);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        MPI_Send(&sent_count, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wait_for(lane, last);
      } else {
        MPI_Recv(&sent_count, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        std::vector<std::uint8_t> received(kBytes);
        for (int i = 0; i <= sent_count; ++i) {
          if (i == sent_count) MPI_Send(nullptr, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
          EndpointRequest request = lane.receive(peer, 0, received.data(), kBytes);
          wait_for(lane, request);
          CHECK(received == expected);
        }
      }
    }
  });
}

}  // namespace
}  // namespace hycoll::tests
