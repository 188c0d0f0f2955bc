// Alltoallv and alltoallw under real MPI, in all layouts: blocks of any length, some of them empty,
// in any order, with gaps between them, described by different types.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/collectives/calls/described_blocks.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/every_layout.h"

namespace hycoll::tests {
namespace unequal_pairs_mpi_test {

enum class Form { blocking, nonblocking, driven, persistent };
constexpr Form kForms[] = {Form::blocking, Form::nonblocking, Form::driven, Form::persistent};

enum class Order {
  one_after_the_other,
  reversed,  ///< And numbers that belong to none before each.
};

/// How long blocks are, in pairs of numbers: alike in both directions, so that calls may be made in
/// place.
class Lengths {
 public:
  Lengths(std::size_t longest, std::size_t round) : longest_(longest), round_(round) {}

  std::size_t of(int from, int to) const {
    const auto low = static_cast<std::size_t>(std::min(from, to));
    const auto high = static_cast<std::size_t>(std::max(from, to));
    const std::size_t draw = (low * 31 + high * 17 + round_ * 7) % 5;
    return draw == 0 ? 0 : longest_ / draw + draw % 2;
  }

 private:
  std::size_t longest_;
  std::size_t round_;
};

/// One member's row or column.
class Blocks {
 public:
  /// `turn_of(other)`: which description the block of a member has.
  template <class LengthOf, class TurnOf>
  Blocks(const GappedType& gapped, int member_count, Order order, const LengthOf& length_of,
         const TurnOf& turn_of)
      : begins_(static_cast<std::size_t>(member_count)) {
    for (int member = 0; member < member_count; ++member) {
      lengths_.push_back(length_of(member));
      descriptions_.push_back(gapped.description(turn_of(member), 1));
      counts_.push_back(lengths_.back() * descriptions_.back().count);
      types_.push_back(descriptions_.back().type);
    }
    constexpr std::size_t kGap = 6;  // a whole number of elements of every description
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      const bool is_reversed = order == Order::reversed;
      const std::size_t member = is_reversed ? lengths_.size() - 1 - i : i;
      if (is_reversed) size_ += kGap;
      begins_[member] = size_;
      size_ += lengths_[member] * descriptions_[member].extent;
    }
    for (std::size_t member = 0; member < lengths_.size(); ++member) {
      const std::size_t bytes = begins_[member] * sizeof(std::int32_t);
      const Description& description = descriptions_[member];
      const std::size_t element_bytes =
          description.extent * sizeof(std::int32_t) / description.count;
      byte_displacements_.push_back(static_cast<std::ptrdiff_t>(bytes));
      displacements_.push_back(static_cast<std::ptrdiff_t>(bytes / element_bytes));
    }
  }

  PairCounts counts() const { return {counts_, displacements_}; }
  TypedPairCounts typed() const { return {counts_, byte_displacements_, types_}; }
  ElementType type() const { return types_.front(); }

  Numbers poisoned() const { return Numbers(size_, kPoison); }
  /// With what `value_of(member)` stands for in each member's block.
  template <class SourceOf>
  Numbers filled(const SourceOf& source_of) const {
    Numbers numbers = poisoned();
    for (std::size_t member = 0; member < lengths_.size(); ++member) {
      descriptions_[member].fill(numbers.data() + begins_[member], lengths_[member],
                                 source_of(static_cast<int>(member)));
    }
    return numbers;
  }

 private:
  std::vector<std::size_t> lengths_;
  std::vector<Description> descriptions_;
  std::vector<std::size_t> begins_;
  std::size_t size_ = 0;
  std::vector<std::size_t> counts_;
  std::vector<std::ptrdiff_t> displacements_;
  std::vector<std::ptrdiff_t> byte_displacements_;
  std::vector<ElementType> types_;
};

template <class Caller>
void make(Caller& caller, const Call& call, Form form) {
  switch (form) {
    case Form::blocking:
      return caller.run(call);
    case Form::nonblocking:
      return caller.start(call).wait();
    case Form::driven:
      return make_driven(caller, call);
    case Form::persistent: {
      Persistent persistent = caller.prepare(call);
      persistent.run();
      persistent.start();
      return persistent.wait();
    }
  }
}

struct Trial {
  Lengths lengths;
  Order order = Order::one_after_the_other;
  Placement placement = Placement::separate;
  Form form = Form::blocking;
  bool has_types = false;  ///< A type for each block.
  std::size_t turn = 0;
};

template <class Caller>
std::string try_call(Caller& caller, const GappedType& gapped, const Trial& trial) {
  const int rank = caller.rank();
  const int size = caller.size();
  const bool in_place = trial.placement == Placement::in_place;
  const auto source = [&](int from, int to) { return from * size + to; };
  // Members describe blocks as they like.
  const std::size_t own_turn = trial.turn + static_cast<std::size_t>(rank);
  const auto turn_of = [&](std::size_t salt) {
    return [=, &trial](int member) {
      return trial.has_types ? own_turn + salt + static_cast<std::size_t>(member) : own_turn;
    };
  };
  const Blocks sent(
      gapped, size, trial.order, [&](int to) { return trial.lengths.of(rank, to); }, turn_of(0));
  const Blocks received(
      gapped, size, trial.order, [&](int from) { return trial.lengths.of(from, rank); },
      turn_of(in_place ? 0 : 1));
  Numbers input = sent.filled([&](int to) { return source(rank, to); });
  Numbers output = in_place ? input : received.poisoned();
  const void* const from = in_place ? output.data() : input.data();
  const Call call =
      trial.has_types
          ? calls::alltoallw(from, sent.typed(), output.data(), received.typed())
          : calls::alltoallv(from, sent.counts(), output.data(), received.counts(), sent.type());
  if (trial.form == Form::persistent && in_place) {
    caller.run(call);  // a second start would send what the first one has brought
  } else {
    make(caller, call, trial.form);
  }
  if (output == received.filled([&](int member) { return source(member, rank); })) return "";
  return fmt::format("alltoall{} {} is wrong on member {}, order {}, form {}",
                     trial.has_types ? 'w' : 'v', in_place ? "in place" : "", rank,
                     static_cast<int>(trial.order), static_cast<int>(trial.form));
}

template <class Caller>
std::string try_lengths(Caller& caller, std::initializer_list<std::size_t> longest) {
  const GappedType gapped;
  std::string first;
  std::size_t round = 0;
  for (const std::size_t length : longest) {
    for (const Placement placement : {Placement::separate, Placement::in_place}) {
      for (const bool has_types : {false, true}) {
        for (const Form form : kForms) {
          ++round;
          note(first,
               try_call(caller, gapped,
                        {.lengths = Lengths(length, round),
                         .order = round % 2 == 0 ? Order::reversed : Order::one_after_the_other,
                         .placement = placement,
                         .form = form,
                         .has_types = has_types,
                         .turn = round}));
        }
      }
    }
  }
  return first;
}

TEST_CASE("blocks of any length, in any order, by any types") {
  in_every_layout([](auto& caller) { return try_lengths(caller, {1, 5, 130, 9'000}); });
}

TEST_CASE("blocks that pass through staging in many slices") {
  Options options = options_with(1);
  options.staging_kib = 64;
  Communicator communicator(MPI_COMM_WORLD, options);
  CHECK(try_lengths(communicator, {60'000}) == "");
}

TEST_CASE("between threads of several processes of a node") {
  for (const int nodes : {1, 2}) {
    Team team(MPI_COMM_WORLD, 2, options_with(nodes));
    CHECK(in_every_thread(team, [](Member& member) {
            return try_lengths(member, {3, 5'000});
          }) == "");
  }
}

TEST_CASE("calls with ever other lengths, several under way at once") {
  in_every_layout([](auto& caller) {
    const auto size = static_cast<std::size_t>(caller.size());
    const auto rank = static_cast<std::size_t>(caller.rank());
    constexpr std::size_t kCalls = 40;
    std::vector<Numbers> inputs(kCalls);
    std::vector<Numbers> outputs(kCalls);
    std::vector<std::vector<std::size_t>> sent(kCalls);
    std::vector<std::vector<std::size_t>> received(kCalls);
    const auto length = [&](std::size_t call, std::size_t from, std::size_t to) {
      return (call * 13 + from * 5 + to * 3) % 11 == 0 ? 0 : (call * 7 + from * 3 + to) % 50;
    };
    std::vector<Request> requests;
    for (std::size_t c = 0; c < kCalls; ++c) {
      for (std::size_t other = 0; other < size; ++other) {
        sent[c].push_back(length(c, rank, other));
        received[c].push_back(length(c, other, rank));
        inputs[c].insert(inputs[c].end(), sent[c].back(),
                         static_cast<std::int32_t>(1000 * c + 31 * rank + other));
      }
      outputs[c].assign(std::accumulate(received[c].begin(), received[c].end(), std::size_t{0}),
                        kPoison);
      if (c % 3 == 2) {
        caller.alltoallv(inputs[c], sent[c], outputs[c], received[c]);
      } else {
        requests.push_back(caller.ialltoallv(inputs[c], sent[c], outputs[c], received[c]));
      }
      if (c % 8 == 7) wait_all(requests);
      if (c % 8 == 7) requests.clear();
    }
    wait_all(requests);
    for (std::size_t c = 0; c < kCalls; ++c) {
      Numbers expected;
      for (std::size_t other = 0; other < size; ++other) {
        expected.insert(expected.end(), received[c][other],
                        static_cast<std::int32_t>(1000 * c + 31 * other + rank));
      }
      if (outputs[c] != expected) return fmt::format("call {} is wrong on member {}", c, rank);
    }
    return std::string();
  });
}

TEST_CASE("between calls of other kinds") {
  in_every_layout([](auto& caller) {
    const auto size = static_cast<std::size_t>(caller.size());
    std::string first;
    for (std::int32_t round = 0; round < 30; ++round) {
      const std::vector<std::size_t> counts(size, static_cast<std::size_t>(round % 4));
      const Numbers input(size * counts.front(), round);
      Numbers output(input.size(), kPoison);
      if (round % 3 != 0) caller.alltoallv(input, counts, output, counts);
      if (round % 3 != 0 && output != input) note(first, "an alltoallv is wrong");
      const std::int32_t sum = caller.allreduce(round);
      if (sum != round * static_cast<std::int32_t>(size)) note(first, "an allreduce is wrong");
      output.assign(output.size(), kPoison);
      caller.alltoall(input, output, counts.front());
      if (output != input) note(first, "an alltoall is wrong");
    }
    return first;
  });
}

}  // namespace unequal_pairs_mpi_test
}  // namespace hycoll::tests
