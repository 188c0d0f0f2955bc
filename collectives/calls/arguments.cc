#include "collectives/calls/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

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
  if (call.block_counts.size() == static_cast<std::size_t>(member_count)) return;
  refuse(call, "block_counts has {} entries for {} members; give one count for each",
         call.block_counts.size(), member_count);
}

CallBuffers counts_of(const Call& call, int rank, int member_count) {
  const auto member = static_cast<std::size_t>(rank);
  CallBuffers buffers{.input_count = call.count, .output_count = call.count};
  switch (call.collective) {
    case Collective::allreduce:
    case Collective::scan:
      break;
    case Collective::reduce:
      if (rank != call.root) buffers.output_count = 0;
      break;
    case Collective::exscan:
      if (rank == 0) buffers.output_count = 0;
      break;
    case Collective::broadcast:
      (rank == call.root ? buffers.output_count : buffers.input_count) = 0;
      break;
    case Collective::reduce_scatter:
      if (call.block_counts.empty()) {
        if (call.count > SIZE_MAX / static_cast<std::size_t>(member_count)) {
          refuse(call, "block_count is {} for {} members, more than memory can have", call.count,
                 member_count);
        }
        buffers.input_count = call.count * static_cast<std::size_t>(member_count);
        buffers.block_begin = call.count * member;
        break;
      }
      buffers.input_count = 0;
      for (std::size_t m = 0; m < call.block_counts.size(); ++m) {
        if (m == member) buffers.block_begin = buffers.input_count;
        buffers.input_count += call.block_counts[m];
      }
      buffers.output_count = call.block_counts[member];
  }
  return buffers;
}

void check_null(const Call& call, const CallBuffers& buffers, std::size_t element_bytes) {
  const bool input_missing = call.input == nullptr && buffers.input_count > 0;
  const bool output_missing = call.output == nullptr && buffers.output_count > 0;
  if (!input_missing && !output_missing) return;
  const std::size_t count = input_missing ? buffers.input_count : buffers.output_count;
  const std::size_t size_bytes = count * element_bytes;
  if (call.collective == Collective::broadcast) {
    refuse(call, "buffer is null with count {}; pass a buffer of {} bytes", count, size_bytes);
  }
  refuse(call,
         "{} is null with count {}; pass a buffer of {} bytes, or the same address twice for in "
         "place",
         input_missing ? "input" : "output", count, size_bytes);
}

void check_overlap(const Call& call, CallBuffers& buffers, std::size_t element_bytes) {
  if (buffers.output_count == 0 || buffers.input_count == 0) return;
  const auto input = reinterpret_cast<std::uintptr_t>(call.input);
  const auto output = reinterpret_cast<std::uintptr_t>(call.output);
  const std::uintptr_t own_block = input + buffers.block_begin * element_bytes;
  buffers.in_place = input == output;
  if (output == own_block) return;
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

CallSignature broadcast_signature(std::size_t size_bytes, int root) {
  return {.count = size_bytes,
          .collective = Collective::broadcast,
          .detail = static_cast<std::uint32_t>(root)};
}

}  // namespace hycoll
