#ifndef HYCOLL_COLLECTIVES_RUNS_LONG_BROADCAST_H_
#define HYCOLL_COLLECTIVES_RUNS_LONG_BROADCAST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/api/call.h"
#include "collectives/elements/vector_elements.h"
#include "collectives/runs/call_runs.h"

namespace hycoll {

/// A broadcast of more than is packed at once: one of bytes after another if some member has to
/// pack, which the members find out first; else in one. Members that pack do so between the runs.
class LongBroadcast final : public CallRuns {
 public:
  struct Plans {
    PlanPointer question;  ///< Of the members' allreduce; null: they make pieces unasked.
    PlanPointer whole;     ///< Null on members that pack, and unasked.
    std::vector<PlanPointer> pieces;
  };

  /// The pieces of so many bytes: of kPieceBytes or less, and all but as long.
  struct Pieces {
    explicit Pieces(std::size_t size_bytes) noexcept;
    std::size_t begin(std::size_t index) const noexcept;
    std::size_t length(std::size_t index) const noexcept { return begin(index + 1) - begin(index); }

    std::size_t size_bytes;
    std::size_t count;
  };

  LongBroadcast(RunsOwner& owner, const Call& call, const PackedSignature& signature,
                const VectorElements& elements, bool is_root, Plans plans);

 private:
  std::size_t part_count() const noexcept override;
  std::vector<const Plan*> plans_of_parts() const override;
  CallRun part(std::size_t index) const noexcept override;
  void load(std::size_t index) noexcept override;
  void unload(std::size_t index) noexcept override;
  std::size_t after(std::size_t index) const noexcept override;

  bool asks() const noexcept { return plans_.question != nullptr; }
  bool is_question(std::size_t index) const noexcept { return asks() && index == 0; }
  bool is_whole() const noexcept { return asks() && some_pack_ == 0; }
  std::size_t piece_of(std::size_t part) const noexcept { return part - (asks() ? 1 : 0); }
  CallRun question() const noexcept;
  CallRun movement(const Plan* plan, std::byte* data) const noexcept;

  Call call_;
  VectorElements elements_;
  bool is_root_;
  Plans plans_;
  Pieces pieces_;
  std::unique_ptr<std::byte[]> packed_;  // null: the user's buffer holds the bytes themselves
  std::uint8_t packs_;
  mutable std::uint8_t some_pack_;  // what the question yields, until then what is known here
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_LONG_BROADCAST_H_
