#include "collectives/runs/long_movement.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "collectives/runs/pieces.h"
#include "core/kernels/kernels.h"

namespace hycoll {
namespace {

/// The elements of a block.
std::size_t count_of(const Call& call, std::size_t block) noexcept {
  return call.block_counts.empty() ? call.count : call.block_counts[block];
}

std::size_t block_count_of(const Call& call, int member_count) noexcept {
  return has_blocks(call.collective) ? static_cast<std::size_t>(member_count) : 1;
}

}  // namespace

LongMovement::Pieces::Pieces(std::vector<std::size_t> block_bytes) noexcept
    : block_bytes_(std::move(block_bytes)) {
  const std::size_t size_bytes =
      std::accumulate(block_bytes_.begin(), block_bytes_.end(), std::size_t{0});
  // If nobody needs them, one run takes their place, and leaves the numbers of all others unused.
  const std::size_t others = (std::max<std::size_t>(size_bytes, 1) - 1) / kPieceBytes;
  count_ += (others + kNumberPeriod - 1) / kNumberPeriod * kNumberPeriod;
}

std::size_t LongMovement::Pieces::begin(std::size_t block, std::size_t piece) const noexcept {
  const std::size_t lines = (block_bytes_[block] + kCacheLineBytes - 1) / kCacheLineBytes;
  const std::size_t line = piece * (lines / count_) + std::min(piece, lines % count_);
  return std::min(line * kCacheLineBytes, block_bytes_[block]);
}

bool LongMovement::Pieces::have_data() const noexcept {
  for (std::size_t block = 0; block < block_count(); ++block) {
    if (length(block, count_ - 1) > 0) return true;
  }
  return false;
}

bool LongMovement::is_long(const Call& call, std::size_t element_bytes, int member_count) noexcept {
  if (element_bytes == 0) return false;
  std::size_t left = kPieceBytes / element_bytes;
  if (!has_blocks(call.collective) || call.block_counts.empty()) {
    return call.count > left / block_count_of(call, member_count);
  }
  for (const std::size_t count : call.block_counts) {
    if (count > left) return true;
    left -= count;
  }
  return false;
}

std::vector<std::size_t> LongMovement::blocks_of(const Call& call, std::size_t element_bytes,
                                                 int member_count) {
  std::vector<std::size_t> bytes(block_count_of(call, member_count));
  for (std::size_t block = 0; block < bytes.size(); ++block) {
    bytes[block] = count_of(call, block) * element_bytes;
  }
  return bytes;
}

LongMovement::LongMovement(RunsOwner& owner, const Call& call, const PackedSignature& signature,
                           const VectorElements& elements, const CallBuffers& buffers, int rank,
                           Pieces pieces, Plans plans, const CallArguments& whole)
    : CallRuns(owner, signature, nullptr),
      call_(call),
      elements_(elements),
      pieces_(std::move(pieces)),
      plans_(std::move(plans)),
      whole_(whole),
      needs_pieces_(needs_pieces(elements, buffers) ? 1 : 0),
      some_needs_pieces_(needs_pieces_) {
  const CollectiveTraits traits = traits_of(call.collective);
  input_ = side(traits.input, call.input, buffers.input_count, buffers.input_offset,
                buffers.is_displaced, rank);
  output_ = side(traits.output, call.output, buffers.output_count, buffers.output_offset,
                 buffers.is_displaced, rank);
  // In place, a slice is where it comes to, or is gone when another one comes there.
  if (call.input != call.output && may_touch(input_, output_)) take_input_first();
  provide_piece(input_);
  provide_piece(output_);
}

LongMovement::Side LongMovement::side(const BufferTraits& traits, const void* buffer,
                                      std::size_t count, std::ptrdiff_t offset, bool is_displaced,
                                      int rank) const {
  Side side{.staging = elements_.staging.get(), .places = {}, .piece = nullptr};
  if (count == 0) return side;
  // What is written to has come without const.
  auto* const begin = static_cast<std::byte*>(const_cast<void*>(buffer));
  const auto add = [&](std::size_t block, std::ptrdiff_t element) {
    side.places.push_back({.block = block, .address = begin + element * elements_.extent_bytes()});
  };
  if (traits.extent == Extent::block) {
    add(static_cast<std::size_t>(rank), offset);
    return side;
  }
  std::ptrdiff_t next = 0;
  for (std::size_t block = 0; block < pieces_.block_count(); ++block) {
    if (pieces_.block_bytes(block) == 0) continue;
    add(block, is_displaced ? call_.displacements[block] : next);
    next += static_cast<std::ptrdiff_t>(count_of(call_, block));
  }
  return side;
}

void LongMovement::provide_piece(Side& side) const {
  if (side.places.empty() || (side.staging == nullptr && side.places.size() == 1)) return;
  std::size_t size_bytes = 0;
  for (const Place& place : side.places) size_bytes += pieces_.length(place.block, 0);
  side.piece = std::make_unique_for_overwrite<std::byte[]>(size_bytes);
}

bool LongMovement::may_touch(const Side& a, const Side& b) const {
  struct Range {
    std::uintptr_t begin = UINTPTR_MAX;
    std::uintptr_t end = 0;
  };
  const auto range_of = [&](const Side& side) {
    Range range;
    for (const auto& [block, address] : side.places) {
      auto begin = reinterpret_cast<std::uintptr_t>(address);
      std::size_t size_bytes = pieces_.block_bytes(block);
      if (side.staging != nullptr) {
        const TypedStaging::UserSpan span =
            side.staging->user_span(size_bytes / elements_.element_bytes);
        begin -= static_cast<std::uintptr_t>(span.origin_bytes);
        size_bytes = span.size_bytes;
      }
      range.begin = std::min(range.begin, begin);
      range.end = std::max(range.end, begin + size_bytes);
    }
    return range;
  };
  const Range first = range_of(a);
  const Range second = range_of(b);
  return first.begin < second.end && second.begin < first.end;
}

void LongMovement::take_input_first() {
  std::size_t size_bytes = 0;
  for (const Place& place : input_.places) size_bytes += pieces_.block_bytes(place.block);
  input_copy_ = std::make_unique_for_overwrite<std::byte[]>(size_bytes);
  Side copy;
  std::byte* next = input_copy_.get();
  for (const Place& place : input_.places) {
    copy.places.push_back({.block = place.block, .address = next});
    next += pieces_.block_bytes(place.block);
  }
  overlapping_input_ = std::exchange(input_, std::move(copy));
}

void LongMovement::Side::pack(const Place& place, std::size_t begin, std::size_t end,
                              std::byte* packed) const {
  if (staging != nullptr) return staging->pack(place.address, begin, end, packed);
  if (end > begin) std::memcpy(packed, place.address + begin, end - begin);
}

void LongMovement::Side::unpack(const Place& place, std::size_t begin, std::size_t end,
                                const std::byte* packed) const {
  if (staging != nullptr) return staging->unpack(packed, begin, end, place.address);
  if (end > begin) std::memcpy(place.address + begin, packed, end - begin);
}

std::size_t LongMovement::part_count() const noexcept { return pieces_.count() + (asks() ? 1 : 0); }

std::vector<const Plan*> LongMovement::plans_of_parts() const {
  std::vector<const Plan*> plans;
  for (const PlanPointer& piece : plans_.pieces) plans.push_back(piece.get());
  if (asks()) plans.push_back(plans_.question.get());
  if (plans_.whole.get() != nullptr) plans.push_back(plans_.whole.get());
  return plans;
}

CallRun LongMovement::part(std::size_t index) const noexcept {
  if (is_question(index)) return question();
  if (is_whole()) return {.plan = plans_.whole.get(), .arguments = whole_};
  const std::size_t piece = piece_of(index);
  const Plan* const plan = plans_.pieces[piece].get();
  return {.plan = plan,
          .arguments = {.input = data_of(input_, piece),
                        .output = data_of(output_, piece),
                        .reducer = {},
                        .signature = movement_signature(plan->query).packed()}};
}

CallRun LongMovement::question() const noexcept {
  const CallSignature signature{.count = 1,
                                .type_code = static_cast<std::uint8_t>(DataType::uint8),
                                .op_code = static_cast<std::uint8_t>(Operator::max)};
  return {.plan = plans_.question.get(),
          .arguments = {.input = &needs_pieces_,
                        .output = &some_needs_pieces_,
                        .type = DataType::uint8,
                        .op = Operator::max,
                        .reducer = {.kernel = reduce_kernel(Operator::max, DataType::uint8)},
                        .signature = signature.packed()}};
}

std::byte* LongMovement::data_of(const Side& side, std::size_t piece) const noexcept {
  if (side.piece != nullptr) return side.piece.get();
  if (side.places.empty()) return nullptr;
  const auto& [block, address] = side.places.front();
  return pieces_.length(block, piece) > 0 ? address + pieces_.begin(block, piece) : nullptr;
}

void LongMovement::load(std::size_t index) noexcept {
  if (is_question(index) || is_whole()) return;
  const std::size_t piece = piece_of(index);
  if (piece == 0 && overlapping_input_) {
    for (std::size_t i = 0; i < input_.places.size(); ++i) {
      const Place& place = overlapping_input_->places[i];
      overlapping_input_->pack(place, 0, pieces_.block_bytes(place.block),
                               input_.places[i].address);
    }
  }
  if (input_.piece == nullptr) return;
  std::byte* next = input_.piece.get();
  for (const Place& place : input_.places) {
    const std::size_t begin = pieces_.begin(place.block, piece);
    const std::size_t end = pieces_.begin(place.block, piece + 1);
    input_.pack(place, begin, end, next);
    next += end - begin;
  }
}

void LongMovement::unload(std::size_t index) noexcept {
  if (is_question(index) || is_whole() || output_.piece == nullptr) return;
  const std::size_t piece = piece_of(index);
  const std::byte* next = output_.piece.get();
  for (const Place& place : output_.places) {
    const std::size_t begin = pieces_.begin(place.block, piece);
    const std::size_t end = pieces_.begin(place.block, piece + 1);
    output_.unpack(place, begin, end, next);
    next += end - begin;
  }
}

std::size_t LongMovement::after(std::size_t index) const noexcept {
  return !is_question(index) && is_whole() ? part_count() : index + 1;
}

}  // namespace hycoll
