#include "core/kernels/instruction_set.h"

#include <atomic>

namespace hycoll::internal {
namespace {

constexpr int kUnknown = -1;
constinit std::atomic<int> in_use{kUnknown};

}  // namespace

InstructionSet widest_instruction_set() noexcept {
#ifdef __x86_64__
  __builtin_cpu_init();
  // The levels of x86-64 with AVX2 and AVX-512, and what Highway wants besides.
  const bool has_avx2 = __builtin_cpu_supports("x86-64-v3") && __builtin_cpu_supports("aes") &&
                        __builtin_cpu_supports("pclmul");
  if (has_avx2 && __builtin_cpu_supports("x86-64-v4")) return InstructionSet::avx512;
  if (has_avx2) return InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

InstructionSet instruction_set() noexcept {
  // All threads find the same, and nothing else is published: no order is needed.
  int set = in_use.load(std::memory_order_relaxed);
  if (set == kUnknown) {
    set = static_cast<int>(widest_instruction_set());
    in_use.store(set, std::memory_order_relaxed);
  }
  return static_cast<InstructionSet>(set);
}

void use_instruction_set(InstructionSet wanted) noexcept {
  in_use.store(static_cast<int>(wanted), std::memory_order_relaxed);  // no kernel runs
}

}  // namespace hycoll::internal
