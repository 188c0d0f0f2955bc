// Plans that cannot be afforded, and lanes that nodes cannot serve, are errors before the call, on
// every process; the next call is as good as ever.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/error_kind.h"
#include "tests/support/process_options.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace {

/// Whether it holds on all processes; a failed check if it does on some only.
bool holds_on_all(bool holds) {
  int extremes[] = {holds ? 1 : 0, holds ? 0 : 1};
  MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  CHECK(extremes[0] + extremes[1] == 1);
  return extremes[0] == 1;
}

void check_names_the_bound(const Error& error) {
  const std::string message = error.what();
  CHECK(message.find("HYCOLL_PLAN_CACHE_KIB") != std::string::npos);
  CHECK(error.kind() == ErrorKind::unsupported);
}

/// Null if the bound does not even suffice for the calls by which members agree.
std::unique_ptr<Communicator> make(const Options& options) {
  try {
    return std::make_unique<Communicator>(MPI_COMM_WORLD, options);
  } catch (const Error& error) {
    check_names_the_bound(error);
    return nullptr;
  }
}

/// Whether the call has been made; if not, nothing has changed.
bool sums_up(Communicator& communicator, std::size_t count) {
  const std::vector<std::int64_t> input(count, world_rank() + 1);
  std::vector<std::int64_t> output(count, -7);
  const std::int64_t sum = world_size() * (world_size() + 1) / 2;
  bool is_made = true;
  try {
    communicator.allreduce(input, output);
  } catch (const Error& error) {
    check_names_the_bound(error);
    is_made = false;
  }
  CHECK(output == std::vector<std::int64_t>(count, is_made ? sum : -7));
  return holds_on_all(is_made);
}

/// One, and as many as there are with two processes each.
std::vector<int> node_counts() {
  if (world_size() < 4) return {1};
  return {1, world_size() / 2};
}

TEST_CASE("a bound that is too small for a call's plan is an error before the call") {
  int refused = 0;
  for (const int nodes : node_counts()) {
    for (const int kib : {1, 2, 3, 4, 8, 16, 16'384}) {
      CAPTURE(nodes);
      CAPTURE(kib);
      Options options = options_with(nodes);
      options.plan_cache_kib = kib;
      const std::unique_ptr<Communicator> communicator = make(options);
      if (!holds_on_all(communicator != nullptr)) {
        ++refused;
        continue;
      }
      const bool has_short_ones = sums_up(*communicator, 1);
      for (const std::size_t count : {100, 5'000, 100'000}) {
        if (!sums_up(*communicator, count)) ++refused;
      }
      CHECK(sums_up(*communicator, 1) == has_short_ones);
      if (kib == 16'384) CHECK(has_short_ones);
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("more lanes than the smallest node serves are an error when the communicator is made") {
  for (const int nodes : node_counts()) {
    CAPTURE(nodes);
    const int most = 8 * (world_size() / nodes);
    for (const int lanes : {most + 1, 1'000'000, -1}) {
      Options options = options_with(nodes);
      options.lanes = lanes;
      std::string message;
      CHECK(kind_of_error([&] { const Communicator refused(MPI_COMM_WORLD, options); }, &message) ==
            ErrorKind::invalid_argument);
      CHECK(message.find(std::to_string(lanes)) != std::string::npos);
      CHECK(message.find(std::to_string(most) + " lanes") != std::string::npos);
    }
    Options options = options_with(nodes);
    options.lanes = most;
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(sums_up(communicator, 1'000));
  }
}

}  // namespace
}  // namespace hycoll::tests
