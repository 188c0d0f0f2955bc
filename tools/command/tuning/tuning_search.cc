#include "tools/command/tuning/tuning_search.h"

#include <algorithm>
#include <numeric>

namespace hycoll::command {
namespace {

/// All candidates are measured at every so-manieth size.
constexpr std::size_t kStride = 4;
/// Who is behind by this at both ends of a range is not measured inside. Over a range of 16 times
/// the size, what begins late but is faster by the byte may catch up by four.
constexpr double kFarBehind = 4;
/// Who is ahead of all others by this at both ends of a range wins inside, too.
constexpr double kFarAhead = 1.05;

}  // namespace

std::optional<Ranking> ranking_of(const CandidateTimes& times) {
  std::optional<Ranking> ranking;
  for (std::size_t c = 0; c < times.size(); ++c) {
    if (!times[c]) continue;
    if (!ranking) {
      ranking = Ranking{.winner = c, .runner_up = std::nullopt};
    } else if (*times[c] < *times[ranking->winner]) {
      ranking->runner_up = ranking->winner;
      ranking->winner = c;
    } else if (!ranking->runner_up || *times[c] < *times[*ranking->runner_up]) {
      ranking->runner_up = c;
    }
  }
  return ranking;
}

TuningSearch::TuningSearch(std::size_t size_count, std::size_t candidate_count)
    : candidate_count_(candidate_count), times_(size_count) {
  for (std::size_t size = 0; size < size_count; size += kStride) first_.push_back(size);
  if (first_.back() + 1 < size_count) first_.push_back(size_count - 1);
  std::ranges::reverse(first_);
}

std::optional<TuningSearch::Task> TuningSearch::next() {
  if (!first_.empty()) {
    Task task{.size = first_.back(), .candidates = std::vector<std::size_t>(candidate_count_)};
    std::iota(task.candidates.begin(), task.candidates.end(), std::size_t{0});
    return task;
  }
  while (may_refine_ && !between_.empty()) {
    const auto [left, right] = between_.back();
    if (right - left > 1 && !is_settled(left, right)) {
      return Task{.size = (left + right) / 2, .candidates = worth_a_try(left, right)};
    }
    between_.pop_back();
  }
  return std::nullopt;
}

void TuningSearch::measured(const Task& task, CandidateTimes times) {
  const bool is_known = ranking_of(times).has_value();
  if (is_known) times_[task.size] = std::move(times);
  if (!first_.empty()) {
    first_.pop_back();
    if (is_known) {
      if (!done_.empty()) between_.emplace_back(done_.back(), task.size);
      done_.push_back(task.size);
    }
    return;
  }
  const auto [left, right] = between_.back();
  between_.pop_back();
  if (!is_known) return;
  between_.emplace_back(task.size, right);
  between_.emplace_back(left, task.size);
}

std::vector<std::size_t> TuningSearch::worth_a_try(std::size_t left, std::size_t right) const {
  std::vector<std::size_t> candidates;
  for (std::size_t c = 0; c < candidate_count_; ++c) {
    for (const std::size_t end : {left, right}) {
      const CandidateTimes& times = *times_[end];
      const double best = *times[ranking_of(times)->winner];
      if (!times[c] || *times[c] > kFarBehind * best) continue;
      candidates.push_back(c);
      break;
    }
  }
  return candidates;
}

bool TuningSearch::is_settled(std::size_t left, std::size_t right) const {
  const Ranking at_left = *ranking_of(*times_[left]);
  const Ranking at_right = *ranking_of(*times_[right]);
  if (at_left.winner != at_right.winner) return false;
  // Who serves no longer sizes may win up to there.
  for (std::size_t c = 0; c < candidate_count_; ++c) {
    if ((*times_[left])[c] && !(*times_[right])[c]) return false;
  }
  const auto is_far_ahead = [](const CandidateTimes& times, const Ranking& ranking) {
    return !ranking.runner_up || *times[*ranking.runner_up] >= kFarAhead * *times[ranking.winner];
  };
  return is_far_ahead(*times_[left], at_left) && is_far_ahead(*times_[right], at_right);
}

}  // namespace hycoll::command
