#include "tools/application/thread_count.h"

#include <fmt/format.h>
#include <omp.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "numa/topology/affinity_mask.h"
#include "numa/topology/topology.h"

namespace hycoll::application {
namespace {

/// The affinity masks of all processes of `node`, in rank order.
std::vector<AffinityMask> exchange_masks(const AffinityMask& own, MPI_Comm node) {
  int size = 0;
  MPI_Comm_size(node, &size);
  int word_count = static_cast<int>(own.words().size());
  MPI_Allreduce(MPI_IN_PLACE, &word_count, 1, MPI_INT, MPI_MAX, node);
  const std::size_t words_per_mask = static_cast<std::size_t>(word_count);
  std::vector<std::uint64_t> padded = own.words();
  padded.resize(words_per_mask, 0);
  std::vector<std::uint64_t> words(words_per_mask * static_cast<std::size_t>(size));
  MPI_Allgather(padded.data(), word_count, MPI_UINT64_T, words.data(), word_count, MPI_UINT64_T,
                node);
  std::vector<AffinityMask> masks;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
    masks.push_back(
        AffinityMask::from_words(std::span(words).subspan(i * words_per_mask, words_per_mask)));
  }
  return masks;
}

int core_count_of_share(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  const Topology machine = Topology::this_machine();
  const std::vector<AffinityMask> masks = exchange_masks(machine.affinity(), node);
  MPI_Comm_free(&node);
  return machine.share(masks, rank).usable_core_count();
}

}  // namespace

int choose_thread_count(MPI_Comm comm) {
  int count =
      std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads() : core_count_of_share(comm);
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MIN, comm);
  return count;
}

std::optional<std::string> oversubscription_warning(const Topology& machine, int thread_count,
                                                    MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int threads_on_node = 0;
  MPI_Allreduce(&thread_count, &threads_on_node, 1, MPI_INT, MPI_SUM, node);
  MPI_Comm_free(&node);
  const int cores = machine.limits().cpuset_cores;
  const char* const policy = std::getenv("OMP_WAIT_POLICY");
  const bool passive =
      policy != nullptr && (std::string(policy) == "passive" || std::string(policy) == "PASSIVE");
  if (threads_on_node <= cores || passive) return std::nullopt;
  return fmt::format(
      "{} threads share the {} cores of this node, and OpenMP's barriers wait actively: an "
      "iteration can take milliseconds; start fewer processes or --threads, or set "
      "OMP_WAIT_POLICY=passive",
      threads_on_node, cores);
}

}  // namespace hycoll::application
