// All-to-all under real MPI: every algorithm in the layout processes, staged in slices too, and
// blocks that different types describe, in all layouts.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/every_layout.h"
#include "tests/support/gapped_type.h"
#include "tests/support/process_options.h"

namespace hycoll::tests {
namespace {

using Numbers = std::vector<std::int32_t>;

constexpr std::int32_t kPoison = -77'777;

std::int32_t value_of(int from, int to, std::size_t index) {
  return 1'000'003 * (from + 1) + 10'007 * (to + 1) + 7 * static_cast<std::int32_t>(index);
}

/// How a member describes blocks of so many pairs of numbers.
struct Description {
  ElementType type;
  std::size_t count;
  std::size_t extent;  ///< The numbers from a pair to the next one.

  /// Blocks whose numbers are value(block, index).
  template <class Value>
  void fill(Numbers& blocks, std::size_t pairs, int block_count, const Value& value) const {
    for (int block = 0; block < block_count; ++block) {
      std::int32_t* const begin = blocks.data() + static_cast<std::size_t>(block) * pairs * extent;
      for (std::size_t d = 0; d < 2 * pairs; ++d) {
        begin[d / 2 * extent + d % 2] = value(block, d);
      }
    }
  }
};

/// A member's call with blocks that it describes like that, in place or not.
template <class Caller>
std::string try_description(Caller& caller, const Description& own, std::size_t pairs,
                            bool in_place, bool is_blocking) {
  const int rank = caller.rank();
  const std::size_t size = static_cast<std::size_t>(caller.size()) * pairs * own.extent;
  Numbers input(size, kPoison);
  own.fill(input, pairs, caller.size(),
           [&](int to, std::size_t d) { return value_of(rank, to, d); });
  const Numbers given = input;
  Numbers output(size, kPoison);
  if (in_place) output = input;
  const void* const from = in_place ? output.data() : input.data();
  if (is_blocking) {
    caller.alltoall(from, output.data(), own.count, own.type);
  } else {
    caller.ialltoall(from, output.data(), own.count, own.type).wait();
  }
  Numbers expected(size, kPoison);
  own.fill(expected, pairs, caller.size(),
           [&](int sender, std::size_t d) { return value_of(sender, rank, d); });
  if (output == expected && input == given) return "";
  return fmt::format("{} pairs, {} numbers apart, are wrong on member {}{}", pairs, own.extent,
                     rank, in_place ? ", in place" : "");
}

/// Members describe their data by a type with gaps, by numbers, or by longer numbers.
template <class Caller>
std::string try_types(Caller& caller, std::initializer_list<std::size_t> sizes) {
  const GappedType gapped;
  std::string first;
  std::size_t round = 0;
  for (const std::size_t pairs : sizes) {
    const Description descriptions[] = {
        {.type = gapped.type(), .count = pairs, .extent = GappedType::kExtent},
        {.type = DataType::int32, .count = 2 * pairs, .extent = 2},
        {.type = DataType::int64, .count = pairs, .extent = 2}};
    for (const bool in_place : {false, true}) {
      const auto number = static_cast<std::size_t>(caller.rank()) + ++round;
      for (const bool is_blocking : {true, false, true}) {
        const std::string complaint =
            try_description(caller, descriptions[number % 3], pairs, in_place, is_blocking);
        if (!complaint.empty()) note(first, complaint);
      }
    }
  }
  return first;
}

TEST_CASE("types with gaps, numbers and longer numbers describe the same blocks") {
  in_every_layout([](auto& caller) { return try_types(caller, {1, 5, 700, 9'000}); });
}

TEST_CASE("a call in place after one like it on separate buffers, and the other way round") {
  in_every_layout([](auto& caller) {
    const Description numbers{.type = DataType::int32, .count = 6, .extent = 2};
    std::string first;
    for (const bool in_place : {false, false, true, true, false, true}) {
      const std::string complaint = try_description(caller, numbers, 3, in_place, true);
      if (!complaint.empty()) note(first, complaint);
    }
    return first;
  });
}

TEST_CASE("blocks without data") {
  in_every_layout([](auto& caller) {
    std::int32_t untouched = kPoison;
    caller.alltoall(nullptr, nullptr, 0, DataType::int32);
    caller.alltoall(&untouched, &untouched, 0, DataType::float64);
    return std::string(untouched == kPoison ? "" : "a call without data wrote to a buffer");
  });
}

TEST_CASE("containers hold a block for each member") {
  Communicator communicator(MPI_COMM_WORLD);
  const int size = communicator.size();
  Numbers input;
  for (int to = 0; to < size; ++to) {
    for (std::size_t i = 0; i < 4; ++i) input.push_back(value_of(communicator.rank(), to, i));
  }
  Numbers output(input.size(), kPoison);
  communicator.alltoall(input, output, 4);
  for (int from = 0; from < size; ++from) {
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(output[4 * static_cast<std::size_t>(from) + i] ==
            value_of(from, communicator.rank(), i));
    }
  }
  Numbers longer(input.size() + 1);
  CHECK_THROWS_WITH_AS(communicator.alltoall(input, longer, 4),
                       doctest::Contains("members have blocks of block_count = 4"), Error);
  CHECK_THROWS_AS(communicator.alltoall(longer, output, 4), Error);
}

/// Whether an algorithm serves nodes of one member, or one node of few, only.
bool is_picky(const Algorithm& algorithm) {
  return algorithm.name == "lines" || algorithm.name == "linear" || algorithm.name == "pairwise";
}

/// What a call complains about; nothing if a picky algorithm refuses it.
template <class Call>
std::string complaint_of(const Algorithm& algorithm, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    const bool is_refusal = error.kind() == ErrorKind::unsupported && is_picky(algorithm);
    return is_refusal ? "" : error.what();
  }
}

TEST_CASE("every algorithm among processes, in slices of their staging, and of data with gaps") {
  for (const Algorithm& algorithm : algorithms_of(Collective::alltoall)) {
    for (const int nodes : {1, 2, 3}) {
      CAPTURE(algorithm.name);
      CAPTURE(nodes);
      Options options = options_with(nodes);
      options.algorithm = fmt::format("alltoall:{}", algorithm.name);
      options.staging_kib = 64;
      Communicator communicator(MPI_COMM_WORLD, options);
      for (const std::size_t count : {std::size_t{1}, std::size_t{90}, std::size_t{9'000}}) {
        if (algorithm.name == "lines" && count > 90) continue;
        const CollectiveReference reference{.collective = Collective::alltoall,
                                            .member_count = communicator.size(),
                                            .count = count,
                                            .block_counts = {}};
        for (const Placement placement : {Placement::separate, Placement::in_place}) {
          CallTrial trial(reference, communicator.rank(), placement);
          int round = 0;
          CHECK(complaint_of(algorithm,
                             [&] { return call_in_every_form(communicator, trial, round); }) == "");
        }
      }
      CHECK(complaint_of(algorithm, [&] { return try_types(communicator, {40}); }) == "");
    }
  }
}

}  // namespace
}  // namespace hycoll::tests
