#include "numa/topology/crowding.h"

#include <algorithm>
#include <cstddef>

namespace hycoll::internal {
namespace {

constexpr int kNobody = -1;

std::size_t core_count(std::span<const std::vector<int>> cores_of_process) {
  int last = -1;
  for (const std::vector<int>& cores : cores_of_process) {
    for (const int core : cores) last = std::max(last, core);
  }
  return static_cast<std::size_t>(last + 1);
}

/// A matching of processes and cores that grows process by process (Kuhn's algorithm).
class Matching {
 public:
  explicit Matching(std::span<const std::vector<int>> cores_of_process)
      : cores_of_process_(cores_of_process),
        owners_(core_count(cores_of_process), kNobody),
        scarce_(owners_.size(), false) {}

  std::vector<bool> crowded() {
    std::vector<bool> crowded(cores_of_process_.size(), false);
    for (std::size_t process = 0; process < crowded.size(); ++process) {
      std::vector<bool> asked = scarce_;
      if (find_core(process, asked)) continue;
      // Whoever owns one of those it has asked for finds no other one either, now or later.
      crowded[process] = true;
      scarce_ = std::move(asked);
    }
    for (std::size_t core = 0; core < owners_.size(); ++core) {
      if (scarce_[core]) crowded[static_cast<std::size_t>(owners_[core])] = true;
    }
    return crowded;
  }

 private:
  /// Gives the process a core, for which owners may move to others. If there is none, all cores
  /// that were in question have been asked for, and nothing has changed.
  bool find_core(std::size_t process, std::vector<bool>& asked) {
    for (const int number : cores_of_process_[process]) {
      const auto core = static_cast<std::size_t>(number);
      if (owners_[core] == kNobody) return take(core, process);
    }
    for (const int number : cores_of_process_[process]) {
      const auto core = static_cast<std::size_t>(number);
      if (asked[core]) continue;
      asked[core] = true;
      if (find_core(static_cast<std::size_t>(owners_[core]), asked)) return take(core, process);
    }
    return false;
  }

  bool take(std::size_t core, std::size_t process) {
    owners_[core] = static_cast<int>(process);
    return true;
  }

  std::span<const std::vector<int>> cores_of_process_;
  std::vector<int> owners_;   // by core: a process, or kNobody
  std::vector<bool> scarce_;  // by core: too few for those who may use it and its like
};

}  // namespace

std::vector<bool> crowded_processes(std::span<const std::vector<int>> cores_of_process) {
  return Matching(cores_of_process).crowded();
}

}  // namespace hycoll::internal
