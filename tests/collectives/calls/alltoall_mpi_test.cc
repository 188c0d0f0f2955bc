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
#include "tests/collectives/calls/described_blocks.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/every_layout.h"
#include "tests/support/process_options.h"
#include "tests/support/sanitized.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace alltoall_mpi_test {

/// What the block from one member for another holds: as if it were a member's with this number.
int member_of_pair(int from, int to) { return 100 * from + to; }

/// A block for, or from, each member, described like that.
template <class MemberOfBlock>
Numbers filled(const Description& as, std::size_t pairs, int block_count,
               const MemberOfBlock& member_of_block) {
  const std::size_t size = pairs * as.extent;
  Numbers blocks(static_cast<std::size_t>(block_count) * size, kPoison);
  for (int block = 0; block < block_count; ++block) {
    as.fill(blocks.data() + static_cast<std::size_t>(block) * size, pairs, member_of_block(block));
  }
  return blocks;
}

/// A member's call with blocks that it describes like that, in place or not.
template <class Caller>
std::string try_description(Caller& caller, const Description& own, std::size_t pairs,
                            bool in_place, bool is_blocking) {
  const int rank = caller.rank();
  const Numbers given =
      filled(own, pairs, caller.size(), [&](int to) { return member_of_pair(rank, to); });
  const Numbers expected =
      filled(own, pairs, caller.size(), [&](int from) { return member_of_pair(from, rank); });
  Numbers input = given;
  Numbers output(given.size(), kPoison);
  if (in_place) output = input;
  const void* const from = in_place ? output.data() : input.data();
  if (is_blocking) {
    caller.alltoall(from, output.data(), own.count, own.type);
  } else {
    caller.ialltoall(from, output.data(), own.count, own.type).wait();
  }
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
    for (const bool in_place : {false, true}) {
      const auto number = static_cast<std::size_t>(caller.rank()) + ++round;
      for (const bool is_blocking : {true, false, true}) {
        const std::string complaint = try_description(caller, gapped.description(number, pairs),
                                                      pairs, in_place, is_blocking);
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
  const int rank = communicator.rank();
  const Description numbers{.type = DataType::int32, .count = 4, .extent = 2};
  const Numbers input = filled(numbers, 2, size, [&](int to) { return member_of_pair(rank, to); });
  Numbers output(input.size(), kPoison);
  communicator.alltoall(input, output, 4);
  CHECK(output == filled(numbers, 2, size, [&](int from) { return member_of_pair(from, rank); }));
  Numbers longer(input.size() + 1);
  CHECK_THROWS_WITH_AS(communicator.alltoall(input, longer, 4),
                       doctest::Contains("members have blocks of block_count = 4"), Error);
  CHECK_THROWS_AS(communicator.alltoall(longer, output, 4), Error);
}

/// Whether an algorithm serves nodes of one member, or one node of few, only.
bool is_picky(const Algorithm& algorithm) {
  return algorithm.exchange.nodes_served == NodesServed::one || algorithm.name == "lines" ||
         algorithm.name == "linear" || algorithm.name == "pairwise";
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
  Sample sample(static_cast<std::uint64_t>(world_size()));
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
          if (!sample.takes_next()) continue;
          CallTrial trial(reference, communicator.rank(), placement);
          int round = 0;
          CHECK(complaint_of(algorithm,
                             [&] { return call_in_every_form(communicator, trial, round); }) == "");
        }
      }
      if (!sample.takes_next()) continue;
      CHECK(complaint_of(algorithm, [&] { return try_types(communicator, {40}); }) == "");
    }
  }
}

TEST_CASE("leaders who may hold little exchange in segments, on nodes of unequal threads") {
  const int threads = 1 + (world_rank() * 2 + 1) % 3;
  for (const int kib : {1, 16, 64 * 1024}) {
    CAPTURE(kib);
    Options options;
    options.exchange_kib = kib;
    Team team(MPI_COMM_WORLD, threads, options);
    const auto try_all = [](Member& member) {
      std::string first;
      for (const std::size_t count : {std::size_t{1}, std::size_t{90}, std::size_t{9'000}}) {
        const CollectiveReference reference{.collective = Collective::alltoall,
                                            .member_count = member.size(),
                                            .count = count,
                                            .block_counts = {}};
        for (const Placement placement : {Placement::separate, Placement::in_place}) {
          CallTrial trial(reference, member.rank(), placement);
          int round = 0;
          note(first, call_in_every_form(member, trial, round));
        }
      }
      note(first, try_types(member, {1, 700, 9'000}));
      return first;
    };
    CHECK(in_every_thread(team, try_all) == "");
  }
  Options nothing;
  nothing.exchange_kib = 0;
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, nothing),
                       doctest::Contains("HYCOLL_EXCHANGE_KIB"), Error);
}

}  // namespace alltoall_mpi_test
}  // namespace hycoll::tests
