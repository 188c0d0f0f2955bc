#ifndef HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_
#define HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/selection/kernel_copies.h"
#include "core/base/errors.h"
#include "threading/program/meeting.h"
#include "threading/program/pair_binding.h"
#include "threading/program/pair_blocks.h"
#include "threading/program/program.h"

namespace hycoll {

/// How a member tells the others of its node of its blocks.
struct Telling {
  int worker = 0;           ///< The member's, on its node.
  int worker_count = 1;     ///< Of the node.
  bool in_staging = false;  ///< Else where they are, for threads of its process.
  ToldBytes bytes = {};     ///< Of no account elsewhere; with data on a single node only.
};

/// How unequal blocks may pass inside a node: chosen for each call when its members have met.
struct PairWays {
  /// Through staging, or, where workers reach one another's buffers, from where the blocks are.
  PairBinding usual;
  /// Where usually through staging: from where the blocks are, for the kernel copies between
  /// processes. In the same slices where there are other nodes, so that each node may do as it can.
  std::optional<PairBinding> copied;
  SingleCopies copies = {};

  /// Which the node's processes choose alike.
  bool are_copied(const PairSummary& sum, bool is_far) const noexcept {
    if (!copied) return false;
    // As long as the vector of an all-to-all of equal blocks would be.
    const auto members = static_cast<std::size_t>(usual.node_member_count());
    const std::size_t size_bytes = sum.all_bytes / (2 * members);
    return hycoll::are_copied(copies.of(Collective::alltoall, size_bytes), is_far);
  }

  std::size_t size_bytes() const noexcept {
    return usual.size_bytes() + (copied ? copied->size_bytes() : 0);
  }
};

/// An all-to-all of unequal blocks as one member makes it: its blocks, and the memory for the
/// programs that are bound to these, and to those of the other members of the node, when the
/// members have met. Of one call under way at a time.
class UnequalPairs {
 public:
  /// The member executes the programs of these workers.
  UnequalPairs(std::shared_ptr<const PairWays> ways, WorkerRange workers, const Telling& telling)
      : ways_(std::move(ways)),
        workers_(workers),
        telling_(telling),
        blocks_(ways_->usual.member_count()),
        arrival_(arrival_of_others(telling.worker, telling.worker_count)),
        usual_(ways_->usual.memory_for(workers)),
        now_{&ways_->usual, &usual_} {
    if (telling.in_staging) {
      meeting_.emplace(telling.worker, telling.worker_count, member_count(), telling.bytes);
    }
    if (ways_->copied) copied_ = ways_->copied->memory_for(workers);
  }
  UnequalPairs(const UnequalPairs&) = delete;
  UnequalPairs& operator=(const UnequalPairs&) = delete;

  int member_count() const noexcept { return ways_->usual.member_count(); }
  bool is_single_node() const noexcept { return ways_->usual.is_single_node(); }
  bool is_told_in_staging() const noexcept { return telling_.in_staging; }
  bool may_tell_data() const noexcept { return telling_.bytes.data > 0; }
  /// Whether nobody else on its node has blocks, on all nodes, so that the programs can be bound
  /// before the call.
  bool is_alone() const noexcept {
    return ways_->usual.has_single_members() && ways_->usual.limit_bytes() == SIZE_MAX;
  }

  /// To be filled in before a call.
  MemberBlocks& blocks() noexcept { return blocks_; }
  /// From where blocks count: what the member passes as its buffers. Threads that look there find
  /// the blocks. Others find there what lies in this process's own memory, as the user's buffers
  /// do, and never in memory that processes share, which they announce in another way.
  std::byte* origin() noexcept { return telling_.in_staging ? &own_memory : blocks_.address(); }
  /// Of a call whose input is there: the program of its first run, and its first need of blocks().
  const Program& meet() noexcept {
    if (meeting_) return meeting_->tell(blocks_, origin());
    blocks_.complete();
    return arrival_;
  }

  /// Requires may_tell_data(). Of a member that has told its data, in the run that meet() says:
  /// copies them to where this one wants them; the complaint if the two do not mean the same by
  /// their block.
  std::optional<Error> take(int from, const ToldRow& row, const std::byte* staging) {
    const int own = telling_.worker;
    const PairBlock& received = *blocks_.told().received_from(from);
    const std::size_t sent_bytes =
        from == own ? blocks_.told().sent_to(own)->size_bytes : row.size_for(own);
    const std::size_t size_bytes = std::min(sent_bytes, received.size_bytes);
    std::byte* const destination = origin() + received.offset_bytes;
    if (from != own) {
      meeting_->read_data(row, staging, own, destination, size_bytes);
    } else if (size_bytes > 0) {
      std::memcpy(destination, origin() + blocks_.told().sent_to(own)->offset_bytes, size_bytes);
    }
    if (sent_bytes == received.size_bytes) return std::nullopt;
    return different_ends({.from = from, .to = own}, sent_bytes, received.size_bytes);
  }

  /// What `blocks_of(slot)`, ToldBlocks, tells is read, and the way of the call chosen: the same on
  /// all members of the node, to which `is_far`, what NodeMemory says, is the same. Throws
  /// std::bad_alloc, after that.
  template <class BlocksOf>
  void learn(const BlocksOf& blocks_of, bool is_far) {
    const PairSummary sum = ways_->usual.sum_up(blocks_of);
    now_ = ways_->are_copied(sum, is_far) ? Way{&*ways_->copied, &*copied_}
                                          : Way{&ways_->usual, &usual_};
    now_.binding->choose_runs(sum, *now_.bound);
    now_.binding->read(workers_, blocks_of, *now_.bound);
  }

  /// The runs that follow, and what is wrong with what has been learnt.
  std::size_t run_count() const noexcept { return now_.bound->run_count; }
  const std::optional<Error>& mismatch() const noexcept { return now_.bound->mismatch; }

  /// The programs of a run, by worker; valid until the next one is bound.
  std::vector<Program>& bind(std::size_t run) noexcept {
    now_.binding->bind(workers_, run, *now_.bound);
    return now_.bound->programs;
  }

 private:
  struct Way {
    const PairBinding* binding;
    BoundPairs* bound;
  };
  static inline std::byte own_memory{};

  std::shared_ptr<const PairWays> ways_;
  WorkerRange workers_;
  Telling telling_;
  MemberBlocks blocks_;
  Program arrival_;
  std::optional<TellingMeeting> meeting_;  // where told in staging
  BoundPairs usual_;
  std::optional<BoundPairs> copied_;  // where there is that way
  Way now_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_
