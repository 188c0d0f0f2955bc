#include "collectives/node_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/errors.h"
#include "heap/process_heap.h"
#include "numa/placement.h"

namespace hycoll {
namespace {

constexpr std::size_t kKib = 1024;

/// Distinguishes offsets in a shared heap from those in the segment, which are smaller.
constexpr std::uint64_t kInSharedHeap = std::uint64_t{1} << 63;

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

std::vector<Core> gather_cores(MPI_Comm neighbours, const Core& own) {
  int count = 1;
  check_mpi(MPI_Comm_size(neighbours, &count), "MPI_Comm_size");
  static_assert(sizeof(Core) == 5 * sizeof(int));
  std::vector<Core> cores(static_cast<std::size_t>(count));
  check_mpi(MPI_Allgather(&own, 5, MPI_INT, cores.data(), 5, MPI_INT, neighbours), "MPI_Allgather");
  return cores;
}

bool holds_on_all(bool holds, MPI_Comm communicator) {
  int all = holds ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, communicator), "MPI_Allreduce");
  return all == 1;
}

/// The options, if this layout serves them.
const Options& checked(const ProcessGroup& group) {
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
  return options;
}

}  // namespace

std::uint64_t NodeAddresses::announce(const void* address) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(segment_.data());
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  if (place >= begin && place < begin + segment_.size()) return place - begin + 1;
  if (!arenas_.all_reachable) return 0;
  const auto offset = process_heap().shared_offset(address);
  return offset ? kInSharedHeap | *offset : 0;
}

std::byte* NodeAddresses::resolve(int worker, std::uint64_t announced) const noexcept {
  if (announced == 0) return nullptr;
  if ((announced & kInSharedHeap) == 0) return segment_.data() + (announced - 1);
  return arenas_.mappings->resolve(static_cast<std::size_t>(worker), announced & ~kInSharedHeap, 1);
}

NodeProcesses::NodeProcesses(ProcessGroup& group)
    : grouping_(group_processes(group.machines(), checked(group).emulated_nodes)),
      node_(grouping_.node_of(group.rank())),
      worker_(group.rank() - grouping_.first_rank[static_cast<std::size_t>(node_)]),
      neighbours_(std::make_unique<MpiCommunicator>(group.control(), node_)),
      cores_(place_workers(group.topology(), 1, Placement::compact)),
      wait_policy_(group.wait_policy(1)),
      staging_bytes_(static_cast<std::size_t>(group.options().staging_kib) * kKib) {
  map_segment(group);
  place_leaders(group);
  open_lanes(group);
  neighbours_.reset();
  std::vector<Endpoint*> endpoints;
  for (const auto& lane : lanes_) endpoints.push_back(lane.get());
  executors_.push_back(std::make_unique<WorkerExecutor>(
      *memory_, worker_, std::move(endpoints), nullptr,
      group.executor_options(cores_.front(), group.rank() - worker_, grouping_.size_of(node_),
                             wait_policy_)));
}

bool NodeProcesses::attach(SharedSegment::Kind kind, std::optional<Error>& failure) {
  SharedSegment::Handle handle;
  try {
    if (worker_ == 0) {
      segment_ =
          SharedSegment(kind, NodeMemory::block_bytes(grouping_.size_of(node_), staging_bytes_));
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
      const NodeMemory::Extent area = NodeMemory::area(worker_, staging_bytes_);
      segment_.reserve(area.offset_bytes, area.size_bytes);
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
      addresses_ =
          std::make_unique<NodeAddresses>(segment_.bytes(), exchange_arenas(neighbours_->handle()));
      memory_ = std::make_unique<NodeMemory>(segment_.bytes(), grouping_.size_of(node_),
                                             staging_bytes_, addresses_.get());
      memory_->construct_worker(worker_);
      break;
    }
    segment_ = SharedSegment();
  }
  // Nobody writes into the memory of others before they have constructed it.
  group.agree(failure);
  segment_.close();
}

void NodeProcesses::place_leaders(const ProcessGroup& group) {
  int fewest = grouping_.size_of(0);
  for (int node = 1; node < grouping_.node_count(); ++node) {
    fewest = std::min(fewest, grouping_.size_of(node));
  }
  group.check_lanes(fewest);
  const int requested = group.options().lanes;
  lane_count_ = requested > 0 ? requested : fewest;
  // Every node is led like the first one.
  const std::vector<Core> cores =
      gather_cores(neighbours_->handle(), on_machine(group.topology(), cores_.front()));
  std::optional<Error> failure;
  try {
    leaders_ = lane_workers(cores, lane_count_, parse_placement(group.options().placement));
  } catch (const Error& error) {
    // There are fewer packages than that: an error only if the user asked for it.
    if (requested > 0) failure = error;
    leaders_ = lane_workers(cores, lane_count_, Placement::compact);
  }
  group.agree(failure);
  check_mpi(MPI_Bcast(leaders_.data(), lane_count_, MPI_INT, 0, group.control()), "MPI_Bcast");
}

PlanCache::Options NodeProcesses::plan_options(const ProcessGroup& group) const {
  PlanCache::Options options{.nodes = {},
                             .node = node_,
                             .requested_lanes = group.options().lanes,
                             .requested_algorithm = group.options().algorithm,
                             .lane_workers = {},
                             .streaming_threshold_bytes = group.streaming_threshold_bytes(),
                             .peers = Peers::workers,
                             .staging_bytes = memory_->staging_bytes()};
  for (int node = 0; node < grouping_.node_count(); ++node) {
    options.nodes.push_back(
        {.members = grouping_.size_of(node), .workers = grouping_.size_of(node)});
  }
  // The leaders of fewer lanes are the first ones of many.
  for (int lanes = 1; lanes <= lane_count_; ++lanes) {
    options.lane_workers.emplace_back(leaders_.begin(), leaders_.begin() + lanes);
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
  const auto messages = std::make_shared<const MpiCommunicator>(group.control());
  for (int lane = 0; lane < lane_count_; ++lane) {
    const int leader = leaders_[static_cast<std::size_t>(lane)] % grouping_.size_of(node_);
    std::shared_ptr<const MpiCommunicator> leaders;
    if (uses_collectives) {
      leaders = std::make_shared<const MpiCommunicator>(group.control(),
                                                        leader == worker_ ? 0 : MPI_UNDEFINED);
    }
    lanes_.push_back(std::make_unique<MpiEndpoint>(messages, std::move(leaders), lane, lane_count_,
                                                   group.process_names()));
  }
}

}  // namespace hycoll
