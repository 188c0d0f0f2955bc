#ifndef HYCOLL_CORE_MODELS_BLUE_GENE_H_
#define HYCOLL_CORE_MODELS_BLUE_GENE_H_

namespace hycoll::models {

/// What the phases of the Blue Gene/P paper move. The paper has no equations: it says which core
/// moves what, and that the phases of one call are pipelined. A long call then takes as long as the
/// phase that has most to do. All functions of this file are pure; times are in microseconds, rates
/// in microseconds per byte.
///
/// Source: A. Mamidala et al., Optimizing MPI Collectives using Efficient Intra-node Communication
/// Techniques over the Blue Gene/P Supercomputer, 2009, section 5.
struct BlueGeneSymbols {
  int processes = 4;   ///< Of a node, a core each: quad mode.
  int colours = 1;     ///< Routes without a common link: 6 for a broadcast, 3 for an allreduce.
  double n = 0;        ///< Bytes of the vector.
  double link = 0;     ///< Of one torus link, one way.
  double network = 0;  ///< Of the collective network, one way.
  double copy = 0;     ///< Of a core, for each byte that it writes.
  double reduce = 0;   ///< Of a core, for each byte of each operand after the first.
};

/// Section 5.A, broadcast over the torus: each colour carries its part of the vector, all at once.
double torus_broadcast_us(const BlueGeneSymbols& symbols);

/// Section 5.A, shared memory: the master copies all that arrives into the Bcast FIFO.
double enqueueing_us(const BlueGeneSymbols& symbols);

/// Section 5.A: each other process copies the vector, out of the FIFO or directly from the master's
/// buffer (shared address). Nothing where there is no other one.
double copying_out_us(const BlueGeneSymbols& symbols);

/// Section 5.B, broadcast over the collective network, shared address: the process with local rank
/// 0 injects the vector, that with rank 1 receives it; each way.
double collective_network_us(const BlueGeneSymbols& symbols);

/// Section 5.B: the process with local rank 2 copies for itself and for the one that injects.
/// Requires at least 3 processes.
double copying_twice_us(const BlueGeneSymbols& symbols);

/// Section 5.C, allreduce over the torus: each core but the master's sums up its colour of all
/// processes' buffers.
double local_reduction_us(const BlueGeneSymbols& symbols);

/// Section 5.C: each colour is reduced along a ring and then broadcast, so that each link carries
/// its part of the vector twice.
double torus_allreduce_us(const BlueGeneSymbols& symbols);

/// Section 5.C: having reduced, each of these cores copies all colours into its own buffer.
double local_broadcast_us(const BlueGeneSymbols& symbols);

}  // namespace hycoll::models

#endif  // HYCOLL_CORE_MODELS_BLUE_GENE_H_
