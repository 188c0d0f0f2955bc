#ifndef HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_
#define HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "threading/program/pair_binding.h"
#include "threading/program/program.h"

namespace hycoll {

/// An all-to-all of unequal blocks as one member makes it: its blocks, and the memory for the
/// programs that are bound to these, and to those of the other members of the node, when the
/// members have met. Of one call under way at a time.
class UnequalPairs {
 public:
  /// The member executes the programs of these workers; `meeting` is the run by which members tell
  /// one another of their blocks. blocks() are to be filled in.
  UnequalPairs(std::shared_ptr<const PairBinding> binding, WorkerRange workers, Program meeting)
      : binding_(std::move(binding)),
        workers_(workers),
        meeting_(std::move(meeting)),
        blocks_(static_cast<std::size_t>(binding_->member_count())),
        bound_(binding_->memory_for(workers)) {}

  MemberBlocks& blocks() noexcept { return blocks_; }
  const Program& meeting() const noexcept { return meeting_; }

  /// Whether nobody else on the node has blocks, so that the programs can be bound before the call.
  bool is_alone() const noexcept {
    return binding_->node_member_count() == 1 && binding_->limit_bytes() == SIZE_MAX;
  }

  /// What `blocks_of(slot)` tells is read. Throws std::bad_alloc.
  template <class BlocksOf>
  void learn(const BlocksOf& blocks_of) {
    bound_.longest_bytes =
        binding_->limit_bytes() == SIZE_MAX ? 0 : binding_->longest(blocks_of);
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
  Program meeting_;
  MemberBlocks blocks_;
  BoundPairs bound_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_UNEQUAL_PAIRS_H_
