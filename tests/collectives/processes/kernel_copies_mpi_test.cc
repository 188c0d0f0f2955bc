// Where the kernel copies between processes: on machines that are near or far because the test says
// so.

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "collectives/calls/node_process_member.h"
#include "collectives/plans/plan_cache.h"
#include "collectives/processes/distance_looks.h"
#include "collectives/processes/node_processes.h"
#include "collectives/processes/process_group.h"
#include "collectives/processes/single_copy.h"
#include "core/base/errors.h"
#include "tests/support/forbidden_copies.h"
#include "tests/support/process_options.h"

namespace hycoll::tests {
namespace {

constexpr std::size_t kKib = 1024;
constexpr double kNearNs = 30;
constexpr double kFarNs = 300;

/// A member of its own communicator.
struct Process {
  explicit Process(const Options& options)
      : group(setup, MPI_COMM_WORLD, options, MpiCallers::user_only),
        processes(group, ThreadNumbering::one_each(size())),
        plans(processes.plan_options(group)),
        member(group, processes, plans, nullptr) {
    // Whatever the machine is like: who looks is late, which changes nothing.
    DistanceLooks* const looks = processes.segment().looks();
    if (looks != nullptr) looks->set_probe([] { return 0; });
  }

  static int size() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
  }

  JointSetup setup{MPI_COMM_WORLD};
  ProcessGroup group;
  NodeProcesses processes;
  PlanCache plans;
  NodeProcessMember member;
};

Options options_with_single_copy(std::optional<int> kib) {
  Options options = options_with(0);
  options.single_copy_kib = kib;
  return options;
}

/// Whether the kernel copies broadcasts of so many bytes, which some process is forbidden.
bool is_copied(Process& process, double handoff_ns, std::size_t bytes) {
  process.processes.segment().set_distance(handoff_ns);
  std::vector<unsigned char> vector(bytes, process.group.rank() == 0 ? 7 : 0);
  try {
    process.member.run(calls::broadcast(vector, 0));
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("process_vm_readv") != std::string::npos);
    return true;
  }
  CHECK(vector == std::vector<unsigned char>(bytes, 7));
  return false;
}

SingleCopy copies_of_world() {
  JointSetup setup(MPI_COMM_WORLD);
  return SingleCopy(setup, MPI_COMM_WORLD);
}

TEST_CASE("sums have the same bits, whether they are staged or copied by the kernel") {
  REQUIRE(copies_of_world().is_permitted());
  Process staged(options_with_single_copy(0));
  Process copied(options_with_single_copy(1));
  std::mt19937 random(static_cast<std::uint32_t>(staged.group.rank()));
  std::vector<float> input(100'003);
  for (float& value : input) value = std::uniform_real_distribution<float>(-1, 1)(random);
  const auto sums_of = [&](Process& process) {
    std::vector<float> sums = input;
    process.member.run(calls::allreduce(sums));
    return sums;
  };
  CHECK(sums_of(staged) == sums_of(copied));
}

TEST_CASE("the kernel copies broadcasts where processes are near, or where it is asked to") {
  REQUIRE(copies_of_world().is_permitted());
  Process by_default(options_with_single_copy({}));
  Process when_asked(options_with_single_copy(64));
  Process never(options_with_single_copy(0));
  if (by_default.group.rank() == Process::size() - 1) forbid_process_vm_readv();
  const std::size_t shortest_kib = Process::size() == 2 ? 1024 : 3 * 128;
  for (const std::size_t kib : {16, 48, 64, 256, 1023, 1024}) {
    CAPTURE(kib);
    const std::size_t bytes = kib * kKib;
    // Unknown is near.
    for (const double handoff_ns : {0.0, kNearNs, kFarNs, kNearNs}) {
      CAPTURE(handoff_ns);
      CHECK(is_copied(by_default, handoff_ns, bytes) ==
            (kib >= shortest_kib && handoff_ns != kFarNs));
      CHECK(is_copied(when_asked, handoff_ns, bytes) == (kib >= 64));
      CHECK(!is_copied(never, handoff_ns, bytes));
    }
  }
}

}  // namespace
}  // namespace hycoll::tests
