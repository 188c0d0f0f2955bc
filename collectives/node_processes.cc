#include "collectives/node_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "core/errors.h"
#include "heap/process_heap.h"
#include "numa/placement.h"
#include "threading/handoff.h"

namespace hycoll {
namespace {

constexpr std::size_t kKib = 1024;

/// Processes whose handoffs take longer do not share a cache. There, a line that one has written
/// and the other reads costs more than memory: staging is written past the caches, from so many
/// bytes of a step on (docs/measurements.md).
constexpr double kFarHandoffNs = 130;
constexpr std::size_t kStreamingStagingBytes = kKib;

/// The shortest broadcasts that the kernel copies, unless the user says otherwise: root and
/// receivers copy at once, and once, while staging copies twice (docs/measurements.md).
constexpr std::size_t kBroadcastSingleCopyBytes = 32 * kKib;

constexpr std::chrono::milliseconds kHandoffPatience{2};

/// Distinguishes offsets in a shared heap from those in the segment, which are smaller.
constexpr std::uint64_t kInSharedHeap = std::uint64_t{1} << 63;
/// Distinguishes addresses in a process's own memory from offsets.
constexpr std::uint64_t kInOwnMemory = std::uint64_t{1} << 62;

/// A process's core as all processes of the machine know it.
Core on_machine(const Topology& topology, Core core) {
  const auto packages = topology.packages();
  const auto domains = topology.numa_domains();
  const auto package = static_cast<std::size_t>(core.package);
  const auto domain = static_cast<std::size_t>(core.numa_domain);
  if (package < packages.size()) core.package = packages[package].os_index;
  if (domain < domains.size()) core.numa_domain = domains[domain].os_index;
  core.index = core.os_index;
  core.last_level_cache = -1;
  return core;
}

/// The cores of the workers of a node whose processes have so many threads each.
std::vector<Core> gather_cores(MPI_Comm neighbours, const std::vector<Core>& own,
                               std::span<const int> thread_counts) {
  constexpr int kInts = 5;
  static_assert(sizeof(Core) == kInts * sizeof(int));
  std::vector<int> counts;
  std::vector<int> begins;
  int total = 0;
  for (const int threads : thread_counts) {
    counts.push_back(kInts * threads);
    begins.push_back(kInts * total);
    total += threads;
  }
  std::vector<Core> cores(static_cast<std::size_t>(total));
  check_mpi(MPI_Allgatherv(own.data(), kInts * static_cast<int>(own.size()), MPI_INT, cores.data(),
                           counts.data(), begins.data(), MPI_INT, neighbours),
            "MPI_Allgatherv");
  return cores;
}

/// Only leaders follow one_per_package where there are more workers than packages.
std::vector<Core> place(const ProcessGroup& group, int thread_count) {
  const Placement requested = parse_placement(group.options().placement);
  const bool is_leaders_only = thread_count == 1 || requested == Placement::one_per_package;
  return place_workers(group.topology(), thread_count,
                       is_leaders_only ? Placement::compact : requested);
}

bool holds_on_all(bool holds, MPI_Comm communicator) {
  int all = holds ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, communicator), "MPI_Allreduce");
  return all == 1;
}

/// All processes of a node call this; worker 0 says it, and whoever has heard it does not say it
/// again.
void say_heaps_are_apart(const ProcessGroup& group, int worker) {
  static std::atomic<bool> said{false};
  // Orders nothing but itself.
  if (said.exchange(true, std::memory_order_relaxed) || worker != 0) return;
  const auto rank = static_cast<std::size_t>(group.rank());
  std::fprintf(stderr,
               "hycoll: long vectors go through staging although they lie in the shared heap: %s "
               "and its neighbours cannot map one another's heaps; let them run as one user, in "
               "one process namespace, with room for shared memory\n",
               group.process_names()[rank].c_str());
}

/// The group, if this layout serves its options.
const ProcessGroup& checked(const ProcessGroup& group) {
  const Options& options = group.options();
  if (options.aggregators > 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("Options::aggregators (HYCOLL_AGGREGATORS) is {}, but the layout "
                            "'processes' has no aggregators; use 0, or the layout 'per_node'",
                            options.aggregators));
  }
  if (options.staging_kib < 64 || options.staging_kib > 1'048'576) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("Options::staging_kib (HYCOLL_STAGING_KIB) is {}; ask for 64 to 1048576",
                    options.staging_kib));
  }
  return group;
}

}  // namespace

std::uint64_t NodeAddresses::offset_of(const void* address) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(segment_.data());
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  if (place >= begin && place < begin + segment_.size()) return place - begin + 1;
  if (!arenas_.all_reachable) return 0;
  const auto offset = process_heap().shared_offset(address);
  return offset ? kInSharedHeap | *offset : 0;
}

std::uint64_t NodeAddresses::announce(const void* address) const noexcept {
  const std::uint64_t offset = offset_of(address);
  if (offset != 0 || !copies()) return offset;
  return kInOwnMemory | reinterpret_cast<std::uintptr_t>(address);
}

std::byte* NodeAddresses::resolve(int worker, std::uint64_t announced) const noexcept {
  if (announced == 0 || (announced & (kInSharedHeap | kInOwnMemory)) == kInOwnMemory) {
    return nullptr;
  }
  if ((announced & kInSharedHeap) == 0) return segment_.data() + (announced - 1);
  return arenas_.mappings->resolve(static_cast<std::size_t>(worker), announced & ~kInSharedHeap, 1);
}

void NodeAddresses::read(int worker, std::uint64_t announced, std::size_t offset_bytes,
                         void* destination, std::size_t size_bytes) const {
  single_copy_.read(worker, (announced & ~kInOwnMemory) + offset_bytes, destination, size_bytes);
}

void NodeAddresses::write(int worker, std::uint64_t announced, std::size_t offset_bytes,
                          const void* source, std::size_t size_bytes) const {
  single_copy_.write(worker, (announced & ~kInOwnMemory) + offset_bytes, source, size_bytes);
}

NodeProcesses::NodeProcesses(ProcessGroup& group, const std::vector<int>& thread_counts)
    : places_(checked(group).node_places()),
      grouping_(group_processes(places_)),
      threads_(thread_counts),
      node_(grouping_.node_of(group.rank())),
      first_rank_(threads_.first_of(group.rank())),
      worker_(first_rank_ -
              threads_.first_of(grouping_.first_rank[static_cast<std::size_t>(node_)])),
      neighbours_(std::make_unique<MpiCommunicator>(group.control(), node_)),
      cores_(place(group, threads_.count_of(group.rank()))),
      wait_policy_(group.wait_policy(thread_count())),
      staging_bytes_(static_cast<std::size_t>(group.options().staging_kib) * kKib) {
  map_segment(group);
  place_leaders(group);
  open_lanes(group);
  neighbours_.reset();
  std::vector<Endpoint*> endpoints;
  for (const auto& lane : lanes_) endpoints.push_back(lane.get());
  for (int thread = 0; thread < thread_count(); ++thread) {
    executors_.push_back(std::make_unique<WorkerExecutor>(
        *memory_, worker_ + thread, endpoints, nullptr, executor_options(group, thread)));
  }
}

ExecutorOptions NodeProcesses::executor_options(const ProcessGroup& group, int thread) const {
  ExecutorOptions options =
      group.executor_options(cores_[static_cast<std::size_t>(thread)], first_rank_ - worker_,
                             worker_count(node_), grouping_.node_count(), wait_policy_);
  const auto first =
      static_cast<std::size_t>(grouping_.first_rank[static_cast<std::size_t>(node_)]);
  options.ended_process = [watch = watch_.get(), first, &names = group.process_names()] {
    const int ended = watch->find_ended();
    return ended < 0 ? std::string() : names[first + static_cast<std::size_t>(ended)];
  };
  return options;
}

int NodeProcesses::worker_count(int node) const {
  const auto n = static_cast<std::size_t>(node);
  return threads_.first_of(grouping_.first_rank[n + 1]) -
         threads_.first_of(grouping_.first_rank[n]);
}

bool NodeProcesses::attach(SharedSegment::Kind kind, std::optional<Error>& failure) {
  SharedSegment::Handle handle;
  try {
    if (worker_ == 0) {
      segment_ =
          SharedSegment(kind, watch_offset() + ProcessWatch::size_bytes(grouping_.size_of(node_)));
      handle = segment_.handle();
    }
  } catch (const Error& error) {
    failure = error;
  }
  check_mpi(MPI_Bcast(&handle, sizeof(handle), MPI_BYTE, 0, neighbours_->handle()), "MPI_Bcast");
  const bool is_there = handle.size_bytes > 0;
  try {
    if (is_there && worker_ != 0) segment_ = SharedSegment(handle);
    if (is_there) {
      for (const NodeMemory::Extent& extent :
           NodeMemory::extents_of(worker_, thread_count(), worker_count(node_), staging_bytes_)) {
        segment_.reserve(extent.offset_bytes, extent.size_bytes);
      }
    }
    if (is_there && worker_ == 0) {
      segment_.reserve(watch_offset(), ProcessWatch::size_bytes(grouping_.size_of(node_)));
    }
  } catch (const Error& error) {
    failure = error;
  }
  return holds_on_all(is_there && !failure, neighbours_->handle());
}

void NodeProcesses::map_segment(const ProcessGroup& group) {
  std::optional<Error> failure;
  for (const SharedSegment::Kind kind :
       {SharedSegment::Kind::anonymous, SharedSegment::Kind::named}) {
    failure.reset();
    if (attach(kind, failure)) {
      announce_addresses(group);
      memory_ = std::make_unique<NodeMemory>(segment_.bytes().first(watch_offset()),
                                             worker_count(node_), staging_bytes_, addresses_.get());
      watch_ = std::make_unique<ProcessWatch>(
          segment_.bytes().subspan(watch_offset()), grouping_.size_of(node_),
          group.rank() - grouping_.first_rank[static_cast<std::size_t>(node_)]);
      for (int thread = 0; thread < thread_count(); ++thread) {
        memory_->construct_worker(worker_ + thread);
      }
      new (memory_->staging(worker_, 0)) HandoffBall;
      break;
    }
    segment_ = SharedSegment();
  }
  // Nobody writes into the memory of others before they have constructed it.
  group.agree(failure);
  segment_.close();
  measure_distance(group);
}

void NodeProcesses::measure_distance(const ProcessGroup& group) {
  const int first_rank = grouping_.first_rank[static_cast<std::size_t>(node_)];
  const int process = group.rank() - first_rank;
  // Neighbours in rank order tend to be neighbours on the machine: half a node apart is far.
  const int pairs = grouping_.size_of(node_) / 2;
  if (process < 2 * pairs && !group.cores_are_shared()) {
    const auto side = process < pairs ? HandoffSide::first : HandoffSide::second;
    const int owner =
        threads_.first_of(first_rank + process % pairs) - threads_.first_of(first_rank);
    auto& ball = *std::launder(reinterpret_cast<HandoffBall*>(memory_->staging(owner, 0)));
    const std::vector<double> batches =
        measure_handoff(ball, side, HandoffRounds{}, kHandoffPatience);
    if (!batches.empty()) handoff_ns_ = *std::min_element(batches.begin(), batches.end());
  }
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, &handoff_ns_, 1, MPI_DOUBLE, MPI_MAX, neighbours_->handle()),
      "MPI_Allreduce");
}

void NodeProcesses::announce_addresses(const ProcessGroup& group) {
  if (!threads_.is_one_each()) {
    addresses_ = std::make_unique<ThreadAddresses>(worker_, thread_count());
    return;
  }
  ExchangedArenas arenas = exchange_arenas(neighbours_->handle());
  if (arenas.any_used && !arenas.all_reachable) say_heaps_are_apart(group, worker_);
  const bool wishes_copies = group.options().single_copy_kib.value_or(1) > 0;
  auto addresses = std::make_unique<NodeAddresses>(
      segment_.bytes(), std::move(arenas),
      wishes_copies ? SingleCopy(neighbours_->handle()) : SingleCopy());
  shareable_ = addresses.get();
  addresses_ = std::move(addresses);
}

void NodeProcesses::place_leaders(const ProcessGroup& group) {
  int fewest = worker_count(0);
  for (int node = 1; node < grouping_.node_count(); ++node) {
    fewest = std::min(fewest, worker_count(node));
  }
  group.check_lanes(fewest);
  const int requested = group.requested_lanes();
  lane_count_ = group.lane_count(fewest);
  std::vector<Core> own;
  for (const Core& core : cores_) own.push_back(on_machine(group.topology(), core));
  std::vector<int> thread_counts;
  for (int i = 0; i < grouping_.size_of(node_); ++i) {
    const int first_process = grouping_.first_rank[static_cast<std::size_t>(node_)];
    thread_counts.push_back(threads_.count_of(first_process + i));
  }
  const std::vector<Core> cores = gather_cores(neighbours_->handle(), own, thread_counts);
  const Placement placement = parse_placement(group.options().placement);
  std::optional<Error> failure;
  try {
    if (requested > 0) lane_workers(cores, requested, placement);
  } catch (const Error& error) {
    failure = error;
  }
  group.agree(failure);
  exchange_leaders(group, leaders_of(cores, lane_count_, placement));
}

void NodeProcesses::exchange_leaders(const ProcessGroup& group, const std::vector<int>& own) {
  const auto lanes = static_cast<std::ptrdiff_t>(own.size());
  std::vector<int> all(own.size() * static_cast<std::size_t>(grouping_.node_count()), 0);
  std::ranges::copy(own, all.begin() + node_ * lanes);
  // All processes of a node have filled in the same.
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT, MPI_MAX,
                          group.control()),
            "MPI_Allreduce");
  for (auto list = all.begin(); list != all.end(); list += lanes) {
    leaders_.emplace_back(list, list + lanes);
  }
}

PlanCache::Options NodeProcesses::plan_options(const ProcessGroup& group) const {
  PlanCache::Options options{
      .nodes = {},
      .node = node_,
      .requested_lanes = group.options().lanes,
      .requested_algorithm = group.options().algorithm,
      .leaders = leaders_,
      .streaming_threshold_bytes = group.streaming_threshold_bytes(),
      .tag_count = lanes_.front()->tag_count(),
      .peers = Peers::processes,
      .processes = threads_.is_one_each() ? std::vector<int>() : threads_.processes(),
      .staging_bytes = memory_->staging_bytes(),
      .short_staging_bytes = memory_->short_staging_bytes(),
      .streaming_staging_bytes = handoff_ns_ > kFarHandoffNs ? kStreamingStagingBytes : SIZE_MAX};
  if (shareable_ != nullptr && shareable_->copies()) {
    const std::optional<int> kib = group.options().single_copy_kib;
    if (kib) options.single_copy_bytes = static_cast<std::size_t>(*kib) * kKib;
    options.broadcast_single_copy_bytes =
        kib ? options.single_copy_bytes : kBroadcastSingleCopyBytes;
  }
  for (int node = 0; node < grouping_.node_count(); ++node) {
    options.nodes.push_back({.members = worker_count(node), .workers = worker_count(node)});
  }
  return options;
}

void NodeProcesses::open_lanes(const ProcessGroup& group) {
  if (grouping_.node_count() == 1) {
    // Nothing is ever sent, but whoever waits drives the program's own messages.
    lanes_.push_back(std::make_unique<MpiEndpoint>(MpiCommunicator::borrowed(group.control()),
                                                   nullptr, 0, 1, group.process_names()));
    return;
  }
  const bool uses_collectives = group.options().algorithm.find("native") != std::string::npos;
  // Threads of a process that drive lanes of their own should not wait for one another.
  const bool shares = threads_.is_one_each();
  auto messages = std::make_shared<const MpiCommunicator>(group.control());
  for (int lane = 0; lane < lane_count_; ++lane) {
    const int leader = leaders_[static_cast<std::size_t>(node_)][static_cast<std::size_t>(lane)];
    const bool leads = leader >= worker_ && leader < worker_ + thread_count();
    std::shared_ptr<const MpiCommunicator> leaders;
    if (uses_collectives) {
      leaders = std::make_shared<const MpiCommunicator>(group.control(), leads ? 0 : MPI_UNDEFINED);
    }
    if (!shares && lane > 0) messages = std::make_shared<const MpiCommunicator>(group.control());
    lanes_.push_back(std::make_unique<MpiEndpoint>(messages, std::move(leaders), shares ? lane : 0,
                                                   shares ? lane_count_ : 1,
                                                   group.process_names()));
  }
}

}  // namespace hycoll
