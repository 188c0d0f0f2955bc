#include "core/simulation/simulated_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/base/at.h"
#include "core/base/errors.h"
#include "core/base/transfer_times.h"

namespace hycoll {
namespace {

constexpr double kBytesPerUs = 1000;  // of 1 GB/s

int highest(const std::vector<int>& numbers) { return *std::ranges::max_element(numbers); }

/// As many times as long as within a domain.
double farther(Proximity proximity) {
  const auto& latency = kPublishedTimes.latency;
  return latency[index_of(proximity)] / latency[index_of(Proximity::domain)];
}

// Moves through memory that are no step's, but messages within a host, have numbers below 0.
int move_of_message(int slot) { return -1 - slot; }
int message_of_move(int move) { return -1 - move; }

}  // namespace

SimulatedMachine::SimulatedMachine(const Platform& platform, const Shape& shape,
                                   const std::vector<int>& host_of_node, FlowNetwork& network)
    : prices_(platform.prices),
      network_(network),
      endpoint_bytes_per_us_(std::min(prices_.endpoint_gb_per_s, prices_.bandwidth_gb_per_s) *
                             kBytesPerUs),
      lane_count_(shape.lane_count()),
      memory_((highest(host_of_node) + 1) * platform.host.domain_count(),
              platform.prices.memory_gb_per_s * kBytesPerUs / platform.host.domain_count()),
      is_memory_limited_(platform.prices.memory_gb_per_s < std::numeric_limits<double>::infinity()),
      endpoints_(at(shape.node_count()) * at(shape.lane_count())) {
  HYCOLL_ASSERT(std::cmp_equal(host_of_node.size(), shape.node_count()), "a host for each node");
  place_workers(platform, shape, host_of_node);
}

void SimulatedMachine::place_workers(const Platform& platform, const Shape& shape,
                                     const std::vector<int>& host_of_node) {
  std::map<int, int> workers_of_host;
  for (int node = 0; node < shape.node_count(); ++node) {
    workers_of_host[host_of_node[at(node)]] += shape.node(node).workers;
  }
  const int domains = platform.host.domain_count();
  std::map<int, int> placed_of_host;
  for (int node = 0; node < shape.node_count(); ++node) {
    const int host = host_of_node[at(node)];
    const int workers = workers_of_host[host];
    const int cores = platform.host.cores * domains;
    if (cores > 0 && workers > cores) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{} workers on a host of {} cores ({} packages of {} domains of {}); "
                              "a core simulates one worker. Give fewer members, or another "
                              "platform",
                              workers, cores, platform.host.packages, platform.host.domains,
                              platform.host.cores));
    }
    for (int worker = 0; worker < shape.node(node).workers; ++worker) {
      const int domain = placed_of_host[host]++ * domains / workers;
      places_.push_back(
          {.node = node,
           .host = host,
           .domain = host * domains + domain,
           .package = host * platform.host.packages + domain / platform.host.domains});
    }
  }
}

std::optional<MessagePassage> SimulatedMachine::carry(const SharedMessage& message,
                                                      double time_us) {
  const int number = place(message.from_worker).node * lane_count_ + message.lane;
  const int slot = keep({.step = message.step,
                         .from_worker = message.from_worker,
                         .to_worker = message.to_worker,
                         .endpoint = number,
                         .size_bytes = message.size_bytes,
                         .least_end_us = 0});
  Endpoint& endpoint = endpoints_[at(number)];
  if (endpoint.sends) {
    endpoint.waiting.push_back(slot);
  } else {
    endpoint.sends = true;
    send(slot, time_us);
  }
  return {};
}

int SimulatedMachine::keep(const Message& message) {
  if (unused_.empty()) {
    messages_.push_back(message);
    return static_cast<int>(messages_.size()) - 1;
  }
  const int slot = unused_.back();
  unused_.pop_back();
  messages_[at(slot)] = message;
  return slot;
}

void SimulatedMachine::send(int slot, double time_us) {
  Message& message = messages_[at(slot)];
  const Place& from = place(message.from_worker);
  const Place& to = place(message.to_worker);
  message.least_end_us = time_us + message.size_bytes / endpoint_bytes_per_us_;
  if (from.host == to.host) {
    memory_.begin({.id = move_of_message(slot),
                   .domain = from.domain,
                   .size_bytes = message.size_bytes,
                   .most_bytes_per_us = prices_.copy_gb_per_s * kBytesPerUs},
                  time_us);
    return;
  }
  ++flows_;
  network_.begin(
      {.id = slot, .from_host = from.host, .to_host = to.host, .size_bytes = message.size_bytes},
      time_us);
}

std::optional<double> SimulatedMachine::move(const SharedMove& move, double time_us) {
  if (!is_memory_limited_) return time_us;
  memory_.begin({.id = move.step,
                 .domain = place(move.worker).domain,
                 .size_bytes = move.size_bytes,
                 .most_bytes_per_us = move.size_bytes / move.alone_us},
                time_us);
  return {};
}

std::optional<SharedCompletion> SimulatedMachine::next(double until_us) {
  const double memory_us = memory_.next_time_us();
  for (;;) {
    const double sent_us =
        endings_.empty() ? std::numeric_limits<double>::infinity() : endings_.top().time_us;
    const auto end = flows_ > 0 ? network_.next(std::min({until_us, memory_us, sent_us}))
                                : std::optional<FlowEnd>();
    if (!end) break;
    --flows_;
    const double least_us = messages_[at(end->id)].least_end_us;
    if (least_us <= end->time_us) return finish_message(end->id, end->time_us);
    endings_.push({least_us, end->id});
  }
  if (!endings_.empty() && endings_.top().time_us <= std::min(until_us, memory_us)) {
    const Sent sent = endings_.top();
    endings_.pop();
    return finish_message(sent.slot, sent.time_us);
  }
  if (memory_us > until_us) return {};
  return finish_memory();
}

SharedCompletion SimulatedMachine::finish_memory() {
  const MemoryEnd end = memory_.finish_next();
  if (end.id < 0) return finish_message(message_of_move(end.id), end.time_us);
  return {end.id, {end.time_us, end.time_us}};
}

SharedCompletion SimulatedMachine::finish_message(int slot, double time_us) {
  const Message message = messages_[at(slot)];
  unused_.push_back(slot);
  Endpoint& endpoint = endpoints_[at(message.endpoint)];
  if (endpoint.waiting.empty()) {
    endpoint.sends = false;
  } else {
    const int following = endpoint.waiting.front();
    endpoint.waiting.pop_front();
    send(following, time_us);
  }
  const Place& from = place(message.from_worker);
  const Place& to = place(message.to_worker);
  const double way_us = from.host == to.host
                            ? signal_us(message.from_worker, message.to_worker)
                            : prices_.alpha_us + network_.latency_us(from.host, to.host);
  return {message.step, {time_us, time_us + way_us}};
}

double SimulatedMachine::signal_us(int from_worker, int to_worker) const {
  const Place& from = place(from_worker);
  const Place& to = place(to_worker);
  if (from.domain == to.domain) return prices_.wait_us;
  return prices_.wait_us *
         farther(from.package == to.package ? Proximity::package : Proximity::machine);
}

}  // namespace hycoll
