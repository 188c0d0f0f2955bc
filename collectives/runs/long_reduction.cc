#include "collectives/runs/long_reduction.h"

#include <algorithm>
#include <utility>

#include "collectives/elements/type_map.h"
#include "collectives/runs/pieces.h"

namespace hycoll {

LongReduction::Block LongReduction::Pieces::piece(std::size_t block,
                                                  std::size_t index) const noexcept {
  const std::size_t begin = std::min(index * length, blocks[block].count);
  return {.begin = blocks[block].begin + begin,
          .count = std::min(length, blocks[block].count - begin)};
}

std::size_t LongReduction::Pieces::element_count(std::size_t index) const noexcept {
  std::size_t elements = 0;
  for (std::size_t block = 0; block < blocks.size(); ++block) elements += piece(block, index).count;
  return elements;
}

Call LongReduction::Pieces::call_of(const Call& whole, std::size_t index,
                                    std::vector<std::size_t>& block_counts) const {
  Call call = whole;
  if (whole.block_counts.empty()) {
    call.count = piece(0, index).count;  // of every block
    return call;
  }
  block_counts.clear();
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    block_counts.push_back(piece(block, index).count);
  }
  call.block_counts = block_counts;
  return call;
}

LongReduction::Pieces LongReduction::cut(const Call& call, std::size_t element_bytes,
                                         int member_count) {
  Pieces pieces;
  const bool is_scattered = call.collective == Collective::reduce_scatter;
  const std::size_t block_count = is_scattered ? static_cast<std::size_t>(member_count) : 1;
  std::size_t begin = 0;
  std::size_t longest = 0;
  for (std::size_t block = 0; block < block_count; ++block) {
    const std::size_t count = call.block_counts.empty() ? call.count : call.block_counts[block];
    pieces.blocks.push_back({.begin = begin, .count = count});
    begin += count;
    longest = std::max(longest, count);
  }
  pieces.length = std::max<std::size_t>(1, kPieceBytes / element_bytes / block_count);
  pieces.count = (longest + pieces.length - 1) / pieces.length;
  return pieces;
}

LongReduction::LongReduction(RunsOwner& owner, const Call& call, const PackedSignature& signature,
                             const Reduction& reduction, const CallBuffers& buffers, Pieces pieces,
                             std::vector<Part> parts, std::size_t own_block, const Plan* agreement)
    : CallRuns(owner, signature, agreement),
      call_(call),
      reduction_(reduction),
      pieces_(std::move(pieces)),
      parts_(std::move(parts)),
      own_block_(own_block),
      has_output_(buffers.output_count > 0),
      input_(std::make_unique_for_overwrite<std::byte[]>(pieces_.element_count(0) *
                                                         reduction.element_bytes)) {
  if (pieces_.blocks.size() == 1 || !has_output_) return;  // reduced in place, in the copy
  output_ = std::make_unique_for_overwrite<std::byte[]>(pieces_.piece(own_block_, 0).count *
                                                        reduction.element_bytes);
}

std::vector<const Plan*> LongReduction::plans_of_parts() const {
  std::vector<const Plan*> plans;
  for (const Part& part : parts_) plans.push_back(part.plan.get());
  return plans;
}

CallRun LongReduction::part(std::size_t index) const noexcept {
  CallArguments arguments{.input = input_.get(),
                          .output = has_output_ ? result() : nullptr,
                          .reducer = reduction_.reducer,
                          .signature = parts_[index].signature};
  return {.plan = parts_[index].plan.get(), .arguments = arguments};
}

void LongReduction::load(std::size_t index) noexcept {
  const TypedStaging& staging = *reduction_.staging;
  std::size_t loaded = 0;
  for (std::size_t block = 0; block < pieces_.blocks.size(); ++block) {
    const auto [begin, count] = pieces_.piece(block, index);
    const std::ptrdiff_t displacement =
        (static_cast<std::ptrdiff_t>(begin) - static_cast<std::ptrdiff_t>(loaded)) *
        staging.extent_bytes();
    staging.copy_in(displaced(static_cast<const std::byte*>(call_.input), displacement),
                    input_.get(), loaded, count);
    loaded += count;
  }
}

void LongReduction::unload(std::size_t index) noexcept {
  if (!has_output_) return;
  const TypedStaging& staging = *reduction_.staging;
  const std::ptrdiff_t displacement =
      static_cast<std::ptrdiff_t>(index * pieces_.length) * staging.extent_bytes();
  staging.copy_out(result(), displaced(static_cast<std::byte*>(call_.output), displacement), 0,
                   pieces_.piece(own_block_, index).count);
}

}  // namespace hycoll
