#include "collectives/runs/long_broadcast.h"

#include <algorithm>
#include <utility>

#include "collectives/runs/arguments.h"
#include "collectives/runs/pieces.h"
#include "core/kernels/kernels.h"

namespace hycoll {

LongBroadcast::Pieces::Pieces(std::size_t size) noexcept : size_bytes(size) {
  // If nobody packs, one run takes their place, and leaves the numbers of all others unused.
  const std::size_t others = (size - 1) / kPieceBytes;
  count = 1 + (others + kNumberPeriod - 1) / kNumberPeriod * kNumberPeriod;
}

std::size_t LongBroadcast::Pieces::begin(std::size_t index) const noexcept {
  const std::size_t lines = (size_bytes + kCacheLineBytes - 1) / kCacheLineBytes;
  const std::size_t line = index * (lines / count) + std::min(index, lines % count);
  return std::min(line * kCacheLineBytes, size_bytes);
}

LongBroadcast::LongBroadcast(RunsOwner& owner, const Call& call, const PackedSignature& signature,
                             const VectorElements& elements, bool is_root, Plans plans)
    : CallRuns(owner, signature, nullptr),
      call_(call),
      elements_(elements),
      is_root_(is_root),
      plans_(std::move(plans)),
      pieces_(call.count * elements.element_bytes),
      packs_(elements.staging != nullptr ? 1 : 0),
      some_pack_(packs_) {
  if (packs_ != 0) packed_ = std::make_unique_for_overwrite<std::byte[]>(pieces_.length(0));
}

std::size_t LongBroadcast::part_count() const noexcept { return pieces_.count + (asks() ? 1 : 0); }

std::vector<const Plan*> LongBroadcast::plans_of_parts() const {
  std::vector<const Plan*> plans;
  for (const PlanPointer& piece : plans_.pieces) plans.push_back(piece.get());
  if (asks()) plans.push_back(plans_.question.get());
  if (plans_.whole != nullptr) plans.push_back(plans_.whole.get());
  return plans;
}

CallRun LongBroadcast::part(std::size_t index) const noexcept {
  if (is_question(index)) return question();
  std::byte* const buffer = static_cast<std::byte*>(call_.output);
  if (is_whole()) return movement(plans_.whole.get(), buffer);
  const std::size_t piece = piece_of(index);
  return movement(plans_.pieces[piece].get(),
                  packed_ != nullptr ? packed_.get() : buffer + pieces_.begin(piece));
}

CallRun LongBroadcast::question() const noexcept {
  const CallSignature signature{.count = 1,
                                .type_code = static_cast<std::uint8_t>(DataType::uint8),
                                .op_code = static_cast<std::uint8_t>(Operator::max)};
  return {.plan = plans_.question.get(),
          .arguments = {.input = &packs_,
                        .output = &some_pack_,
                        .type = DataType::uint8,
                        .op = Operator::max,
                        .reducer = {.kernel = reduce_kernel(Operator::max, DataType::uint8)},
                        .signature = signature.packed()}};
}

CallRun LongBroadcast::movement(const Plan* plan, std::byte* data) const noexcept {
  return {.plan = plan,
          .arguments = {.input = is_root_ ? data : nullptr,
                        .output = is_root_ ? nullptr : data,
                        .reducer = {},
                        .signature = movement_signature(plan->query).packed()}};
}

void LongBroadcast::load(std::size_t index) noexcept {
  if (packed_ == nullptr || !is_root_ || is_question(index)) return;
  const std::size_t piece = piece_of(index);
  elements_.staging->pack(call_.input, pieces_.begin(piece), pieces_.begin(piece + 1),
                          packed_.get());
}

void LongBroadcast::unload(std::size_t index) noexcept {
  if (packed_ == nullptr || is_root_ || is_question(index)) return;
  const std::size_t piece = piece_of(index);
  elements_.staging->unpack(packed_.get(), pieces_.begin(piece), pieces_.begin(piece + 1),
                            call_.output);
}

std::size_t LongBroadcast::after(std::size_t index) const noexcept {
  return !is_question(index) && is_whole() ? part_count() : index + 1;
}

}  // namespace hycoll
