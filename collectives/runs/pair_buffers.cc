#include "collectives/runs/pair_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr std::string_view kName = "alltoall";
constexpr std::size_t kMostBytes = std::numeric_limits<std::ptrdiff_t>::max();

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("{}: {}", kName, fmt::format(text, std::forward<Arguments>(arguments)...)));
}

void check_entries(std::string_view name, std::size_t entries, std::size_t member_count) {
  if (entries == member_count) return;
  refuse("{} has {} entries for {} members; give one for each", name, entries, member_count);
}

std::uintptr_t number_of(const std::byte* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

/// What a call says about one of its two buffers.
struct PairBuffers::Side {
  std::string_view buffer_name;
  std::string_view counts_name;
  std::string_view displacements_name;
  std::string_view types_name;
  std::byte* buffer;
  std::size_t size;  // in elements, of the container
  std::span<const std::size_t> counts;
  std::span<const std::ptrdiff_t> displacements;
  std::span<const ElementType> types;
  ElementType type;
  std::size_t member_count;

  void check() const {
    check_entries(counts_name, counts.size(), member_count);
    if (!displacements.empty()) {
      check_entries(displacements_name, displacements.size(), member_count);
    }
    if (!types.empty()) {
      check_entries(types_name, types.size(), member_count);
      check_entries(displacements_name, displacements.size(), member_count);
    }
    if (size == Call::kUnknownSize) return;
    const std::size_t needed = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    if (size == needed) return;
    refuse("{} has {} elements, but must have {} (the sum of {}); pass a container or view of that "
           "size",
           buffer_name, size, needed, counts_name);
  }

  /// In bytes; those of types of their own are given like that.
  std::ptrdiff_t offset_of(std::size_t member, std::ptrdiff_t elements_before,
                           const VectorElements& elements) const {
    if (!types.empty()) return displacements[member];
    const std::ptrdiff_t displacement =
        displacements.empty() ? elements_before : displacements[member];
    std::ptrdiff_t bytes = 0;
    if (__builtin_mul_overflow(displacement, elements.extent_bytes(), &bytes)) {
      refuse("{}[{}] is {} elements of {} bytes, beyond what memory can have", displacements_name,
             member, displacement, elements.extent_bytes());
    }
    return bytes;
  }
};

std::vector<PairBuffers::UserBlock> PairBuffers::user_blocks(const Side& side) {
  side.check();
  std::vector<UserBlock> blocks(side.member_count);
  std::map<std::uint64_t, VectorElements> known;  // types' elements, by handle
  const auto elements_of = [&](const ElementType& type) -> const VectorElements& {
    std::uint64_t handle = 0;
    const MPI_Datatype of_mpi = type.handle();
    static_assert(sizeof(of_mpi) <= sizeof(handle));
    std::memcpy(&handle, &of_mpi, sizeof(of_mpi));
    const auto found = known.find(handle);
    if (found != known.end()) return found->second;
    return known.emplace(handle, moved_elements(type, kName)).first->second;
  };
  std::ptrdiff_t elements_before = 0;
  std::size_t bytes_before = 0;
  for (std::size_t member = 0; member < side.member_count; ++member) {
    const std::size_t count = side.counts[member];
    // MPI looks at no type of a block without elements.
    if (count == 0) continue;
    const VectorElements& elements = elements_of(side.types.empty() ? side.type : side.types[member]);
    UserBlock& block = blocks[member];
    if (__builtin_mul_overflow(count, elements.element_bytes, &block.size_bytes) ||
        block.size_bytes > kMostBytes - bytes_before) {
      refuse("{}[{}] is {} elements of {} bytes, with {} bytes before: more than memory can have",
             side.counts_name, member, count, elements.element_bytes, bytes_before);
    }
    bytes_before += block.size_bytes;
    const std::ptrdiff_t offset = side.offset_of(member, elements_before, elements);
    elements_before += static_cast<std::ptrdiff_t>(count);
    block.address = side.buffer + offset;
    block.staging = elements.staging;
    // A datatype may hold addresses itself (MPI_BOTTOM).
    if (block.staging == nullptr && block.size_bytes > 0 && block.address == nullptr) {
      refuse("{} is null with {}[{}] = {}; pass a buffer, or the same address twice for in place",
             side.buffer_name, side.counts_name, member, count);
    }
  }
  return blocks;
}

void PairBuffers::check_apart(const std::vector<UserBlock>& blocks) {
  std::vector<std::size_t> by_address;
  for (std::size_t member = 0; member < blocks.size(); ++member) {
    // Elements with gaps may interleave.
    if (blocks[member].size_bytes > 0 && blocks[member].staging == nullptr) {
      by_address.push_back(member);
    }
  }
  const auto begin_of = [&](std::size_t member) { return number_of(blocks[member].address); };
  if (!std::ranges::is_sorted(by_address, {}, begin_of)) {
    std::ranges::sort(by_address, {}, begin_of);
  }
  for (std::size_t i = 1; i < by_address.size(); ++i) {
    const std::size_t before = by_address[i - 1];
    const std::size_t member = by_address[i];
    const std::uintptr_t distance = begin_of(member) - begin_of(before);
    if (distance >= blocks[before].size_bytes) continue;
    refuse("the blocks of ranks {} and {} overlap in the output: the former has {} bytes, and the "
           "latter begins {} bytes behind it (received_displacements); keep the blocks of a result "
           "apart",
           before, member, blocks[before].size_bytes, distance);
  }
}

bool PairBuffers::may_touch(const std::vector<UserBlock>& row,
                            const std::vector<UserBlock>& column) {
  struct Range {
    std::uintptr_t begin = UINTPTR_MAX;
    std::uintptr_t end = 0;
  };
  const auto range_of = [](const std::vector<UserBlock>& blocks) {
    Range range;
    for (const UserBlock& block : blocks) {
      if (block.size_bytes == 0 || block.staging != nullptr) continue;
      range.begin = std::min(range.begin, number_of(block.address));
      range.end = std::max(range.end, number_of(block.address) + block.size_bytes);
    }
    return range;
  };
  const Range sent = range_of(row);
  const Range received = range_of(column);
  return sent.begin < received.end && received.begin < sent.end;
}

std::vector<PairBuffers::Block> PairBuffers::blocks_in(const std::vector<UserBlock>& user,
                                                       bool copies_all,
                                                       std::unique_ptr<std::byte[]>& copy) {
  const auto is_copied = [&](const UserBlock& block) {
    return block.size_bytes > 0 && (copies_all || block.staging != nullptr);
  };
  std::size_t copied_bytes = 0;
  for (const UserBlock& block : user) {
    if (is_copied(block)) copied_bytes += block.size_bytes;
  }
  if (copied_bytes > 0) copy = std::make_unique_for_overwrite<std::byte[]>(copied_bytes);
  std::vector<Block> blocks;
  blocks.reserve(user.size());
  std::byte* next = copy.get();
  for (const UserBlock& block : user) {
    blocks.push_back({.address = block.address, .size_bytes = block.size_bytes});
    if (is_copied(block)) blocks.back().address = std::exchange(next, next + block.size_bytes);
  }
  return blocks;
}

PairBuffers::PairBuffers(const Call& call, std::size_t member_count) {
  // The input is only read.
  const auto input = static_cast<std::byte*>(const_cast<void*>(call.input));
  const std::vector<UserBlock> sent = user_blocks({.buffer_name = "input",
                                                   .counts_name = "block_counts",
                                                   .displacements_name = "displacements",
                                                   .types_name = "block_types",
                                                   .buffer = input,
                                                   .size = call.input_size,
                                                   .counts = call.block_counts,
                                                   .displacements = call.displacements,
                                                   .types = call.block_types,
                                                   .type = call.type,
                                                   .member_count = member_count});
  results_ = user_blocks({.buffer_name = "output",
                          .counts_name = "received_counts",
                          .displacements_name = "received_displacements",
                          .types_name = "received_types",
                          .buffer = static_cast<std::byte*>(call.output),
                          .size = call.output_size,
                          .counts = call.received_counts,
                          .displacements = call.received_displacements,
                          .types = call.received_types,
                          .type = call.type,
                          .member_count = member_count});
  check_apart(results_);
  row_ = blocks_in(sent, may_touch(sent, results_), input_);
  column_ = blocks_in(results_, false, output_);
  for (std::size_t member = 0; member < member_count; ++member) {
    const UserBlock& from = sent[member];
    const Block& to = row_[member];
    if (from.size_bytes == 0) continue;
    if (from.staging != nullptr) {
      from.staging->pack(from.address, 0, from.size_bytes, to.address);
    } else if (from.address != to.address) {
      std::memcpy(to.address, from.address, from.size_bytes);
    }
  }
}

void PairBuffers::tell(MemberBlocks& blocks) const noexcept {
  const auto* const origin = reinterpret_cast<const std::byte*>(blocks.data());
  const auto tell_of = [&](const std::vector<Block>& from, std::span<PairBlock> to) {
    for (std::size_t member = 0; member < from.size(); ++member) {
      const auto [address, size_bytes] = from[member];
      // Modulo 2^64: the two are in different objects.
      const std::uintptr_t distance = number_of(address) - number_of(origin);
      to[member] = {.size_bytes = size_bytes,
                    .offset_bytes = size_bytes == 0 ? 0 : static_cast<std::ptrdiff_t>(distance)};
    }
  };
  tell_of(row_, blocks.row());
  tell_of(column_, blocks.column());
  blocks.note_longest();
}

void PairBuffers::deliver() {
  for (std::size_t member = 0; member < results_.size(); ++member) {
    const UserBlock& result = results_[member];
    if (result.staging == nullptr || result.size_bytes == 0) continue;
    result.staging->unpack(column_[member].address, 0, result.size_bytes, result.address);
  }
}

}  // namespace hycoll
