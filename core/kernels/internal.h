#ifndef HYCOLL_CORE_KERNELS_INTERNAL_H_
#define HYCOLL_CORE_KERNELS_INTERNAL_H_

// What the translation units of the kernels share. Not for anybody else: include
// core/kernels/kernels.h.

#include <cstddef>
#include <span>

#include "core/base/cache_lines.h"
#include "core/kernels/instruction_set.h"
#include "core/kernels/kernels.h"

namespace hycoll::internal {

/// Sources and destinations together that the direct loops serve. More streams at once overtax the
/// caches' associativity and the hardware prefetchers. Measured on Zen 4: at this number direct and
/// staged loops are within a third of each other, either way; at 34 and more streams out of cache,
/// staging is 2 to 6 times as fast.
inline constexpr std::size_t kMaxDirectStreams = 16;

/// Streams that one pass of the staged loop reads.
inline constexpr std::size_t kStreamsPerPass = 8;

/// The block in which the staged loop keeps partial results in the first-level cache between
/// passes.
inline constexpr std::size_t kBlockBytes = 16384;

/// The kernels of one group of operators; the argument must belong to the group and be defined for
/// the type.
ReduceKernel arithmetic_kernel(Operator op, DataType type);  ///< sum, prod
ReduceKernel extremum_kernel(Operator op, DataType type);    ///< min, max
ReduceKernel logical_kernel(Operator op, DataType type);     ///< logical_*, bit_*

/// Copies at most kBlockBytes to one destination. Streaming stores are not fenced: the caller does
/// it once at the end.
void copy_block(void* destination, const void* source, std::size_t size_bytes, Stores stores);

/// How many elements lie before the first cache line boundary that all addresses share;
/// kNoCommonLine if they share none. Streaming stores that begin there write whole lines.
inline constexpr std::size_t kNoCommonLine = ~std::size_t{0};
std::size_t elements_before_line(std::span<const void* const> addresses, std::size_t element_bytes);

/// How many elements to handle on their own so that the cached loads and stores behind them do not
/// cross cache lines; 0 if that is not possible or not worth it.
std::size_t elements_to_align(const void* destination, const void* source, std::size_t count,
                              std::size_t element_bytes);

}  // namespace hycoll::internal

#endif  // HYCOLL_CORE_KERNELS_INTERNAL_H_
