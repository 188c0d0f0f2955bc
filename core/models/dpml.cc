#include "core/models/dpml.h"

#include "core/models/steps.h"

namespace hycoll::models {
namespace {

/// l copies of a partition each, one after the other.
double partition_copies_us(const DpmlSymbols& s) {
  return s.l * (s.a_prime + s.b_prime * s.n / s.l);
}

}  // namespace

double recursive_doubling_us(const DpmlSymbols& s) {
  return ceil_lg(s.p) * (s.a + s.n * s.b + s.n * s.c);
}

double copy_us(const DpmlSymbols& s) { return partition_copies_us(s); }

double computation_us(const DpmlSymbols& s) {
  return (static_cast<double>(s.p) / (s.h * s.l) - 1) * s.n * s.c;
}

double computation_by_the_text_us(const DpmlSymbols& s) {
  return (static_cast<double>(s.p) / s.h - 1) * s.n / s.l * s.c;
}

double exchange_us(const DpmlSymbols& s) {
  return ceil_lg(s.h) * (s.a + s.n * s.b / s.l + s.n * s.c / s.l);
}

double pipelined_exchange_us(const DpmlSymbols& s) {
  return ceil_lg(s.h) * (s.a * s.k + s.n * s.b / s.l + s.n * s.c / s.l);
}

double broadcast_us(const DpmlSymbols& s) { return partition_copies_us(s); }

double allreduce_us(const DpmlSymbols& s) {
  return copy_us(s) + computation_us(s) + exchange_us(s) + broadcast_us(s);
}

}  // namespace hycoll::models
