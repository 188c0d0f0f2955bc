#ifndef HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_
#define HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

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
  /// In staging of a single node: blocks of so many bytes together are told with their data.
  std::size_t most_data_bytes = 0;
};

/// An all-to-all of unequal blocks as one member makes it: its blocks, and the memory for the
/// programs that are bound to these, and to those of the other members of the node, when the
/// members have met. Of one call under way at a time.
class UnequalPairs {
 public:
  /// The member executes the programs of these workers.
  UnequalPairs(std::shared_ptr<const PairBinding> binding, WorkerRange workers,
               const Telling& telling)
      : binding_(std::move(binding)),
        workers_(workers),
        telling_(telling),
        blocks_(binding_->member_count()),
        meeting_(telling.in_staging
                     ? telling_others(telling.worker, telling.worker_count,
                                      binding_->member_count(), telling.most_data_bytes > 0)
                     : arrival_of_others(telling.worker, telling.worker_count)),
        bound_(binding_->memory_for(workers)) {
    meeting_.is_looked_up = !telling.in_staging;
  }

  int member_count() const noexcept { return binding_->member_count(); }
  bool is_single_node() const noexcept { return binding_->is_single_node(); }
  bool is_told_in_staging() const noexcept { return telling_.in_staging; }
  /// Whether nobody else on its node has blocks, on all nodes, so that the programs can be bound
  /// before the call.
  bool is_alone() const noexcept {
    return binding_->has_single_members() && binding_->limit_bytes() == SIZE_MAX;
  }

  /// To be filled in, and completed by ready().
  MemberBlocks& blocks() noexcept { return blocks_; }
  void ready() noexcept { tell(blocks_, telling_.most_data_bytes, meeting_); }
  const Program& meeting() const noexcept { return meeting_; }

  /// Of a member of a single node that has told its data: copies them to where this one wants them;
  /// the complaint if the two do not mean the same by their block.
  std::optional<Error> take(const ToldBlocks& told, int from) {
    const PairBlock& sent = *told.sent_to(telling_.worker);
    const PairBlock& received = *blocks_.told().received_from(from);
    const std::size_t size_bytes = std::min(sent.size_bytes, received.size_bytes);
    if (size_bytes > 0) {
      std::memcpy(static_cast<std::byte*>(blocks_.address()) + received.offset_bytes,
                  told.data_for(telling_.worker), size_bytes);
    }
    if (sent.size_bytes == received.size_bytes) return std::nullopt;
    return different_ends({.from = from, .to = telling_.worker}, sent.size_bytes,
                          received.size_bytes);
  }

  /// What `blocks_of(slot)`, ToldBlocks, tells is read. Throws std::bad_alloc.
  template <class BlocksOf>
  void learn(const BlocksOf& blocks_of) {
    bound_.longest_bytes = binding_->limit_bytes() == SIZE_MAX ? 0 : binding_->longest(blocks_of);
    binding_->read(workers_, blocks_of, bound_);
  }

  /// The runs that follow, and what is wrong with what has been learnt.
  std::size_t run_count() const noexcept { return binding_->run_count(bound_); }
  const std::optional<Error>& mismatch() const noexcept { return bound_.mismatch; }

  /// The programs of a run, by worker; valid until the next one is bound.
  std::vector<Program>& bind(std::size_t run) noexcept {
    binding_->bind(workers_, run, bound_);
    return bound_.programs;
  }

 private:
  std::shared_ptr<const PairBinding> binding_;
  WorkerRange workers_;
  Telling telling_;
  MemberBlocks blocks_;
  Program meeting_;
  BoundPairs bound_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_
