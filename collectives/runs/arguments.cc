#include "collectives/runs/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

template <class... Arguments>
[[noreturn]] void refuse(const Call& call, fmt::format_string<Arguments...> text,
                         Arguments&&... arguments) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{}: {}", name_of(call.collective),
                          fmt::format(text, std::forward<Arguments>(arguments)...)));
}

void check_root(const Call& call, int member_count) {
  if (!has_root(call.collective)) return;
  if (call.root >= 0 && call.root < member_count) return;
  refuse(call, "root is {}, but the ranks are 0 to {}; pass one of them", call.root,
         member_count - 1);
}

void check_block_counts(const Call& call, int member_count) {
  if (call.block_counts.empty()) return;
  if (has_blocks(call.collective) && !combines(call.collective)) {
    refuse(call, "block_counts has {} entries, but all blocks are equal; pass count alone",
           call.block_counts.size());
  }
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
  const auto own = call.block_counts.begin() + rank;
  const std::size_t begin = std::accumulate(call.block_counts.begin(), own, std::size_t{0});
  return {.size = std::accumulate(own, call.block_counts.end(), begin),
          .block_begin = begin,
          .block_size = *own};
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

/// In place, what is only moved is where it belongs: the shorter buffer is the member's block of
/// the longer one.
void place_blocks(const Call& call, CallBuffers& buffers) {
  if (combines(call.collective) || call.input != call.output) return;
  if (buffers.input_count == 0 || buffers.output_count == 0) return;
  if (buffers.input_count < buffers.output_count) buffers.input_offset = buffers.input_begin;
  if (buffers.output_count < buffers.input_count) buffers.output_offset = buffers.output_begin;
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
    refuse(call, "{} has {} elements, but must have {} ({}); pass a container or view of that size",
           name, size, needed, need_of(call, buffer.extent, rank, member_count));
  };
  check("input", traits.input, call.input_size, buffers.input_count);
  // In place, the result may lie at the beginning of the one container.
  const bool is_begin = traits.output.extent == Extent::block && call.input == call.output;
  if (is_begin && call.input_size == call.output_size) return;
  check("output", traits.output, call.output_size, buffers.output_count);
}

void check_null(const Call& call, const CallBuffers& buffers, std::size_t element_bytes) {
  const bool input_missing = call.input == nullptr && buffers.input_count > 0;
  const bool output_missing = call.output == nullptr && buffers.output_count > 0;
  if (!input_missing && !output_missing) return;
  const std::size_t count = input_missing ? buffers.input_count : buffers.output_count;
  const std::size_t size_bytes = count * element_bytes;
  if (call.collective == Collective::broadcast) {  // which has one buffer
    refuse(call, "buffer is null with count {}; pass a buffer of {} bytes", count, size_bytes);
  }
  refuse(call,
         "{} is null with count {}; pass a buffer of {} bytes, or the same address twice for in "
         "place",
         input_missing ? "input" : "output", count, size_bytes);
}

void check_overlap(const Call& call, CallBuffers& buffers, std::size_t element_bytes) {
  if (buffers.output_count == 0 || buffers.input_count == 0) return;
  const auto input =
      reinterpret_cast<std::uintptr_t>(call.input) + buffers.input_offset * element_bytes;
  const auto output =
      reinterpret_cast<std::uintptr_t>(call.output) + buffers.output_offset * element_bytes;
  buffers.in_place = call.input == call.output;
  if (buffers.needs_own_output) return;
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
  refuse(call,
         "input and output overlap: the input has {} bytes, and the output, of {} bytes, begins {} "
         "bytes {} it; pass separate buffers, or the same address for in place",
         buffers.input_count * element_bytes, buffers.output_count * element_bytes,
         output > input ? output - input : input - output, output > input ? "after" : "before");
}

}  // namespace

CallBuffers check_buffers(const Call& call, const VectorElements& elements, int rank,
                          int member_count) {
  check_root(call, member_count);
  check_block_counts(call, member_count);
  CallBuffers buffers = counts_of(call, rank, member_count);
  place_blocks(call, buffers);
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
  check_overlap(call, buffers, element_bytes);
  return buffers;
}

CallSignature movement_signature(const Call& call, std::size_t size_bytes) {
  const int root = has_root(call.collective) ? call.root : 0;
  return {.count = size_bytes,
          .collective = call.collective,
          .detail = static_cast<std::uint32_t>(root)};
}

}  // namespace hycoll
