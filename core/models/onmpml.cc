#include "core/models/onmpml.h"

#include <algorithm>

namespace hycoll::models {
namespace {

/// Bytes from all processes of a node to one process, or from one to all of a node.
double message_of(const OnmpmlSymbols& s) { return s.sz * s.ppn; }

/// Bytes from one node to another.
double block_of(const OnmpmlSymbols& s) { return s.sz * s.ppn * s.ppn; }

double gather_us(const OnmpmlSymbols& s, double messages) {
  return concurrent_messages_us(s.inside, message_of(s), messages, s.ppn);
}

double blocks_of_leader(const OnmpmlSymbols& s) { return static_cast<double>(s.M) / s.ln; }

}  // namespace

double concurrent_transfers_us(const TauLop& inside, double m, double tau, double of_one_core) {
  return m * std::max(of_one_core * inside.copy, tau * inside.memory);
}

double concurrent_messages_us(const TauLop& inside, double m, double messages, double of_one_core) {
  return inside.o + concurrent_transfers_us(inside, m, messages, of_one_core);
}

double direct_us(const OnmpmlSymbols& s) {
  const double p = static_cast<double>(s.M) * s.ppn;
  return s.ppn * (p - s.ppn) * (s.network.L + s.network.G * (s.sz - 1)) +
         (p - 1) * (s.network.o + s.network.g);
}

double leader_gather_us(const OnmpmlSymbols& s) { return gather_us(s, s.ppn); }

double contiguous_gather_us(const OnmpmlSymbols& s) {
  return gather_us(s, static_cast<double>(s.ppn) * s.ln);
}

double spread_gather_us(const OnmpmlSymbols& s) {
  const double n1 = static_cast<double>(s.ppn) / s.nn;
  return gather_us(s, s.ppn + (s.ln - 1) * n1);
}

double transposition_us(const OnmpmlSymbols& s) { return s.b_prime * block_of(s); }

double leader_exchange_us(const OnmpmlSymbols& s) {
  const LogP& net = s.network;
  return (s.M - 1) * (net.L + net.o + (block_of(s) - 1) * net.G + net.g);
}

double multi_port_exchange_us(const OnmpmlSymbols& s) {
  const LogP& net = s.network;
  return (s.M - 1) * (net.L + net.o / s.ln + (block_of(s) - 1) * net.G + net.g / s.ln);
}

double l_a2a_us(const OnmpmlSymbols& s) {
  return s.M * leader_gather_us(s) + s.M * transposition_us(s) + leader_exchange_us(s) +
         s.M * leader_gather_us(s);
}

double mpml_us(const OnmpmlSymbols& s) {
  return 2 * blocks_of_leader(s) * contiguous_gather_us(s) +
         blocks_of_leader(s) * transposition_us(s) + multi_port_exchange_us(s);
}

double nmpml_us(const OnmpmlSymbols& s) {
  return 2 * blocks_of_leader(s) * spread_gather_us(s) + blocks_of_leader(s) * transposition_us(s) +
         multi_port_exchange_us(s);
}

double start_us(const OnmpmlSymbols& s) { return spread_gather_us(s); }

double end_us(const OnmpmlSymbols& s) { return spread_gather_us(s) + transposition_us(s); }

double overlapped_inside_us(const OnmpmlSymbols& s) {
  return (2 * blocks_of_leader(s) - 1) * spread_gather_us(s) +
         (blocks_of_leader(s) - 1) * transposition_us(s);
}

double overlapped_inside_by_the_text_us(const OnmpmlSymbols& s) {
  return overlapped_inside_us(s) - spread_gather_us(s);
}

double onmpml_us(const OnmpmlSymbols& s) {
  return start_us(s) + std::max(multi_port_exchange_us(s), overlapped_inside_us(s)) + end_us(s);
}

}  // namespace hycoll::models
