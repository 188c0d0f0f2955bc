#ifndef HYCOLL_CORE_KERNELS_KERNELS_H_
#define HYCOLL_CORE_KERNELS_KERNELS_H_

#include <cstddef>
#include <span>

#include "core/base/half.h"
#include "core/base/types.h"

namespace hycoll {

/// How results are stored. Streaming stores bypass the caches: right when the destinations are
/// larger than the last-level cache's share of the caller and nobody reads them soon. In cache they
/// are about half as fast as cached ones.
enum class Stores { cached, streaming };

/// Reduces `count` elements: destination[i] = source_0[i] op source_1[i] op ..., folded from the
/// left, written to every destination. Memory is passed over once, whatever the number of sources
/// and destinations.
///
/// Requires at least one source and one destination. A destination may equal a source (the same
/// address); other overlaps are not allowed. Addresses are aligned for the element type; more is
/// not needed, only faster, as is the same offset in a cache line for all buffers.
///
/// Guarantees:
/// - Exactly the elements [0, count) are touched: their neighbours may belong to other threads.
/// - The bits depend neither on the instruction set nor on count and alignment. Floating point is
///   not reassociated. Integer sum and product wrap around.
/// - The minimum and the maximum are NaN if any source is (the last such source's NaN); of equal
///   values, such as the two zeros, the first is taken. Only which NaN a sum or a product of
///   several NaN is, depends on the processor.
/// - One source is copied unchanged; logical operators yield 0 or 1 from two sources on.
/// - With Stores::streaming the stores are complete (fenced) on return, so that a following release
///   store publishes them.
///
/// Thread-safe: no state. Never throws.
using ReduceKernel = void (*)(std::span<void* const> destinations,
                              std::span<const void* const> sources, std::size_t count,
                              Stores stores);

/// The kernel of an operator and a type, dispatched to the widest instruction set of this machine;
/// looked up once, then called directly. Requires is_defined_for(op, type).
ReduceKernel reduce_kernel(Operator op, DataType type);

/// The same for numbers of 16 bits, with operators up to Operator::max. All sources are folded in
/// float, and the result is rounded once, to the nearest, of two to the even one.
ReduceKernel half_kernel(Operator op, HalfType type);

/// Copies `size_bytes` bytes from the source to every destination that is not the source itself,
/// which is not written at all. Other overlaps are not allowed; any alignment is. There may be no
/// destination, and no bytes. Streaming stores are complete (fenced) on return. Thread-safe, never
/// throws.
void copy_kernel(std::span<void* const> destinations, const void* source, std::size_t size_bytes,
                 Stores stores);

}  // namespace hycoll

#endif  // HYCOLL_CORE_KERNELS_KERNELS_H_
