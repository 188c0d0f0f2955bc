#include "tests/core/kernels/fixture.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "core/kernels/instruction_set.h"
#include "core/kernels/kernels.h"

namespace hycoll {
namespace {

constexpr int kPoison = 0xA5;

// ThreadSanitizer makes the sweeps 30 times as slow and has nothing to find in a single thread.
#ifdef __SANITIZE_THREAD__
constexpr int kPairStep = 7;
#else
constexpr int kPairStep = 1;
#endif

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Not byte by byte, which ThreadSanitizer would check one by one.
bool is_poison(const std::byte* begin, const std::byte* end) {
  static const std::vector<std::byte> poison(kLineBytes, std::byte{kPoison});
  return begin == end ||
         std::memcmp(begin, poison.data(), static_cast<std::size_t>(end - begin)) == 0;
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t capacity_bytes)
    : pages_bytes_((capacity_bytes / page_bytes() + 2) * page_bytes()) {
  void* const mapped =
      mmap(nullptr, pages_bytes_ + 2 * page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mapped != MAP_FAILED);
  first_ = static_cast<std::byte*>(mapped) + page_bytes();
  REQUIRE(mprotect(first_, pages_bytes_, PROT_READ | PROT_WRITE) == 0);
}

GuardedBuffer::~GuardedBuffer() { munmap(first_ - page_bytes(), pages_bytes_ + 2 * page_bytes()); }

void GuardedBuffer::place_at(std::size_t offset_bytes, std::size_t size_bytes) {
  place(first_ + offset_bytes, size_bytes);
}

void GuardedBuffer::place_at_end(std::size_t size_bytes) {
  place(first_ + pages_bytes_ - size_bytes, size_bytes);
}

bool GuardedBuffer::is_poison_intact() const {
  return is_poison(poison_begin(), begin_) && is_poison(begin_ + size_bytes_, poison_end());
}

void GuardedBuffer::forbid_writes() { REQUIRE(mprotect(first_, pages_bytes_, PROT_READ) == 0); }

std::byte* GuardedBuffer::poison_begin() const { return std::max(first_, begin_ - kLineBytes); }

std::byte* GuardedBuffer::poison_end() const {
  return std::min(first_ + pages_bytes_, begin_ + size_bytes_ + kLineBytes);
}

void GuardedBuffer::place(std::byte* begin, std::size_t size_bytes) {
  begin_ = begin;
  size_bytes_ = size_bytes;
  std::memset(poison_begin(), kPoison, static_cast<std::size_t>(poison_end() - poison_begin()));
}

Placement random_placement(std::minstd_rand& random) {
  return static_cast<Placement>(random() / 16 % 4);
}

void on_every_instruction_set(const std::function<void()>& function) {
  const auto widest = static_cast<std::size_t>(internal::widest_instruction_set());
  std::set<ReduceKernel> seen;
  for (std::size_t set = 0; set <= widest; ++set) {
    internal::use_instruction_set(static_cast<internal::InstructionSet>(set));
    // Not compiled for this one: that was the one before.
    if (!seen.insert(reduce_kernel(Operator::sum, DataType::float64)).second) continue;
    INFO("instruction set ", set);
    function();
  }
  internal::use_instruction_set(internal::widest_instruction_set());
}

void on_every_operator_and_type(const std::function<void(Operator, DataType)>& function) {
  int pair = 0;
  for (int op = 0; op < kOperatorCount; ++op) {
    for (int type = 0; type < kDataTypeCount; ++type) {
      if (!is_defined_for(static_cast<Operator>(op), static_cast<DataType>(type))) continue;
      if (pair++ % kPairStep == 0) function(static_cast<Operator>(op), static_cast<DataType>(type));
    }
  }
}

}  // namespace hycoll
