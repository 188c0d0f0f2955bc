#include "tools/command/measuring/bench_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <type_traits>

#include "core/base/cache_lines.h"
#include "heap/heap.h"

namespace hycoll::command {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::byte kPoison{0xa5};

/// Calls `function` with a value of the C++ type.
template <class Function>
auto with_type(DataType type, Function function) {
  switch (type) {
    case DataType::int8:
      return function(std::int8_t{});
    case DataType::int16:
      return function(std::int16_t{});
    case DataType::int32:
      return function(std::int32_t{});
    case DataType::int64:
      return function(std::int64_t{});
    case DataType::uint8:
      return function(std::uint8_t{});
    case DataType::uint16:
      return function(std::uint16_t{});
    case DataType::uint32:
      return function(std::uint32_t{});
    case DataType::uint64:
      return function(std::uint64_t{});
    case DataType::float32:
      return function(float{});
    default:
      return function(double{});
  }
}

std::uint64_t mixed(std::uint64_t salt, int rank, std::size_t index) {
  std::uint64_t bits = salt * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(rank) * 0xd1342543 +
                       index * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 29)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 32);
}

/// Factors whose product is exact: powers of two, few enough for a float's exponent, or odd numbers
/// whose product wraps around without vanishing.
template <class T>
T factor(std::uint64_t bits, int rank) {
  constexpr int kRanksWithFactors = 64;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T factors[] = {T(0.5), T(1), T(2)};
    return rank < kRanksWithFactors ? factors[bits % 3] : T(1);
  } else {
    return static_cast<T>((bits & 7) | 1);
  }
}

/// Truth values with both results likely, whatever the number of members.
template <class T>
T truth(Operator op, std::uint64_t bits, int member_count) {
  const auto members = static_cast<std::uint64_t>(member_count);
  const T something = static_cast<T>(1 + (bits >> 40) % 7);
  if (op == Operator::logical_and) return bits % (2 * members) == 0 ? T(0) : something;
  if (op == Operator::logical_or) return bits % (2 * members) == 0 ? something : T(0);
  return bits % 2 == 0 ? something : T(0);
}

template <class T>
T input_value(const CheckedData& data, int rank, std::size_t index) {
  const std::uint64_t bits = mixed(data.salt, rank, index);
  switch (data.op) {
    case Operator::prod:
      return factor<T>(bits, rank);
    case Operator::logical_and:
    case Operator::logical_or:
    case Operator::logical_xor:
      return truth<T>(data.op, bits, data.member_count);
    case Operator::bit_and:
    case Operator::bit_or:
    case Operator::bit_xor:
      return static_cast<T>(bits);
    default:
      // 2^10 values: a float holds their sum over 2^14 members.
      return static_cast<T>(bits % 1024);
  }
}

/// One step of the reduction. Integers are reduced in 64 unsigned bits, which wrap around.
template <class T>
T combined(Operator op, T a, T b) {
  if (op == Operator::min) return std::min(a, b);
  if (op == Operator::max) return std::max(a, b);
  if constexpr (std::is_floating_point_v<T>) {
    return op == Operator::sum ? a + b : a * b;
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (op) {
      case Operator::sum:
        return static_cast<T>(x + y);
      case Operator::prod:
        return static_cast<T>(x * y);
      case Operator::logical_and:
        return static_cast<T>(x != 0 && y != 0);
      case Operator::logical_or:
        return static_cast<T>(x != 0 || y != 0);
      case Operator::logical_xor:
        return static_cast<T>((x != 0) != (y != 0));
      case Operator::bit_and:
        return static_cast<T>(x & y);
      case Operator::bit_or:
        return static_cast<T>(x | y);
      default:
        return static_cast<T>(x ^ y);
    }
  }
}

template <class T>
std::optional<std::string> first_difference_of(const CheckedData& data, const std::byte* output,
                                               const ExpectedOutput& expected) {
  for (std::size_t i = 0; i < expected.count; ++i) {
    const std::size_t block = expected.block;
    const auto of_block = static_cast<int>(block > 0 ? i / block : 0);
    T value = input_value<T>(data, expected.first_rank + of_block,
                             expected.first + (block > 0 ? i % block : i));
    for (int r = 1; r < expected.rank_count; ++r) {
      const int rank = expected.first_rank + r;
      value = combined(data.op, value, input_value<T>(data, rank, expected.first + i));
    }
    T found;
    std::memcpy(&found, output + i * sizeof(T), sizeof(T));
    if (found != value) {
      return fmt::format("element {} of {} ({} {}) is {}, expected {}", i, expected.count,
                         name_of(data.op), name_of(data.type), +found, +value);
    }
  }
  return std::nullopt;
}

}  // namespace

void CheckedData::fill(int rank, std::byte* input, std::size_t count) const {
  with_type(type, [&]<class T>(T) {
    for (std::size_t index = 0; index < count; ++index) {
      const T value = input_value<T>(*this, rank, index);
      std::memcpy(input + index * sizeof(T), &value, sizeof(T));
    }
  });
}

std::optional<std::string> CheckedData::first_difference(const std::byte* output,
                                                         const ExpectedOutput& expected) const {
  return with_type(type,
                   [&]<class T>(T) { return first_difference_of<T>(*this, output, expected); });
}

std::optional<std::string> CheckedData::first_change(int rank, const std::byte* input,
                                                     std::size_t count) const {
  return first_difference(input, {.first = 0, .count = count, .first_rank = rank, .rank_count = 1});
}

MemberBuffers::MemberBuffers(std::size_t size_bytes, std::size_t result_bytes, int slot_count,
                             BufferMemory memory)
    : size_bytes_(size_bytes),
      result_bytes_(result_bytes),
      slot_count_(slot_count),
      stride_bytes_((size_bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes +
                    kCacheLineBytes),
      memory_(allocate(2 * static_cast<std::size_t>(slot_count) * stride_bytes_, memory),
              Release{memory}) {}

std::uint64_t MemberBuffers::next_number() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);  // numbers that nobody else has
}

std::byte* MemberBuffers::allocate(std::size_t size_bytes, BufferMemory where) {
  return static_cast<std::byte*>(where == BufferMemory::shared_heap
                                     ? hycoll::allocate(size_bytes, kPageBytes)
                                     : ::operator new(size_bytes, std::align_val_t(kPageBytes)));
}

void MemberBuffers::Release::operator()(std::byte* memory) const noexcept {
  if (where == BufferMemory::shared_heap) return hycoll::deallocate(memory);
  ::operator delete(memory, std::align_val_t(kPageBytes));
}

void MemberBuffers::poison() {
  for (int slot = 0; slot < slot_count_; ++slot) {
    std::fill_n(input(slot) + size_bytes_, stride_bytes_ - size_bytes_, kPoison);
    std::fill_n(output(slot), stride_bytes_, kPoison);
  }
}

bool MemberBuffers::guards_intact() const {
  const auto intact = [this](const std::byte* buffer, std::size_t used_bytes) {
    return std::all_of(buffer + used_bytes, buffer + stride_bytes_,
                       [](std::byte value) { return value == kPoison; });
  };
  for (int slot = 0; slot < slot_count_; ++slot) {
    if (!intact(input(slot), size_bytes_) || !intact(output(slot), result_bytes_)) return false;
  }
  return true;
}

void MemberBuffers::use() {
  for (int slot = 0; slot < slot_count_; ++slot) {
    const volatile std::byte* const results = output(slot);
    volatile std::byte* const values = input(slot);
    for (std::size_t i = 0; i < result_bytes_; i += kCacheLineBytes) static_cast<void>(results[i]);
    for (std::size_t i = 0; i < size_bytes_; i += kCacheLineBytes) values[i] = values[i];
  }
}

}  // namespace hycoll::command
