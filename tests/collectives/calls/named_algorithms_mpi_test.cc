// Every algorithm of every collective, called by its name under real MPI, in both layouts, with
// fewer lanes than workers and more.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/shape.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace named_algorithms_mpi_test {

constexpr std::size_t kCounts[] = {1, 1'500, 20'000};
/// Lines hold no longer vectors.
constexpr std::size_t kLongestLines = 1'500;

/// One algorithm for each collective, as Options names them: a communicator costs more than calls.
struct AlgorithmSet {
  std::vector<const Algorithm*> algorithms;

  std::string requested() const {
    std::string text;
    for (const Algorithm* algorithm : algorithms) {
      text += fmt::format("{}{}:{}", text.empty() ? "" : ",", name_of(algorithm->collective),
                          algorithm->name);
    }
    return text;
  }
};

/// Together, all algorithms of all collectives.
std::vector<AlgorithmSet> all_sets() {
  std::vector<AlgorithmSet> sets;
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto algorithms = algorithms_of(static_cast<Collective>(c));
    if (sets.size() < algorithms.size()) sets.resize(algorithms.size());
    for (std::size_t a = 0; a < algorithms.size(); ++a) {
      sets[a].algorithms.push_back(&algorithms[a]);
    }
  }
  return sets;
}

/// Calls an algorithm with every size, root and kind of blocks; or, if it does not serve the shape,
/// makes sure that it is refused, not replaced.
template <class Caller>
std::string try_algorithm(Caller& caller, const Algorithm& algorithm, const Shape& shape) {
  std::string first;
  int round = 0;
  for (const std::size_t count : kCounts) {
    if (algorithm.name.starts_with("lines") && count > kLongestLines) continue;
    for (const CollectiveReference& reference : references_of_all(caller.size(), count)) {
      // Empty calls synchronise by an allreduce, whatever they are.
      const bool is_empty = reference.vector_size() == 0;
      if (reference.collective != algorithm.collective || is_empty) continue;
      const bool in_place = ++round % 2 == 0;
      CallTrial trial(reference, caller.rank(),
                      in_place ? Placement::in_place : Placement::separate);
      trial.fill(round);
      const bool is_served = algorithm.serves_shape(shape);
      try {
        caller.run(trial.call());
        note(first, is_served ? trial.complaint() : trial.describe() + ": was not refused");
      } catch (const Error& error) {
        const bool is_refusal = error.kind() == ErrorKind::unsupported;
        if (is_served || !is_refusal) note(first, trial.describe() + ": " + error.what());
      }
    }
  }
  return first.empty() ? first : fmt::format("{}: {}", algorithm.name, first);
}

template <class Caller>
std::string try_set(Caller& caller, const AlgorithmSet& set, const Shape& shape) {
  std::string first;
  for (const Algorithm* algorithm : set.algorithms) {
    note(first, try_algorithm(caller, *algorithm, shape));
  }
  return first;
}

std::ptrdiff_t number_serving(const AlgorithmSet& set, const Shape& shape) {
  return std::ranges::count_if(
      set.algorithms, [&](const Algorithm* algorithm) { return algorithm->serves_shape(shape); });
}

/// Calls body(set, options) for every set with one lane, or with one of several numbers of lanes,
/// as its algorithms serve them on these nodes; and once with lanes that are to be refused.
template <class Body>
void for_all_sets(const std::vector<Node>& nodes, const Body& body) {
  const int lane_counts[] = {2, 3, 5};
  int refused_sets = 0;
  std::size_t number = 0;
  for (const AlgorithmSet& set : all_sets()) {
    int many = lane_counts[number++ % std::size(lane_counts)];
    if (number_serving(set, Shape(nodes, 2)) > number_serving(set, Shape(nodes, many))) many = 2;
    const std::ptrdiff_t multi_lane = number_serving(set, Shape(nodes, many));
    for (const int lanes : {1, many}) {
      if (lanes == 1 && multi_lane == std::ssize(set.algorithms)) continue;
      if (lanes > 1 && multi_lane == 0 && refused_sets++ > 0) continue;
      CAPTURE(lanes);
      Options options = Options::from_environment();
      options.algorithm = set.requested();
      options.lanes = lanes;
      body(set, options);
    }
  }
}

/// 2, 1, 3, 2, 1 threads.
int thread_count_of(int rank) { return 1 + (rank * 2 + 1) % 3; }

TEST_CASE("one member per process") {
  const std::vector<Node> nodes(static_cast<std::size_t>(world_size()), Node{1, 2});
  for_all_sets(nodes, [&](const AlgorithmSet& set, Options options) {
    options.workers = 2;
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(try_set(communicator, set, Shape(nodes, options.lanes)) == "");
  });
}

TEST_CASE("every thread is a member") {
  std::vector<Node> nodes;
  for (int rank = 0; rank < world_size(); ++rank) {
    nodes.push_back({thread_count_of(rank), thread_count_of(rank)});
  }
  for_all_sets(nodes, [&](const AlgorithmSet& set, const Options& options) {
    Team team(MPI_COMM_WORLD, thread_count_of(world_rank()), options);
    const Shape shape(nodes, options.lanes);
    CHECK(in_every_thread(team, [&](Member& member) { return try_set(member, set, shape); }) == "");
  });
}

}  // namespace named_algorithms_mpi_test
}  // namespace hycoll::tests
