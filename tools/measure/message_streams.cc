#include "tools/measure/message_streams.h"

#include <algorithm>
#include <cstdint>
#include <thread>

namespace hycoll::measure {
namespace {

constexpr int kTag = 0;
constexpr int kLooksBeforeYield = 1000;

void complete(Endpoint& endpoint, EndpointRequest& request) {
  for (int looks = 1; !endpoint.test(request); ++looks) {
    // The other side may need this core.
    if (looks % kLooksBeforeYield == 0) std::this_thread::yield();
  }
}

/// The ranks on a machine, ascending.
std::vector<int> ranks_on(int machine, std::span<const int> machines) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < machines.size(); ++rank) {
    if (machines[rank] == machine) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

/// The two processes of each pair.
struct ProcessPairs {
  std::vector<int> senders;
  std::vector<int> receivers;
};

ProcessPairs process_pairs(Reach reach, std::span<const int> machines) {
  const std::vector<int> first = ranks_on(machines.front(), machines);
  ProcessPairs pairs;
  if (reach == Reach::inside) {
    for (std::size_t i = 0; i + 1 < first.size(); i += 2) {
      pairs.senders.push_back(first[i]);
      pairs.receivers.push_back(first[i + 1]);
    }
    return pairs;
  }
  const auto other =
      std::ranges::find_if(machines, [&](int machine) { return machine != machines.front(); });
  if (other == machines.end()) return pairs;
  pairs.senders = first;
  pairs.receivers = ranks_on(*other, machines);
  const std::size_t count = std::min(pairs.senders.size(), pairs.receivers.size());
  pairs.senders.resize(count);
  pairs.receivers.resize(count);
  return pairs;
}

/// One lane's messages, in a run.
class StreamEnd {
 public:
  StreamEnd(Endpoint& endpoint, int peer, const Stream& stream)
      : endpoint_(endpoint),
        peer_(peer),
        size_bytes_(stream.size_bytes),
        messages_(stream.size_bytes * static_cast<std::size_t>(stream.window)),
        requests_(static_cast<std::size_t>(stream.window)) {}

  void send_window() {
    for (EndpointRequest& request : requests_) {
      request = endpoint_.send(peer_, kTag, messages_.data(), size_bytes_);
    }
    complete_all();
    EndpointRequest answer = endpoint_.receive(peer_, kTag, &answer_, sizeof(answer_));
    complete(endpoint_, answer);
  }

  void receive_window() {
    std::byte* at = messages_.data();
    for (EndpointRequest& request : requests_) {
      request = endpoint_.receive(peer_, kTag, at, size_bytes_);
      at += size_bytes_;
    }
    complete_all();
    EndpointRequest answer = endpoint_.send(peer_, kTag, &answer_, sizeof(answer_));
    complete(endpoint_, answer);
  }

 private:
  void complete_all() {
    for (EndpointRequest& request : requests_) complete(endpoint_, request);
  }

  Endpoint& endpoint_;
  int peer_;
  std::size_t size_bytes_;
  std::vector<std::byte> messages_;
  std::vector<EndpointRequest> requests_;
  std::uint64_t answer_ = 0;  // as long as the shortest message that is measured
};

}  // namespace

int StreamRole::lanes_of(int pairs) const noexcept {
  if (side == Side::none || number >= pairs) return 0;
  return (pairs - number + process_pairs - 1) / process_pairs;
}

StreamRole stream_role(Reach reach, std::span<const int> machines, int rank) {
  const ProcessPairs pairs = process_pairs(reach, machines);
  StreamRole role{.process_pairs = static_cast<int>(pairs.senders.size())};
  const auto number_in = [&](const std::vector<int>& ranks) {
    return static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
  };
  const auto take = [&](const std::vector<int>& own, const std::vector<int>& other,
                        StreamRole::Side side) {
    const std::size_t number = number_in(own);
    if (number == own.size()) return;
    role.side = side;
    role.number = static_cast<int>(number);
    role.peer = other[number];
  };
  take(pairs.senders, pairs.receivers, StreamRole::Side::sends);
  take(pairs.receivers, pairs.senders, StreamRole::Side::receives);
  return role;
}

Work stream_work(const StreamRole& role, const Stream& stream,
                 std::span<Endpoint* const> endpoints) {
  return [role, stream, endpoints](int lane, int times) {
    StreamEnd end(*endpoints[static_cast<std::size_t>(lane)], role.peer, stream);
    for (int i = 0; i < times; ++i) {
      if (role.side == StreamRole::Side::sends) {
        end.send_window();
      } else {
        end.receive_window();
      }
    }
  };
}

}  // namespace hycoll::measure
