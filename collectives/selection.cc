#include "collectives/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "collectives/registry.h"
#include "core/errors.h"

namespace hycoll {
namespace {

constexpr std::size_t kSegmentBytes = 256 * 1024;
constexpr int kMaximumSegments = 16;

SelectedPlan select_by_rule(const SelectionQuery& query) {
  switch (query.collective) {
    case Collective::allreduce:
      return select_allreduce(query);
    case Collective::reduce:
      return select_reduce(query);
    case Collective::reduce_scatter:
      return select_reduce_scatter(query);
    case Collective::scan:
    case Collective::exscan:
      return select_scan(query);
  }
  return select_allreduce(query);
}

const Algorithm* find_by_name(Collective collective, std::string_view name) {
  for (const Algorithm& algorithm : algorithms_of(collective)) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

/// Calls body(collective name or "", algorithm name) for each part of a request.
template <class Body>
void for_each_part(std::string_view requested, const Body& body) {
  while (!requested.empty()) {
    const std::size_t comma = std::min(requested.find(','), requested.size());
    const std::string_view part = requested.substr(0, comma);
    requested.remove_prefix(std::min(comma + 1, requested.size()));
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) {
      body(std::string_view(), part);
    } else {
      body(part.substr(0, colon), part.substr(colon + 1));
    }
  }
}

/// The algorithm that the request names for this collective, if any.
const Algorithm* requested_algorithm(const SelectionQuery& query) {
  const Algorithm* found = nullptr;
  for_each_part(query.requested_algorithm, [&](std::string_view collective, std::string_view name) {
    if (!collective.empty() && collective != name_of(query.collective)) return;
    if (const Algorithm* algorithm = find_by_name(query.collective, name)) found = algorithm;
  });
  return found;
}

bool needs_aggregators(const Algorithm& algorithm) {
  return algorithm.exchange == Exchange::aggregation_tree;
}

void require_aggregators(const Algorithm& algorithm, const SelectionQuery& query) {
  if (query.aggregators == 0) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{} algorithm '{}' needs aggregators, and there are none: set "
                            "Options::aggregators (HYCOLL_AGGREGATORS, --aggregators) to at least "
                            "1, or choose another algorithm, or 'auto'",
                            name_of(query.collective), algorithm.name));
  }
  if (query.native == NativeReduction::impossible) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{} algorithm '{}' combines elements on aggregators, which have no "
                            "operators of the user's, and no types but the integers, float and "
                            "double; choose another algorithm, or 'auto'",
                            name_of(query.collective), algorithm.name));
  }
}

void require_suitable(const Algorithm& algorithm, const SelectionQuery& query) {
  if (algorithm.order < query.order) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("{} algorithm '{}' combines operands in the order '{}', but this call needs "
                    "'{}' ({}); choose another algorithm, or 'auto'",
                    name_of(query.collective), algorithm.name, name_of(algorithm.order),
                    name_of(query.order),
                    query.order == OperandOrder::canonical ? "its bits are to be reproducible"
                                                           : "its operator does not commute"));
  }
  if (algorithm.exchange == Exchange::native && query.native == NativeReduction::impossible) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("{} algorithm '{}' leaves the exchange to the MPI library, which hycoll "
                    "asks for its own types and operators only; choose another algorithm, "
                    "or 'auto'",
                    name_of(query.collective), algorithm.name));
  }
  if (algorithm.exchange == Exchange::native && query.aggregators > 0) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("{} algorithm '{}' leaves the exchange to the MPI library, whose lanes lead to "
                    "the {} aggregator(s) too; choose another algorithm, or no aggregators",
                    name_of(query.collective), algorithm.name, query.aggregators));
  }
  if (needs_aggregators(algorithm)) require_aggregators(algorithm, query);
}

Collective parse_collective(std::string_view name) {
  std::string known;
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (name_of(collective) == name) return collective;
    known += fmt::format("{}{}", c == 0 ? "" : ", ", name_of(collective));
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("collective '{}' does not exist; known: {}", name, known));
}

}  // namespace

int fewest_workers(const std::vector<Node>& nodes) {
  return std::min_element(nodes.begin(), nodes.end(),
                          [](const Node& a, const Node& b) { return a.workers < b.workers; })
      ->workers;
}

int most_members(const std::vector<Node>& nodes) {
  return std::max_element(nodes.begin(), nodes.end(),
                          [](const Node& a, const Node& b) { return a.members < b.members; })
      ->members;
}

int segments_for(std::size_t message_bytes) noexcept {
  const std::size_t segments = message_bytes / kSegmentBytes;
  return static_cast<int>(std::clamp<std::size_t>(segments, 1, kMaximumSegments));
}

void check_requested_algorithm(std::string_view requested) {
  for_each_part(requested, [](std::string_view collective, std::string_view name) {
    if (name == "auto") return;
    if (!collective.empty()) {
      find_algorithm(parse_collective(collective), name);
      return;
    }
    for (const Algorithm* algorithm : all_algorithms()) {
      if (algorithm->name == name) return;
    }
    find_algorithm(Collective::allreduce, name);
  });
}

std::vector<Node> with_aggregators(std::vector<Node> nodes, int aggregators) {
  nodes.insert(nodes.end(), static_cast<std::size_t>(aggregators), {.members = 0, .workers = 1});
  return nodes;
}

SelectedPlan select(const SelectionQuery& query) {
  const Algorithm* algorithm = requested_algorithm(query);
  if (algorithm == nullptr) {
    SelectionQuery by_rule = query;
    // A lane's own collectives would wait for the aggregators.
    if (query.aggregators > 0) by_rule.native = NativeReduction::impossible;
    return select_by_rule(by_rule);
  }
  require_suitable(*algorithm, query);
  const bool aggregates = needs_aggregators(*algorithm);
  SelectedPlan plan{.algorithm = std::string(algorithm->name),
                    .aggregators = aggregates ? query.aggregators : 0};
  const Shape two_lanes(with_aggregators(query.nodes, plan.aggregators), 2);
  const int lanes_of_its_own = aggregates ? query.sockets : fewest_workers(query.nodes);
  plan.lanes = query.requested_lanes > 0            ? query.requested_lanes
               : algorithm->serves_shape(two_lanes) ? lanes_of_its_own
                                                    : 1;
  plan.workers_per_node = std::max(most_members(query.nodes), plan.lanes);
  // Socket leaders send the whole vector each.
  const std::size_t lane_bytes =
      aggregates ? query.size_bytes : query.size_bytes / static_cast<std::size_t>(plan.lanes);
  const std::size_t block_bytes = lane_bytes / query.nodes.size();
  plan.segments = segments_for(algorithm->exchange == Exchange::ring ? block_bytes : lane_bytes);
  return plan;
}

}  // namespace hycoll
