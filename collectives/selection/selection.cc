#include "collectives/selection/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>
#include <optional>

#include "collectives/algorithms/registry.h"
#include "collectives/selection/rules.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr std::size_t kSegmentBytes = 256 * 1024;
constexpr int kMaximumSegments = 16;
/// Of what a leader of an all-to-all has for another node.
constexpr std::size_t kTileSegmentBytes = 256 * 1024;
/// What passes through many nodes is cut into messages that MPI libraries send without a handshake:
/// MPICH over TCP begins to shake hands between 16 and 20 KiB, Open MPI at 64 KiB.
constexpr std::size_t kPipelinedBytes = 16 * 1024;
/// Of all nodes together: schedules stay small.
constexpr std::size_t kMaximumPipelinedMessages = 16 * 1024;
/// Further ones save less of a chain's time than they cost where nothing says otherwise.
constexpr std::size_t kMaximumPipelinedSegments = 512;
constexpr int kMaximumRequestedLanes = 4096;

const SelectionRule& rule_of(const SelectionQuery& query) {
  switch (query.collective) {
    case Collective::allreduce:
      return kAllreduceRule;
    case Collective::reduce:
      return kReduceRule;
    case Collective::reduce_scatter:
      return kReduceScatterRule;
    case Collective::scan:
    case Collective::exscan:
      return kScanRule;
    case Collective::broadcast:
      return kBroadcastRule;
    case Collective::allgather:
      return kAllgatherRule;
    case Collective::gather:
    case Collective::scatter:
      return kGatherRule;
    case Collective::alltoall:
      return leaders_may_hold_all(query) ? kAlltoallRule : kBoundedAlltoallRule;
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("there is no collective {}", static_cast<int>(query.collective)));
}

SelectedPlan select_by_rule(const SelectionQuery& query) {
  const SelectionRule& rule = rule_of(query);
  const SelectedPlan plan =
      query.node_count() == 1 ? rule.on_one_node(query) : cheapest(query, rule.between_nodes);
  return query.inside == nullptr ? plan : query.inside->along_groups(query, plan);
}

/// A part of a request: [COLLECTIVE:]NAME[:LANES].
struct RequestPart {
  std::string_view collective;  ///< "" for all.
  std::string_view name;
  std::optional<int> lanes;
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

int parse_lanes(std::string_view part, std::string_view text) {
  int lanes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lanes);
  if (error == std::errc{} && end == text.data() + text.size() && lanes >= 1 &&
      lanes <= kMaximumRequestedLanes) {
    return lanes;
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("algorithm '{}': '{}' is no number of lanes; expected 1 to {}, as in "
                          "'allreduce:dpml-ring:4'",
                          part, text, kMaximumRequestedLanes));
}

RequestPart parse_part(std::string_view part) {
  RequestPart parsed;
  std::string_view rest = part;
  const auto next = [&] {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string_view word = rest.substr(0, colon);
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    return word;
  };
  const std::string_view first = next();
  const bool has_second = first.size() < part.size();
  const std::string_view second = next();
  if (!has_second) {
    parsed.name = first;
  } else if (rest.empty() && part.back() != ':' && is_number(second)) {
    parsed.name = first;
    parsed.lanes = parse_lanes(part, second);
  } else {
    // MPI's name is as good.
    parsed.collective = first == "bcast" ? name_of(Collective::broadcast) : first;
    parsed.name = second;
    if (first.size() + 1 + second.size() < part.size()) parsed.lanes = parse_lanes(part, rest);
  }
  return parsed;
}

/// Calls body(part) for each part of a request.
template <class Body>
void for_each_part(std::string_view requested, const Body& body) {
  while (!requested.empty()) {
    const std::size_t comma = std::min(requested.find(','), requested.size());
    body(parse_part(requested.substr(0, comma)));
    requested.remove_prefix(std::min(comma + 1, requested.size()));
  }
}

/// Whether the algorithm is a variant of this one: dpml-ring of dpml.
bool is_variant(std::string_view algorithm, std::string_view family) {
  return algorithm.size() > family.size() && algorithm.starts_with(family) &&
         algorithm[family.size()] == '-';
}

bool has_variants(Collective collective, std::string_view family) {
  return std::ranges::any_of(algorithms_of(collective), [&](const Algorithm& algorithm) {
    return is_variant(algorithm.name, family);
  });
}

/// What the request says of this collective.
struct RequestedChoice {
  const Algorithm* algorithm = nullptr;  ///< Null: selection decides.
  std::string_view family;               ///< Among its variants; "": among all.
  int lanes = 0;                         ///< 0: selection decides.
};

RequestedChoice requested_choice(const SelectionQuery& query) {
  RequestedChoice choice;
  choice.lanes = query.requested_lanes;
  if (query.requested_algorithm == "auto") return choice;  // as in most calls
  for_each_part(query.requested_algorithm, [&](const RequestPart& part) {
    if (!part.collective.empty() && part.collective != name_of(query.collective)) return;
    const Algorithm* algorithm = algorithm_named(query.collective, part.name);
    const bool is_family = algorithm == nullptr && has_variants(query.collective, part.name);
    if (algorithm == nullptr && !is_family && part.name != "auto") return;
    choice.algorithm = algorithm;
    choice.family = is_family ? part.name : "";
    if (part.lanes) choice.lanes = *part.lanes;
  });
  return choice;
}

/// The rule's choice, if it is of the family that the request names; otherwise the family's first
/// variant that keeps the order.
const Algorithm* variant_of(const RequestedChoice& requested, const SelectionQuery& query,
                            const SelectedPlan& by_rule) {
  if (is_variant(by_rule.algorithm, requested.family)) return nullptr;
  for (const Algorithm& algorithm : algorithms_of(query.collective)) {
    if (is_variant(algorithm.name, requested.family) && algorithm.order >= query.order) {
      return &algorithm;
    }
  }
  throw Error(ErrorKind::unsupported,
              fmt::format("no {} algorithm '{}-...' combines operands in the order '{}'; choose "
                          "another algorithm, or 'auto'",
                          name_of(query.collective), requested.family, name_of(query.order)));
}

bool uses_aggregators(const Algorithm& algorithm) {
  return algorithm.exchange.help == ExchangeHelp::aggregators;
}

bool needs_aggregators(const Algorithm& algorithm, const SelectionQuery& query) {
  return uses_aggregators(algorithm) && !algorithm.serves_shape(Shape(query.nodes, 2));
}

void require_aggregators(const Algorithm& algorithm, const SelectionQuery& query) {
  if (query.aggregators == 0 && needs_aggregators(algorithm, query)) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{} algorithm '{}' needs aggregators, and there are none: set "
                            "Options::aggregators (HYCOLL_AGGREGATORS, --aggregators) to at least "
                            "1, or choose another algorithm, or 'auto'",
                            name_of(query.collective), algorithm.name));
  }
  if (query.aggregators > 0 && query.native == NativeReduction::impossible) {
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
  if (algorithm.exchange.help == ExchangeHelp::mpi_library &&
      query.native == NativeReduction::impossible) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("{} algorithm '{}' leaves the exchange to the MPI library, which hycoll "
                    "asks for its own types and operators only; choose another algorithm, "
                    "or 'auto'",
                    name_of(query.collective), algorithm.name));
  }
  if (algorithm.exchange.help == ExchangeHelp::mpi_library && query.aggregators > 0) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("{} algorithm '{}' leaves the exchange to the MPI library, whose lanes lead to "
                    "the {} aggregator(s) too; choose another algorithm, or no aggregators",
                    name_of(query.collective), algorithm.name, query.aggregators));
  }
  if (query.has_unequal_pairs && algorithm.exchange.passes_on_blocks && query.node_count() > 1) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("{} algorithm '{}' passes on what other nodes exchange, whose lengths a "
                    "node does not know where they differ; choose 'onmpml', or 'auto'",
                    name_of(query.collective), algorithm.name));
  }
  if (uses_aggregators(algorithm)) require_aggregators(algorithm, query);
}

Collective parse_collective(std::string_view name) {
  if (const std::optional<Collective> collective = collective_named(name)) return *collective;
  std::string known;
  for (int c = 0; c < kCollectiveCount; ++c) {
    known += fmt::format("{}{}", c == 0 ? "" : ", ", name_of(static_cast<Collective>(c)));
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("collective '{}' does not exist; known: {}", name, known));
}

/// The segments of what a leader of an all-to-all has for another node.
int tile_segments(const SelectionQuery& query, int lanes) noexcept {
  // Staging cuts vectors into slices.
  if (query.node_count() == 1 || query.visibility == Visibility::staged) return 1;
  const auto others = static_cast<int>(query.node_count()) - 1;
  const int shares = (lanes + others - 1) / others;
  const auto members = static_cast<std::size_t>(most_members(query.nodes));
  const std::size_t tile_bytes =
      query.size_bytes / query.node_count() * members / static_cast<std::size_t>(shares);
  // Two are sent and two received at a time.
  const std::size_t most_bytes = query.exchange_limit_bytes / (4 * static_cast<std::size_t>(lanes));
  const std::size_t segment_bytes = std::clamp<std::size_t>(most_bytes, 1, kTileSegmentBytes);
  const std::size_t segments = (tile_bytes + segment_bytes - 1) / segment_bytes;
  // Few classes of plans, for whatever lengths. A block is not cut.
  return static_cast<int>(std::bit_ceil(std::clamp<std::size_t>(segments, 1, members * members)));
}

/// The segments of a lane's part of a vector that nodes pass on.
int pipelined_segments(const SelectionQuery& query, std::size_t lane_bytes) noexcept {
  const std::size_t node_count = query.node_count();
  // Between two nodes nothing is passed on, and staging cuts vectors into slices of its own.
  if (node_count <= 2 || query.visibility == Visibility::staged) return segments_for(lane_bytes);
  const std::size_t of_all =
      std::max<std::size_t>(kMaximumPipelinedMessages / node_count, kMaximumSegments);
  const std::size_t segments = (lane_bytes + kPipelinedBytes - 1) / kPipelinedBytes;
  return static_cast<int>(
      std::clamp<std::size_t>(segments, 1, std::min(of_all, kMaximumPipelinedSegments)));
}

}  // namespace

std::size_t SelectionQuery::node_count() const noexcept {
  return std::accumulate(nodes.begin(), nodes.end(), std::size_t{0},
                         [](std::size_t sum, const EqualNodes& run) {
                           return sum + static_cast<std::size_t>(run.count);
                         });
}

int fewest_workers(std::span<const EqualNodes> nodes) {
  return std::ranges::min(nodes, {}, [](const EqualNodes& run) { return run.node.workers; })
      .node.workers;
}

int most_workers(std::span<const EqualNodes> nodes) {
  return std::ranges::max(nodes, {}, [](const EqualNodes& run) { return run.node.workers; })
      .node.workers;
}

int most_chosen_lanes(std::span<const EqualNodes> nodes) {
  return std::min(most_workers(nodes), kMostLanesOfWorker * fewest_workers(nodes));
}

int most_members(std::span<const EqualNodes> nodes) {
  return std::ranges::max(nodes, {}, [](const EqualNodes& run) { return run.node.members; })
      .node.members;
}

int segments_for(std::size_t message_bytes) noexcept {
  const std::size_t segments = message_bytes / kSegmentBytes;
  return static_cast<int>(std::clamp<std::size_t>(segments, 1, kMaximumSegments));
}

int segments_of(const SelectionQuery& query, const Algorithm& algorithm, int lanes) {
  if (algorithm.segmentation == Segmentation::none) return 1;
  if (query.collective == Collective::alltoall) return tile_segments(query, lanes);
  // Socket leaders, and injectors, send the whole vector each.
  const std::size_t lane_bytes = uses_aggregators(algorithm)
                                     ? query.size_bytes
                                     : query.size_bytes / static_cast<std::size_t>(lanes);
  switch (algorithm.exchange.messages) {
    case MessageSize::vector:
      break;
    case MessageSize::block:
      return segments_for(lane_bytes / query.node_count());
    case MessageSize::passed_on:
      return pipelined_segments(query, lane_bytes);
  }
  return segments_for(lane_bytes);
}

void check_requested_algorithm(std::string_view requested) {
  for_each_part(requested, [](const RequestPart& part) {
    if (!part.collective.empty()) {
      const Collective collective = parse_collective(part.collective);
      const bool is_known = part.name == "auto" || has_variants(collective, part.name);
      if (!is_known) find_algorithm(collective, part.name);
      return;
    }
    if (part.name == "auto") return;
    for (const Algorithm* algorithm : all_algorithms()) {
      if (algorithm->name == part.name || is_variant(algorithm->name, part.name)) return;
    }
    find_algorithm(Collective::allreduce, part.name);
  });
}

int most_requested_lanes(std::string_view requested) {
  int most = 0;
  for_each_part(requested,
                [&](const RequestPart& part) { most = std::max(most, part.lanes.value_or(0)); });
  return most;
}

std::vector<EqualNodes> with_aggregators(std::vector<EqualNodes> nodes, int aggregators) {
  nodes.push_back({.node = {.members = 0, .workers = 1}, .count = aggregators});
  return nodes;
}

namespace {

/// By the rules, with so many lanes.
SelectedPlan select_as_requested(const SelectionQuery& query, int lanes) {
  if (lanes == query.requested_lanes && query.aggregators == 0) return select_by_rule(query);
  SelectionQuery by_rule = query;
  by_rule.requested_lanes = lanes;
  // A lane's own collectives would wait for the aggregators.
  if (query.aggregators > 0) by_rule.native = NativeReduction::impossible;
  return select_by_rule(by_rule);
}

/// What has been measured to be fastest for such a call, if it serves this one.
std::optional<RequestedChoice> tuned_choice(const SelectionQuery& query) {
  const bool is_like_measured = query.tuning != nullptr && query.nodes.size() == 1 &&
                                query.aggregators == 0 && !query.has_unequal_pairs;
  if (!is_like_measured) return std::nullopt;
  const EqualNodes& nodes = query.nodes.front();
  const TunedCell* const cell = query.tuning->find({.collective = query.collective,
                                                    .visibility = query.visibility,
                                                    .nodes = nodes.count,
                                                    .members = nodes.node.members,
                                                    .workers = nodes.node.workers},
                                                   query.size_bytes);
  if (cell == nullptr) return std::nullopt;
  const Algorithm& algorithm = find_algorithm(query.collective, cell->algorithm);
  const bool is_bounded = query.collective != Collective::alltoall || leaders_may_hold_all(query);
  const bool serves = algorithm.order >= query.order &&
                      cell->lanes <= most_chosen_lanes(query.nodes) && is_bounded &&
                      algorithm.exchange.help == ExchangeHelp::none &&
                      algorithm.serves_shape(Shape(query.nodes, cell->lanes));
  if (!serves) return std::nullopt;
  return RequestedChoice{.algorithm = &algorithm, .family = "", .lanes = cell->lanes};
}

}  // namespace

SelectedPlan select(const SelectionQuery& query) {
  RequestedChoice requested = requested_choice(query);
  const bool asks_for_nothing =
      requested.algorithm == nullptr && requested.family.empty() && requested.lanes == 0;
  if (asks_for_nothing) requested = tuned_choice(query).value_or(requested);
  const Algorithm* algorithm = requested.algorithm;
  if (algorithm == nullptr) {
    const SelectedPlan plan = select_as_requested(query, requested.lanes);
    if (requested.family.empty()) return plan;
    algorithm = variant_of(requested, query, plan);
    if (algorithm == nullptr) return plan;
  }
  require_suitable(*algorithm, query);
  const bool aggregates = uses_aggregators(*algorithm);
  SelectedPlan plan{.algorithm = algorithm->name,
                    .aggregators = aggregates ? query.aggregators : 0};
  const auto serves = [&](int lanes) {
    return algorithm->serves_shape(Shape(with_aggregators(query.nodes, plan.aggregators), lanes));
  };
  const int lanes_of_its_own = aggregates ? query.sockets : fewest_workers(query.nodes);
  plan.lanes = requested.lanes > 0        ? requested.lanes
               : !serves(2)               ? 1
               : serves(lanes_of_its_own) ? lanes_of_its_own
                                          : 2;
  plan.workers_per_node = std::max(most_members(query.nodes), plan.lanes);
  plan.segments = segments_of(query, *algorithm, plan.lanes);
  return plan;
}

}  // namespace hycoll
