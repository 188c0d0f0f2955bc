// What executors count on from a lane's messages, over each transport.

#include <doctest/doctest.h>
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "tests/support/world.h"
#include "threading/transport/mpi/mpi_endpoint.h"
#include "threading/transport/ucx/ucx_context.h"
#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll::tests {
namespace {

using Lanes = std::vector<std::unique_ptr<Endpoint>>;

Lanes lanes_over_mpi(int count) {
  const auto messages = std::make_shared<const MpiCommunicator>(MPI_COMM_WORLD);
  Lanes lanes;
  for (int lane = 0; lane < count; ++lane) {
    lanes.push_back(std::make_unique<MpiEndpoint>(messages, messages, lane, count, nullptr));
  }
  return lanes;
}

/// Peers on this machine, or treated as if they were on another one.
enum class Way { ucx_here, ucx_here_unmailed, ucx_elsewhere, ucx_here_puts, ucx_elsewhere_puts };

bool has_puts(Way way) { return way == Way::ucx_here_puts || way == Way::ucx_elsewhere_puts; }
bool is_here(Way way) { return way != Way::ucx_elsewhere && way != Way::ucx_elsewhere_puts; }

Lanes lanes_over_ucx(int count, Way way, UcxPeers peers = {}) {
  static std::uint32_t generation = 0;
  peers.generation = ++generation;
  peers.runs_here = [way](int) { return is_here(way); };
  if (way == Way::ucx_here_unmailed) peers.most_mails = 0;
  const auto messages = std::make_shared<const MpiCommunicator>(MPI_COMM_WORLD);
  Lanes lanes;
  for (int lane = 0; lane < count; ++lane) {
    lanes.push_back(std::make_unique<UcxEndpoint>(
        has_puts(way) ? UcxContext::with_puts() : UcxContext::shared(), messages, messages, lane,
        count, nullptr, peers));
  }
  return lanes;
}

void with_each_transport(int lane_count, const std::function<void(Lanes&)>& check) {
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
std::vector<std::uint8_t> message(int sender, int tag, std::size_t size_bytes) {
  std::vector<std::uint8_t> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + static_cast<std::size_t>(sender) * 31 +
                                         static_cast<std::size_t>(tag));
  }
  return bytes;
}

int right() { return (world_rank() + 1) % world_size(); }
int left() { return (world_rank() + world_size() - 1) % world_size(); }

void wait_for(Endpoint& lane, EndpointRequest& request) {
  while (!lane.test(request)) std::this_thread::yield();
}

/// As a leader of several lanes does.
void wait_for(const Lanes& lanes, Endpoint& lane, EndpointRequest& request) {
  while (!lane.test(request)) {
    for (const auto& other : lanes) other->advance();
  }
}

/// A barrier, driving the lane meanwhile.
void meet_others(Endpoint& lane) {
  int arrived = 0;
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  while (arrived == 0) {
    MPI_Test(&barrier, &arrived, MPI_STATUS_IGNORE);
    lane.advance();
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
          wait_for(lanes, own, request);
        }
      }
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      wait_for(lanes, *lanes[i / kMessages], requests[i]);
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

/// Receives and compares.
void check_received(Endpoint& lane, int from, int tag, const std::vector<std::uint8_t>& expected) {
  std::vector<std::uint8_t> received(expected.size());
  EndpointRequest receive = lane.receive(from, tag, received.data(), received.size());
  wait_for(lane, receive);
  CHECK(received == expected);
}

/// Exchanges one message with tag 0: the `number`-th of so many bytes.
void exchange(Endpoint& lane, int to, int from, int number, std::size_t size_bytes) {
  const auto sent = message(world_rank(), number, size_bytes);
  std::vector<std::uint8_t> received(size_bytes);
  EndpointRequest receive = lane.receive(from, 0, received.data(), size_bytes);
  EndpointRequest send = lane.send(to, 0, sent.data(), size_bytes);
  wait_for(lane, send);
  wait_for(lane, receive);
  CHECK(received == message(from, number, size_bytes));
}

void greet(Endpoint& lane, std::size_t size_bytes = sizeof(int)) {
  exchange(lane, right(), left(), 0, size_bytes);
}

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

TEST_CASE("lanes on one machine agree on mail, whoever of them speaks first") {
  if (world_size() == 1) return;
  const std::uint64_t neighbours = world_size() == 2 ? 1 : 2;
  for (const Way way : {Way::ucx_here, Way::ucx_here_unmailed, Way::ucx_elsewhere}) {
    CAPTURE(way);
    const std::uint64_t before = UcxEndpoint::mail_count();
    Lanes lanes = lanes_over_ucx(1, way);
    Endpoint& lane = *lanes.front();
    // One after the other, so that each introduces itself to the next one; then all at once.
    std::array<int, 1> number = {41};
    EndpointRequest from_left = lane.receive(left(), 1, number.data(), sizeof number);
    if (world_rank() > 0) wait_for(lane, from_left);
    ++number[0];
    EndpointRequest to_right = lane.send(right(), 1, number.data(), sizeof number);
    wait_for(lane, to_right);
    if (world_rank() == 0) {
      wait_for(lane, from_left);
      CHECK(number[0] == 41 + world_size());
    }
    greet(lane);
    CHECK(UcxEndpoint::mail_count() - before == (way == Way::ucx_here ? neighbours : 0));
    MPI_Barrier(MPI_COMM_WORLD);
    lanes = lanes_over_ucx(1, way);
    greet(*lanes.front());
    CHECK(UcxEndpoint::mail_count() - before == (way == Way::ucx_here ? 2 * neighbours : 0));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("a lane has mail with so many peers only, and exchanges with all") {
  if (world_size() < 3) return;
  const std::uint64_t before = UcxEndpoint::mail_count();
  Lanes lanes = lanes_over_ucx(1, Way::ucx_here, {.most_mails = 1});
  for (int round = 0; round < 3; ++round) {
    // One after the other: who has mail with its left one has none with its right one.
    for (int speaker = 0; speaker < world_size(); ++speaker) {
      int number = speaker;
      if (world_rank() == speaker) {
        EndpointRequest send = lanes.front()->send(right(), 5, &number, sizeof number);
        wait_for(*lanes.front(), send);
      } else if (left() == speaker) {
        number = -1;
        EndpointRequest receive = lanes.front()->receive(left(), 5, &number, sizeof number);
        wait_for(*lanes.front(), receive);
        CHECK(number == speaker);
      }
      meet_others(*lanes.front());
    }
  }
  CHECK(UcxEndpoint::mail_count() - before <= 1);
  greet(*lanes.front(), 100'000);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("memory that is refused for mail leaves lanes on one machine to UCX") {
  if (world_size() == 1) return;
  // So that there is a worker, whose memory is not what is refused.
  Lanes lanes = lanes_over_ucx(1, Way::ucx_here_unmailed);
  greet(*lanes.front());
  MPI_Barrier(MPI_COMM_WORLD);
  lanes = lanes_over_ucx(1, Way::ucx_here);
  const std::uint64_t before = UcxEndpoint::mail_count();
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit none{.rlim_cur = 4096, .rlim_max = limit.rlim_max};
  // Should UCX meet it, too, it gets an error, as hycoll does, which looks before.
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
  greet(*lanes.front());
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  greet(*lanes.front(), 100'000);
  greet(*lanes.front());
  CHECK(UcxEndpoint::mail_count() == before);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("receives whose peers are not known yet get messages of all lengths in their order") {
  with_each_transport(1, [](Lanes& lanes) {
    constexpr std::array<std::size_t, 6> kLengths = {8, 50'000, 3, 4096, 4097, 0x10000};
    Endpoint& lane = *lanes.front();
    std::vector<std::vector<std::uint8_t>> received;
    std::vector<EndpointRequest> receives;
    for (const std::size_t length : kLengths) {
      received.emplace_back(length);
      receives.push_back(lane.receive(left(), 2, received.back().data(), length));
    }
    std::vector<std::vector<std::uint8_t>> sent;
    std::vector<EndpointRequest> sends;
    for (std::size_t i = 0; i < kLengths.size(); ++i) {
      sent.push_back(message(world_rank(), static_cast<int>(i), kLengths[i]));
      sends.push_back(lane.send(right(), 2, sent.back().data(), kLengths[i]));
    }
    for (std::size_t i = kLengths.size(); i-- > 0;) {
      wait_for(lane, receives[i]);
      CHECK(received[i] == message(left(), static_cast<int>(i), kLengths[i]));
    }
    for (EndpointRequest& send : sends) wait_for(lane, send);
    MPI_Barrier(MPI_COMM_WORLD);
  });
}

TEST_CASE("short messages beyond what there is room for keep their order") {
  with_each_transport(1, [](Lanes& lanes) {
    constexpr int kMessages = 1000;
    Endpoint& lane = *lanes.front();
    greet(lane);
    const auto length_of = [](int i) { return static_cast<std::size_t>(1 + i * 37 % 4096); };
    std::vector<std::vector<std::uint8_t>> sent;
    std::vector<EndpointRequest> sends;
    for (int i = 0; i < kMessages; ++i) {
      sent.push_back(message(world_rank(), i, length_of(i)));
      sends.push_back(lane.send(right(), 3 + i % 2, sent.back().data(), sent.back().size()));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // Those with one tag before those with the other.
    for (int tag = 4; tag >= 3; --tag) {
      for (int i = tag - 3; i < kMessages; i += 2) {
        check_received(lane, left(), tag, message(left(), i, length_of(i)));
      }
    }
    for (EndpointRequest& send : sends) wait_for(lane, send);
    MPI_Barrier(MPI_COMM_WORLD);
  });
}

TEST_CASE("what comes another way than its receive expects it is an error, and no later message") {
  if (world_size() == 1) return;
  for (const Way way : {Way::ucx_here, Way::ucx_here_puts}) {
    CAPTURE(way);
    Lanes lanes = lanes_over_ucx(1, way);
    Endpoint& lane = *lanes.front();
    const auto bytes = message(world_rank(), 0, 100'000);
    std::vector<std::uint8_t> received(bytes.size());
    greet(lane);
    // A short message, and none at all, where a long one is expected.
    EndpointRequest receive = lane.receive(left(), 1, received.data(), received.size());
    EndpointRequest send = lane.send(right(), 1, bytes.data(), 24);
    wait_for(lane, send);
    CHECK_THROWS_WITH_AS(wait_for(lane, receive),
                         doctest::Contains("expected 100000 bytes from process"), Error);
    MPI_Barrier(MPI_COMM_WORLD);
    lane.send_failure(right(), 1);
    receive = lane.receive(left(), 1, received.data(), received.size());
    CHECK_THROWS_WITH_AS(wait_for(lane, receive), doctest::Contains("has failed in this call"),
                         Error);
    MPI_Barrier(MPI_COMM_WORLD);
    // A long one, and a short one behind it, where two short ones are expected.
    int first = 0;
    int second = 0;
    receive = lane.receive(left(), 1, &first, sizeof first);
    EndpointRequest next = lane.receive(left(), 1, &second, sizeof second);
    send = lane.send(right(), 1, bytes.data(), bytes.size());
    const int value = 17;
    EndpointRequest short_send = lane.send(right(), 1, &value, sizeof value);
    // Mail takes the first of them.
    wait_for(lane, receive);
    CHECK(first == value);
    CHECK_THROWS_WITH_AS(wait_for(lane, next), doctest::Contains("HYCOLL_CHECK=1"), Error);
    wait_for(lane, send);
    wait_for(lane, short_send);
    MPI_Barrier(MPI_COMM_WORLD);
    // A failure that meets what nobody waits for any more.
    lane.discard(left(), 1, received.size());
    lane.send_failure(right(), 1);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < until) lane.advance();
    MPI_Barrier(MPI_COMM_WORLD);
    receive = lane.receive(left(), 1, &first, sizeof first);
    send = lane.send(right(), 1, &value, sizeof value);
    wait_for(lane, send);
    wait_for(lane, receive);
    CHECK(first == value);
    greet(lane, bytes.size());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("mail beside a long receive with its tag is no error when it has been asked for since") {
  if (world_size() == 1) return;
  Lanes lanes = lanes_over_ucx(1, Way::ucx_here);
  Endpoint& lane = *lanes.front();
  greet(lane);
  const auto bytes = message(world_rank(), 0, 100'000);
  // What is remembered of the first time must not tell against the second.
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint8_t> received(bytes.size());
    EndpointRequest long_one = lane.receive(left(), 1, received.data(), received.size());
    EndpointRequest send = lane.send(right(), 1, &round, sizeof round);
    wait_for(lane, send);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < 3; ++turn) lane.advance();
    int number = -1;
    EndpointRequest short_one = lane.receive(left(), 1, &number, sizeof number);
    send = lane.send(right(), 1, bytes.data(), bytes.size());
    wait_for(lane, short_one);
    wait_for(lane, long_one);
    wait_for(lane, send);
    CHECK(number == round);
    CHECK(received == message(left(), 0, bytes.size()));
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a message that is too long is found whichever of several receives it is for") {
  if (world_size() == 1) return;
  Lanes lanes = lanes_over_ucx(1, Way::ucx_here);
  Endpoint& lane = *lanes.front();
  greet(lane);
  const auto bytes = message(world_rank(), 0, 100'000);
  for (const int wrong : {0, 1}) {
    CAPTURE(wrong);
    std::array<int, 2> numbers = {-1, -1};
    std::array<EndpointRequest, 2> receives;
    for (int i = 0; i < 2; ++i) {
      receives[static_cast<std::size_t>(i)] =
          lane.receive(left(), 1 + i, &numbers[static_cast<std::size_t>(i)], sizeof(int));
    }
    EndpointRequest send = lane.send(right(), 1 + wrong, bytes.data(), bytes.size());
    // They are asked for in turn, so that each is at every second look.
    const auto ask_in_turn = [&] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      while (std::chrono::steady_clock::now() < until) {
        for (EndpointRequest& receive : receives) lane.test(receive);
      }
    };
    CHECK_THROWS_WITH_AS(ask_in_turn(), doctest::Contains("HYCOLL_CHECK=1"), Error);
    CHECK(lane.cancel(receives[static_cast<std::size_t>(1 - wrong)]));
    wait_for(lane, send);
    MPI_Barrier(MPI_COMM_WORLD);
  }
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
