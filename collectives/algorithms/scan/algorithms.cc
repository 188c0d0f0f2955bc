// The algorithms of scan and exscan that can be called by name: the same for both.

#include <array>
#include <utility>

#include "collectives/algorithms/parts/algorithm.h"
#include "collectives/algorithms/scan/scan.h"

namespace hycoll {
namespace {

using Kind = ScanExchange;

constexpr std::string_view kDoublingSource = "DPML (Bayatpour et al., SC'17); Hillis, Steele 1986";
constexpr std::string_view kDpmlSource = "hycoll; phases of DPML (Bayatpour et al., SC'17)";
constexpr std::string_view kLinesSource =
    "hycoll; message counters of Blue Gene/P (Mamidala et al.)";
constexpr std::string_view kServesFewNodes =
    "shapes with 1 lane, leaders that own a member, and at most 64 nodes";

constexpr OperandOrder order_of(Kind exchange) {
  return exchange == Kind::recursive_doubling ? OperandOrder::by_rank : OperandOrder::canonical;
}

/// What an allreduce would use: it tells selection how large the messages are.
constexpr Exchange messages_of(Kind exchange) {
  switch (exchange) {
    case Kind::chain:
      return Exchange::chain;
    case Kind::pairwise:
      return Exchange::ring;
    case Kind::recursive_doubling:
    case Kind::direct:
      break;
  }
  return Exchange::recursive_doubling;
}

template <Collective collective, Kind exchange>
Schedule generate_dpml(std::string name, const Shape& shape,
                       const GeneratorParameters& parameters) {
  return generate_dpml_scan(collective, std::move(name), shape, parameters, exchange);
}

template <Collective collective, Kind exchange>
Schedule generate_lines(std::string name, const Shape& shape,
                        const GeneratorParameters& parameters) {
  return generate_lines_scan(collective, std::move(name), shape, parameters, exchange);
}

template <Collective collective, Kind exchange>
constexpr Algorithm dpml(std::string_view name) {
  return {
      .collective = collective,
      .name = name,
      .summary = "L leaders per node, each scans its partition",
      .source = exchange == Kind::recursive_doubling ? kDoublingSource : kDpmlSource,
      .order = order_of(exchange),
      .exchange = messages_of(exchange),
      .serves = kServesAnyShape,
      .serves_shape = serves_any_shape,
      .generate_with = generate_dpml<collective, exchange>,
      .segmentation = exchange == Kind::pairwise ? Segmentation::none : Segmentation::partition};
}

template <Collective collective, Kind exchange>
constexpr Algorithm lines(std::string_view name) {
  return {.collective = collective,
          .name = name,
          .summary = "short vectors: data and signal in one cache-line transfer",
          .source = kLinesSource,
          .order = order_of(exchange),
          .exchange = messages_of(exchange),
          .serves = exchange == Kind::direct ? kServesFewNodes : kServesMemberLeaders,
          .serves_shape =
              exchange == Kind::direct ? serves_direct_scan : serves_one_lane_led_by_members,
          .generate_with = generate_lines<collective, exchange>,
          .segmentation = exchange == Kind::direct ? Segmentation::none : Segmentation::messages};
}

template <Collective collective>
constexpr std::array kAlgorithms = {
    lines<collective, Kind::direct>("lines-direct"),
    lines<collective, Kind::recursive_doubling>("lines-recursive-doubling"),
    dpml<collective, Kind::recursive_doubling>("dpml-recursive-doubling"),
    dpml<collective, Kind::pairwise>("dpml-pairwise"),
    dpml<collective, Kind::chain>("dpml-chain"),
};

}  // namespace

std::span<const Algorithm> scan_algorithms() noexcept { return kAlgorithms<Collective::scan>; }

std::span<const Algorithm> exscan_algorithms() noexcept { return kAlgorithms<Collective::exscan>; }

}  // namespace hycoll
