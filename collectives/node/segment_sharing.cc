// Which communicators share a segment.

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "collectives/job/process_map.h"
#include "collectives/node/node_segment.h"
#include "core/base/byte_sizes.h"
#include "core/base/lifetime.h"

namespace hycoll {
namespace {

/// Unless the user says otherwise: what the processes of a machine provide together, or, where
/// there are many, so many segments each.
constexpr std::size_t kAutomaticLimitBytes = 64 * kMib;
constexpr std::size_t kAutomaticSegments = 8;

/// What communicators must have in common to share a segment: the node's processes in the same
/// order, by their ranks in MPI_COMM_WORLD, and what the segment depends on.
struct SegmentKey {
  std::vector<int> world_ranks;
  int staging_kib;
  bool wishes_copies;

  friend auto operator<=>(const SegmentKey&, const SegmentKey&) = default;
};

/// This process's segments that communicators share. Each lives as long as one of them does.
class SharedSegments {
 public:
  static SharedSegments& instance() {
    static Immortal<SharedSegments> segments;
    return *segments;
  }
  std::shared_ptr<NodeSegment> find(const SegmentKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = segments_.find(key);
    return found == segments_.end() ? nullptr : found->second.lock();
  }
  void add(const SegmentKey& key, const std::shared_ptr<NodeSegment>& segment) {
    const std::lock_guard lock(mutex_);
    std::erase_if(segments_, [](const auto& entry) { return entry.second.expired(); });
    segments_[key] = segment;
  }

 private:
  std::mutex mutex_;
  std::map<SegmentKey, std::weak_ptr<NodeSegment>> segments_;  // guarded by mutex_
};

/// Whether a communicator shares no segment, even if the processes may.
bool is_alone(const Options& options) { return options.memory == Options::Memory::alone; }

/// What this process may provide for segments like the group's, and for all. Where nobody has set
/// a limit for all, communicators have one, and channels twice as much.
MemoryCharge::Limits limits_of(const ProcessGroup& group, std::size_t segment_bytes) {
  const auto processes = static_cast<std::size_t>(group.neighbour_count());
  if (const std::optional<int> mib = group.options().staging_limit_mib) {
    const std::size_t limit = static_cast<std::size_t>(*mib) * kMib / processes;
    return {.account_bytes = limit, .all_bytes = limit};
  }
  const std::size_t limit =
      std::max(kAutomaticLimitBytes / processes, kAutomaticSegments * segment_bytes);
  return {.account_bytes = is_alone(group.options()) ? 2 * limit : limit, .all_bytes = 3 * limit};
}

MemoryCharge::Account account_of(const Options& options) {
  return is_alone(options) ? MemoryCharge::Account::channels : MemoryCharge::Account::communicators;
}

/// What of its account a segment may take: of the memory that calls of any length need an eighth is
/// left, for communicators that make short calls only. Where others may be shared, those that are
/// one communicator's own take half of it.
std::size_t limit_for(std::size_t limit, NodeMemory::Section section, bool is_own, bool may_share) {
  if (is_own && may_share) return limit / 2;
  return section == NodeMemory::Section::compact || may_share ? limit : limit - limit / 8;
}

std::size_t staging_bytes_of(const Options& options) {
  return static_cast<std::size_t>(options.staging_kib) * 1024;
}

/// Without figures: programs see one reason for all communicators that meet the same.
Error too_much() {
  return Error(ErrorKind::environment,
               "this process's communicators take their part of the memory that the processes of "
               "a machine may share; raise the limit (HYCOLL_STAGING_LIMIT, in MiB for a machine), "
               "or free communicators");
}

/// Whether processes make one call after the other, so that all make them in the same order.
bool makes_one_call_at_a_time(const NodeMembership& node, std::span<const int> world_ranks) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level < MPI_THREAD_MULTIPLE && node.threads.is_one_each() &&
         std::ranges::find(world_ranks, MPI_UNDEFINED) == world_ranks.end();
}

/// What must be alike on all processes of a group, and holds if it does on all of them.
struct Terms {
  bool has_room = false;    ///< For a segment of the communicator's own.
  bool may_share = false;   ///< Processes make one call at a time.
  bool may_expand = false;  ///< The rest of the memory is provided when it is needed.
};

Terms terms_of_all(const Terms& here, JointSetup& setup) {
  const JointSetup::Numbers all =
      setup.least({here.has_room ? 1 : 0, here.may_share ? 1 : 0, here.may_expand ? 1 : 0});
  return {.has_room = all[0] == 1, .may_share = all[1] == 1, .may_expand = all[2] == 1};
}

/// Whether all processes of the node have found the same segment. They need not have if they free
/// communicators in different orders.
bool all_have(const std::shared_ptr<NodeSegment>& segment, JointSetup& setup) {
  const auto token = static_cast<std::int64_t>(segment == nullptr ? 0 : segment->token());
  return setup.same(token) && token != 0;
}

/// The segment that the node's communicators share. `charge` is for the case that it must be made.
std::shared_ptr<NodeSegment> shared_segment(JointSetup& setup, const ProcessGroup& group,
                                            const NodeMembership& node, const SegmentKey& key,
                                            std::optional<MemoryCharge> charge) {
  std::shared_ptr<NodeSegment> segment = SharedSegments::instance().find(key);
  if (all_have(segment, setup)) return segment;
  segment = nullptr;
  if (!charge) throw too_much();
  segment = NodeSegment::make(setup, group, node, std::move(*charge));
  SharedSegments::instance().add(key, segment);
  return segment;
}

/// A number that the node's processes give their next communicator of a segment.
std::uint32_t common_salt(JointSetup& setup, NodeSegment& segment, MPI_Comm neighbours) {
  std::uint32_t salt = segment.next_salt();
  setup.meet();
  JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(&salt, 1, MPI_UINT32_T, 0, neighbours, request);
  });
  return salt;
}

/// For the compact section of a segment of the communicator's own, if there is room for it, and for
/// the rest where that follows at once.
std::optional<MemoryCharge> charge_own(const Options& options, const SegmentBytes& bytes,
                                       MemoryCharge::Limits limits, const Terms& here) {
  if (options.memory == Options::Memory::in_turn) return std::nullopt;
  const auto section = here.may_expand ? NodeMemory::Section::compact : NodeMemory::Section::rest;
  limits.account_bytes = limit_for(limits.account_bytes, section, true, here.may_share);
  const std::size_t soon_bytes = here.may_expand ? 0 : bytes.rest;
  if (soon_bytes > limits.account_bytes) return std::nullopt;
  limits.account_bytes -= soon_bytes;
  return MemoryCharge::take(account_of(options), bytes.compact, limits);
}

/// Whether this process can provide the rest later. (Teams make calls of their threads at once.)
bool may_expand(const ProcessGroup& group, const NodeMembership& node) {
  const Options::Memory memory = group.options().memory;
  return (memory == Options::Memory::when_needed || memory == Options::Memory::alone) &&
         node.threads.is_one_each() && SharedSegment::can_reserve_mapped();
}

}  // namespace

SegmentUse obtain_segment(const ProcessGroup& group, const NodeMembership& node) {
  const Options& options = group.options();
  const SegmentKey key{.world_ranks = world_ranks_of(node.neighbours),
                       .staging_kib = options.staging_kib,
                       .wishes_copies = options.single_copy_kib.value_or(1) > 0};
  const SegmentBytes bytes = NodeSegment::own_bytes(node, staging_bytes_of(options));
  const MemoryCharge::Limits limits = limits_of(group, bytes.compact + bytes.rest);
  Terms here{.may_share = !is_alone(options) && makes_one_call_at_a_time(node, key.world_ranks),
             .may_expand = may_expand(group, node)};
  std::optional<MemoryCharge> charge = charge_own(options, bytes, limits, here);
  here.has_room = charge.has_value();
  const Terms terms = terms_of_all(here, group.setup());
  SegmentUse use{.segment = nullptr, .is_own = terms.has_room, .may_share = terms.may_share};
  if (!use.is_own && !terms.may_share) throw too_much();
  // Of each node's processes by themselves, for only some may have a segment already.
  use.segment = JointSetup::run(node.neighbours, [&](JointSetup& setup) {
    setup.name_processes(
        [&](int process) { return group.process_name(group.rank() - node.process + process); });
    if (use.is_own) return NodeSegment::make(setup, group, node, std::move(*charge));
    charge.reset();
    return shared_segment(setup, group, node, key,
                          MemoryCharge::take(account_of(options), bytes.compact, limits));
  });
  use.has_rest = !terms.may_expand;
  if (use.has_rest) provide_rest(group, use);
  if (!use.is_own) use.salt = common_salt(group.setup(), *use.segment, node.neighbours);
  return use;
}

bool provide_rest(const ProcessGroup& group, const SegmentUse& use) {
  NodeSegment& segment = *use.segment;
  if (segment.has_rest()) return false;
  const SegmentBytes bytes = segment.own_bytes();
  MemoryCharge::Limits limits = limits_of(group, bytes.compact + bytes.rest);
  limits.account_bytes =
      limit_for(limits.account_bytes, NodeMemory::Section::rest, use.is_own, use.may_share);
  std::optional<MemoryCharge> charge =
      MemoryCharge::take(account_of(group.options()), bytes.rest, limits);
  if (!charge) throw too_much();
  segment.provide_rest(std::move(*charge));
  return true;
}

}  // namespace hycoll
