#include "numa/placement/binding.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "tests/numa/topology_samples.h"

namespace hycoll {
namespace binding_test {

bool contains(const std::optional<std::string>& text, const std::string& part) {
  return text && text->find(part) != std::string::npos;
}

TEST_CASE("a thread is bound to each processing unit in turn, and no other thread is") {
  const Topology topology = Topology::this_machine();
  const AffinityMask before = this_thread_affinity(topology);
  std::thread bound([&] {
    for (const Core& core : topology.cores()) {
      for (int unit : topology.processing_units(core.index)) {
        Core place = core;
        place.os_index = unit;
        bind_this_thread(topology, place);
        CHECK(this_thread_affinity(topology) == AffinityMask{unit});
        CHECK(this_thread_processing_unit(topology) == unit);
        CHECK(sched_getcpu() == unit);
      }
    }
    bind_this_thread(topology, topology.affinity());
    CHECK(this_thread_affinity(topology) == topology.affinity());
    // What the topology does not have is ignored.
    bind_this_thread(topology, topology.affinity() | AffinityMask{100000});
    CHECK(this_thread_affinity(topology) == topology.affinity());
  });
  bound.join();
  CHECK(this_thread_affinity(topology) == before);
}

TEST_CASE("threads inherit a binding") {
  const Topology topology = Topology::this_machine();
  const Core core = topology.cores().back();
  std::thread bound([&] {
    bind_this_thread(topology, core);
    AffinityMask inherited;
    std::thread child([&] { inherited = this_thread_affinity(topology); });
    child.join();
    CHECK(inherited == AffinityMask{core.os_index});
  });
  bound.join();
}

TEST_CASE("a scoped binding ends with its scope, also when nested or when something is thrown") {
  const Topology topology = Topology::this_machine();
  const AffinityMask before = this_thread_affinity(topology);
  const Core first = topology.cores().front();
  const Core last = topology.cores().back();
  {
    const ScopedThreadBinding outer(topology, last);
    CHECK(this_thread_affinity(topology) == AffinityMask{last.os_index});
    {
      const ScopedThreadBinding inner(topology, first);
      CHECK(this_thread_affinity(topology) == AffinityMask{first.os_index});
    }
    CHECK(this_thread_affinity(topology) == AffinityMask{last.os_index});
  }
  CHECK(this_thread_affinity(topology) == before);
  try {
    const ScopedThreadBinding binding(topology, first);
    throw 1;
  } catch (int) {
  }
  CHECK(this_thread_affinity(topology) == before);
}

TEST_CASE("a refused binding leaves the thread as it was") {
  const Topology topology = Topology::this_machine();
  const AffinityMask before = this_thread_affinity(topology);
  CHECK_THROWS_AS(bind_this_thread(topology, AffinityMask{}), Error);
  CHECK_THROWS_AS(bind_this_thread(topology, AffinityMask{100000}), Error);
  Core elsewhere = topology.cores().front();
  elsewhere.os_index = 100000;
  CHECK_THROWS_AS(bind_this_thread(topology, elsewhere), Error);
  CHECK(this_thread_affinity(topology) == before);
}

TEST_CASE("a topology of another machine binds nothing") {
  const Topology topology = Topology::synthetic("pack:2 core:2");
  const auto refuses = [&](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::unsupported;
    }
    return false;
  };
  CHECK(refuses([&] { bind_this_thread(topology, topology.cores()[0]); }));
  CHECK(refuses([&] { bind_this_thread(topology, topology.affinity()); }));
  CHECK(refuses([&] { this_thread_affinity(topology); }));
  CHECK(refuses([&] { this_thread_processing_unit(topology); }));
  CHECK(refuses([&] { ScopedThreadBinding(topology, topology.cores()[0]); }));
}

CoreLimits limits_of(int machine, int cpuset, int affinity, int units_per_core) {
  return {machine, cpuset, affinity, affinity * units_per_core, std::nullopt};
}

TEST_CASE("a warning if and only if threads lack cores that the machine has") {
  for (int machine : {1, 2, 4, 56}) {
    for (int cpuset : {1, 2, 4, 56}) {
      for (int affinity : {1, 2, 4, 56}) {
        if (affinity > cpuset || cpuset > machine) continue;
        for (int units_per_core : {1, 2, 4}) {
          for (int threads : {1, 2, 3, 4, 5, 8, 9, 56, 57, 112, 224, 225}) {
            CAPTURE(machine);
            CAPTURE(cpuset);
            CAPTURE(affinity);
            CAPTURE(units_per_core);
            CAPTURE(threads);
            const CoreLimits limits = limits_of(machine, cpuset, affinity, units_per_core);
            const bool crowded =
                threads > affinity * units_per_core || (affinity == 1 && threads > 1);
            const std::optional<std::string> warning =
                confinement_warning(limits, threads, Launcher::unknown);
            CHECK(warning.has_value() == (crowded && affinity < machine));
          }
        }
      }
    }
  }
}

TEST_CASE("the warning says how many, of how many, and what to change") {
  const CoreLimits one_core = limits_of(56, 56, 1, 1);
  const auto any = confinement_warning(one_core, 14, Launcher::unknown);
  for (const char* part :
       {"14 threads", "1 core ", "of the machine's 56", "-bind-to none", "-bind-to numa",
        "--bind-to none", "PE=14", "--cpus-per-task=14", "OMP_PLACES=cores"}) {
    CAPTURE(std::string(part));
    CHECK(contains(any, part));
  }
  const auto mpich = confinement_warning(one_core, 14, Launcher::mpich);
  CHECK(contains(mpich, "-bind-to none"));
  CHECK_FALSE(contains(mpich, "Open MPI"));
  CHECK_FALSE(contains(mpich, "srun"));
  const auto open_mpi = confinement_warning(one_core, 14, Launcher::open_mpi);
  CHECK(contains(open_mpi, "--bind-to none"));
  CHECK_FALSE(contains(open_mpi, "MPICH"));
  CHECK_FALSE(contains(open_mpi, "srun"));
  const auto slurm = confinement_warning(one_core, 14, Launcher::slurm);
  CHECK(contains(slurm, "--cpus-per-task=14"));
  CHECK_FALSE(contains(slurm, "mpiexec"));
  CHECK(contains(confinement_warning(limits_of(56, 56, 1, 2), 2, Launcher::unknown),
                 "1 core (2 hardware threads)"));
  CHECK(contains(confinement_warning(limits_of(56, 56, 4, 2), 9, Launcher::unknown),
                 "4 cores (8 hardware threads)"));
}

TEST_CASE("a cpuset is not the launcher's doing") {
  const auto warning = confinement_warning(limits_of(56, 2, 2, 1), 4, Launcher::mpich);
  CHECK(contains(warning, "cpuset"));
  CHECK_FALSE(contains(warning, "-bind-to"));
}

TEST_CASE("a quota below the threads warns, unless there are no more cores anyway") {
  struct Case {
    double quota_cores;
    int threads;
    bool warns;
  };
  for (const Case& example : {Case{1.5, 2, true},
                              {1.5, 1, false},
                              {2, 2, false},
                              {2, 3, true},
                              {3.9, 4, true},
                              {4, 8, false},
                              {9, 8, false}}) {
    CAPTURE(example.quota_cores);
    CAPTURE(example.threads);
    CoreLimits limits = limits_of(4, 4, 4, 2);
    limits.quota_cores = example.quota_cores;
    const auto warning = confinement_warning(limits, example.threads, Launcher::unknown);
    CHECK(warning.has_value() == example.warns);
    if (example.warns) CHECK(contains(warning, "quota"));
  }
  CoreLimits limits = limits_of(4, 4, 4, 1);
  limits.quota_cores = 2.5;
  CHECK(contains(confinement_warning(limits, 4, Launcher::unknown), "use 2 threads"));
  limits.quota_cores = 0.5;
  CHECK(contains(confinement_warning(limits, 4, Launcher::unknown), "use 1 thread"));
}

TEST_CASE("no threads is no question") {
  CHECK_THROWS_AS(confinement_warning(limits_of(4, 4, 1, 1), 0, Launcher::unknown), Error);
}

TEST_CASE("this process, confined to one processing unit as launchers do") {
  const Topology topology = Topology::this_machine();
  if (topology.core_count() < 2) {
    MESSAGE("skipped: this machine lends the test a single core");
    return;
  }
  for (const Core& core : topology.cores()) {
    CHECK(testing::holds_in_confined_child(AffinityMask{core.os_index}, [](const AffinityMask&) {
      const Topology confined = Topology::this_machine();
      return !confinement_warning(confined, 1).has_value() &&
             contains(confinement_warning(confined, 2), "confined to 1 core") &&
             contains(confinement_warning(confined, 2), "affinity mask");
    }));
  }
}

TEST_CASE("a share of an unconfined machine is no confinement") {
  const Topology machine = Topology::synthetic("pack:2 core:4");
  CHECK_FALSE(confinement_warning(machine.share(0, 8, LauncherBinding::none), 8).has_value());
}

/// In a child, since the environment belongs to the process.
bool detects(Launcher expected, const std::vector<const char*>& variables) {
  static Launcher wanted;
  static std::vector<const char*> names;
  wanted = expected;
  names = variables;
  return testing::holds_in_confined_child(
      Topology::this_machine().affinity(), [](const AffinityMask&) {
        for (const char* name :
             {"OMPI_COMM_WORLD_SIZE", "HYDI_CONTROL_FD", "MPI_LOCALNRANKS", "SLURM_STEP_ID"}) {
          unsetenv(name);
        }
        for (const char* name : names) setenv(name, "1", 1);
        return detected_launcher() == wanted;
      });
}

TEST_CASE("launchers are known by their variables") {
  CHECK(detects(Launcher::unknown, {}));
  CHECK(detects(Launcher::open_mpi, {"OMPI_COMM_WORLD_SIZE"}));
  CHECK(detects(Launcher::mpich, {"HYDI_CONTROL_FD"}));
  CHECK(detects(Launcher::mpich, {"MPI_LOCALNRANKS"}));
  CHECK(detects(Launcher::slurm, {"SLURM_STEP_ID"}));
  CHECK(detects(Launcher::open_mpi, {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_ID"}));
  CHECK(detects(Launcher::mpich, {"MPI_LOCALNRANKS", "SLURM_STEP_ID"}));
}

}  // namespace binding_test
}  // namespace hycoll
