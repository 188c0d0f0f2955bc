// The reduce_scatter algorithms that can be called by name.

#include <array>
#include <utility>

#include "collectives/algorithms/parts/algorithm.h"
#include "collectives/algorithms/reduce_scatter/reduce_scatter.h"

namespace hycoll {
namespace {

using Kind = ReduceScatterExchange;

constexpr std::string_view kPairwiseSource =
    "DPML (Bayatpour et al., SC'17); MPICH's pairwise exchange";
constexpr std::string_view kRingSource = "DPML (Bayatpour et al., SC'17); Patarasuk, Yuan 2009";
constexpr std::string_view kHalvingSource =
    "DPML (Bayatpour et al., SC'17); Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view kLinesSource =
    "hycoll; message counters of Blue Gene/P (Mamidala et al.)";
constexpr std::string_view kServesEvenShapes =
    "shapes with direct visibility in which no node of N with several members has more than "
    "1/(N - 2) of them all";

constexpr std::string_view source_of(Kind exchange) {
  switch (exchange) {
    case Kind::pairwise:
      return kPairwiseSource;
    case Kind::ring:
      return kRingSource;
    case Kind::halving:
    case Kind::butterfly:
      break;
  }
  return kHalvingSource;
}

constexpr OperandOrder order_of(Kind exchange) {
  return exchange == Kind::pairwise || exchange == Kind::butterfly ? OperandOrder::canonical
                                                                   : OperandOrder::any;
}

/// What an allreduce would use: it tells selection how large the messages are.
constexpr Exchange messages_of(Kind exchange) {
  return exchange == Kind::pairwise || exchange == Kind::ring ? Exchange::ring
                                                              : Exchange::halving_doubling;
}

template <Kind exchange>
Schedule generate_dpml(std::string name, const Shape& shape,
                       const GeneratorParameters& parameters) {
  return generate_dpml_reduce_scatter(std::move(name), shape, parameters, exchange);
}

template <Kind exchange>
Schedule generate_lines(std::string name, const Shape& shape,
                        const GeneratorParameters& parameters) {
  return generate_lines_reduce_scatter(std::move(name), shape, parameters, exchange);
}

template <Kind exchange>
constexpr Algorithm dpml(std::string_view name) {
  return {.collective = Collective::reduce_scatter,
          .name = name,
          .summary = "L leaders per node, each reduces and exchanges its share of every block",
          .source = source_of(exchange),
          .order = order_of(exchange),
          .exchange = messages_of(exchange),
          .serves = exchange == Kind::pairwise ? kServesEvenShapes : kServesAnyShape,
          .serves_shape =
              exchange == Kind::pairwise ? serves_pairwise_reduce_scatter : serves_any_shape,
          .generate_with = generate_dpml<exchange>,
          .segmentation = exchange == Kind::pairwise || exchange == Kind::ring
                              ? Segmentation::messages
                              : Segmentation::none};
}

template <Kind exchange>
constexpr Algorithm lines(std::string_view name) {
  return {.collective = Collective::reduce_scatter,
          .name = name,
          .summary = "short vectors: data and signal in one cache-line transfer",
          .source = kLinesSource,
          .order = order_of(exchange),
          .exchange = messages_of(exchange),
          .serves = kServesMemberLeaders,
          .serves_shape = serves_one_lane_led_by_members,
          .generate_with = generate_lines<exchange>,
          .segmentation = Segmentation::none};
}

constexpr std::array kAlgorithms = {
    lines<Kind::pairwise>("lines-pairwise"),
    lines<Kind::halving>("lines-halving"),
    lines<Kind::butterfly>("lines-butterfly"),
    dpml<Kind::pairwise>("dpml-pairwise"),
    dpml<Kind::ring>("dpml-ring"),
    dpml<Kind::halving>("dpml-halving"),
    dpml<Kind::butterfly>("dpml-butterfly"),
};

}  // namespace

std::span<const Algorithm> reduce_scatter_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
