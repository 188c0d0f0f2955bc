#ifndef HYCOLL_THREADING_PROGRAM_SCHEDULE_BINDING_H_
#define HYCOLL_THREADING_PROGRAM_SCHEDULE_BINDING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"
#include "threading/program/program.h"
#include "threading/program/program_needs.h"
#include "threading/program/program_recipe.h"
#include "threading/program/schedule_form.h"
#include "threading/program/staging_slices.h"
#include "threading/program/step_stores.h"

namespace hycoll {

/// Memory that bindings use in turn, so that they allocate none. Of one thread at a time.
class BindingMemory {
 public:
  std::vector<std::size_t> chunk_begins;   ///< Elements.
  std::vector<std::size_t> gaps;           ///< Elements, by block; none if there are no gaps.
  std::vector<std::size_t> buffer_begins;  ///< Bytes, by buffer that has a place.
  std::vector<std::size_t> staged_bytes;   ///< By worker of the node.
  std::vector<std::size_t> scratch_bytes;  ///< The same.
  std::vector<int> filled_chunks;          ///< Of each block.

  /// Of a worker of the node, in its staging or scratch.
  std::size_t& used_by(int worker, bool is_staging) noexcept {
    return (is_staging ? staged_bytes : scratch_bytes)[static_cast<std::size_t>(worker)];
  }

  /// As take_program_numbers(1).
  std::uint64_t next_number() noexcept;

 private:
  std::uint64_t next_number_ = 0;
  std::uint64_t numbers_end_ = 0;
};

/// A node's schedule, to be bound to vectors of many lengths. Which instructions a program has
/// depends on few things of a length: which chunks are empty, whether slices leave gaps between
/// blocks, whether the staging is short. For each combination that is met (a form) the schedule is
/// bound once; after that, a length costs a copy of the form's programs, into memory that is there,
/// and a sum for each operand. Thread-safe.
class ScheduleBinding {
 public:
  /// The schedule is whole, or the node's part. The size of elements among the options does not
  /// matter. Of their needs a copy is kept; they are the schedule's own if there are none.
  ScheduleBinding(Schedule schedule, int node, const BindingOptions& options);

  /// The programs of neighbouring workers among those that the options want: into `programs`, which
  /// nobody executes. Throws Error (unsupported) when the schedule needs more flags, lines or tags,
  /// or more of anything else, than the executor has: on all nodes, whichever of them needs that.
  /// The programs are of no use then.
  void bind(const VectorExtent& extent, std::size_t element_bytes, WorkerRange workers,
            BindingMemory& memory, std::vector<Program>& programs) const;

  /// What the schedule and its forms take.
  std::size_t size_bytes() const noexcept {
    return schedule_bytes_ + form_bytes_.load(std::memory_order_relaxed);
  }

 private:
  /// With what programs depend on besides the chunks' ends.
  struct Form {
    std::uint64_t number = 0;
    FormKind kind;
    std::vector<int> filled_chunks;  ///< Of each block, or of the vector: its first so many.
    ScheduleForm form;
    std::unique_ptr<const Form> next;
  };
  /// A buffer in staging or scratch.
  struct PlacedBuffer {
    int worker;  ///< On the node.
    bool is_staging;
    int lies_at;  ///< The first one at its place.
    ChunkRange chunks;
  };
  /// Chunks that so many buffers of the node's members hold.
  struct MemberChunks {
    ChunkRange chunks;
    std::size_t buffer_count;
  };
  struct Numbers;

  void note_placed_buffers();
  void note_member_chunks();
  void find_places(const Partition& partition, std::size_t element_bytes,
                   BindingMemory& memory) const;
  void count_filled_chunks(const VectorExtent& extent, const Partition& partition,
                           std::size_t element_bytes, std::vector<int>& filled) const;
  /// Of the node's members, for the whole vector. The partition is that of the extent.
  std::size_t buffers_bytes(const VectorExtent& extent, const Partition& partition,
                            std::size_t element_bytes) const;
  StepStores stores_for(const VectorExtent& extent, const Partition& partition,
                        std::size_t element_bytes) const;
  const Form* find_form(bool stages_briefly, const BindingMemory& memory) const;
  std::unique_ptr<Form> make_form(const Partition& partition, bool stages_briefly,
                                  const BindingMemory& memory) const;
  /// The same, kept; null if as many are kept as may be.
  const Form* keep_form(const Partition& partition, bool stages_briefly,
                        const BindingMemory& memory) const;
  void fill(const Numbers& numbers, const Form& form, WorkerRange workers,
            std::vector<Program>& programs) const;
  void fill(const Numbers& numbers, const ProgramRecipe& recipe, Program& program) const;
  /// `begin_of(chunk)` is the chunk's first element.
  template <class BeginOf>
  void fill(const Numbers& numbers, const ProgramRecipe& recipe, Program& program,
            const BeginOf& begin_of) const;

  Schedule schedule_;
  int node_;
  ProgramNeeds needs_;
  BindingOptions options_;  // its needs are needs_
  Chunking chunking_;
  std::vector<int> place_of_buffer_;  // among placed_; -1: none
  std::vector<PlacedBuffer> placed_;
  std::vector<MemberChunks> member_chunks_;
  std::size_t schedule_bytes_;
  mutable std::mutex mutex_;                         // of whoever adds a form
  mutable std::unique_ptr<const Form> first_form_;   // guarded by mutex_; forms stay
  mutable std::atomic<const Form*> forms_{nullptr};  // the same, for all
  mutable int form_count_ = 0;                       // guarded by mutex_
  mutable std::atomic<std::size_t> form_bytes_{0};
};

/// The programs of a schedule that is bound once. Errors: as ScheduleBinding::bind().
std::vector<Program> bind_schedule(Schedule schedule, int node, const VectorExtent& extent,
                                   const BindingOptions& options);

/// Binds a node to all slices of a vector, of `limit` elements of it or of each of its blocks: into
/// `sliced`, which nobody executes. Errors: as ScheduleBinding::bind().
void bind_slices(const ScheduleBinding& binding, const VectorExtent& extent,
                 std::size_t element_bytes, std::size_t limit, WorkerRange workers,
                 BindingMemory& memory, SlicedPrograms& sliced);

/// What programs take.
std::size_t memory_bytes(const Program& program) noexcept;
std::size_t memory_bytes(const std::vector<Program>& programs) noexcept;

/// What a schedule takes.
std::size_t memory_bytes(const Schedule& schedule) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_SCHEDULE_BINDING_H_
