#ifndef HYCOLL_CORE_KERNELS_REDUCER_H_
#define HYCOLL_CORE_KERNELS_REDUCER_H_

#include <cstddef>
#include <span>

#include "core/kernels/kernels.h"

namespace hycoll {

/// A reduction that hycoll has no kernel for: an operator or a type that only MPI or the user
/// knows.
class ForeignReducer {
 public:
  virtual ~ForeignReducer() = default;

  /// Whether any thread of the process may run a part of a reduction. Otherwise only those may that
  /// the program or its call have given to the work.
  virtual bool runs_anywhere() const noexcept { return false; }

  /// As ReduceKernel: every destination becomes source_0 op source_1 op ..., in this order of
  /// operands, for `count` elements. Requires at least one source and one destination. A
  /// destination may equal a source; other overlaps are not allowed. One source is copied
  /// unchanged.
  ///
  /// Thread-safe. Throws Error if the operator fails; the destinations are unspecified then, and
  /// nothing beside them has been written.
  virtual void reduce(std::span<void* const> destinations, std::span<const void* const> sources,
                      std::size_t count) const = 0;
};

/// What a call reduces with: one of hycoll's kernels, or else somebody's own. Cheap to copy; refers
/// to the foreign reducer, which must outlive the copies. Exactly one of the two is set, unless
/// nothing is to be reduced.
struct Reducer {
  ReduceKernel kernel = nullptr;
  const ForeignReducer* foreign = nullptr;

  bool runs_anywhere() const noexcept { return kernel != nullptr || foreign->runs_anywhere(); }

  /// As ReduceKernel, except that a foreign reducer may throw Error. Foreign ones decide for
  /// themselves how they store, and their stores are ordered like any other before a following
  /// release store. Thread-safe.
  void operator()(std::span<void* const> destinations, std::span<const void* const> sources,
                  std::size_t count, Stores stores) const {
    if (kernel != nullptr) [[likely]] {
      kernel(destinations, sources, count, stores);
    } else {
      foreign->reduce(destinations, sources, count);
    }
  }
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_KERNELS_REDUCER_H_
