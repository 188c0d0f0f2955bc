#ifndef HYCOLL_CORE_MODELS_DPML_H_
#define HYCOLL_CORE_MODELS_DPML_H_

namespace hycoll::models {

/// The notation of DPML's cost model. Times are in microseconds. All functions of this file are
/// pure.
///
/// Source: M. Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
/// Multi-Leader Design, SC'17, section 5: table 1 and equations 1 to 7. lg is the logarithm to the
/// base 2.
struct DpmlSymbols {
  int p = 1;           ///< Number of MPI processes.
  int h = 1;           ///< Number of nodes.
  int l = 1;           ///< Number of leader processes per node.
  double n = 0;        ///< Size of the input vector in bytes.
  double a = 0;        ///< Startup time per inter-node message.
  double b = 0;        ///< Transfer time per byte for inter-node messages.
  double a_prime = 0;  ///< a': startup time per shared-memory copy.
  double b_prime = 0;  ///< b': transfer time per byte for shared-memory copies.
  double c = 0;        ///< Computation cost of one reduction operation per byte.
  int k = 1;           ///< Number of sub-partitions used in DPML-Pipelined.
};

/// Equation 1, purely inter-node recursive doubling: T_r.d = ceil(lg p) (a + n b + n c).
double recursive_doubling_us(const DpmlSymbols& symbols);

/// Equation 2, phase 1, copy to local leaders: T_copy = l (a' + b' n / l).
double copy_us(const DpmlSymbols& symbols);

/// Equation 3, phase 2, intra-node reduction by leaders, as printed: T_comp = (p / (h l) - 1) n c.
double computation_us(const DpmlSymbols& symbols);

/// Phase 2 as the text says it, sections 4.1 and 5.2: each leader reduces its partition, n / l
/// bytes, of p / h processes, which takes p / h - 1 reductions: (p / h - 1) (n / l) c. With one
/// leader it is equation 3.
double computation_by_the_text_us(const DpmlSymbols& symbols);

/// Equation 4, phase 3, inter-node allreduce by leaders: T_comm = ceil(lg h) (a + n b / l + n c /
/// l).
double exchange_us(const DpmlSymbols& symbols);

/// Equation 5, the same of DPML-Pipelined: T_comm_k = ceil(lg h) (a k + n b / l + n c / l).
double pipelined_exchange_us(const DpmlSymbols& symbols);

/// Equation 6, phase 4, local copy to individual processes: T_bcast = l (a' + b' n / l).
double broadcast_us(const DpmlSymbols& symbols);

/// Equation 7: T_allreduce = T_copy + T_comp + T_comm + T_bcast.
double allreduce_us(const DpmlSymbols& symbols);

}  // namespace hycoll::models

#endif  // HYCOLL_CORE_MODELS_DPML_H_
