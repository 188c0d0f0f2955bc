// What a call through the interfaces for C and Fortran takes beside the same call in C++:
// allreduces of 8 bytes on the same members, in turn.
//
// usage: mpiexec -n P bench_interfaces     prints the medians over blocks of calls, in nanoseconds
#include <hycoll.h>
#include <hycoll/hycoll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

extern "C" {  // bench_interfaces.f90
int fortran_create(int is_per_node);
int fortran_allreduces(int calls, int is_like_mpi);
void fortran_free();
}

namespace {

constexpr int kBlocks = 400;
constexpr int kCalls = 500;

/// Nanoseconds of a call, over a block of kCalls, which this makes.
template <class Block>
double time_block(const Block& block) {
  const auto start = std::chrono::steady_clock::now();
  block();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  return time.count() / kCalls;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + kBlocks / 2, times.end());
  return times[kBlocks / 2];
}

/// Compares both in a layout; false if one of them has met an error.
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
  is_right = fortran_create(options.layout == hycoll::Options::Layout::per_node) == 1 && is_right;
  std::vector<double> cpp_times;
  std::vector<double> c_times;
  std::vector<double> array_times;
  std::vector<double> like_mpi_times;
  double own = 1;
  double sum = 0;
  for (int block = 0; block < kBlocks && is_right; ++block) {
    cpp_times.push_back(time_block([&] {
      for (int i = 0; i < kCalls; ++i) {
        communicator.allreduce(&own, &sum, 1, hycoll::ElementType(MPI_DOUBLE),
                               hycoll::Operation(MPI_SUM));
      }
    }));
    c_times.push_back(time_block([&] {
      for (int i = 0; i < kCalls; ++i) {
        is_right =
            hycoll_allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, member) == MPI_SUCCESS && is_right;
      }
    }));
    array_times.push_back(
        time_block([&] { is_right = fortran_allreduces(kCalls, 0) == 1 && is_right; }));
    like_mpi_times.push_back(
        time_block([&] { is_right = fortran_allreduces(kCalls, 1) == 1 && is_right; }));
  }
  if (is_right && communicator.rank() == 0) {
    std::printf("%-10s %d members: C++ %.1f ns, C %.1f, Fortran %.1f (arrays), %.1f (as MPI)\n",
                layout, communicator.size(), median(cpp_times), median(c_times),
                median(array_times), median(like_mpi_times));
  }
  if (!is_right) std::fprintf(stderr, "%s\n", hycoll_error_string());
  fortran_free();
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
