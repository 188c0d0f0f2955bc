#ifndef HYCOLL_TOOLS_COMMAND_TUNING_TUNING_SEARCH_H_
#define HYCOLL_TOOLS_COMMAND_TUNING_TUNING_SEARCH_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace hycoll::command {

/// What a size's candidates took, in microseconds; none of those that were not measured, or
/// refused.
using CandidateTimes = std::vector<std::optional<double>>;

/// Looks for the fastest candidate over a row of sizes, without measuring all of them at all sizes:
/// first all at a few sizes, then between two neighbours that have different winners, or near ones,
/// those that are not far behind at both. Deterministic: with the same times, all who search
/// together do the same.
class TuningSearch {
 public:
  struct Task {
    std::size_t size;                     ///< Which of the sizes.
    std::vector<std::size_t> candidates;  ///< To be measured in turn.
  };

  /// Requires a size and a candidate at least.
  TuningSearch(std::size_t size_count, std::size_t candidate_count);

  /// What to measure next; empty when all is known.
  std::optional<Task> next();

  /// What came of it. A size at which nobody could be measured is left out from then on.
  void measured(const Task& task, CandidateTimes times);

  /// Nothing is measured any more but what next() has begun with: all candidates at few sizes.
  void refine_no_more() noexcept { may_refine_ = false; }

  /// Sizes that have been measured, by number, with their times.
  const std::vector<std::optional<CandidateTimes>>& times() const noexcept { return times_; }

 private:
  std::vector<std::size_t> worth_a_try(std::size_t left, std::size_t right) const;
  bool is_settled(std::size_t left, std::size_t right) const;

  std::size_t candidate_count_;
  bool may_refine_ = true;
  std::vector<std::size_t> first_;  // sizes at which all are measured, those to come last
  std::vector<std::pair<std::size_t, std::size_t>> between_;
  std::vector<std::size_t> done_;  // of the first ones, as they were measured
  std::vector<std::optional<CandidateTimes>> times_;
};

/// The fastest one, and who follows.
struct Ranking {
  std::size_t winner = 0;
  std::optional<std::size_t> runner_up;
};

/// Empty if nobody was measured.
std::optional<Ranking> ranking_of(const CandidateTimes& times);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TUNING_TUNING_SEARCH_H_
