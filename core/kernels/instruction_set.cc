#include "core/kernels/instruction_set.h"

#include <atomic>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace hycoll::internal {
namespace {

constexpr int kUnknown = -1;
constinit std::atomic<int> in_use{kUnknown};

#ifdef __x86_64__

/// Of the level x86-64-v3, what clang 16 does not know by name, as it does not know the levels.
bool has_f16c_movbe_lzcnt() noexcept {
  unsigned int a = 0;
  unsigned int b = 0;
  unsigned int c = 0;
  unsigned int d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  if ((c & bit_F16C) == 0 || (c & bit_MOVBE) == 0) return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
}

/// x86-64-v3, and what Highway wants besides.
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         has_f16c_movbe_lzcnt() && __builtin_cpu_supports("aes") &&
         __builtin_cpu_supports("pclmul");
}

/// x86-64-v4, where there is v3.
bool has_avx512() noexcept {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

#endif

}  // namespace

InstructionSet widest_instruction_set() noexcept {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (has_avx2()) return has_avx512() ? InstructionSet::avx512 : InstructionSet::avx2;
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
