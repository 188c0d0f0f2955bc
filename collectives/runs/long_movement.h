#ifndef HYCOLL_COLLECTIVES_RUNS_LONG_MOVEMENT_H_
#define HYCOLL_COLLECTIVES_RUNS_LONG_MOVEMENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/api/call.h"
#include "collectives/elements/vector_elements.h"
#include "collectives/runs/arguments.h"
#include "collectives/runs/call_runs.h"
#include "core/base/collective_traits.h"

namespace hycoll {

/// A call that moves more data than are packed at once, of equal pairs at most: one piece after
/// another if some member cannot use its buffers as they are, which the members find out first;
/// else in one. Each piece is a call on a slice of every block; what does not lie together in a
/// member's buffer passes through memory of the member's, of one piece's length.
class LongMovement final : public CallRuns {
 public:
  /// The slices of blocks, all but as long: of kPieceBytes or little more together.
  class Pieces {
   public:
    /// Of blocks of so many bytes, or of a vector that has none: as one.
    explicit Pieces(std::vector<std::size_t> block_bytes) noexcept;

    std::size_t count() const noexcept { return count_; }
    std::size_t block_count() const noexcept { return block_bytes_.size(); }
    std::size_t block_bytes(std::size_t block) const noexcept { return block_bytes_[block]; }
    std::size_t begin(std::size_t block, std::size_t piece) const noexcept;
    std::size_t length(std::size_t block, std::size_t piece) const noexcept {
      return begin(block, piece + 1) - begin(block, piece);
    }
    /// Whether each has data.
    bool have_data() const noexcept;

   private:
    std::vector<std::size_t> block_bytes_;
    std::size_t count_ = 1;
  };

  struct Plans {
    PlanPointer question;  ///< Of the members' allreduce; null: they make pieces unasked.
    PlanPointer whole;     ///< Null on members that need pieces, and unasked.
    std::vector<PlanPointer> pieces;
  };

  /// Whether there are so many bytes. All members know.
  static bool is_long(const Call& call, std::size_t element_bytes, int member_count) noexcept;
  /// The blocks' bytes.
  static std::vector<std::size_t> blocks_of(const Call& call, std::size_t element_bytes,
                                            int member_count);
  /// Whether a member with such buffers needs pieces.
  static bool needs_pieces(const VectorElements& elements, const CallBuffers& buffers) noexcept {
    return elements.staging != nullptr || buffers.is_displaced || buffers.needs_own_output;
  }

  /// `whole`: the call's arguments as one run, of a member that does not need pieces.
  LongMovement(RunsOwner& owner, const Call& call, const PackedSignature& signature,
               const VectorElements& elements, const CallBuffers& buffers, int rank, Pieces pieces,
               Plans plans, const CallArguments& whole);

 private:
  /// What a buffer has of a block.
  struct Place {
    std::size_t block;
    std::byte* address;
  };
  /// A buffer of the user's.
  struct Side {
    const TypedStaging* staging = nullptr;  ///< Null: bytes.
    std::vector<Place> places;              ///< Of blocks with data; none: the member has none.
    std::unique_ptr<std::byte[]> piece;     ///< Null if all slices lie where they may be used.

    void pack(const Place& place, std::size_t begin, std::size_t end, std::byte* packed) const;
    void unpack(const Place& place, std::size_t begin, std::size_t end,
                const std::byte* packed) const;
  };

  std::size_t part_count() const noexcept override;
  std::vector<const Plan*> plans_of_parts() const override;
  CallRun part(std::size_t index) const noexcept override;
  void load(std::size_t index) noexcept override;
  void unload(std::size_t index) noexcept override;
  std::size_t after(std::size_t index) const noexcept override;

  Side side(const BufferTraits& traits, const void* buffer, std::size_t count,
            std::ptrdiff_t offset, bool is_displaced, int rank) const;
  void provide_piece(Side& side) const;
  /// Whether the two may have bytes in common.
  bool may_touch(const Side& a, const Side& b) const;
  /// What is sent is taken as a whole before anything comes.
  void take_input_first();

  bool asks() const noexcept { return plans_.question != nullptr; }
  bool is_question(std::size_t index) const noexcept { return asks() && index == 0; }
  bool is_whole() const noexcept { return asks() && some_needs_pieces_ == 0; }
  std::size_t piece_of(std::size_t part) const noexcept { return part - (asks() ? 1 : 0); }
  CallRun question() const noexcept;
  /// Null if there is nothing.
  std::byte* data_of(const Side& side, std::size_t piece) const noexcept;

  Call call_;
  VectorElements elements_;
  Pieces pieces_;
  Plans plans_;
  CallArguments whole_;
  Side input_;
  Side output_;
  std::optional<Side> overlapping_input_;  // the user's; input_ is its copy:
  std::unique_ptr<std::byte[]> input_copy_;
  std::uint8_t needs_pieces_;
  mutable std::uint8_t some_needs_pieces_;  // what the question yields, until then what is known
                                            // here
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_LONG_MOVEMENT_H_
