// The broadcast algorithms that can be called by name.

#include <array>
#include <bit>
#include <utility>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "collectives/algorithms/parts/algorithm.h"

namespace hycoll {
namespace {

constexpr std::string_view kTreeSource = "MPICH's binomial and k-nomial trees";
constexpr std::string_view kRingSource =
    "MPICH; A Bandwidth-saving Optimization for MPI Broadcast (Zhou et al., P2S2'15)";
constexpr std::string_view kSharedAddressSource =
    "MPI Collectives on Blue Gene/P (Mamidala et al., 2009), section 5";
constexpr std::string_view kTorusSource =
    "MPI Collectives on Blue Gene/P (Mamidala et al., 2009), section 5.A: rectangle algorithm";
constexpr std::string_view kCollectiveNetworkSource =
    "MPI Collectives on Blue Gene/P (Mamidala et al., 2009), section 5.B: collective network";
constexpr std::string_view kLinesSource =
    "hycoll; message counters of Blue Gene/P (Mamidala et al.)";

constexpr std::string_view source_of(BroadcastExchange exchange) {
  return is_tree(exchange) ? kTreeSource : kRingSource;
}

constexpr Segmentation segmentation_of(BroadcastExchange exchange) {
  return is_tree(exchange) ? Segmentation::messages : Segmentation::none;
}

/// What an allreduce would use: it tells selection how large the messages are.
constexpr Exchange messages_of(BroadcastExchange exchange) {
  return is_tree(exchange) ? Exchange::binomial : Exchange::ring;
}

template <bool (*also)(const Shape&)>
bool serves_powers_of_two(const Shape& shape) {
  return also(shape) && std::has_single_bit(static_cast<unsigned>(shape.node_count()));
}

template <BroadcastExchange exchange>
Schedule generate_multi_leader(std::string name, const Shape& shape,
                               const GeneratorParameters& parameters) {
  return generate_multi_leader_broadcast(std::move(name), shape, parameters, exchange);
}

template <BroadcastExchange exchange>
Schedule generate_shared_address(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters) {
  return generate_shared_address_broadcast(std::move(name), shape, parameters, exchange);
}

template <BroadcastExchange exchange>
Schedule generate_lines(std::string name, const Shape& shape,
                        const GeneratorParameters& parameters) {
  return generate_lines_broadcast(std::move(name), shape, parameters, exchange);
}

template <BroadcastExchange exchange>
Schedule generate_fifo(std::string name, const Shape& shape,
                       const GeneratorParameters& parameters) {
  return generate_fifo_broadcast(std::move(name), shape, parameters, exchange);
}

template <BroadcastExchange exchange>
constexpr Algorithm multi_leader(std::string_view name) {
  constexpr bool needs_power = exchange == BroadcastExchange::scatter_doubling;
  return {
      .collective = Collective::broadcast,
      .name = name,
      .summary = "L leaders per node, each passes on its partition and copies it to all members",
      .source = source_of(exchange),
      .order = OperandOrder::canonical,
      .exchange = messages_of(exchange),
      .serves = needs_power ? "a power of two of nodes with direct visibility" : kServesAnyShape,
      .serves_shape = needs_power ? serves_powers_of_two<serves_any_shape> : serves_any_shape,
      .generate_with = generate_multi_leader<exchange>,
      .segmentation = segmentation_of(exchange)};
}

template <BroadcastExchange exchange>
constexpr Algorithm single_leader(std::string_view name) {
  constexpr bool needs_power = exchange == BroadcastExchange::scatter_doubling;
  Algorithm algorithm = multi_leader<exchange>(name);
  algorithm.summary = "one leader per node passes on the whole vector";
  algorithm.serves = needs_power ? "a power of two of nodes with 1 lane" : kServesOneLane;
  algorithm.serves_shape = needs_power ? serves_powers_of_two<serves_one_lane> : serves_one_lane;
  return algorithm;
}

template <BroadcastExchange exchange>
constexpr Algorithm shared_address(std::string_view name) {
  Algorithm algorithm = multi_leader<exchange>(name);
  algorithm.summary = "members follow message counters and copy from their leaders' buffers";
  algorithm.source = kSharedAddressSource;
  algorithm.generate_with = generate_shared_address<exchange>;
  if (is_tree(exchange)) algorithm.segmentation = Segmentation::partition;
  return algorithm;
}

template <BroadcastExchange exchange>
constexpr Algorithm fifo(std::string_view name) {
  Algorithm algorithm = shared_address<exchange>(name);
  algorithm.summary = "leaders write a FIFO of few slots, which all others of the node read";
  algorithm.source =
      "MPI Collectives on Blue Gene/P (Mamidala et al., 2009), section 4: Bcast FIFO";
  algorithm.serves = "shapes whose lanes are led by workers that own a member";
  algorithm.serves_shape = serves_fifo_broadcast;
  algorithm.generate_with = generate_fifo<exchange>;
  algorithm.segmentation = Segmentation::messages;
  return algorithm;
}

constexpr Algorithm torus_colours() {
  Algorithm algorithm = shared_address<BroadcastExchange::torus_colours>("torus-colours");
  algorithm.summary = "a spanning tree of a torus per lane, disjoint; members follow counters";
  algorithm.source = kTorusSource;
  return algorithm;
}

template <BroadcastExchange exchange>
constexpr Algorithm lines(std::string_view name) {
  return {.collective = Collective::broadcast,
          .name = name,
          .summary = "short vectors: data and signal in one cache-line transfer",
          .source = kLinesSource,
          .order = OperandOrder::canonical,
          .exchange = messages_of(exchange),
          .serves = kServesMemberLeaders,
          .serves_shape = serves_one_lane_led_by_members,
          .generate_with = generate_lines<exchange>,
          .segmentation = segmentation_of(exchange)};
}

constexpr Algorithm core_specialised() {
  return {
      .collective = Collective::broadcast,
      .name = "core-specialised",
      .summary = "one worker injects, one receives, the others copy; aggregators may multicast",
      .source = kCollectiveNetworkSource,
      .order = OperandOrder::canonical,
      .exchange = Exchange::aggregation_tree,
      .serves = "shapes with 2 lanes, with aggregators of 1 worker (--aggregators N) or without",
      .serves_shape = serves_core_specialised_broadcast,
      .generate_with = generate_core_specialised_broadcast,
      .segmentation = Segmentation::messages};
}

constexpr std::array kAlgorithms = {
    lines<BroadcastExchange::binomial>("lines-binomial"),
    lines<BroadcastExchange::knomial>("lines-knomial"),
    single_leader<BroadcastExchange::binomial>("binomial"),
    single_leader<BroadcastExchange::knomial>("knomial"),
    single_leader<BroadcastExchange::scatter_ring>("scatter-ring-allgather"),
    single_leader<BroadcastExchange::scatter_ring_opt>("scatter-ring-allgather-opt"),
    single_leader<BroadcastExchange::scatter_doubling>("scatter-recursive-doubling-allgather"),
    multi_leader<BroadcastExchange::binomial>("multi-leader-binomial"),
    multi_leader<BroadcastExchange::chain>("multi-leader-chain"),
    multi_leader<BroadcastExchange::scatter_ring_opt>("multi-leader-scatter-ring-opt"),
    shared_address<BroadcastExchange::binomial>("shared-address-binomial"),
    shared_address<BroadcastExchange::chain>("shared-address-chain"),
    shared_address<BroadcastExchange::scatter_ring_opt>("shared-address-scatter-ring-opt"),
    torus_colours(),
    fifo<BroadcastExchange::binomial>("fifo-binomial"),
    fifo<BroadcastExchange::torus_colours>("fifo-torus-colours"),
    core_specialised(),
};

}  // namespace

std::span<const Algorithm> broadcast_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
