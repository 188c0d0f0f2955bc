// What processes tell one another by way of their machines, which are made up here.

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "collectives/job/machine_exchange.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace machine_exchange_mpi_test {

using MachineOf = std::function<int(int rank)>;

/// The machines are numbered as they first occur.
std::vector<int> numbered(const MachineOf& machine_of) {
  std::vector<int> met;
  std::vector<int> machines;
  for (int rank = 0; rank < world_size(); ++rank) {
    auto at = std::ranges::find(met, machine_of(rank));
    if (at == met.end()) at = met.insert(at, machine_of(rank));
    machines.push_back(static_cast<int>(at - met.begin()));
  }
  return machines;
}

void check_exchange(const MachineOf& machine_of) {
  JointSetup setup(MPI_COMM_WORLD);
  const MpiCommunicator here(setup, MPI_COMM_WORLD, machine_of(world_rank()));
  const MachineExchange exchange(setup, MPI_COMM_WORLD, here.handle());
  const std::vector<int> machines = numbered(machine_of);
  CHECK(exchange.machine() == machines[static_cast<std::size_t>(world_rank())]);
  CHECK(exchange.machine_count() == 1 + *std::ranges::max_element(machines));
  CHECK(exchange.machines() == RankMap::of(machines));
  std::vector<int> values;
  for (int rank = 0; rank < world_size(); ++rank) values.push_back(rank * rank % 7 - 3);
  CHECK(exchange.gather(values[static_cast<std::size_t>(world_rank())]) == RankMap::of(values));
  const std::string own(static_cast<std::size_t>(exchange.machine() + 1), 'x');
  const std::vector<std::string> texts = exchange.gather_texts(own);
  REQUIRE(static_cast<int>(texts.size()) == exchange.machine_count());
  for (std::size_t machine = 0; machine < texts.size(); ++machine) {
    CHECK(texts[machine] == std::string(machine + 1, 'x'));
  }
}

TEST_CASE("every process learns what all have said, however ranks are dealt to machines") {
  check_exchange([](int) { return 0; });
  check_exchange([](int rank) { return rank; });
  check_exchange([](int rank) { return rank % 2; });
  check_exchange([](int rank) { return rank / 2; });
  check_exchange([](int rank) { return (rank + 1) / 2 % 2; });
  check_exchange([](int rank) { return -rank + 10; });
}

}  // namespace machine_exchange_mpi_test
}  // namespace hycoll::tests
