// The loops that all operators share, compiled once per instruction set.
//
// The unit of work is a few vectors at the same index: they are folded over all sources in
// registers and then stored to all destinations, so memory is passed over once and a destination
// may be one of the sources. Four vectors at a time hide the latency of the operator and let
// streaming stores fill whole cache lines; single vectors, then vectors of half the size and so on
// down to one element, finish the range without touching anything beyond it.

#if defined(HYCOLL_CORE_KERNELS_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HYCOLL_CORE_KERNELS_LOOPS_INL_H_
#undef HYCOLL_CORE_KERNELS_LOOPS_INL_H_
#else
#define HYCOLL_CORE_KERNELS_LOOPS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <span>

#include "core/kernels/internal.h"

HWY_BEFORE_NAMESPACE();
namespace hycoll::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Destinations = std::span<void* const>;
using Sources = std::span<const void* const>;

/// The elements that a call of a loop handles.
struct Range {
  std::size_t begin;
  std::size_t end;
};

template <class T>
inline constexpr std::size_t kVectorLanes = HWY_LANES(T);
inline constexpr std::size_t kUnrolledVectors = 4;
template <class T>
inline constexpr std::size_t kUnrolledLanes = HWY_LANES(T) * kUnrolledVectors;

/// The sources' addresses: in registers if their number is known at compile time, else read every
/// time.
template <class T, std::size_t kCount>
class SourceAddresses {
 public:
  explicit HWY_INLINE SourceAddresses(Sources sources) {
    for (std::size_t k = 0; k < kCount; ++k) addresses_[k] = static_cast<const T*>(sources[k]);
  }
  static constexpr HWY_INLINE std::size_t size() { return kCount; }
  HWY_INLINE const T* operator[](std::size_t k) const { return addresses_[k]; }

 private:
  const T* addresses_[kCount];
};

template <class T>
class SourceAddresses<T, 0> {
 public:
  explicit HWY_INLINE SourceAddresses(Sources sources) : sources_(sources) {}
  HWY_INLINE std::size_t size() const { return sources_.size(); }
  HWY_INLINE const T* operator[](std::size_t k) const { return static_cast<const T*>(sources_[k]); }

 private:
  Sources sources_;
};

/// The vectors that the unrolled loop works on at a time, in registers.
template <class T>
class Registers {
 public:
  explicit HWY_INLINE Registers(const T* from) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kUnrolledVectors; ++v) {
      vectors_[v] = hn::LoadU(D(), from + v * kVectorLanes<T>);
    }
  }

  template <class Op>
  HWY_INLINE void combine(const T* from) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kUnrolledVectors; ++v) {
      vectors_[v] = Op::apply(D(), vectors_[v], hn::LoadU(D(), from + v * kVectorLanes<T>));
    }
  }

  HWY_INLINE void store(T* to) const {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kUnrolledVectors; ++v) {
      hn::StoreU(vectors_[v], D(), to + v * kVectorLanes<T>);
    }
  }

  HWY_INLINE void stream(T* to) const {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kUnrolledVectors; ++v) {
      hn::Stream(vectors_[v], D(), to + v * kVectorLanes<T>);
    }
  }

 private:
  using D = hn::ScalableTag<T>;
  hn::Vec<D> vectors_[kUnrolledVectors];
};

/// The destinations' addresses: the first two in registers, the others read every time.
template <class T>
class DestinationAddresses {
 public:
  explicit HWY_INLINE DestinationAddresses(Destinations destinations)
      : first_(static_cast<T*>(destinations[0])),
        second_(static_cast<T*>(destinations[destinations.size() > 1 ? 1 : 0])),
        destinations_(destinations) {}

  HWY_INLINE void store(const Registers<T>& result, std::size_t i, Stores stores) const {
    if (stores == Stores::streaming) {
      for (void* const destination : destinations_) result.stream(static_cast<T*>(destination) + i);
      return;
    }
    result.store(first_ + i);
    if (destinations_.size() == 1) return;
    result.store(second_ + i);
    for (std::size_t k = 2; k < destinations_.size(); ++k) {
      result.store(static_cast<T*>(destinations_[k]) + i);
    }
  }

 private:
  T* first_;
  T* second_;
  Destinations destinations_;
};

template <class Op, class T, std::size_t kLanes>
HWY_INLINE void reduce_vector(Destinations destinations, Sources sources, std::size_t i) {
  const hn::CappedTag<T, kLanes> tag;
  auto result = hn::LoadU(tag, static_cast<const T*>(sources[0]) + i);
  for (const void* const source : sources.subspan(1)) {
    result = Op::apply(tag, result, hn::LoadU(tag, static_cast<const T*>(source) + i));
  }
  for (void* const destination : destinations) {
    hn::StoreU(result, tag, static_cast<T*>(destination) + i);
  }
}

template <class Op, class T, std::size_t kLanes>
HWY_INLINE void reduce_rest(Destinations destinations, Sources sources, Range rest) {
  if constexpr (kLanes > 0) {
    if (((rest.end - rest.begin) & kLanes) != 0) {
      reduce_vector<Op, T, kLanes>(destinations, sources, rest.begin);
      rest.begin += kLanes;
    }
    reduce_rest<Op, T, kLanes / 2>(destinations, sources, rest);
  }
}

/// Reduces a range that is too short for the unrolled loop: vectors, then steps that halve.
template <class Op, class T>
HWY_NOINLINE void reduce_short(Destinations destinations, Sources sources, Range range) {
  constexpr std::size_t kLanes = kVectorLanes<T>;
  for (; range.end - range.begin >= kLanes; range.begin += kLanes) {
    reduce_vector<Op, T, kLanes>(destinations, sources, range.begin);
  }
  reduce_rest<Op, T, kLanes / 2>(destinations, sources, range);
}

/// Reduces the range. With streaming stores its begin is at a cache line in every destination.
template <class Op, class T, std::size_t kSourceCount>
HWY_NOINLINE void reduce_range(Destinations destinations, Sources sources, Range range,
                               Stores stores) {
  const SourceAddresses<T, kSourceCount> from(sources);
  const DestinationAddresses<T> to(destinations);
  for (; range.end - range.begin >= kUnrolledLanes<T>; range.begin += kUnrolledLanes<T>) {
    Registers<T> result(from[0] + range.begin);
    for (std::size_t k = 1; k < from.size(); ++k) {
      result.template combine<Op>(from[k] + range.begin);
    }
    to.store(result, range.begin, stores);
  }
  if (range.begin != range.end) reduce_short<Op, T>(destinations, sources, range);
}

template <class Op, class T>
HWY_INLINE void reduce_direct(Destinations destinations, Sources sources, Range range,
                              Stores stores) {
  switch (sources.size()) {
    case 2:
      return reduce_range<Op, T, 2>(destinations, sources, range, stores);
    case 3:
      return reduce_range<Op, T, 3>(destinations, sources, range, stores);
    case 4:
      return reduce_range<Op, T, 4>(destinations, sources, range, stores);
    default:
      return reduce_range<Op, T, 0>(destinations, sources, range, stores);
  }
}

/// Folds all sources of the range into `partial`, a few at a time.
template <class Op, class T>
void fold_in_passes(T* partial, Sources sources, Range range) {
  void* const destination = partial;
  const void* streams[kStreamsPerPass];
  std::size_t used = 0;
  for (std::size_t k = 0; k < sources.size();) {
    while (used < kStreamsPerPass && k < sources.size()) {
      streams[used++] = static_cast<const T*>(sources[k++]) + range.begin;
    }
    reduce_range<Op, T, 0>({&destination, 1}, {streams, used}, {0, range.end - range.begin},
                           Stores::cached);
    streams[0] = partial;
    used = 1;
  }
}

/// For more streams than the hardware likes, and for destinations whose cache lines begin at
/// different indices: the result of a block stays in the first-level cache and is then copied to
/// one destination after the other.
template <class Op, class T>
HWY_NOINLINE void reduce_staged(Destinations destinations, Sources sources, std::size_t count,
                                Stores stores) {
  constexpr std::size_t kBlockLanes = kBlockBytes / sizeof(T);
  alignas(kCacheLineBytes) T partial[kBlockLanes];
  for (std::size_t begin = 0; begin < count; begin += kBlockLanes) {
    const std::size_t end = count - begin < kBlockLanes ? count : begin + kBlockLanes;
    fold_in_passes<Op, T>(partial, sources, {begin, end});
    for (void* const destination : destinations) {
      copy_block(static_cast<T*>(destination) + begin, partial, (end - begin) * sizeof(T), stores);
    }
  }
  if (stores == Stores::streaming) hwy::FlushStream();
}

template <class Op, class T>
HWY_NOINLINE void reduce_streaming(Destinations destinations, Sources sources, std::size_t count) {
  const std::size_t before_line = elements_before_line(destinations, sizeof(T));
  if (before_line == kNoCommonLine) {
    return reduce_staged<Op, T>(destinations, sources, count, Stores::streaming);
  }
  const std::size_t head = before_line < count ? before_line : count;
  reduce_short<Op, T>(destinations, sources, {0, head});
  reduce_direct<Op, T>(destinations, sources, {head, count}, Stores::streaming);
  hwy::FlushStream();
}

template <class Op, class T>
HWY_NOINLINE void reduce_cached(Destinations destinations, Sources sources, std::size_t count) {
  const std::size_t head = elements_to_align(destinations[0], sources[0], count, sizeof(T));
  if (head != 0) reduce_short<Op, T>(destinations, sources, {0, head});
  reduce_direct<Op, T>(destinations, sources, {head, count}, Stores::cached);
}

/// The ReduceKernel of an operator and a type on this instruction set.
template <class Op, class T>
void reduce(Destinations destinations, Sources sources, std::size_t count, Stores stores) {
  // One element is what a small allreduce reduces: it pays for nothing else.
  if (count == 1) return reduce_vector<Op, T, 1>(destinations, sources, 0);
  if (count < kUnrolledLanes<T>) return reduce_short<Op, T>(destinations, sources, {0, count});
  if (sources.size() == 1) return copy_kernel(destinations, sources[0], count * sizeof(T), stores);
  if (sources.size() + destinations.size() > kMaxDirectStreams) {
    return reduce_staged<Op, T>(destinations, sources, count, stores);
  }
  if (stores == Stores::streaming) return reduce_streaming<Op, T>(destinations, sources, count);
  reduce_cached<Op, T>(destinations, sources, count);
}

}  // namespace hycoll::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HYCOLL_CORE_KERNELS_LOOPS_INL_H_
