#include "numa/topology/process_share.h"

#include <cstddef>
#include <limits>

namespace hycoll::internal {
namespace {

constexpr int kUnreachable = std::numeric_limits<int>::max();

/// Dynamic programming over (ranges cut so far, larger ranges among them): the two give the
/// position.
class Cutter {
 public:
  Cutter(std::span<const Core> cores, int process_count)
      : core_count_(static_cast<int>(cores.size())),
        process_count_(process_count),
        small_size_(core_count_ / process_count),
        larger_count_(core_count_ % process_count),
        changes_(cores.size(), 0),
        states_((static_cast<std::size_t>(process_count) + 1) *
                (static_cast<std::size_t>(larger_count_) + 1)) {
    for (std::size_t i = 1; i < cores.size(); ++i) {
      changes_[i] = changes_[i - 1] + (cores[i].numa_domain != cores[i - 1].numa_domain ? 1 : 0) +
                    (cores[i].package != cores[i - 1].package ? 1 : 0);
    }
  }

  std::vector<int> cut() {
    state(0, 0).cost = 0;
    for (int ranges = 0; ranges < process_count_; ++ranges) {
      for (int larger = 0; larger <= larger_count_; ++larger) {
        if (state(ranges, larger).cost == kUnreachable) continue;
        extend(ranges, larger, 0);
        if (larger < larger_count_) extend(ranges, larger, 1);
      }
    }
    return best_cuts();
  }

 private:
  struct State {
    int cost = kUnreachable;
    int last_extra = 0;  // whether the last range is a larger one
  };

  State& state(int ranges, int larger) {
    return states_[static_cast<std::size_t>(ranges) *
                       (static_cast<std::size_t>(larger_count_) + 1) +
                   static_cast<std::size_t>(larger)];
  }

  void extend(int ranges, int larger, int extra) {
    const int begin = ranges * small_size_ + larger;
    const int end = begin + small_size_ + extra;
    if (end > core_count_) return;
    const int straddled =
        changes_[static_cast<std::size_t>(end) - 1] - changes_[static_cast<std::size_t>(begin)];
    const int cost = state(ranges, larger).cost + straddled;
    State& next = state(ranges + 1, larger + extra);
    // Of equal costs the later one stays: the one with the small range last.
    if (cost <= next.cost) next = {cost, extra};
  }

  std::vector<int> best_cuts() {
    std::vector<int> cuts(static_cast<std::size_t>(process_count_) + 1, 0);
    int larger = larger_count_;
    for (int ranges = process_count_; ranges > 0; --ranges) {
      cuts[static_cast<std::size_t>(ranges)] = ranges * small_size_ + larger;
      larger -= state(ranges, larger).last_extra;
    }
    return cuts;
  }

  int core_count_;
  int process_count_;
  int small_size_;
  int larger_count_;
  std::vector<int> changes_;  // domain and package changes between the first core and core i
  std::vector<State> states_;
};

}  // namespace

std::vector<int> cut_among_processes(std::span<const Core> cores, int process_count) {
  return Cutter(cores, process_count).cut();
}

}  // namespace hycoll::internal
