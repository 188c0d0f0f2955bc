// The same bits with any number of lanes and any algorithm. Sums of these numbers depend on the
// order in which they are added.
#include <hycoll/hycoll.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

std::vector<float> sums(const std::vector<float>& terms, int workers, int lanes) {
  hycoll::Options options = hycoll::Options::from_environment();
  options.bits = hycoll::Bits::reproducible;  // of all calls; or call.reproducible() for one
  options.workers = workers;
  options.lanes = lanes;
  hycoll::Communicator communicator(MPI_COMM_WORLD, options);
  std::vector<float> result(terms.size());
  communicator.allreduce(terms, result);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<float> terms(20'000);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    terms[i] = 1.0f / static_cast<float>(1 + (i * 7919 + static_cast<std::size_t>(rank)) % 9973);
  }
  const std::vector<float> one_lane = sums(terms, 1, 1);
  bool same = true;
  for (const int lanes : {2, 3}) {
    const std::vector<float> more_lanes = sums(terms, 2, lanes);
    same =
        same && std::memcmp(one_lane.data(), more_lanes.data(), terms.size() * sizeof(float)) == 0;
  }
  if (rank == 0) std::printf("sum %a %s\n", one_lane[0], same ? "always" : "sometimes");
  MPI_Finalize();
  return same ? 0 : 1;
}
