#include "core/schedule/processes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hycoll {
namespace {

/// Runs of one process each.
std::vector<EqualProcesses> runs_of(const std::vector<int>& of_worker) {
  std::vector<EqualProcesses> runs;
  for (auto begin = of_worker.begin(); begin != of_worker.end();) {
    const auto end = std::find_if(begin, of_worker.end(), [&](int p) { return p != *begin; });
    runs.push_back({.first_process = *begin, .thread_count = static_cast<int>(end - begin)});
    begin = end;
  }
  return runs;
}

}  // namespace

Processes::Processes(std::span<const EqualProcesses> runs) {
  std::vector<Run> merged;
  int workers = 0;
  for (const EqualProcesses& run : runs) {
    const bool goes_on = !merged.empty() && merged.back().thread_count == run.thread_count &&
                         run.first_process - merged.back().first_process ==
                             (workers - merged.back().first_worker) / run.thread_count;
    if (!goes_on) merged.push_back({workers, run.first_process, run.thread_count});
    workers += run.count * run.thread_count;
  }
  if (merged.empty()) return;
  merged.push_back({.first_worker = workers, .first_process = 0, .thread_count = 1});
  merged.shrink_to_fit();
  runs_ = std::make_shared<const std::vector<Run>>(std::move(merged));
}

Processes::Processes(const std::vector<int>& of_worker) : Processes(runs_of(of_worker)) {}

const Processes::Run& Processes::run_of(int worker) const noexcept {
  const auto after = std::upper_bound(runs_->begin(), std::prev(runs_->end()), worker,
                                      [](int w, const Run& run) { return w < run.first_worker; });
  return *std::prev(after);
}

int Processes::of(int worker) const noexcept {
  if (runs_ == nullptr) return worker;
  const Run& run = run_of(worker);
  return run.first_process + (worker - run.first_worker) / run.thread_count;
}

bool Processes::is_one_each() const noexcept {
  return runs_ == nullptr || (runs_->size() == 2 && runs_->front() == Run{0, 0, 1});
}

int Processes::worker_count() const noexcept {
  return runs_ == nullptr ? 0 : runs_->back().first_worker;
}

bool Processes::ascend() const noexcept {
  if (runs_ == nullptr) return true;
  int next = 0;
  for (std::size_t r = 0; r + 1 < runs_->size(); ++r) {
    const Run& run = (*runs_)[r];
    if (run.first_process < next) return false;
    next = run.first_process + ((*runs_)[r + 1].first_worker - run.first_worker) / run.thread_count;
  }
  return true;
}

bool Processes::begin_at(int first, int step, int count) const noexcept {
  if (runs_ == nullptr) return true;
  const int end = first + step * count;
  for (int worker = first; worker < end;) {
    const Run& run = run_of(worker);
    if ((worker - run.first_worker) % run.thread_count != 0) return false;
    // As one step in a run goes, so go all.
    const int run_end = (&run)[1].first_worker;
    const bool is_aligned = step % run.thread_count == 0;
    worker += is_aligned ? (run_end - worker + step - 1) / step * step : step;
  }
  return true;
}

bool operator==(const Processes& a, const Processes& b) noexcept {
  if (a.runs_ == b.runs_) return true;
  return a.runs_ != nullptr && b.runs_ != nullptr && *a.runs_ == *b.runs_;
}

}  // namespace hycoll
