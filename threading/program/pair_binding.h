#ifndef HYCOLL_THREADING_PROGRAM_PAIR_BINDING_H_
#define HYCOLL_THREADING_PROGRAM_PAIR_BINDING_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/pairs.h"
#include "core/schedule/schedule.h"
#include "threading/program/pair_blocks.h"
#include "threading/program/program.h"
#include "threading/program/program_recipe.h"
#include "threading/program/schedule_binding.h"
#include "threading/program/step_stores.h"

namespace hycoll {

/// Two members that do not mean the same by their block.
Error different_ends(const Pair& pair, std::size_t sent_bytes, std::size_t received_bytes);

/// What one call's binding changes: of one thread at a time.
struct BoundPairs {
  /// Of one worker.
  struct Worker {
    std::vector<std::size_t> sizes;              ///< Bytes, by chunk that it needs.
    std::vector<std::ptrdiff_t> row_offsets;     ///< The same, where the sender is on the node,
    std::vector<std::ptrdiff_t> column_offsets;  ///< and where the receiver is.
    std::vector<std::size_t> begins;             ///< In the current slice: bytes before each chunk.
    std::vector<std::size_t> scratch_begins;     ///< The same, of its buffers in scratch.
  };

  std::vector<Program> programs;
  std::vector<Worker> workers;
  std::size_t run_count = 1;           ///< In each of which a slice of every block passes:
  std::size_t slice_bytes = SIZE_MAX;  ///< so much, as far as there is any.
  std::size_t stride_bytes = 0;        ///< From one block's slice in staging to the next.
  StepStores stores;
  /// Two members of the node that do not mean the same by their block.
  std::optional<Error> mismatch;
};

/// An all-to-all's schedule of one node, to be bound to blocks whose lengths differ from pair to
/// pair, and are known to the two members of the pair only. What a worker needs of other members'
/// blocks it reads from what these have told (MemberBlocks); from that it takes a sum for each
/// operand. Immutable.
///
/// In staging every block has as much room as the longest one of the node, so that nobody needs to
/// know what others stage. Longer ones than `limit_bytes()` pass in slices, each of them in a run
/// of its own: with other nodes in slices of that length, the same on all nodes, whatever their
/// blocks are.
class PairBinding {
 public:
  /// `limit_bytes`: SIZE_MAX where nothing is staged. `options` as ScheduleBinding takes them, but
  /// for the size of elements. Throws Error (unsupported) if the schedule needs more than the
  /// executor has, passes blocks of other nodes on, or moves blocks through lines.
  PairBinding(const Schedule& schedule, int node, const BindingOptions& options,
              std::size_t limit_bytes);

  std::size_t limit_bytes() const noexcept { return limit_bytes_; }
  int member_count() const noexcept { return member_count_; }
  /// Of the node.
  int node_member_count() const noexcept { return node_member_count_; }
  /// All nodes have one.
  bool has_single_members() const noexcept { return has_single_members_; }
  bool is_single_node() const noexcept { return member_count_ == node_member_count_; }

  /// Memory for bindings of the programs of some neighbouring workers, among those wanted: all that
  /// they take but scratch.
  BoundPairs memory_for(WorkerRange workers) const;

  /// What the node's members tell of all of their blocks together. `blocks_of(slot)`: what the
  /// member of this index tells, ToldBlocks.
  template <class BlocksOf>
  PairSummary sum_up(const BlocksOf& blocks_of) const {
    PairSummary sum;
    for (int slot = 0; slot < node_member_count_; ++slot) {
      const PairSummary& member = blocks_of(slot).summary();
      sum.longest_bytes = std::max(sum.longest_bytes, member.longest_bytes);
      sum.all_bytes += member.all_bytes;
    }
    return sum;
  }

  /// How steps store, with such blocks.
  StepStores stores_for(const PairSummary& sum) const noexcept {
    return {traits_of(Collective::alltoall), sum.all_bytes, options_};
  }

  /// In which slices such blocks pass, and how they are stored.
  void choose_runs(const PairSummary& sum, BoundPairs& bound) const noexcept;

  /// Reads what the workers need of blocks. Of others than the worker's own it is asked only where
  /// the worker touches its buffers.
  template <class BlocksOf>
  void read(WorkerRange workers, const BlocksOf& blocks_of, BoundPairs& bound) const {
    bound.mismatch.reset();
    for (std::size_t w = 0; w < bound.workers.size(); ++w) {
      const WorkerForm& form = forms_[static_cast<std::size_t>(workers.first) + w];
      for (std::size_t n = 0; n < form.needs.size(); ++n) {
        const Need& need = form.needs[n];
        const PairBlock* const sent =
            need.from_slot < 0 ? nullptr : blocks_of(need.from_slot).sent_to(need.pair.to);
        const PairBlock* const received =
            need.to_slot < 0 ? nullptr : blocks_of(need.to_slot).received_from(need.pair.from);
        note(need, n, sent, received, bound, bound.workers[w]);
      }
    }
  }

  /// Binds the programs to the slice of a run that has been chosen, of what has been read. Asks for
  /// no memory.
  void bind(WorkerRange workers, std::size_t run, BoundPairs& bound) const noexcept;

  std::size_t size_bytes() const noexcept;

 private:
  /// A chunk that a worker moves, with the indices on the node of its members; -1: elsewhere.
  struct Need {
    Pair pair;
    int from_slot;
    int to_slot;
  };
  /// Needs, of which those of neighbouring chunks follow each other.
  struct NeedRange {
    int first = 0;
    int count = 0;
  };
  struct Step {
    NeedRange needs;
    ProgramRecipe::Extent extent;  ///< Of which the chunks are of no use here.
  };
  /// Where an operand begins.
  struct Place {
    BufferRole kind;
    int need = 0;                   ///< The chunk.
    int buffer_need = 0;            ///< In staging and scratch: the first one of its buffer.
    int scratch = 0;                ///< Which of the worker's buffers there.
    std::size_t chunks_before = 0;  ///< In staging, before the buffer.
  };
  struct ScratchBuffer {
    NeedRange needs;
    int lies_at;  ///< The first one at its place.
  };
  struct WorkerForm {
    Program program;
    std::vector<Need> needs;
    std::vector<Step> steps;  ///< By instruction.
    std::vector<Place> operands;
    std::vector<ScratchBuffer> scratch;
    std::size_t staged_chunks = 0;  ///< In its staging.
  };
  /// A buffer of a schedule that lies in a worker's staging.
  struct StagedBuffer {
    int worker = -1;  ///< -1: elsewhere.
    std::size_t chunks_before = 0;
  };

  /// Adds the chunks that each of the node's workers stages.
  static std::vector<StagedBuffer> staged_buffers(const Schedule& schedule, int node,
                                                  std::vector<std::size_t>& staged_chunks);
  static void take_needs(const Schedule& schedule, int node,
                         const std::vector<StagedBuffer>& staged, const ProgramRecipe& recipe,
                         WorkerForm& form);
  void note(const Need& need, std::size_t index, const PairBlock* sent, const PairBlock* received,
            BoundPairs& bound, BoundPairs::Worker& worker) const;
  void bind(const WorkerForm& form, std::size_t slice_begin, const BoundPairs& bound,
            BoundPairs::Worker& worker, Program& program) const noexcept;

  BindingOptions options_;  // without needs
  std::size_t limit_bytes_;
  int member_count_;
  int node_member_count_;
  bool has_single_members_;
  std::size_t most_staged_chunks_ = 0;  // by a worker of the node
  std::vector<WorkerForm> forms_;       // by worker that is wanted
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PAIR_BINDING_H_
