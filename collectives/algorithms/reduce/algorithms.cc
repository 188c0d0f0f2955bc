// The reduce algorithms that can be called by name.

#include <array>
#include <utility>

#include "collectives/algorithms/parts/algorithm.h"
#include "collectives/algorithms/reduce/reduce.h"

namespace hycoll {
namespace {

constexpr std::string_view kBinomialSource =
    "DPML (Bayatpour et al., SC'17); MPICH's binomial tree";
constexpr std::string_view kLongSource =
    "DPML (Bayatpour et al., SC'17); Rabenseifner 2004; Patarasuk, Yuan 2009";
constexpr std::string_view kLinesSource =
    "hycoll; message counters of Blue Gene/P (Mamidala et al.)";

constexpr OperandOrder order_of(RootedExchange exchange) {
  return exchange == RootedExchange::ring ? OperandOrder::any : OperandOrder::canonical;
}

constexpr Segmentation segmentation_of(RootedExchange exchange) {
  return exchange == RootedExchange::halving ? Segmentation::none : Segmentation::messages;
}

/// What an allreduce would use: it tells selection how large the messages are.
constexpr Exchange messages_of(RootedExchange exchange) {
  switch (exchange) {
    case RootedExchange::ring:
    case RootedExchange::pairwise:
      return Exchange::ring;
    case RootedExchange::halving:
      return Exchange::halving_doubling;
    case RootedExchange::binomial:
      break;
  }
  return Exchange::binomial;
}

template <RootedExchange exchange>
Schedule generate_dpml(std::string name, const Shape& shape,
                       const GeneratorParameters& parameters) {
  return generate_dpml_reduce(std::move(name), shape, parameters, exchange);
}

template <RootedExchange exchange>
Schedule generate_lines(std::string name, const Shape& shape,
                        const GeneratorParameters& parameters) {
  return generate_lines_reduce(std::move(name), shape, parameters, exchange);
}

template <RootedExchange exchange>
constexpr Algorithm dpml(std::string_view name) {
  return {.collective = Collective::reduce,
          .name = name,
          .summary = "L leaders per node, each reduces and exchanges its partition",
          .source = exchange == RootedExchange::binomial ? kBinomialSource : kLongSource,
          .order = order_of(exchange),
          .exchange = messages_of(exchange),
          .serves = kServesAnyShape,
          .serves_shape = serves_any_shape,
          .generate_with = generate_dpml<exchange>,
          .segmentation = segmentation_of(exchange)};
}

template <RootedExchange exchange>
constexpr Algorithm single_leader(std::string_view name) {
  Algorithm algorithm = dpml<exchange>(name);
  algorithm.summary = "one leader per node reduces and exchanges the whole vector";
  algorithm.serves = kServesOneLane;
  algorithm.serves_shape = serves_one_lane;
  return algorithm;
}

template <RootedExchange exchange>
constexpr Algorithm lines(std::string_view name) {
  return {.collective = Collective::reduce,
          .name = name,
          .summary = "short vectors: data and signal in one cache-line transfer",
          .source = kLinesSource,
          .order = order_of(exchange),
          .exchange = messages_of(exchange),
          .serves = kServesMemberLeaders,
          .serves_shape = serves_one_lane_led_by_members,
          .generate_with = generate_lines<exchange>,
          .segmentation = segmentation_of(exchange)};
}

constexpr std::array kAlgorithms = {
    lines<RootedExchange::binomial>("lines-binomial"),
    dpml<RootedExchange::binomial>("dpml-binomial"),
    dpml<RootedExchange::ring>("dpml-ring"),
    dpml<RootedExchange::pairwise>("dpml-pairwise"),
    dpml<RootedExchange::halving>("dpml-halving"),
    single_leader<RootedExchange::binomial>("single-leader-binomial"),
};

}  // namespace

std::span<const Algorithm> reduce_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
