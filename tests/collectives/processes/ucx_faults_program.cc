// Processes that are nodes of their own reduce vectors over the lanes that they get, and say over
// which, or why they get none. ucx_faults_test.sh says what UCX does not find.
//
// Arguments, which hold from the start of MPI on, for that may be over UCX itself: NAME=VALUE for
// the environment; `locked`: no memory may be locked; `descriptors`: next to none are left.

#include <fcntl.h>
#include <hycoll/hycoll.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

/// To find libraries, but no more at a time.
constexpr int kDescriptorsLeft = 3;

void limit(int resource, rlim_t value) {
  rlimit limits{};
  getrlimit(resource, &limits);
  limits.rlim_cur = value;
  setrlimit(resource, &limits);
}

void take_away(const std::string& what) {
  if (what == "locked") return limit(RLIMIT_MEMLOCK, 0);
  if (what == "descriptors") {
    const int next = open("/dev/null", O_RDONLY);
    close(next);
    return limit(RLIMIT_NOFILE, static_cast<rlim_t>(next + kDescriptorsLeft));
  }
  const std::size_t equals = what.find('=');
  setenv(what.substr(0, equals).c_str(), what.substr(equals + 1).c_str(), 1);
}

/// Short, and long enough for a rendezvous.
bool reduces(hycoll::Communicator& communicator, int size) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1} << 16}) {
    std::vector<double> vector(count, 1.0);
    communicator.allreduce(vector);
    if (std::ranges::count(vector, size) != std::ssize(vector)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (int i = 1; i < argc; ++i) take_away(argv[i]);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool is_right = true;
  try {
    hycoll::Options options = hycoll::Options::from_environment();
    options.layout = hycoll::Options::Layout::per_node;
    hycoll::Communicator communicator(MPI_COMM_WORLD, options);
    is_right = reduces(communicator, size);
    std::printf("reduced over %s\n", communicator.transport().c_str());
  } catch (const hycoll::Error& error) {
    std::printf("refused: %s\n", error.what());
  }
  if (!is_right) std::puts("wrong sums");
  MPI_Finalize();
  return is_right ? 0 : 1;
}
