// Options::machine: all processes choose by the prices of the file that the first one reads.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "collectives/selection/selection.h"
#include "core/base/machine_file.h"
#include "tests/support/job_file.h"
#include "tests/support/world.h"

namespace hycoll {
namespace machine_prices_mpi_test {

using tests::JobFile;

constexpr std::size_t kCount = std::size_t{1} << 18;
/// Messages so dear that the fewest are best, whatever they carry.
constexpr const char* kDear = R"({"hycoll_machine": 1, "prices": {"alpha": "100ms"}})";

Options options_with(const std::string& machine) {
  Options options;
  options.workers = 1;
  options.machine = machine;
  return options;
}

std::string chosen(const Communicator& communicator, Collective collective) {
  std::vector<float> input(kCount);
  std::vector<float> output(kCount);
  const Call call =
      collective == Collective::broadcast
          ? calls::broadcast(input.data(), kCount, DataType::float32, 0)
          : calls::allreduce(input.data(), output.data(), kCount, DataType::float32, Operator::sum);
  return communicator.choice(call).algorithm;
}

std::string_view selected(const MachinePrices& prices, Collective collective) {
  return select({.collective = collective,
                 .nodes = {{{1, 1}, tests::world_size()}},
                 .size_bytes = kCount * sizeof(float),
                 .prices = prices})
      .algorithm;
}

TEST_CASE("a machine file changes what auto takes, alike on all processes") {
  const JobFile file("machine.json", kDear);
  const Communicator with(MPI_COMM_WORLD, options_with(file.path()));
  const Communicator without(MPI_COMM_WORLD, options_with(""));
  if (tests::world_size() == 1) return;
  bool is_changed = false;
  for (const Collective collective : {Collective::allreduce, Collective::broadcast}) {
    const std::string other = chosen(with, collective);
    CHECK(other == selected(read_machine_prices(kDear, "kDear"), collective));
    CHECK(chosen(without, collective) == selected(MachinePrices{}, collective));
    is_changed |= other != chosen(without, collective);
  }
  CHECK(is_changed);
}

TEST_CASE("all processes refuse a file that is none") {
  const JobFile file("machine.json", R"({"hycoll_machine": 1, "prices": {"alpha": "1.5"}})");
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options_with(file.path())),
                       doctest::Contains("machine.json: prices: alpha='1.5' is no time"), Error);
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options_with(file.path() + ".no")),
                       doctest::Contains("HYCOLL_MACHINE (Options::machine) '"), Error);
}

TEST_CASE("processes that name different files are told so") {
  if (tests::world_size() == 1) return;
  const JobFile file("machine.json", kDear);
  const std::string own = tests::world_rank() == 0 ? file.path() : "";
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options_with(own)),
                       doctest::Contains("machine (HYCOLL_MACHINE) is '"), Error);
}

}  // namespace machine_prices_mpi_test
}  // namespace hycoll
