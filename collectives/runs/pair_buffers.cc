#include "collectives/runs/pair_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
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
[[noreturn]] void refuse_buffer(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw BufferError(
      fmt::format("{}: {}", kName, fmt::format(text, std::forward<Arguments>(arguments)...)));
}

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
    refuse(
        "{} has {} elements, but must have {} (the sum of {}); pass a container or view of that "
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

PairBuffers::Together PairBuffers::find_blocks(const Side& side, std::vector<UserBlock>& blocks) {
  side.check();
  blocks.resize(side.member_count);
  Together together;
  const VectorElements* elements = nullptr;  // of the type `known`
  const ElementType* known = nullptr;
  std::ptrdiff_t elements_before = 0;
  std::size_t bytes_before = 0;
  for (std::size_t member = 0; member < side.member_count; ++member) {
    UserBlock& block = blocks[member];
    block = {};
    const std::size_t count = side.counts[member];
    // MPI looks at no type of a block without elements.
    if (count == 0) continue;
    const ElementType& type = side.types.empty() ? side.type : side.types[member];
    if (known == nullptr || *known != type) {
      elements = &elements_.find(type, kName);
      known = &type;
      if (elements->staging != nullptr) stagings_.push_back(elements->staging);
    }
    if (__builtin_mul_overflow(count, elements->element_bytes, &block.size_bytes) ||
        block.size_bytes > kMostBytes - bytes_before) {
      refuse("{}[{}] is {} elements of {} bytes, with {} bytes before: more than memory can have",
             side.counts_name, member, count, elements->element_bytes, bytes_before);
    }
    bytes_before += block.size_bytes;
    block.address = side.buffer + side.offset_of(member, elements_before, *elements);
    elements_before += static_cast<std::ptrdiff_t>(count);
    block.staging = elements->staging.get();
    if (block.size_bytes == 0) continue;
    if (block.staging != nullptr) {
      together.are_staged = true;
      continue;
    }
    // A datatype may hold addresses itself (MPI_BOTTOM).
    if (block.address == nullptr) {
      refuse_buffer(
          "{} is null with {}[{}] = {}; pass a buffer, or the same address twice for in place",
          side.buffer_name, side.counts_name, member, count);
    }
    together.begin = std::min(together.begin, number_of(block.address));
    together.end = std::max(together.end, number_of(block.address) + block.size_bytes);
  }
  return together;
}

void PairBuffers::check_apart(const std::vector<UserBlock>& blocks) {
  const auto counts = [&](std::size_t member) {
    // Elements with gaps may interleave.
    return blocks[member].size_bytes > 0 && blocks[member].staging == nullptr;
  };
  const auto begin_of = [&](std::size_t member) { return number_of(blocks[member].address); };
  // Mostly they lie in order.
  std::uintptr_t end = 0;
  bool in_order = true;
  for (std::size_t member = 0; member < blocks.size(); ++member) {
    if (!counts(member)) continue;
    in_order = in_order && begin_of(member) >= end;
    end = begin_of(member) + blocks[member].size_bytes;
  }
  if (in_order) return;
  std::vector<std::size_t> by_address;
  for (std::size_t member = 0; member < blocks.size(); ++member) {
    if (counts(member)) by_address.push_back(member);
  }
  std::ranges::sort(by_address, {}, begin_of);
  for (std::size_t i = 1; i < by_address.size(); ++i) {
    const std::size_t before = by_address[i - 1];
    const std::size_t member = by_address[i];
    const std::uintptr_t distance = begin_of(member) - begin_of(before);
    if (distance >= blocks[before].size_bytes) continue;
    refuse_buffer(
        "the blocks of ranks {} and {} overlap in the output: the former has {} bytes, and the "
        "latter begins {} bytes behind it (received_displacements); keep the blocks of a result "
        "apart",
        before, member, blocks[before].size_bytes, distance);
  }
}

void PairBuffers::place(const std::vector<UserBlock>& user, Copied copied,
                        std::unique_ptr<std::byte[]>& copy, std::vector<Block>& blocks) {
  copy.reset();
  blocks.resize(user.size());
  for (std::size_t member = 0; member < user.size(); ++member) {
    blocks[member] = {.address = user[member].address, .size_bytes = user[member].size_bytes};
  }
  if (copied == Copied::none) return;
  const auto is_copied = [&](const UserBlock& block) {
    return block.size_bytes > 0 && (copied == Copied::all || block.staging != nullptr);
  };
  std::size_t copied_bytes = 0;
  for (const UserBlock& block : user) {
    if (is_copied(block)) copied_bytes += block.size_bytes;
  }
  if (copied_bytes > 0) copy = std::make_unique_for_overwrite<std::byte[]>(copied_bytes);
  std::byte* next = copy.get();
  for (std::size_t member = 0; member < user.size(); ++member) {
    if (!is_copied(user[member])) continue;
    blocks[member].address = std::exchange(next, next + user[member].size_bytes);
  }
}

void PairBuffers::take(const Call& call, std::size_t member_count, Options::Overlaps overlaps) {
  stagings_.clear();
  // The input is only read.
  const auto input = static_cast<std::byte*>(const_cast<void*>(call.input));
  const Together sent = find_blocks({.buffer_name = "input",
                                     .counts_name = "block_counts",
                                     .displacements_name = "displacements",
                                     .types_name = "block_types",
                                     .buffer = input,
                                     .size = call.input_size,
                                     .counts = call.block_counts,
                                     .displacements = call.displacements,
                                     .types = call.block_types,
                                     .type = call.type,
                                     .member_count = member_count},
                                    sent_);
  const Together received = find_blocks({.buffer_name = "output",
                                         .counts_name = "received_counts",
                                         .displacements_name = "received_displacements",
                                         .types_name = "received_types",
                                         .buffer = static_cast<std::byte*>(call.output),
                                         .size = call.output_size,
                                         .counts = call.received_counts,
                                         .displacements = call.received_displacements,
                                         .types = call.received_types,
                                         .type = call.type,
                                         .member_count = member_count},
                                        results_);
  if (overlaps == Options::Overlaps::refused) check_apart(results_);
  const auto copied_of = [](const Together& blocks) {
    return blocks.are_staged ? Copied::staged : Copied::none;
  };
  place(sent_, sent.may_touch(received) ? Copied::all : copied_of(sent), input_, row_);
  place(results_, copied_of(received), output_, column_);
}

void PairBuffers::copy_in() noexcept {
  for (std::size_t member = 0; member < sent_.size(); ++member) {
    const UserBlock& from = sent_[member];
    const Block& to = row_[member];
    if (from.size_bytes == 0) continue;
    if (from.staging != nullptr) {
      from.staging->pack(from.address, 0, from.size_bytes, to.address);
    } else if (from.address != to.address) {
      std::memcpy(to.address, from.address, from.size_bytes);
    }
  }
}

void PairBuffers::describe(MemberBlocks& blocks, const std::byte* origin) const noexcept {
  const auto describe_in = [&](const std::vector<Block>& from, std::span<PairBlock> to) {
    for (std::size_t member = 0; member < from.size(); ++member) {
      const auto [address, size_bytes] = from[member];
      // Modulo 2^64: the two are in different objects.
      const std::uintptr_t distance = number_of(address) - number_of(origin);
      to[member] = {.size_bytes = size_bytes,
                    .offset_bytes = size_bytes == 0 ? 0 : static_cast<std::ptrdiff_t>(distance)};
    }
  };
  describe_in(row_, blocks.row());
  describe_in(column_, blocks.column());
}

void PairBuffers::deliver() {
  for (std::size_t member = 0; member < results_.size(); ++member) {
    const UserBlock& result = results_[member];
    if (result.staging == nullptr || result.size_bytes == 0) continue;
    result.staging->unpack(column_[member].address, 0, result.size_bytes, result.address);
  }
}

}  // namespace hycoll
