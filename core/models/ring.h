#ifndef HYCOLL_CORE_MODELS_RING_H_
#define HYCOLL_CORE_MODELS_RING_H_

namespace hycoll::models {

/// The notation of the ring paper. All functions of this file are pure; times are in microseconds.
///
/// Source: P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of
/// workstations, JPDC 2009, sections 2 to 5. Its linear model has no startup times and leaves out
/// the computation.
struct RingSymbols {
  int N = 1;          ///< Processes.
  double X = 0;       ///< Items of the vector: whole numbers.
  double itsize = 1;  ///< Bytes of an item; msize = X itsize.
  double beta = 0;    ///< Time per byte.
};

/// Section 2.2, the linear model: T(m) = beta m.
double linear_us(const RingSymbols& symbols, double m);

/// Lemma 3: the partial results that have to be communicated for one item, 2 (N - 1).
double least_partial_results(const RingSymbols& symbols);

/// Lemma 4: some process has to communicate ceil(2 (N - 1) X / N) items.
double least_items(const RingSymbols& symbols);

/// Lemma 5: no allreduce takes less than T(ceil(2 (N - 1) X / N) itsize).
double lower_bound_us(const RingSymbols& symbols);

/// Section 4.1 and theorem 1, either half of the ring allreduce, the reduce-scatter or the
/// all-gather: N - 1 rounds of the longest segment, (N - 1) T(ceil(X / N) itsize).
double half_ring_us(const RingSymbols& symbols);

/// Both. The lower bound, where N divides X.
double ring_us(const RingSymbols& symbols);

/// Section 5.1: a ring takes less time than the butterfly-like allreduce from a msize on of N times
/// a threshold, which the paper measured. It has no formula for that: without startup times and
/// contention both take the same.
double break_even_bytes(int N, double threshold_bytes);
inline constexpr double kMyrinetThresholdBytes = 2048;   ///< Section 5.1, 128 processes.
inline constexpr double kEthernetThresholdBytes = 8192;  ///< Section 5.3, 32 processes.

}  // namespace hycoll::models

#endif  // HYCOLL_CORE_MODELS_RING_H_
