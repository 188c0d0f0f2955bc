#include "collectives/runs/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

template <class... Arguments>
std::string complaint(const Call& call, fmt::format_string<Arguments...> text,
                      Arguments&&... arguments) {
  return fmt::format("{}: {}", name_of(call.collective),
                     fmt::format(text, std::forward<Arguments>(arguments)...));
}

template <class... Arguments>
[[noreturn]] void refuse(const Call& call, fmt::format_string<Arguments...> text,
                         Arguments&&... arguments) {
  throw Error(ErrorKind::invalid_argument,
              complaint(call, text, std::forward<Arguments>(arguments)...));
}

template <class... Arguments>
[[noreturn]] void refuse_buffer(const Call& call, fmt::format_string<Arguments...> text,
                                Arguments&&... arguments) {
  throw BufferError(complaint(call, text, std::forward<Arguments>(arguments)...));
}

void check_root(const Call& call, int member_count) {
  if (!has_root(call.collective)) return;
  if (call.root >= 0 && call.root < member_count) return;
  throw RootError(complaint(call, "root is {}, but the ranks are 0 to {}; pass one of them",
                            call.root, member_count - 1));
}

void check_block_counts(const Call& call, int member_count) {
  if (call.block_counts.empty()) return;
  if (call.block_counts.size() == static_cast<std::size_t>(member_count)) return;
  refuse(call, "block_counts has {} entries for {} members; give one count for each",
         call.block_counts.size(), member_count);
}

/// The vector that a call is about, and the member's block in it, in elements.
struct CallVector {
  std::size_t size;
  std::size_t block_begin = 0;
  std::size_t block_size = 0;
};

CallVector vector_of(const Call& call, int rank, int member_count) {
  if (!has_blocks(call.collective)) return {.size = call.count};
  if (call.block_counts.empty()) {
    const auto members = static_cast<std::size_t>(member_count);
    if (call.count > SIZE_MAX / members) {
      refuse(call, "block_count is {} for {} members, more than memory can have", call.count,
             member_count);
    }
    return {.size = call.count * members,
            .block_begin = call.count * static_cast<std::size_t>(rank),
            .block_size = call.count};
  }
  CallVector vector{.size = 0, .block_size = call.block_counts[static_cast<std::size_t>(rank)]};
  for (std::size_t member = 0; member < call.block_counts.size(); ++member) {
    if (member == static_cast<std::size_t>(rank)) vector.block_begin = vector.size;
    const std::size_t count = call.block_counts[member];
    if (count > SIZE_MAX - vector.size) {
      refuse(call, "block_counts[{}] is {}, and {} before it: more than memory can have", member,
             count, vector.size);
    }
    vector.size += count;
  }
  return vector;
}

CallBuffers counts_of(const Call& call, int rank, int member_count) {
  const CollectiveTraits traits = traits_of(call.collective);
  const CallVector vector = vector_of(call, rank, member_count);
  const auto count_of = [&](const BufferTraits& buffers) -> std::size_t {
    if (!buffers.are_held_by(rank, call.root)) return 0;
    return buffers.extent == Extent::block ? vector.block_size : vector.size;
  };
  const auto begin_of = [&](const BufferTraits& buffers) -> std::size_t {
    return buffers.extent == Extent::block ? vector.block_begin : 0;
  };
  return {.input_count = count_of(traits.input),
          .output_count = count_of(traits.output),
          .input_begin = begin_of(traits.input),
          .output_begin = begin_of(traits.output)};
}

/// Of a member's buffer of all blocks, one.
struct PlacedBlock {
  std::size_t member;
  std::ptrdiff_t begin;
  std::ptrdiff_t end;
};

/// Those that have elements, as they lie in memory.
std::vector<PlacedBlock> placed_blocks(const Call& call) {
  constexpr std::ptrdiff_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
  std::vector<PlacedBlock> blocks;
  for (std::size_t member = 0; member < call.block_counts.size(); ++member) {
    const std::size_t count = call.block_counts[member];
    const std::ptrdiff_t begin = call.displacements[member];
    if (count == 0) continue;
    if (count > static_cast<std::size_t>(kMost) ||
        begin > kMost - static_cast<std::ptrdiff_t>(count)) {
      refuse(call,
             "displacements[{}] is {} with block_counts[{}] = {}, beyond what memory can have",
             member, begin, member, count);
    }
    blocks.push_back(
        {.member = member, .begin = begin, .end = begin + static_cast<std::ptrdiff_t>(count)});
  }
  if (!std::ranges::is_sorted(blocks, {}, &PlacedBlock::begin)) {
    std::ranges::sort(blocks, {}, &PlacedBlock::begin);
  }
  return blocks;
}

void check_apart(const Call& call, std::span<const PlacedBlock> blocks) {
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    const PlacedBlock& block = blocks[i];
    const PlacedBlock& before = blocks[i - 1];
    if (before.end <= block.begin) continue;
    refuse_buffer(
        call,
        "the blocks of ranks {} and {} overlap in the output: displacements[{}] is {} with "
        "block_counts[{}] = {}, and displacements[{}] is {}; keep the blocks of a result apart",
        before.member, block.member, before.member, before.begin, before.member,
        before.end - before.begin, block.member, block.begin);
  }
}

/// Of the addresses of blocks, the furthest.
void check_reach(const Call& call, std::span<const PlacedBlock> blocks,
                 std::ptrdiff_t extent_bytes) {
  if (extent_bytes == 0) return;
  const std::ptrdiff_t reach =
      std::numeric_limits<std::ptrdiff_t>::max() / std::max(extent_bytes, -extent_bytes);
  for (const PlacedBlock& block : blocks) {
    if (block.begin >= -reach && block.end <= reach) continue;
    refuse(call, "displacements[{}] is {} elements of {} bytes, beyond what memory can have",
           block.member, block.begin, extent_bytes);
  }
}

/// Whether the blocks follow each other from the buffer's address on.
bool follow_each_other(const Call& call) {
  std::size_t begin = 0;
  for (std::size_t member = 0; member < call.block_counts.size(); ++member) {
    const std::size_t count = call.block_counts[member];
    if (count > 0 && call.displacements[member] != static_cast<std::ptrdiff_t>(begin)) return false;
    begin += count;
  }
  return true;
}

/// Whether the member has a buffer of all blocks, whose displacements count.
bool has_all_blocks(const Call& call, int rank) {
  const CollectiveTraits traits = traits_of(call.collective);
  const BufferTraits& all = traits.input.extent == Extent::block ? traits.output : traits.input;
  return all.are_held_by(rank, call.root);
}

/// Whether what has all blocks has them at other places than one after the other.
bool is_displaced(const Call& call, const VectorElements& elements, int rank,
                  Options::Overlaps overlaps) {
  if (call.displacements.empty()) return false;
  if (combines(call.collective) || !has_blocks(call.collective) || call.block_counts.empty()) {
    refuse(call,
           "displacements has {} entries, but only unequal blocks that are moved have any; "
           "leave them out",
           call.displacements.size());
  }
  if (!has_all_blocks(call, rank)) return false;
  if (call.displacements.size() != call.block_counts.size()) {
    refuse(call, "displacements has {} entries for {} members; give one for each",
           call.displacements.size(), call.block_counts.size());
  }
  if (follow_each_other(call)) return false;
  const std::vector<PlacedBlock> blocks = placed_blocks(call);
  check_reach(call, blocks, elements.extent_bytes());
  const bool is_result = traits_of(call.collective).output.extent == Extent::vector;
  if (is_result && overlaps == Options::Overlaps::refused) check_apart(call, blocks);
  return true;
}

/// In place, what is only moved is where it belongs: what is one block is the member's of the
/// buffer of all blocks.
void place_blocks(const Call& call, int rank, CallBuffers& buffers) {
  if (combines(call.collective) || call.input != call.output) return;
  if (buffers.input_count == 0 || buffers.output_count == 0) return;
  const auto place_of = [&](std::size_t begin) {
    return buffers.is_displaced ? call.displacements[static_cast<std::size_t>(rank)]
                                : static_cast<std::ptrdiff_t>(begin);
  };
  const CollectiveTraits traits = traits_of(call.collective);
  if (traits.input.extent == Extent::block) buffers.input_offset = place_of(buffers.input_begin);
  if (traits.output.extent == Extent::block) buffers.output_offset = place_of(buffers.output_begin);
}

/// Why a container must have as many elements as it must.
std::string need_of(const Call& call, Extent extent, int rank, int member_count) {
  if (!has_blocks(call.collective)) return "as many as the input has";
  if (call.block_counts.empty()) {
    if (has_pairs(call.collective)) {
      return fmt::format("{} members have blocks of block_count = {}", member_count, call.count);
    }
    const bool is_output = traits_of(call.collective).output.extent == Extent::block;
    return fmt::format("{} members have blocks of {}, the size of the {}", member_count, call.count,
                       is_output ? "output" : "input");
  }
  return extent == Extent::block ? fmt::format("block_counts[{}]", rank)
                                 : "the sum of block_counts";
}

/// Of the containers that the call was made from.
void check_sizes(const Call& call, const CallBuffers& buffers, int rank, int member_count) {
  const CollectiveTraits traits = traits_of(call.collective);
  const auto check = [&](std::string_view name, const BufferTraits& buffer, std::size_t size,
                         std::size_t needed) {
    const bool is_known = size != Call::kUnknownSize && buffer.are_held_by(rank, call.root);
    if (!is_known || size == needed) return;
    throw SizeError(complaint(
        call, "{} has {} elements, but must have {} ({}); pass a container or view of that size",
        name, size, needed, need_of(call, buffer.extent, rank, member_count)));
  };
  check("input", traits.input, call.input_size, buffers.input_count);
  // In place, the result may lie at the beginning of the one container.
  const bool is_begin = traits.output.extent == Extent::block && call.input == call.output;
  if (is_begin && call.input_size == call.output_size) return;
  check("output", traits.output, call.output_size, buffers.output_count);
}

/// Whether elements are at a null address. Blocks lie where the displacements say, from any
/// address.
bool is_missing(const Call& call, const CallBuffers& buffers, const BufferTraits& traits,
                const void* buffer, std::size_t element_bytes) {
  if (!buffers.is_displaced || traits.extent == Extent::block) return buffer == nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  for (std::size_t member = 0; member < call.block_counts.size(); ++member) {
    const auto place = static_cast<std::uintptr_t>(call.displacements[member]);
    if (call.block_counts[member] > 0 && begin + place * element_bytes == 0) return true;
  }
  return false;
}

void check_null(const Call& call, const CallBuffers& buffers, std::size_t element_bytes) {
  const CollectiveTraits traits = traits_of(call.collective);
  const bool input_missing =
      buffers.input_count > 0 && is_missing(call, buffers, traits.input, call.input, element_bytes);
  const bool output_missing = buffers.output_count > 0 &&
                              is_missing(call, buffers, traits.output, call.output, element_bytes);
  if (!input_missing && !output_missing) return;
  const std::size_t count = input_missing ? buffers.input_count : buffers.output_count;
  const std::size_t size_bytes = count * element_bytes;
  if (call.collective == Collective::broadcast) {  // which has one buffer
    refuse_buffer(call, "buffer is null with count {}; pass a buffer of {} bytes", count,
                  size_bytes);
  }
  refuse_buffer(
      call,
      "{} is null with count {}; pass a buffer of {} bytes, or the same address twice for in "
      "place",
      input_missing ? "input" : "output", count, size_bytes);
}

void check_overlap(const Call& call, CallBuffers& buffers, std::size_t element_bytes,
                   Options::Overlaps overlaps) {
  if (buffers.output_count == 0 || buffers.input_count == 0) return;
  buffers.in_place = call.input == call.output;
  // Of what is displaced a copy is used.
  if (buffers.needs_own_output || buffers.is_displaced) return;
  const auto input = reinterpret_cast<std::uintptr_t>(call.input) +
                     static_cast<std::size_t>(buffers.input_offset) * element_bytes;
  const auto output = reinterpret_cast<std::uintptr_t>(call.output) +
                      static_cast<std::size_t>(buffers.output_offset) * element_bytes;
  const bool has_same_elements =
      input + buffers.output_begin * element_bytes == output + buffers.input_begin * element_bytes;
  if (has_same_elements) return;
  if (buffers.in_place) {
    buffers.needs_own_output = true;
    return;
  }
  const bool apart = output + buffers.output_count * element_bytes <= input ||
                     input + buffers.input_count * element_bytes <= output;
  if (apart) return;
  if (overlaps == Options::Overlaps::unspecified) {
    buffers.needs_own_output = true;
    return;
  }
  refuse_buffer(
      call,
      "input and output overlap: the input has {} bytes, and the output, of {} bytes, begins {} "
      "bytes {} it; pass separate buffers, or the same address for in place",
      buffers.input_count * element_bytes, buffers.output_count * element_bytes,
      output > input ? output - input : input - output, output > input ? "after" : "before");
}

}  // namespace

CallBuffers check_buffers(const Call& call, const VectorElements& elements, int rank,
                          int member_count, Options::Overlaps overlaps) {
  check_root(call, member_count);
  check_block_counts(call, member_count);
  CallBuffers buffers = counts_of(call, rank, member_count);
  buffers.is_displaced = is_displaced(call, elements, rank, overlaps);
  place_blocks(call, rank, buffers);
  // What is sent must not be replaced by what comes.
  buffers.needs_own_output =
      has_pairs(call.collective) && (call.input == call.output || elements.staging != nullptr);
  check_sizes(call, buffers, rank, member_count);
  const std::size_t element_bytes = std::max<std::size_t>(elements.element_bytes, 1);
  const std::size_t most = std::max(buffers.input_count, buffers.output_count);
  if (most > std::numeric_limits<std::ptrdiff_t>::max() / element_bytes) {
    refuse(call, "count is {} elements of {} bytes, more than memory can have", most,
           element_bytes);
  }
  // A datatype may hold addresses itself (MPI_BOTTOM).
  if (elements.staging != nullptr) return buffers;
  check_null(call, buffers, element_bytes);
  check_overlap(call, buffers, element_bytes, overlaps);
  return buffers;
}

CallSignature movement_signature(const PlanQuery& query) {
  return {.count = query.extent.count,
          .collective = query.collective,
          .detail = CallSignature::detail_of(query.extent.block_counts, query.root)};
}

}  // namespace hycoll
