// The kernels of memory_limit.h: as plain as possible, compiled once for each instruction set.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/kernels/instruction_set.h"
#include "tools/measure/memory_limit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/measure/memory_limit_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for every instruction set.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hycoll::measure::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kUnrolled = 4;  // vectors: a cache line or more

/// One thread's share with the element type, which is arithmetic and as wide as the type's.
template <class T>
struct TypedShare {
  const LimitShare& share;

  const T* input(std::size_t k) const { return static_cast<const T*>(share.inputs[k]); }
  T* output(std::size_t k) const { return static_cast<T*>(share.outputs[k]); }
  std::size_t input_count() const { return share.inputs.size(); }
  std::size_t output_count() const { return share.outputs.size(); }
  bool is_fold() const { return share.form == LimitShare::Form::fold; }

  /// Elements [begin, end), one by one.
  void add_scalars(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      T sum = 0;
      for (std::size_t k = 0; k < input_count(); ++k) {
        sum = static_cast<T>(sum + input(k)[i]);
        if (!is_fold()) output(k)[i] = sum;
      }
      if (!is_fold()) continue;
      for (std::size_t k = 0; k < output_count(); ++k) output(k)[i] = sum;
    }
  }
};

template <bool kStreaming, class V, class D, class T>
HWY_INLINE void store(V value, D tag, T* to) {
  if constexpr (kStreaming) {
    hn::Stream(value, tag, to);
  } else {
    hn::StoreU(value, tag, to);
  }
}

/// The elements before the first at which a vector may be streamed into every output.
template <class T>
std::size_t elements_before_line(const TypedShare<T>& share) {
  const auto address = reinterpret_cast<std::uintptr_t>(share.output(0));
  const std::size_t elements = (0 - address) % kLineBytes / sizeof(T);
  return std::min(elements, share.share.count);
}

/// Addresses in registers if their number is known at compile time, else read every time.
template <class T, std::size_t kCount>
struct Addresses {
  template <class Pointers>
  explicit HWY_INLINE Addresses(const Pointers& all) {
    for (std::size_t k = 0; k < kCount; ++k) addresses[k] = static_cast<T*>(all[k]);
  }
  static constexpr HWY_INLINE std::size_t size() { return kCount; }
  HWY_INLINE T* operator[](std::size_t k) const { return addresses[k]; }
  T* addresses[kCount];
};

template <class T>
struct Addresses<T, 0> {
  using Pointer = std::conditional_t<std::is_const_v<T>, const void*, void*>;
  explicit HWY_INLINE Addresses(const std::vector<Pointer>& its) : all(its) {}
  HWY_INLINE std::size_t size() const { return all.size(); }
  HWY_INLINE T* operator[](std::size_t k) const { return static_cast<T*>(all[k]); }
  const std::vector<Pointer>& all;
};

/// The vectors that the loop works on at a time.
template <class T, bool kStreaming>
struct Registers {
  using D = hn::ScalableTag<T>;
  static constexpr std::size_t kLanes = HWY_LANES(T);

  /// Not implicit: g++ makes that one without the instruction set, which those of vectors need.
  HWY_INLINE Registers() {}

  HWY_INLINE void load(const T* from) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kUnrolled; ++v) vectors[v] = hn::LoadU(D(), from + v * kLanes);
  }
  HWY_INLINE void add(const T* from) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kUnrolled; ++v) {
      vectors[v] = hn::Add(vectors[v], hn::LoadU(D(), from + v * kLanes));
    }
  }
  HWY_INLINE void store(T* to) const {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kUnrolled; ++v) {
      measure::HWY_NAMESPACE::store<kStreaming>(vectors[v], D(), to + v * kLanes);
    }
  }

  hn::Vec<D> vectors[kUnrolled];
};

/// kInputs, kOutputs: their numbers if known, else 0.
template <class T, LimitShare::Form kForm, std::size_t kInputs, std::size_t kOutputs,
          bool kStreaming>
HWY_NOINLINE void add_vectors(const TypedShare<T>& share) {
  constexpr bool kFolds = kForm == LimitShare::Form::fold;
  constexpr std::size_t kStep = kUnrolled * HWY_LANES(T);
  const Addresses<const T, kInputs> from(share.share.inputs);
  const Addresses<T, kOutputs> to(share.share.outputs);
  std::size_t i = kStreaming ? elements_before_line(share) : 0;
  share.add_scalars(0, i);
  for (; share.share.count - i >= kStep; i += kStep) {
    Registers<T, kStreaming> sum;
    sum.load(from[0] + i);
    if (!kFolds) sum.store(to[0] + i);
    for (std::size_t k = 1; k < from.size(); ++k) {
      sum.add(from[k] + i);
      if (!kFolds) sum.store(to[k] + i);
    }
    for (std::size_t k = 0; kFolds && k < to.size(); ++k) sum.store(to[k] + i);
  }
  share.add_scalars(i, share.share.count);
  if (kStreaming) hwy::FlushStream();
}

/// A block's sum, from the first-level cache to one output.
template <class T, bool kStreaming>
HWY_INLINE void store_block(const T* HWY_RESTRICT sum, T* HWY_RESTRICT output, std::size_t count) {
  if constexpr (kStreaming) {
    const hn::ScalableTag<T> tag;
    std::size_t i = 0;
    for (; count - i >= hn::Lanes(tag); i += hn::Lanes(tag)) {
      hn::Stream(hn::Load(tag, sum + i), tag, output + i);
    }
    for (; i < count; ++i) output[i] = sum[i];
  } else {
    std::memcpy(output, sum, count * sizeof(T));
  }
}

template <class T>
HWY_INLINE void add_block(T* HWY_RESTRICT sum, const T* HWY_RESTRICT input, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] = static_cast<T>(sum[i] + input[i]);
}

template <class T, bool kStreaming>
HWY_NOINLINE void add_blocks(const TypedShare<T>& share) {
  constexpr std::size_t kBlock = kBlockBytes / sizeof(T);
  alignas(kLineBytes) T sum[kBlock];
  const std::size_t count = share.share.count;
  const std::size_t first = kStreaming ? elements_before_line(share) : 0;
  share.add_scalars(0, first);
  for (std::size_t i = first; i < count; i += kBlock) {
    const std::size_t block = std::min(kBlock, count - i);
    std::memcpy(sum, share.input(0) + i, block * sizeof(T));
    for (std::size_t k = 0; k < share.input_count(); ++k) {
      if (k > 0) add_block(sum, share.input(k) + i, block);
      if (!share.is_fold()) store_block<T, kStreaming>(sum, share.output(k) + i, block);
    }
    if (!share.is_fold()) continue;
    for (std::size_t k = 0; k < share.output_count(); ++k) {
      store_block<T, kStreaming>(sum, share.output(k) + i, block);
    }
  }
  if (kStreaming) hwy::FlushStream();
}

template <class T, bool kStreaming>
void add_in_one_pass(const TypedShare<T>& share) {
  constexpr auto kFold = LimitShare::Form::fold;
  constexpr auto kPrefix = LimitShare::Form::prefix;
  const bool two_inputs = share.input_count() == 2;
  if (!share.is_fold()) {
    return two_inputs ? add_vectors<T, kPrefix, 2, 2, kStreaming>(share)
                      : add_vectors<T, kPrefix, 0, 0, kStreaming>(share);
  }
  if (two_inputs && share.output_count() == 2)
    return add_vectors<T, kFold, 2, 2, kStreaming>(share);
  if (two_inputs && share.output_count() == 1)
    return add_vectors<T, kFold, 2, 1, kStreaming>(share);
  add_vectors<T, kFold, 0, 0, kStreaming>(share);
}

/// Whether the cache lines of all outputs begin at the same indices, as streaming needs.
bool can_stream(const LimitShare& share) {
  const auto offset = [](void* output) {
    return reinterpret_cast<std::uintptr_t>(output) % kLineBytes;
  };
  return std::all_of(share.outputs.begin(), share.outputs.end(),
                     [&](void* output) { return offset(output) == offset(share.outputs.front()); });
}

template <class T>
void run_typed(LimitKernel kernel, const LimitShare& share) {
  const TypedShare<T> typed{share};
  const bool streams = can_stream(share);
  switch (kernel) {
    case LimitKernel::vectors:
      return add_in_one_pass<T, false>(typed);
    case LimitKernel::vectors_streaming:
      return streams ? add_in_one_pass<T, true>(typed) : add_in_one_pass<T, false>(typed);
    case LimitKernel::blocks_streaming:
      return streams ? add_blocks<T, true>(typed) : add_blocks<T, false>(typed);
    case LimitKernel::compiler:
      break;
  }
  add_blocks<T, false>(typed);
}

/// Integers of one width add alike, signed or not.
void run_kernel(LimitKernel kernel, const LimitShare& share, DataType type) {
  if (type == DataType::float32) return run_typed<float>(kernel, share);
  if (type == DataType::float64) return run_typed<double>(kernel, share);
  switch (size_of(type)) {
    case 1:
      return run_typed<std::uint8_t>(kernel, share);
    case 2:
      return run_typed<std::uint16_t>(kernel, share);
    case 4:
      return run_typed<std::uint32_t>(kernel, share);
    default:
      return run_typed<std::uint64_t>(kernel, share);
  }
}

}  // namespace hycoll::measure::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hycoll::measure {

void run_limit_kernel(LimitKernel kernel, const LimitShare& share, DataType type) {
  if (share.count == 0 || share.outputs.empty() || share.inputs.empty()) return;
  if (share.form != LimitShare::Form::pairs) {
    return HYCOLL_DISPATCH(run_kernel)(kernel, share, type);
  }
  LimitShare pair{.form = LimitShare::Form::fold,
                  .inputs = {nullptr},
                  .outputs = {nullptr},
                  .count = share.count};
  for (std::size_t k = 0; k < share.inputs.size(); ++k) {
    pair.inputs.front() = share.inputs[k];
    pair.outputs.front() = share.outputs[k];
    HYCOLL_DISPATCH(run_kernel)(kernel, pair, type);
  }
}

}  // namespace hycoll::measure
#endif
