// Short messages between lanes over UCX on one machine, through memory that both share.

#include <doctest/doctest.h>
#include <mpi.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "tests/support/world.h"
#include "tests/threading/endpoint_lanes.h"
#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll::tests {
namespace {

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

}  // namespace
}  // namespace hycoll::tests
