#ifndef HYCOLL_COLLECTIVES_NODE_NODE_SEGMENT_H_
#define HYCOLL_COLLECTIVES_NODE_NODE_SEGMENT_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/job/node_grouping.h"
#include "collectives/job/process_group.h"
#include "collectives/node/distance_looks.h"
#include "collectives/node/memory_charge.h"
#include "collectives/node/node_addresses.h"
#include "core/base/errors.h"
#include "threading/execution/executor.h"
#include "threading/memory/address_space.h"
#include "threading/memory/node_memory.h"
#include "threading/memory/process_watch.h"
#include "threading/memory/separate.h"
#include "threading/memory/shared_segment.h"

namespace hycoll {

/// The processes of a node, as one of them sees them.
struct NodeMembership {
  MPI_Comm neighbours;      ///< They, in order.
  int process;              ///< This one among them.
  ThreadNumbering threads;  ///< Theirs: the node's workers.
  /// In which NUMA domain each of these runs, by os_index.
  std::vector<int> domains;

  int process_count() const noexcept { return threads.process_count(); }
  int first_worker() const { return threads.first_of(process); }
  int thread_count() const { return threads.count_of(process); }
};

/// What a process provides of a segment, by the sections of a NodeMemory.
struct SegmentBytes {
  std::size_t compact = 0;
  std::size_t rest = 0;
};

/// The memory that the processes of a node share, with all that concerns them and not a
/// communicator: the watch, how they reach each other's buffers, and this process's workers.
///
/// Communicators may take turns at it, one call at a time: all processes of the node must make
/// their calls in the same order then. A worker's runs are numbered in one row, whichever
/// communicator they belong to, so nothing but the number tells them apart, and what holds from one
/// run to the next holds between communicators too. The executors tell calls of different
/// communicators apart by ExecutorOptions::salt.
class NodeSegment {
 public:
  /// Collective over the node, whose set-up it is a part of. Throws Error (environment) where
  /// memory cannot be shared. `group` is one that the node's processes belong to. Of the memory
  /// only the compact section can be used.
  static std::shared_ptr<NodeSegment> make(JointSetup& setup, const ProcessGroup& group,
                                           const NodeMembership& node, MemoryCharge charge);
  /// What this process provides.
  static SegmentBytes own_bytes(const NodeMembership& node, std::size_t staging_bytes);
  const SegmentBytes& own_bytes() const noexcept { return own_bytes_; }

  NodeSegment(const NodeSegment&) = delete;
  NodeSegment& operator=(const NodeSegment&) = delete;

  NodeMemory& memory() noexcept { return *memory_; }

  /// Whether this process has provided its part of the memory's rest. That can be used once all
  /// processes of the node have, and have told each other.
  bool has_rest() const noexcept { return rest_.has_value(); }
  /// Provides it. Local. Throws Error (environment) if there is no memory for it.
  void provide_rest(MemoryCharge charge);
  /// Gives it back. Requires that some process of the node has not provided its part.
  void withdraw_rest() noexcept;

  const ProcessWatch& watch() const noexcept { return *watch_; }
  /// How the processes reach each other's buffers; null if they have several threads.
  const NodeAddresses* shareable() const noexcept { return shareable_; }
  /// How long a handoff between processes takes, in nanoseconds: the longest that one has measured;
  /// 0: nobody has. The same on all processes of the node, and set between the same two runs.
  double handoff_ns() const noexcept { return handoff_ns_; }
  void set_distance(double handoff_ns) noexcept;
  /// Before a blocking call that stages, of a process's first thread: the processes may look again
  /// how far they are from one another. `run`: the number of its first run.
  void look_around(CallNumber run, Leaving leaving) {
    if (looks_) looks_->before(run, leaving);
  }
  /// Null where processes must not measure.
  DistanceLooks* looks() noexcept { return looks_ ? &*looks_ : nullptr; }

  /// The same number on all processes of the node, and no other segment's.
  std::uint64_t token() const noexcept { return segment_.handle().token[0]; }

  /// Of this process's threads.
  std::span<const std::unique_ptr<WorkerExecutor>> executors() const { return executors_; }
  /// The numbers of a thread's last run, and of its next one.
  CallNumber last_run(int thread) const noexcept {
    return runs_[static_cast<std::size_t>(thread)].number;
  }
  CallNumber next_run(int thread) noexcept {
    return ++runs_[static_cast<std::size_t>(thread)].number;
  }

  /// Lets the executors work with these contexts, one for each, until others take their turn.
  void take_turn(std::vector<ExecutorContext>& contexts) {
    if (current_ != &contexts) exchange(&contexts);
  }
  /// The contexts end.
  void leave(const std::vector<ExecutorContext>& contexts) {
    if (current_ == &contexts) exchange(nullptr);
  }
  /// A number for the next communicator that shares the segment.
  std::uint32_t next_salt() noexcept { return ++last_salt_; }

 private:
  struct alignas(kSeparationBytes) Runs {
    CallNumber number = 0;  ///< Of the thread's last one.
  };

  NodeSegment(const NodeMembership& node, std::size_t staging_bytes, MemoryCharge charge);
  static NodeMemory::Extent own_extent(NodeMemory::Section section, const NodeMembership& node,
                                       std::size_t staging_bytes);
  static std::size_t watch_offset(const NodeMembership& node, std::size_t staging_bytes) {
    return NodeMemory::block_bytes(node.threads.count(), staging_bytes);
  }
  /// All processes of the node map a segment.
  void map(JointSetup& setup, const NodeMembership& node);
  /// The same, of this kind. Returns whether all have; where one has not, `failure` says why.
  bool attach(JointSetup& setup, const NodeMembership& node, SharedSegment::Kind kind,
              std::exception_ptr& failure);
  void reserve(const NodeMembership& node);
  /// Says where what this process provides is to lie, before there is memory for it.
  void settle(const NodeMembership& node);
  void construct(const NodeMembership& node);
  void announce_addresses(JointSetup& setup, const ProcessGroup& group, const NodeMembership& node);
  /// Finds out how far the processes are from one another. Requires that all have constructed their
  /// part of the memory. `may_spin`: that keeps no others off their cores.
  void measure_distance(JointSetup& setup, bool may_spin);
  void exchange(std::vector<ExecutorContext>* next);

  std::size_t staging_bytes_;
  MemoryCharge charge_;
  SegmentBytes own_bytes_;
  NodeMemory::Extent rest_extent_;    // this process's
  std::optional<MemoryCharge> rest_;  // for it, if it has been provided
  SharedSegment segment_;
  std::unique_ptr<ProcessWatch> watch_;
  std::unique_ptr<AddressSpace> addresses_;
  const NodeAddresses* shareable_ = nullptr;  // addresses_, if each process has one thread
  std::unique_ptr<NodeMemory> memory_;
  int process_;
  std::vector<int> first_workers_;  // by process of the node
  double handoff_ns_ = 0;
  std::optional<DistanceLooks> looks_;
  int first_worker_;
  std::vector<std::unique_ptr<WorkerExecutor>> executors_;
  SeparateVector<Runs> runs_;
  std::vector<ExecutorContext>* current_ = nullptr;  // whose contexts the executors have
  std::uint32_t last_salt_ = 0;
};

/// A communicator's segment, and whether others may use it in turn.
struct SegmentUse {
  std::shared_ptr<NodeSegment> segment;
  /// Nobody else's: calls may be under way while other communicators' are. The same on all
  /// processes of the group.
  bool is_own = true;
  std::uint32_t salt = 0;  ///< For the executors.
  bool has_rest = true;    ///< All of the memory can be used. The same on all processes.
  bool may_share = false;  ///< Communicators of these processes may share segments. The same.
};

/// A segment for the group's communicator: its own while there is room for that within
/// Options::staging_limit_mib, otherwise one for all communicators of the same processes in the
/// same order, made by the first of them, where processes make one call at a time. Collective over
/// the group, whose set-up it is a part of. With all of its memory, or, as Options::memory and the
/// kernel have it, with the compact section only, on every process of the group. Throws Error
/// (environment) where a process cannot share memory, or may not share so much.
SegmentUse obtain_segment(const ProcessGroup& group, const NodeMembership& node);

/// Provides this process's part of the rest of the segment's memory, unless it is there. Local.
/// Returns whether it has been provided; throws Error (environment) if there is no memory for it,
/// or none within Options::staging_limit_mib.
bool provide_rest(const ProcessGroup& group, const SegmentUse& use);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_NODE_SEGMENT_H_
