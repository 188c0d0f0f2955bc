#ifndef HYCOLL_CORE_VERIFIER_CLOCKS_H_
#define HYCOLL_CORE_VERIFIER_CLOCKS_H_

#include <span>
#include <vector>

#include "core/schedule/index.h"

namespace hycoll::verifier {

/// Vector clocks over the strands of each node, through one run after the other.
///
/// A strand's events have increasing positions: in every run its start, then the issue and the
/// completion of each step, then its end. A clock holds for every strand of the node, at the
/// strand's component, the last position that is known to have happened. Asynchronous steps
/// complete at no position of their own, so completion() names the first one that implies it.
class Clocks {
 public:
  explicit Clocks(const Index& index);

  /// Starts the first run, or the next one, of every worker. Requires that the last one has ended.
  void start_run();
  /// Ends the run of every worker. Requires that all steps of the run were issued and completed.
  void end_run();

  /// Issues a step, in an order as from check_deadlock(): the strand now knows what a wait waits
  /// for.
  void issue(int id);
  /// Leaves the step behind: the strand now knows what the writers of lines that the step has read
  /// knew.
  void complete(int id);

  /// What a strand knows now; what a worker knew when its last run ended.
  std::span<const int> of_strand(int strand) const { return of(strand_clocks_, strand); }
  std::span<const int> of_worker(int worker) const {
    return of(worker_clocks_, first_strand(worker));
  }

  int first_strand(int worker) const { return first_strand_[static_cast<std::size_t>(worker)]; }
  /// Where the clocks of a strand's node hold its positions.
  int component(int strand) const { return component_[static_cast<std::size_t>(strand)]; }

  /// The position of the strand that implies that a step of the current run has completed.
  int completion(int id) const {
    return base_[static_cast<std::size_t>(index_.place[static_cast<std::size_t>(id)].strand)] +
           completion_[static_cast<std::size_t>(id)];
  }
  /// The position of the start of a strand, or of its worker, in the current run.
  int start(int strand) const { return base_[static_cast<std::size_t>(strand)] + kStart; }

 private:
  // Positions within a run.
  static constexpr int kStart = 1;
  static constexpr int issue_position(int step) { return 2 + 2 * step; }
  static constexpr int complete_position(int step) { return 3 + 2 * step; }
  int end_position(int strand) const;

  void index_strands();
  void index_completions();
  void index_releases();

  /// A strand's part of an array with one clock per strand.
  std::span<const int> of(const std::vector<int>& clocks, int strand) const;
  std::span<int> of(std::vector<int>& clocks, int strand);
  /// The clock that a signal or a writer of lines has left behind.
  std::span<int> released(int id);
  void join(int strand, int released_id);
  void join_lines(int strand, const Span& lines);

  const Index& index_;
  std::vector<int> first_strand_;    // per worker
  std::vector<int> component_;       // per strand
  std::vector<int> width_;           // per node: its strands
  std::vector<int> clock_offset_;    // per strand, into strand_clocks_ and worker_clocks_
  std::vector<int> completion_;      // per step, within a run
  std::vector<int> release_offset_;  // per step, into released_; -1 for steps that release nothing
  std::vector<int> base_;            // per strand: the position before the current run
  std::vector<int> strand_clocks_;
  std::vector<int> worker_clocks_;  // at the offset of each of the worker's strands
  std::vector<int> released_;
};

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_VERIFIER_CLOCKS_H_
