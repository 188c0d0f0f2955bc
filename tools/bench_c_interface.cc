// What a call through the interface for C takes beside the same call in C++: allreduces of 8 bytes
// on the same members, in turn.
//
// usage: mpiexec -n P bench_c_interface     prints the medians over blocks of calls, in nanoseconds
#include <hycoll.h>
#include <hycoll/hycoll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int kBlocks = 400;
constexpr int kCalls = 500;

/// Nanoseconds of a call, over a block of them.
template <class Call>
double time_block(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  return time.count() / kCalls;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + kBlocks / 2, times.end());
  return times[kBlocks / 2];
}

/// Compares both in a layout; false if the interface for C has met an error.
bool compare(const char* layout) {
  hycoll::Options options = hycoll::Options::from_environment();
  options.layout = layout == std::string("processes") ? hycoll::Options::Layout::processes
                                                      : hycoll::Options::Layout::per_node;
  options.workers = 1;
  hycoll_options c_options = HYCOLL_OPTIONS_INIT;
  c_options.layout = layout;
  c_options.workers = 1;
  hycoll::Communicator communicator(MPI_COMM_WORLD, options);
  hycoll_member member = HYCOLL_NULL;
  bool is_right = hycoll_communicator_create(MPI_COMM_WORLD, &c_options, &member) == MPI_SUCCESS;
  std::vector<double> cpp_times;
  std::vector<double> c_times;
  double own = 1;
  double sum = 0;
  for (int block = 0; block < kBlocks && is_right; ++block) {
    cpp_times.push_back(time_block([&] {
      communicator.allreduce(&own, &sum, 1, hycoll::ElementType(MPI_DOUBLE),
                             hycoll::Operation(MPI_SUM));
    }));
    c_times.push_back(time_block([&] {
      is_right =
          hycoll_allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, member) == MPI_SUCCESS && is_right;
    }));
  }
  if (is_right && communicator.rank() == 0) {
    std::printf("%-10s %d members: C++ %.1f ns, C %.1f ns\n", layout, communicator.size(),
                median(cpp_times), median(c_times));
  }
  if (!is_right) std::fprintf(stderr, "%s\n", hycoll_error_string());
  return hycoll_communicator_free(&member) == MPI_SUCCESS && is_right;
}

}  // namespace

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  const bool is_right = compare("per_node") && compare("processes");
  MPI_Finalize();
  return is_right ? 0 : 1;
}
