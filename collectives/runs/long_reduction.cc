#include "collectives/runs/long_reduction.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "collectives/runs/pieces.h"
#include "core/base/collective_traits.h"

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

std::size_t LongReduction::element_count(const Call& call, int member_count) noexcept {
  if (!has_blocks(call.collective)) return call.count;
  if (call.block_counts.empty()) return call.count * static_cast<std::size_t>(member_count);
  return std::accumulate(call.block_counts.begin(), call.block_counts.end(), std::size_t{0});
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
      has_output_(buffers.output_count > 0) {
  const bool is_scattered = pieces_.blocks.size() > 1;
  if (reduction_.staging == nullptr && !is_scattered) return;
  input_ = std::make_unique_for_overwrite<std::byte[]>(pieces_.element_count(0) *
                                                       reduction.element_bytes);
  if (!is_scattered || !has_output_) return;  // reduced in place, in the copy
  output_ = std::make_unique_for_overwrite<std::byte[]>(pieces_.piece(own_block_, 0).count *
                                                        reduction.element_bytes);
}

std::vector<const Plan*> LongReduction::plans_of_parts() const {
  std::vector<const Plan*> plans;
  for (const Part& part : parts_) plans.push_back(part.plan.get());
  return plans;
}

CallRun LongReduction::part(std::size_t index) const noexcept {
  const auto begin = static_cast<std::ptrdiff_t>(index * pieces_.length);
  const void* const input = is_direct() ? reduction_.address_of(call_.input, begin) : input_.get();
  void* const output = is_direct() ? reduction_.address_of(call_.output, begin) : result();
  CallArguments arguments{.input = input,
                          .output = has_output_ ? output : nullptr,
                          .reducer = reduction_.reducer,
                          .signature = parts_[index].signature};
  return {.plan = parts_[index].plan.get(), .arguments = arguments};
}

void LongReduction::load(std::size_t index) noexcept {
  if (is_direct()) return;
  std::byte* next = input_.get();
  for (std::size_t block = 0; block < pieces_.blocks.size(); ++block) {
    const auto [begin, count] = pieces_.piece(block, index);
    const std::size_t size_bytes = count * reduction_.element_bytes;
    reduction_.pack(reduction_.address_of(call_.input, static_cast<std::ptrdiff_t>(begin)),
                    size_bytes, next);
    next += size_bytes;
  }
}

void LongReduction::unload(std::size_t index) noexcept {
  if (is_direct() || !has_output_) return;
  const auto begin = static_cast<std::ptrdiff_t>(index * pieces_.length);
  reduction_.unpack(result(), pieces_.piece(own_block_, index).count * reduction_.element_bytes,
                    reduction_.address_of(call_.output, begin));
}

}  // namespace hycoll
