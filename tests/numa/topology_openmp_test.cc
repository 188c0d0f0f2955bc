// Topology::this_machine in a program whose OpenMP runtime pins the initial thread at program
// start.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "numa/topology/openmp_runtime.h"
#include "numa/topology/topology.h"

namespace hycoll {
namespace {

constexpr const char* kExpectedMask = "HYCOLL_TEST_EXPECTED_MASK";

int own_unit_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
  return CPU_COUNT(&set);
}

/// Runs the test case "in the child" of this program with these variables set; whether it passed.
bool child_passes(const std::string& proc_bind, const std::string& places,
                  const std::string& expected_mask) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv(kExpectedMask, expected_mask.c_str(), 1);
    const auto set_or_unset = [](const char* name, const std::string& value) {
      value.empty() ? unsetenv(name) : setenv(name, value.c_str(), 1);
    };
    set_or_unset("OMP_PROC_BIND", proc_bind);
    set_or_unset("OMP_PLACES", places);
    // The parent reports for both.
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execl("/proc/self/exe", "topology_openmp_test", "--test-case=in the child", "--no-skip",
          nullptr);
    _exit(127);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("in the child" * doctest::skip()) {
  const char* expected = std::getenv(kExpectedMask);
  REQUIRE(expected != nullptr);
  const Topology topology = Topology::this_machine();
  CHECK(topology.affinity().to_string() == expected);
  if (omp_get_num_places() == 0) {
    CHECK(openmp_places().empty());
  } else {
    // The initial thread is pinned to its place, so its own mask could not tell.
    CHECK(own_unit_count() <= static_cast<int>(topology.processing_units(0).size()));
    CHECK(openmp_places().to_string() == expected);
  }
  CHECK(!openmp_binds_this_thread());  // not in a region
  const bool binds = omp_get_proc_bind() != omp_proc_bind_false;
  int bound = 0;
#pragma omp parallel num_threads(2) reduction(+ : bound)
  bound += openmp_binds_this_thread() ? 1 : 0;
  CHECK(bound == (binds ? 2 : 0));
  bool is_own_bound = true;
  std::thread own([&] { is_own_bound = openmp_binds_this_thread(); });
  own.join();
  CHECK(!is_own_bound);
}

TEST_CASE("cores that the runtime has set aside for its other threads count") {
  unsetenv("OMP_PROC_BIND");
  const Topology topology = Topology::this_machine();
  const std::string all = topology.affinity().to_string();
  for (const char* proc_bind : {"", "false", "true", "close", "spread"}) {
    CAPTURE(std::string(proc_bind));
    CHECK(child_passes(proc_bind, "", all));
    CHECK(child_passes(proc_bind, "cores", all));
  }
  // A user who names fewer places wants fewer.
  const std::string first = std::to_string(topology.cores()[0].os_index);
  CHECK(child_passes("true", "{" + first + "}", first));
}

}  // namespace
}  // namespace hycoll
