#ifndef HYCOLL_CORE_KERNELS_INSTRUCTION_SET_H_
#define HYCOLL_CORE_KERNELS_INSTRUCTION_SET_H_

// For files that Highway compiles once per instruction set: what they are compiled for, and which
// of it runs. To be included before any header of Highway, of which hycoll uses headers only: its
// library would be another that has to be there, in the right version, wherever hycoll runs.

#include <array>
#include <cstddef>

// Every instruction set costs compile time and code size. On x86 three are compiled: AVX-512 and
// AVX2, which cover every machine since 2013, and plain C++ as the fallback. On Arm the 128-bit
// NEON. The loops keep vectors in structs, so targets whose vector length is unknown at compile
// time are out. A sanitizer sees the same loops in each: one vector length is enough for it, and
// compiling them takes several times as long with it.
#if defined(__x86_64__) && (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
#define HWY_DISABLED_TARGETS (~(HWY_AVX2 | HWY_EMU128 | HWY_SCALAR))
#elif defined(__x86_64__)
#define HWY_DISABLED_TARGETS (~(HWY_AVX3 | HWY_AVX2 | HWY_EMU128 | HWY_SCALAR))
#else
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

namespace hycoll::internal {

/// In ascending order: a machine that has one has those before it. `baseline` is what Highway makes
/// of the instructions that the compiler may use everywhere.
enum class InstructionSet { baseline, avx2, avx512 };
inline constexpr std::size_t kInstructionSetCount = 3;

/// The widest one that this machine has. Thread-safe.
InstructionSet widest_instruction_set() noexcept;

/// What is in use: the widest one, unless a test wants another. Thread-safe.
InstructionSet instruction_set() noexcept;

/// For tests, while no kernel runs. Requires that the machine has it.
void use_instruction_set(InstructionSet wanted) noexcept;

/// A function as compiled for the set in use, or for the widest one before that. Of the baseline
/// there is one always; null stands for sets for which there is none.
template <class Function>
Function choose(const std::array<Function, kInstructionSetCount>& compiled) noexcept {
  auto set = static_cast<std::size_t>(instruction_set());
  while (compiled[set] == nullptr) --set;
  return compiled[set];
}

}  // namespace hycoll::internal

/// The function of this name in the surrounding namespace's HWY_NAMESPACE, for the set in use.
/// Where HWY_ONCE holds.
#define HYCOLL_DISPATCH(name)                                        \
  (::hycoll::internal::choose<decltype(&HWY_STATIC_DISPATCH(name))>( \
      {&HWY_STATIC_DISPATCH(name), HWY_CHOOSE_AVX2(name), HWY_CHOOSE_AVX3(name)}))

#endif  // HYCOLL_CORE_KERNELS_INSTRUCTION_SET_H_
