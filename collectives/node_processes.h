#ifndef HYCOLL_COLLECTIVES_NODE_PROCESSES_H_
#define HYCOLL_COLLECTIVES_NODE_PROCESSES_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/arena_exchange.h"
#include "collectives/leaders.h"
#include "collectives/node_grouping.h"
#include "collectives/plan_cache.h"
#include "collectives/process_group.h"
#include "collectives/single_copy.h"
#include "numa/topology.h"
#include "threading/address_space.h"
#include "threading/executor.h"
#include "threading/mpi_endpoint.h"
#include "threading/node_memory.h"
#include "threading/process_watch.h"
#include "threading/shared_segment.h"

namespace hycoll {

/// Buffers that lie in a segment of the node or in its processes' shared heaps, as offsets; and
/// others, if the kernel copies between the processes.
class NodeAddresses final : public AddressSpace {
 public:
  /// `arenas`: those of the node's processes, by worker; used only if all can reach all.
  NodeAddresses(std::span<std::byte> segment, ExchangedArenas arenas, SingleCopy single_copy)
      : segment_(segment), arenas_(std::move(arenas)), single_copy_(std::move(single_copy)) {}
  std::uint64_t announce(const void* address) const noexcept override;
  std::byte* resolve(int worker, std::uint64_t announced) const noexcept override;
  void read(int worker, std::uint64_t announced, std::size_t offset_bytes, void* destination,
            std::size_t size_bytes) const override;
  void write(int worker, std::uint64_t announced, std::size_t offset_bytes, const void* source,
             std::size_t size_bytes) const override;

  /// Whether the processes can access one another's shared heaps. The same on all of them.
  bool reaches_heaps() const noexcept { return arenas_.all_reachable; }
  /// Whether the others find the buffer at `address` of this process in their own mappings.
  bool is_mapped(const void* address) const noexcept { return offset_of(address) != 0; }
  /// Whether the kernel copies all others. The same on all processes.
  bool copies() const noexcept { return single_copy_.is_permitted(); }

 private:
  /// In the segment or the heap; 0: elsewhere.
  std::uint64_t offset_of(const void* address) const noexcept;

  std::span<std::byte> segment_;
  ExchangedArenas arenas_;
  SingleCopy single_copy_;
};

/// Buffers of processes with several threads, as addresses that mean something in one process.
class ThreadAddresses final : public AddressSpace {
 public:
  /// The threads of this process are the node's workers from `first` on, `count` of them.
  ThreadAddresses(int first, int count) : first_(first), count_(count) {}
  std::uint64_t announce(const void* address) const noexcept override {
    return reinterpret_cast<std::uintptr_t>(address);
  }
  std::byte* resolve(int worker, std::uint64_t announced) const noexcept override {
    const bool is_here = worker >= first_ && worker < first_ + count_;
    return is_here ? reinterpret_cast<std::byte*>(announced) : nullptr;
  }

 private:
  int first_;
  int count_;
};

/// The layout `processes`: the threads of this process, or its only one, as workers of a node of
/// several processes, each of which is a member; with the segment that the processes share.
class NodeProcesses {
 public:
  /// Collective over the group. `thread_counts[r]` threads of the process with rank r are members,
  /// at least one. Throws Error on every process if one cannot map the segment, or if the options
  /// differ.
  NodeProcesses(ProcessGroup& group, const std::vector<int>& thread_counts);

  /// The ranks of the group in an order in which there are fewer, larger nodes: ranks_by_place().
  std::vector<int> better_order() const { return ranks_by_place(places_); }

  /// The first of this process's workers among those of its node, and the node.
  int worker() const noexcept { return worker_; }
  int node() const noexcept { return node_; }
  int node_count() const noexcept { return grouping_.node_count(); }

  /// The rank of this process's first member, and the number of all members.
  int first_rank() const noexcept { return first_rank_; }
  int member_count() const noexcept { return threads_.count(); }

  NodeMemory& memory() noexcept { return *memory_; }
  /// Those of this process's workers, and their cores.
  WorkerExecutor& executor(int thread) noexcept {
    return *executors_[static_cast<std::size_t>(thread)];
  }
  std::span<const std::unique_ptr<WorkerExecutor>> executors() const { return executors_; }
  const std::vector<Core>& cores() const noexcept { return cores_; }
  const WaitPolicy& wait_policy() const noexcept { return wait_policy_; }

  /// Whether the node's processes can access one another's shared heaps. The same on all of them.
  bool shares_heaps() const noexcept {
    return shareable_ != nullptr && shareable_->reaches_heaps();
  }
  /// Whether the others find this process's buffer in their own mappings.
  bool is_shared(const void* buffer) const noexcept {
    return shareable_ != nullptr && shareable_->is_mapped(buffer);
  }

  PlanCache::Options plan_options(const ProcessGroup& group) const;

 private:
  void map_segment(const ProcessGroup& group);
  /// Whether all processes of the node have mapped a segment of this kind.
  bool attach(SharedSegment::Kind kind, std::optional<Error>& failure);
  /// Where the watch lies in the segment: behind the memory of the workers.
  std::size_t watch_offset() const {
    return NodeMemory::block_bytes(worker_count(node_), staging_bytes_);
  }
  ExecutorOptions executor_options(const ProcessGroup& group, int thread) const;
  /// Finds out how far the processes are from one another. Requires that all have constructed their
  /// part of the memory.
  void measure_distance(const ProcessGroup& group);
  void announce_addresses(const ProcessGroup& group);
  int worker_count(int node) const;
  int thread_count() const noexcept { return static_cast<int>(cores_.size()); }
  void place_leaders(const ProcessGroup& group);
  /// `own`: those of this node, by lane.
  void exchange_leaders(const ProcessGroup& group, const std::vector<int>& own);
  void open_lanes(const ProcessGroup& group);

  std::vector<int> places_;
  NodeGrouping grouping_;
  ThreadNumbering threads_;
  int node_ = 0;
  int first_rank_ = 0;
  int worker_ = 0;
  std::unique_ptr<MpiCommunicator> neighbours_;  // the processes of this node; until it is set up
  std::vector<Core> cores_;                      // this process's
  WaitPolicy wait_policy_;
  std::size_t staging_bytes_ = 0;
  double handoff_ns_ = 0;  // between processes half a node apart, the slowest pair; 0: not measured
  int lane_count_ = 1;
  std::vector<std::vector<int>> leaders_;  // as PlanCache::Options has it
  SharedSegment segment_;
  std::unique_ptr<ProcessWatch> watch_;  // of the node's processes
  std::unique_ptr<AddressSpace> addresses_;
  const NodeAddresses* shareable_ = nullptr;  // the same, if each process has one thread
  std::unique_ptr<NodeMemory> memory_;
  std::vector<std::unique_ptr<MpiEndpoint>> lanes_;
  std::vector<std::unique_ptr<WorkerExecutor>> executors_;  // this process's
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_PROCESSES_H_
