// One process is refused what it asks the system for while a communicator or team is set up: its
// k-th request, for each k. Either all processes get an error that names it, or none does, nobody
// waits for ever, and nothing is left behind.

#include <dirent.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "collectives/job/process_map.h"
#include "tests/support/world.h"

namespace {

/// What a process asks the system for.
enum class Wanted { memory, file, topology };

/// How many requests this thread makes before one is refused; -1: any number.
thread_local int granted = -1;
thread_local Wanted refused_kind = Wanted::memory;

std::atomic<int> live_blocks{0};

bool is_refused(Wanted wanted) { return granted >= 0 && wanted == refused_kind && --granted < 0; }

void* allocate(std::size_t size_bytes, std::size_t alignment) {
  if (is_refused(Wanted::memory)) throw std::bad_alloc();
  const std::size_t rounded = (size_bytes + alignment) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  ++live_blocks;
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) --live_blocks;
  std::free(memory);
}

/// What would be called if this program did not stand in its place.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void* operator new(std::size_t size_bytes) {
  return allocate(size_bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size_bytes, std::align_val_t alignment) {
  return allocate(size_bytes, static_cast<std::size_t>(alignment));
}
// Sanitizers have one of their own otherwise.
void* operator new(std::size_t size_bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(size_bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  release(memory);
}

// In the places of the system's. MPI libraries make their files when they start.
extern "C" {

int memfd_create(const char* name, unsigned flags) noexcept {
  errno = EMFILE;
  return is_refused(Wanted::file) ? -1
                                  : next<int(const char*, unsigned)>("memfd_create")(name, flags);
}

int ftruncate(int file, off_t length) noexcept {
  errno = ENOSPC;
  return is_refused(Wanted::file) ? -1 : next<int(int, off_t)>("ftruncate")(file, length);
}

int posix_fallocate(int file, off_t offset, off_t length) {
  return is_refused(Wanted::file)
             ? ENOSPC
             : next<int(int, off_t, off_t)>("posix_fallocate")(file, offset, length);
}

int shm_open(const char* name, int flags, mode_t mode) {
  errno = EACCES;
  return is_refused(Wanted::file)
             ? -1
             : next<int(const char*, int, mode_t)>("shm_open")(name, flags, mode);
}

int hwloc_topology_dup(void** copy, void* topology) {
  errno = ENOMEM;
  return is_refused(Wanted::topology)
             ? -1
             : next<int(void**, void*)>("hwloc_topology_dup")(copy, topology);
}

}  // extern "C"

namespace hycoll::tests {
namespace {

int open_files() {
  int count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

/// Whether it holds on so many processes.
int count_of(bool holds) {
  int count = holds ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return count;
}

using SetUp = std::function<void()>;

struct Refusal {
  Wanted kind;
  int process;
  int requests_before;
};

enum class Outcome { undisturbed, survived, refused };

/// Sets up with a request refused; the same outcome on all processes.
Outcome set_up_with(const SetUp& set_up, const Refusal& refusal) {
  const bool is_refused_here = world_rank() == refusal.process;
  std::string message;
  if (is_refused_here) {
    refused_kind = refusal.kind;
    granted = refusal.requests_before;
  }
  try {
    set_up();
  } catch (const Error& error) {
    const int left = granted;
    granted = -1;
    message = error.what();
    granted = left;
  }
  const bool was_refused = is_refused_here && granted < 0;
  granted = -1;
  const int failed = count_of(!message.empty());
  REQUIRE((failed == 0 || failed == world_size()));
  if (failed > 0 && !is_refused_here) {
    const std::string name = "process " + std::to_string(refusal.process);
    CHECK_MESSAGE(message.find(name) != std::string::npos, message);
  }
  if (failed > 0) return Outcome::refused;
  return count_of(was_refused) > 0 ? Outcome::survived : Outcome::undisturbed;
}

/// Some of its requests, from the first to the last one, each refused in turn: most of the first
/// `dense` ones, and fewer of the later. Returns how many set-ups have failed.
int refuse_in_turn(const SetUp& set_up, Wanted kind, int process, int dense) {
  int refused = 0;
  for (int requests_before = process;; requests_before += 1 + requests_before / dense) {
    CAPTURE(requests_before);
    const Outcome outcome = set_up_with(set_up, {kind, process, requests_before});
    if (outcome == Outcome::undisturbed) break;
    if (outcome == Outcome::refused) ++refused;
  }
  set_up();
  return refused;
}

void check(const SetUp& set_up, Wanted kind, int at_least) {
  // What is kept for all communicators is made now.
  set_up();
  const int last = world_size() - 1;
  const int refused = refuse_in_turn(set_up, kind, 0, 1) + refuse_in_turn(set_up, kind, last, 2);
  CHECK(refused >= at_least);
  const int files = open_files();
  const int blocks = live_blocks.load();
  refuse_in_turn(set_up, kind, last, 2);
  CHECK(open_files() == files);
  CHECK(live_blocks.load() == blocks);
}

Options options_of(Options::Layout layout, int nodes) {
  Options options;
  options.layout = layout;
  options.emulated_nodes = nodes;
  options.workers = 2;
  options.groups = "flat";
  options.memory = Options::Memory::when_needed;
  return options;
}

void reduce(Communicator& communicator) {
  std::vector<std::int64_t> values(3, 1);
  communicator.allreduce(values);
  granted = -1;
  CHECK(values == std::vector<std::int64_t>(3, world_size()));
}

SetUp communicator_of(const Options& options) {
  return [options] {
    Communicator communicator(MPI_COMM_WORLD, options);
    // What is left of the requests is not for the call.
    const int left = granted;
    granted = -1;
    reduce(communicator);
    granted = left;
  };
}

TEST_CASE("a process that cannot read the machine fails with all others") {
  const SetUp set_up = communicator_of(options_of(Options::Layout::processes, 0));
  // It copies the machine that is known, and then the part that it may use.
  CHECK(refuse_in_turn(set_up, Wanted::topology, 0, 1) == 2);
}

TEST_CASE("a process that is refused files or shared memory fails with all others") {
  ProcessMap::explore_world();
  // Memory that is refused in one way is asked for in another one.
  check(communicator_of(options_of(Options::Layout::processes, 0)), Wanted::file, 0);
}

TEST_CASE("a process that is refused memory fails with all others") {
  ProcessMap::explore_world();
  check(communicator_of(options_of(Options::Layout::processes, 0)), Wanted::memory, 10);
  check(communicator_of(options_of(Options::Layout::processes, 2)), Wanted::memory, 10);
  check(communicator_of(options_of(Options::Layout::per_node, 0)), Wanted::memory, 10);
}

TEST_CASE("so does one of a team, and of a communicator with aggregators") {
  ProcessMap::explore_world();
  const auto team_of = [](const Options& options) {
    return [options] { const Team team(MPI_COMM_WORLD, 2, options); };
  };
  check(team_of(options_of(Options::Layout::processes, 0)), Wanted::memory, 10);
  check(team_of(options_of(Options::Layout::per_node, 0)), Wanted::memory, 10);
  Options options = options_of(Options::Layout::per_node, 0);
  options.aggregators = 1;
  check([options] { const Communicator communicator(MPI_COMM_WORLD, options); }, Wanted::memory,
        10);
}

/// How one process's options depart from the others'.
struct Difference {
  const char* name;
  std::function<void(Options&)> apply;
};

TEST_CASE("options that differ are an error everywhere, which names them") {
  const std::vector<Difference> differences = {
      {"parent", [](Options& options) { options.parent = Options::Parent::borrowed; }},
      {"layout", [](Options& options) { options.layout = Options::Layout::per_node; }},
      {"algorithm", [](Options& options) { options.algorithm = "allreduce:ring"; }},
      {"bits", [](Options& options) { options.bits = Bits::reproducible; }},
      {"checking", [](Options& options) { options.checking = Options::Checking::all_processes; }},
      {"placement", [](Options& options) { options.placement = "compact"; }},
      {"lanes", [](Options& options) { options.lanes = 1; }},
      {"staging_kib", [](Options& options) { options.staging_kib *= 2; }},
      {"memory", [](Options& options) { options.memory = Options::Memory::at_once; }},
      {"transport", [](Options& options) { options.transport = Options::Transport::mpi; }},
  };
  for (const Difference& difference : differences) {
    CAPTURE(difference.name);
    for (const int process : {0, world_size() - 1}) {
      Options options = options_of(Options::Layout::processes, 0);
      if (world_rank() == process) difference.apply(options);
      const std::string says = std::string("Options::") + difference.name;
      CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options), doctest::Contains(says.c_str()),
                           Error);
    }
  }
}

TEST_CASE("options that processes have by themselves may differ") {
  Options options = options_of(Options::Layout::per_node, 0);
  if (world_rank() == 0) {
    options.workers = 1;
    options.placement = "compact";
    options.pinning = Options::Pinning::unpinned;
    options.warn_after = std::chrono::seconds(3);
    options.timeout = std::chrono::seconds(600);
  }
  Communicator communicator(MPI_COMM_WORLD, options);
  reduce(communicator);
}

}  // namespace
}  // namespace hycoll::tests
