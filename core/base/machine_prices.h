#ifndef HYCOLL_CORE_BASE_MACHINE_PRICES_H_
#define HYCOLL_CORE_BASE_MACHINE_PRICES_H_

#include <limits>

namespace hycoll {

/// What the steps of a schedule cost on a machine. The defaults are those of a cluster whose nodes
/// have one network card of 100 Gbit/s: what selection reckons with between many nodes, and
/// `hycoll plan --price` where it is not told otherwise.
struct MachinePrices {
  double alpha_us = 1.5;             ///< A message between nodes, without its bytes.
  double message_us = 0.3;           ///< Of that, what keeps its sender or its receiver busy.
  double bandwidth_gb_per_s = 12.5;  ///< A node's card in each direction, shared by its lanes.
  /// An endpoint in each direction, by itself. Unlimited: as fast as the card.
  double endpoint_gb_per_s = std::numeric_limits<double>::infinity();
  double reduce_gb_per_s = 10;  ///< A core, of each operand after the first.
  double copy_gb_per_s = 10;    ///< A core, of each destination.
  /// All workers of a node together, of what each reduces and copies at the rates above. Unlimited:
  /// none keeps another one waiting.
  double memory_gb_per_s = std::numeric_limits<double>::infinity();
  double wait_us = 0.1;  ///< From a signal, or a write to lines, to who waits.
  double gap_us = 0.02;  ///< Each flag, or line, that a worker looks at.

  friend bool operator==(const MachinePrices&, const MachinePrices&) = default;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_MACHINE_PRICES_H_
