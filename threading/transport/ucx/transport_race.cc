#include "threading/transport/ucx/transport_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/base/errors.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {
namespace {

constexpr std::size_t kRounds = 7;
constexpr int kWarmUps = 3;

/// No message takes longer where messages come at all.
constexpr std::chrono::seconds kRacePatience{2};
constexpr std::array<int, TransportRace::kBytes.size()> kExchanges = {40, 1};
/// Long vectors travel in segments, of which several are under way at once.
constexpr std::array<std::size_t, TransportRace::kBytes.size()> kMessagesAtOnce = {1, 4};

void await(Endpoint& lane, EndpointRequest& request) {
  const auto until = std::chrono::steady_clock::now() + kRacePatience;
  for (int turn = 1; !lane.test(request); ++turn) {
    if (turn % 1024 != 0 || std::chrono::steady_clock::now() < until) continue;
    throw Error(ErrorKind::environment, "a message has not come");
  }
}

struct Message {
  EndpointRequest receive;
  EndpointRequest send;
};

void give_up(Endpoint& lane, std::span<Message> messages) {
  for (Message& message : messages) {
    if (message.receive.handle != 0) lane.cancel(message.receive);
    if (message.send.handle != 0) lane.leave_alone(message.send);
  }
}

/// So many messages each way at once, as leaders exchange them, of neighbouring parts of `sent`;
/// returns the time of one, in us.
double exchange_us(Endpoint& lane, int peer, std::span<const std::byte> sent,
                   std::span<std::byte> received, std::size_t at_once, int exchanges) {
  const std::size_t bytes = sent.size() / at_once;
  std::vector<Message> messages(at_once);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < exchanges; ++i) {
    try {
      for (std::size_t m = 0; m < at_once; ++m) {
        messages[m].receive = lane.receive(peer, 0, &received[m * bytes], bytes);
      }
      for (std::size_t m = 0; m < at_once; ++m) {
        messages[m].send = lane.send(peer, 0, &sent[m * bytes], bytes);
      }
      for (Message& message : messages) {
        await(lane, message.receive);
        await(lane, message.send);
      }
    } catch (const Error&) {
      give_up(lane, messages);
      throw;
    }
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  return time.count() / (exchanges * static_cast<double>(at_once));
}

double median(std::array<double, kRounds> times) {
  std::ranges::nth_element(times, times.begin() + kRounds / 2);
  return times[kRounds / 2];
}

TransportRace race(Endpoint& old_lane, Endpoint& new_lane, int peer,
                   std::span<const std::byte> sent, std::span<std::byte> received) {
  TransportRace times;
  for (std::size_t i = 0; i < TransportRace::kBytes.size(); ++i) {
    const std::size_t bytes = TransportRace::kBytes[i] * kMessagesAtOnce[i];
    const auto time_us = [&](Endpoint& lane) {
      return exchange_us(lane, peer, sent.first(bytes), received.first(bytes), kMessagesAtOnce[i],
                         kExchanges[i]);
    };
    // The first exchanges connect, offer landings, and touch what nobody has touched before.
    for (int warm_up = 0; warm_up < kWarmUps; ++warm_up) {
      time_us(old_lane);
      time_us(new_lane);
    }
    // Each is first as often as second, and the median counts: of the fastest one some may owe to
    // networks that let a burst through.
    std::array<double, kRounds> old_us{};
    std::array<double, kRounds> new_us{};
    for (std::size_t round = 0; round < kRounds; ++round) {
      if (round % 2 == 0) old_us[round] = time_us(old_lane);
      new_us[round] = time_us(new_lane);
      if (round % 2 != 0) old_us[round] = time_us(old_lane);
    }
    std::array<double, kRounds> ratios{};
    std::ranges::transform(new_us, old_us, ratios.begin(), std::divides<>());
    times.old_us[i] = median(old_us);
    times.new_us[i] = median(new_us);
    times.ratios[i] = median(ratios);
  }
  return times;
}

using Messages = std::shared_ptr<const MpiCommunicator>;
using LaneMaker = std::function<std::unique_ptr<Endpoint>(const Messages& messages)>;

/// By one of the two processes.
TransportRace race_with(int peer, const Messages& messages, const LaneMaker& make_old,
                        const LaneMaker& make_new) {
  try {
    // They outlive the endpoints: a message that has not gone is read as long as these live.
    const std::vector<std::byte> sent(TransportRace::kBytes.back() * kMessagesAtOnce.back());
    std::vector<std::byte> received(sent.size());
    const std::unique_ptr<Endpoint> old_lane = make_old(messages);
    const std::unique_ptr<Endpoint> new_lane = make_new(messages);
    return race(*old_lane, *new_lane, peer, sent, received);
  } catch (const std::exception&) {
    // So does the other one, at once or when it has waited for this one.
    TransportRace lost;
    lost.new_us.fill(std::numeric_limits<double>::infinity());
    lost.ratios.fill(std::numeric_limits<double>::infinity());
    return lost;
  }
}

TransportRace race(JointSetup& setup, MPI_Comm communicator, const LaneMaker& make_old,
                   const LaneMaker& make_new) {
  const auto messages = std::make_shared<const MpiCommunicator>(setup, communicator);
  int rank = 0;
  int size = 1;
  check_mpi(MPI_Comm_rank(messages->handle(), &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(messages->handle(), &size), "MPI_Comm_size");
  const int last = size - 1;
  TransportRace result;
  if (rank == 0 || rank == last) result = race_with(last - rank, messages, make_old, make_new);
  setup.meet();
  for (auto* times : {&result.old_us, &result.new_us, &result.ratios}) {
    JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
      return MPI_Ibcast(times->data(), static_cast<int>(times->size()), MPI_DOUBLE, 0,
                        messages->handle(), request);
    });
  }
  return result;
}

LaneMaker lanes_over(const UcxContext& ucx, const UcxPeers& peers) {
  return [&ucx, peers](const Messages& messages) {
    return std::make_unique<UcxEndpoint>(ucx, messages, nullptr, 0, 1, nullptr, peers);
  };
}

}  // namespace

double TransportRace::ratio() const {
  double product = 1;
  for (const double ratio : ratios) product *= ratio;
  return std::pow(product, 1.0 / kBytes.size());
}

bool TransportRace::new_arrives() const { return std::isfinite(new_us[0]); }

std::string TransportRace::text(std::string_view new_way, std::string_view old_way) const {
  if (!new_arrives()) return fmt::format("no message has come {}", new_way);
  return fmt::format("8 B in {:.2f} us {}, {:.2f} {}; 128 KiB in {:.1f}, {:.1f}", new_us[0],
                     new_way, old_us[0], old_way, new_us[1], old_us[1]);
}

TransportRace race_transports(JointSetup& setup, const UcxContext& ucx, MPI_Comm communicator,
                              const UcxPeers& peers) {
  const LaneMaker over_mpi = [](const Messages& messages) {
    return std::make_unique<MpiEndpoint>(messages, nullptr, 0, 1, nullptr);
  };
  return race(setup, communicator, over_mpi, lanes_over(ucx, peers));
}

TransportRace race_puts(JointSetup& setup, MPI_Comm communicator, const UcxPeers& peers) {
  UcxPeers others = peers;
  ++others.generation;
  return race(setup, communicator, lanes_over(UcxContext::shared(), peers),
              lanes_over(UcxContext::with_puts(), others));
}

}  // namespace hycoll
