// Allgathers executed in random interleavings: with unequal blocks, which no call has yet, in
// place, and in several runs on slices of every block.

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/staging/staging.h"
#include "tests/core/verifier/examples.h"
#include "tests/threading/random_driver.h"

namespace hycoll {
namespace gathering_random_test {

/// Element i of a member's block.
std::int64_t element(int member, int call, std::size_t index) {
  return 1'000'000 * (member + 1) + 10'000 * call + static_cast<std::int64_t>(index);
}

/// All members' buffers.
class Gathering {
 public:
  Gathering(std::vector<std::size_t> block_counts, bool in_place)
      : counts_(std::move(block_counts)), in_place_(in_place) {
    const std::size_t size = std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
    for (const std::size_t count : counts_) {
      inputs_.emplace_back(count, -1);
      outputs_.emplace_back(size, -1);
    }
  }

  RandomDriver::Callbacks callbacks() {
    return {.enter = [this](int member, int call) { return enter(member, call); },
            .leave = [this](int member, int call) { leave(member, call); }};
  }
  int wrong() const { return wrong_; }

 private:
  RandomDriver::Buffers enter(int member, int call) {
    const auto m = static_cast<std::size_t>(member);
    std::vector<std::int64_t>& output = outputs_[m];
    output.assign(output.size(), -1);
    const std::size_t begin = std::accumulate(counts_.begin(), counts_.begin() + member, 0UL);
    std::int64_t* const input = in_place_ ? output.data() + begin : inputs_[m].data();
    for (std::size_t i = 0; i < counts_[m]; ++i) input[i] = element(member, call, i);
    return {.input = input, .output = output.data()};
  }

  void leave(int member, int call) {
    const std::int64_t* next = outputs_[static_cast<std::size_t>(member)].data();
    for (std::size_t from = 0; from < counts_.size(); ++from) {
      for (std::size_t i = 0; i < counts_[from]; ++i) {
        if (*next++ != element(static_cast<int>(from), call, i)) ++wrong_;
      }
    }
  }

  std::vector<std::size_t> counts_;
  bool in_place_;
  int wrong_ = 0;
  std::vector<std::vector<std::int64_t>> inputs_;
  std::vector<std::vector<std::int64_t>> outputs_;
};

/// Returns the runs that each call has taken.
int run(const Schedule& schedule, const std::vector<std::size_t>& counts, StagingLimit limit = {}) {
  RandomDriver driver(schedule, {.block_counts = counts}, DataType::int64, Operator::sum,
                      MailboxNetwork::Delivery{}, limit);
  for (const bool in_place : {false, true}) {
    CAPTURE(schedule.algorithm);
    CAPTURE(in_place);
    Gathering gathering(counts, in_place);
    REQUIRE_NOTHROW(driver.run(11, 8, gathering.callbacks()));
    CHECK(gathering.wrong() == 0);
  }
  return driver.runs_per_call();
}

TEST_CASE("inputs are blocks, of any length") {
  for (const int members : {1, 2, 3, 5}) {
    std::vector<std::size_t> counts;
    for (int m = 0; m < members; ++m) counts.push_back(m % 3 == 1 ? 0 : 17 * (m + 1UL));
    run(testing::central_example(testing::kAllgather, members), counts);
    run(testing::ring_allgather_example(members), counts);
  }
  run(testing::paired_allgather_example(), {3, 40, 0, 7});
}

TEST_CASE("every algorithm on blocks of any length, direct and staged in slices") {
  for (const Shape& shape : {Shape::uniform(1, 3, 2), Shape::uniform(4, 1, 1),
                             Shape(std::vector<Node>{{2, 2}, {1, 1}, {3, 3}}, 1),
                             Shape(std::vector<Node>{{3, 3}, {1, 1}}, 3)}) {
    std::vector<std::size_t> counts;
    for (int m = 0; m < shape.member_count(); ++m) counts.push_back(m % 3 == 1 ? 0 : 40 + 90 * m);
    for (const Algorithm& algorithm : algorithms_of(Collective::allgather)) {
      const bool is_short = algorithm.name.starts_with("lines");
      if (!algorithm.serves_shape(shape) || is_short) continue;
      const Schedule schedule = algorithm.generate(shape);
      CHECK(run(schedule, counts) == 1);
      const bool is_staged = shape.node_count() < shape.member_count();
      if (is_staged) CHECK(run(staged(schedule), counts, {.bytes = 1024}) > 1);
    }
  }
}

TEST_CASE("in slices of all blocks, between which outputs have gaps") {
  constexpr StagingLimit kShort{.bytes = 1024};
  CHECK(run(staged(testing::central_example(testing::kAllgather, 3)), {150, 90, 0}, kShort) > 1);
  CHECK(run(staged(testing::paired_allgather_example()), {100, 130, 7, 100}, kShort) > 2);
}

}  // namespace gathering_random_test
}  // namespace hycoll
