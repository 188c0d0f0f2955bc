#ifndef HYCOLL_TOOLS_MEASURE_MEMORY_LIMIT_H_
#define HYCOLL_TOOLS_MEASURE_MEMORY_LIMIT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/collective.h"
#include "core/base/types.h"

namespace hycoll::measure {

/// How fast a collective of threads could be: plain kernels, without any coordination, with the
/// same reads and writes. Thread t reads slice t of all inputs that the collective has, and writes
/// slice t of all its outputs; sums, as simple to compute as anything, and where nothing is
/// combined copies. They share no code with hycoll's kernels.

/// Which of them is the fastest depends on the machine and the size.
enum class LimitKernel : std::uint8_t {
  compiler,           ///< Blocks in the first-level cache, in loops that the compiler vectorises.
  vectors,            ///< One pass over all inputs and outputs, in the widest vectors.
  vectors_streaming,  ///< The same with stores that bypass the caches.
  blocks_streaming,   ///< Blocks as of `compiler`, stored past the caches.
};
inline constexpr int kLimitKernelCount = 4;

/// "compiler", "vectors", "vectors, streaming", ...
std::string_view name_of(LimitKernel kernel) noexcept;

/// What one thread does of one call.
struct LimitShare {
  enum class Form : std::uint8_t {
    fold,    ///< Every output: the sum of all inputs.
    prefix,  ///< Output k: the sum of the inputs 0..k.
    pairs,   ///< Output k: input k.
  };
  Form form = Form::fold;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::size_t count = 0;  ///< Elements of each.
};

/// One call of all threads: the inputs and outputs of all of them, in their order.
struct LimitCall {
  Collective collective = Collective::allreduce;
  int root = 0;  ///< Of the collectives that have one.
  DataType type = DataType::float32;
  std::size_t count = 0;  ///< Elements of the vector; collectives with blocks have equal ones.
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
};

/// The share of one thread. Slices begin at cache lines, where those of the vectors do; outputs are
/// written as the collective says. Pure.
LimitShare limit_share(const LimitCall& call, int thread);

/// What all threads together read and write, for a vector of `size_bytes` bytes. Pure.
std::size_t limit_traffic_bytes(Collective collective, int thread_count, std::size_t size_bytes);

/// Does the share; what is written is visible to others after the next synchronisation. Requires
/// inputs, outputs, and for prefix and pairs as many of one as of the other; buffers that do not
/// overlap and are aligned for the type. Thread-safe.
void run_limit_kernel(LimitKernel kernel, const LimitShare& share, DataType type);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_MEMORY_LIMIT_H_
