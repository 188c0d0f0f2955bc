#include "core/models/blue_gene.h"

#include "core/base/errors.h"

namespace hycoll::models {

double torus_broadcast_us(const BlueGeneSymbols& s) { return s.n / s.colours * s.link; }

double enqueueing_us(const BlueGeneSymbols& s) { return copying_out_us(s); }

double copying_out_us(const BlueGeneSymbols& s) { return s.processes > 1 ? s.n * s.copy : 0; }

double collective_network_us(const BlueGeneSymbols& s) { return s.n * s.network; }

double copying_twice_us(const BlueGeneSymbols& s) {
  HYCOLL_ASSERT(s.processes >= 3, "one process injects, one receives, and one copies");
  return 2 * s.n * s.copy;
}

double local_reduction_us(const BlueGeneSymbols& s) {
  return (s.processes - 1) * s.n / s.colours * s.reduce;
}

double torus_allreduce_us(const BlueGeneSymbols& s) { return 2 * torus_broadcast_us(s); }

double local_broadcast_us(const BlueGeneSymbols& s) { return copying_out_us(s); }

}  // namespace hycoll::models
