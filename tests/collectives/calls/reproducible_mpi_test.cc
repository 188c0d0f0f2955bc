// Reproducible calls: the same bits for any lanes, workers, algorithms, sizes and positions.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/shape.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/fold_order.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace reproducible_mpi_test {

constexpr std::array kCollectives = {Collective::allreduce, Collective::reduce,
                                     Collective::reduce_scatter, Collective::scan,
                                     Collective::exscan};

/// The vectors are windows on one long one, so that an element is reduced at many positions, in
/// vectors of many sizes.
struct Window {
  std::size_t first;
  std::size_t size;  // of the input
};
constexpr std::array kWindows = {Window{0, 240}, Window{37, 1}, Window{11, 15}, Window{0, 12'000},
                                 Window{5'001, 960}};
constexpr std::size_t kLongest = 12'000;

/// Of wildly different magnitudes, so that the order of additions shows in the bits.
float element(int member, std::size_t index) {
  const auto hash = static_cast<std::uint32_t>(
      (index * 31 + static_cast<std::size_t>(member) * 7 + 1) * 2'654'435'761u);
  const float mantissa = 1.0f + static_cast<float>(hash % 100'003) / 100'003.0f;
  return std::ldexp(hash % 2 == 0 ? mantissa : -mantissa, static_cast<int>(hash / 7 % 40) - 20);
}

std::vector<int> members_of_nodes(int node_count, bool team) {
  std::vector<int> members;
  for (int node = 0; node < node_count; ++node) members.push_back(team ? 1 + (node + 1) % 3 : 1);
  return members;
}

/// What each member gets for each element of the long vector, by arithmetic of the test's own.
class Expectation {
 public:
  explicit Expectation(const std::vector<int>& members_of_node)
      : order_{.members_of_node = members_of_node,
               .combine = [](const std::vector<float>& left, const std::vector<float>& right) {
                 std::vector<float> result(left.size());
                 for (std::size_t i = 0; i < left.size(); ++i) result[i] = left[i] + right[i];
                 return result;
               }} {
    int member_count = 0;
    for (const int members : members_of_node) member_count += members;
    for (int member = 0; member < member_count; ++member) {
      inputs_.emplace_back(kLongest);
      for (std::size_t i = 0; i < kLongest; ++i) inputs_.back()[i] = element(member, i);
    }
    for (std::size_t c = 0; c < kCollectives.size(); ++c) {
      for (std::size_t m = 0; m < inputs_.size(); ++m) {
        results_[c].push_back(
            order_.result(kCollectives[c], inputs_, m).value_or(std::vector<float>()));
      }
    }
  }

  const std::vector<float>& input(int member) const {
    return inputs_[static_cast<std::size_t>(member)];
  }
  float result(Collective collective, int member, std::size_t index) const {
    return results_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(member)][index];
  }

 private:
  FoldOrder<std::vector<float>> order_;
  std::vector<std::vector<float>> inputs_;
  std::array<std::vector<std::vector<float>>, kCollectives.size()> results_;
};

enum class Asked { per_call, per_communicator };

/// All windows through one collective; the complaint.
template <class Caller>
std::string try_windows(Caller& caller, Collective collective, const Expectation& expectation,
                        std::size_t longest_bytes, Asked asked) {
  std::string first;
  for (const Window& window : kWindows) {
    if (window.size * sizeof(float) > longest_bytes) continue;
    CollectiveReference reference{.collective = collective,
                                  .member_count = caller.size(),
                                  .root = caller.size() - 1,
                                  .count = window.size,
                                  .block_counts = {}};
    if (collective == Collective::reduce_scatter) {
      reference.count = 0;
      reference.block_counts.assign(static_cast<std::size_t>(caller.size()), 0);
      for (std::size_t i = 0; i < window.size; ++i) {
        ++reference.block_counts[i * i % reference.block_counts.size()];
      }
    }
    std::vector<float> output(window.size, -1);
    Call call{.collective = collective,
              .input = expectation.input(caller.rank()).data() + window.first,
              .output = output.data(),
              .count = reference.count,
              .block_counts = reference.block_counts,
              .type = DataType::float32,
              .op = Operator::sum,
              .root = reference.root};
    if (asked == Asked::per_call) call = call.reproducible();
    caller.run(call);
    for (std::size_t i = 0; i < reference.output_size(caller.rank()); ++i) {
      const std::size_t index = window.first + reference.output_begin(caller.rank()) + i;
      const float expected = expectation.result(collective, caller.rank(), index);
      if (std::bit_cast<std::uint32_t>(output[i]) == std::bit_cast<std::uint32_t>(expected))
        continue;
      note(first, fmt::format("{} of {} elements, member {} of {}: element {} is {}, not {}",
                              name_of(collective), window.size, caller.rank(), caller.size(), i,
                              output[i], expected));
    }
  }
  return first;
}

TEST_CASE("the order of additions shows in the bits of these numbers") {
  const Expectation one({1, 1, 1, 1, 1});
  const Expectation other({2, 3});
  int differing = 0;
  for (std::size_t i = 0; i < kLongest; ++i) {
    differing +=
        one.result(Collective::allreduce, 0, i) != other.result(Collective::allreduce, 0, i);
  }
  CHECK(differing > 1'000);
}

TEST_CASE("any number of lanes and workers, one member per process") {
  const Expectation expectation(members_of_nodes(world_size(), false));
  for (const int lanes : {0, 1, 2, 4}) {
    CAPTURE(lanes);
    Options options = Options::from_environment();
    options.lanes = lanes;
    options.workers = 1 + (lanes + 1) % 3;
    const Asked asked = lanes % 2 == 0 ? Asked::per_call : Asked::per_communicator;
    if (asked == Asked::per_communicator) options.bits = Bits::reproducible;
    Communicator communicator(MPI_COMM_WORLD, options);
    for (const Collective collective : kCollectives) {
      CHECK(try_windows(communicator, collective, expectation, SIZE_MAX, asked) == "");
    }
  }
}

TEST_CASE("any number of lanes, every thread a member") {
  const std::vector<int> members = members_of_nodes(world_size(), true);
  const Expectation expectation(members);
  for (const int lanes : {0, 1, 3}) {
    CAPTURE(lanes);
    Options options = Options::from_environment();
    options.lanes = lanes;
    const Asked asked = lanes % 2 == 0 ? Asked::per_call : Asked::per_communicator;
    if (asked == Asked::per_communicator) options.bits = Bits::reproducible;
    Team team(MPI_COMM_WORLD, members[static_cast<std::size_t>(world_rank())], options);
    CHECK(in_every_thread(team, [&](Member& member) {
            std::string first;
            for (const Collective collective : kCollectives) {
              note(first, try_windows(member, collective, expectation, SIZE_MAX, asked));
            }
            return first;
          }) == "");
  }
}

/// Canonical algorithms of different collectives that serve a shape with this number of lanes: a
/// communicator costs more than calls.
struct AlgorithmSet {
  int lanes;
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

/// Together, all canonical algorithms that serve the nodes: with 3 lanes if they can, else with 1.
std::vector<AlgorithmSet> canonical_sets(const std::vector<Node>& nodes) {
  std::vector<AlgorithmSet> sets;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!combines(algorithm->collective) || algorithm->order != OperandOrder::canonical) continue;
    const int lanes = algorithm->serves_shape(Shape(nodes, 3)) ? 3 : 1;
    if (!algorithm->serves_shape(Shape(nodes, lanes))) continue;
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const AlgorithmSet& other) {
      return other.lanes == lanes && other.algorithms.back()->collective != algorithm->collective;
    });
    if (set == sets.end()) {
      sets.push_back({.lanes = lanes, .algorithms = {algorithm}});
    } else {
      set->algorithms.push_back(algorithm);
    }
  }
  return sets;
}

template <class Caller>
std::string try_set(Caller& caller, const AlgorithmSet& set, const Expectation& expectation) {
  std::string first;
  for (const Algorithm* algorithm : set.algorithms) {
    // Lines hold no longer vectors.
    const std::size_t longest_bytes = algorithm->name.starts_with("lines") ? 1'000 : SIZE_MAX;
    const std::string complaint =
        try_windows(caller, algorithm->collective, expectation, longest_bytes, Asked::per_call);
    if (!complaint.empty()) note(first, fmt::format("{}: {}", algorithm->name, complaint));
  }
  return first;
}

Options options_for(const AlgorithmSet& set) {
  Options options = Options::from_environment();
  options.lanes = set.lanes;
  options.algorithm = set.requested();
  return options;
}

TEST_CASE("every canonical algorithm, one member per process") {
  const Expectation expectation(members_of_nodes(world_size(), false));
  const std::vector<Node> nodes(static_cast<std::size_t>(world_size()), Node{1, 1});
  for (const AlgorithmSet& set : canonical_sets(nodes)) {
    Options options = options_for(set);
    options.workers = 1;
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(try_set(communicator, set, expectation) == "");
  }
}

TEST_CASE("every canonical algorithm, every thread a member") {
  const std::vector<int> members = members_of_nodes(world_size(), true);
  const Expectation expectation(members);
  std::vector<Node> nodes;
  for (const int count : members) nodes.push_back({count, count});
  for (const AlgorithmSet& set : canonical_sets(nodes)) {
    Team team(MPI_COMM_WORLD, members[static_cast<std::size_t>(world_rank())], options_for(set));
    CHECK(in_every_thread(team,
                          [&](Member& member) { return try_set(member, set, expectation); }) == "");
  }
}

TEST_CASE("algorithms that combine in other orders are refused, other calls of them are not") {
  Options options = Options::from_environment();
  options.lanes = 1;
  options.algorithm = "allreduce:dpml-ring,reduce:dpml-ring,reduce_scatter:dpml-halving";
  Communicator communicator(MPI_COMM_WORLD, options);
  std::vector<float> values(10, 1.0f);
  std::vector<float> result(10);
  const std::size_t block = values.size() / static_cast<std::size_t>(communicator.size());
  values.resize(block * static_cast<std::size_t>(communicator.size()));
  result.resize(values.size());
  const Call calls[] = {calls::allreduce(values, result), calls::reduce(values, result),
                        calls::reduce_scatter_block(values, std::span(result).first(block))};
  for (const Call& call : calls) {
    CHECK_THROWS_WITH_AS(communicator.run(call.reproducible()),
                         doctest::Contains("its bits are to be reproducible); choose another "
                                           "algorithm, or 'auto'"),
                         Error);
    CHECK_THROWS_AS((void)communicator.start(call.reproducible()), Error);
    CHECK_THROWS_AS((void)communicator.prepare(call.reproducible()), Error);
    CHECK_THROWS_AS((void)communicator.choice(call.reproducible()), Error);
    communicator.run(call);
  }
  communicator.allreduce(values, result);
  CHECK(result.front() == static_cast<float>(communicator.size()));
}

}  // namespace reproducible_mpi_test
}  // namespace hycoll::tests
