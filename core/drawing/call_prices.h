#ifndef HYCOLL_CORE_DRAWING_CALL_PRICES_H_
#define HYCOLL_CORE_DRAWING_CALL_PRICES_H_

#include "core/base/machine_prices.h"
#include "core/drawing/schedule_price.h"

namespace hycoll {

inline constexpr double kBytesPerUs = 1000;  ///< Of 1 GB/s.

/// A worker of the last node stands for several lanes.
inline double lanes_of_worker(bool is_last_node, const LaneScale& scale) {
  return is_last_node ? scale.last_node_lanes : 1;
}

/// What bytes and things cost in one call. Refers to the machine's prices.
struct CallPrices {
  CallPrices(double size_bytes, int chunk_count, const MachinePrices& machine_prices,
             const LaneScale& scale)
      : prices(machine_prices), chunk_bytes(size_bytes / chunk_count) {
    reduce_us = chunk_bytes / (prices.reduce_gb_per_s * kBytesPerUs);
    copy_us = chunk_bytes / (prices.copy_gb_per_s * kBytesPerUs);
    memory_us = 1 / (prices.memory_gb_per_s * kBytesPerUs) * scale.lanes_per_lane;
    card_us = 1 / (prices.bandwidth_gb_per_s * kBytesPerUs) * scale.lanes_per_lane;
    endpoint_us = 1 / (prices.endpoint_gb_per_s * kBytesPerUs);
  }

  /// How long the work keeps its worker.
  double busy_us(const StepWork& work) const {
    return work.looks * prices.gap_us + moving_us(work) + work.sends * prices.message_us;
  }
  /// What of that goes through the node's memory,
  double moving_us(const StepWork& work) const {
    return work.reduced * reduce_us + work.copied * copy_us;
  }
  /// and how many bytes.
  double moved_bytes(const StepWork& work) const {
    return (work.reduced + work.copied) * chunk_bytes;
  }

  const MachinePrices& prices;
  double chunk_bytes;
  double reduce_us;  // of a chunk
  double copy_us;    // of a chunk
  double memory_us;  // of a byte, as the following
  double card_us;
  double endpoint_us;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_CALL_PRICES_H_
