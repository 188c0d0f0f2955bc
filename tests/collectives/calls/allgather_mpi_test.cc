// Allgather under real MPI: every algorithm in the layout processes, staged in slices too, and
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
namespace allgather_mpi_test {

/// Members describe their data by a type with gaps, by numbers, or by longer numbers.
template <class Caller>
std::string try_types(Caller& caller, std::initializer_list<std::size_t> sizes) {
  const GappedType gapped;
  const auto members = static_cast<std::size_t>(caller.size());
  const auto rank = static_cast<std::size_t>(caller.rank());
  std::string first;
  int round = 0;
  for (const std::size_t pairs : sizes) {
    for (const bool in_place : {false, true}) {
      const Description own = gapped.description(rank + static_cast<std::size_t>(++round), pairs);
      const std::size_t block = pairs * own.extent;
      Numbers input(block, kPoison);
      own.fill(input.data(), pairs, caller.rank());
      for (const bool is_blocking : {true, false, true}) {
        Numbers output(members * block, kPoison);
        if (in_place) own.fill(output.data() + rank * block, pairs, caller.rank());
        const void* const from = in_place ? output.data() : input.data();
        if (is_blocking) {
          caller.allgather(from, output.data(), own.count, own.type);
        } else {
          caller.iallgather(from, output.data(), own.count, own.type).wait();
        }
        if (output == own.blocks(pairs, caller.size())) continue;
        note(first, fmt::format("{} pairs, {} numbers apart, are wrong on member {}{}", pairs,
                                own.extent, rank, in_place ? ", in place" : ""));
      }
    }
  }
  return first;
}

TEST_CASE("types with gaps, numbers and longer numbers describe the same blocks") {
  in_every_layout([](auto& caller) { return try_types(caller, {1, 5, 700, 9'000}); });
}

TEST_CASE("blocks without data") {
  in_every_layout([](auto& caller) {
    std::int32_t untouched = kPoison;
    caller.allgather(nullptr, nullptr, 0, DataType::int32);
    caller.allgather(&untouched, &untouched, 0, DataType::float64);
    return std::string(untouched == kPoison ? "" : "a call without data wrote to a buffer");
  });
}

/// What a call complains about; nothing if it is refused because the exchange does not serve any
/// number of nodes.
template <class Call>
std::string complaint_of(const Algorithm& algorithm, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    const bool is_refusal = error.kind() == ErrorKind::unsupported &&
                            algorithm.exchange.nodes_served != NodesServed::any;
    return is_refusal ? "" : error.what();
  }
}

TEST_CASE("every algorithm among processes, in slices of their staging, and of data with gaps") {
  Sample sample(static_cast<std::uint64_t>(world_size()));
  for (const Algorithm& algorithm : algorithms_of(Collective::allgather)) {
    for (const int nodes : {1, 2, 3}) {
      CAPTURE(algorithm.name);
      CAPTURE(nodes);
      Options options = options_with(nodes);
      options.algorithm = fmt::format("allgather:{}", algorithm.name);
      options.staging_kib = 64;
      Communicator communicator(MPI_COMM_WORLD, options);
      for (const std::size_t count : {std::size_t{1}, std::size_t{90}, std::size_t{9'000}}) {
        if (algorithm.name.starts_with("lines") && count > 90) continue;
        const CollectiveReference reference{.collective = Collective::allgather,
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

}  // namespace allgather_mpi_test
}  // namespace hycoll::tests
