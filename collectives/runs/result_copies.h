#ifndef HYCOLL_COLLECTIVES_RUNS_RESULT_COPIES_H_
#define HYCOLL_COLLECTIVES_RUNS_RESULT_COPIES_H_

namespace hycoll {

/// Memory that stands in for the user's buffers in a call that cannot use them themselves.
class ResultCopies {
 public:
  ResultCopies() = default;
  virtual ~ResultCopies() = default;
  ResultCopies(const ResultCopies&) = delete;
  ResultCopies& operator=(const ResultCopies&) = delete;

  /// Copies what the user passes. Before the call, and before each other one on the same buffers.
  virtual void copy_in() noexcept = 0;

  /// Copies the result to where the user wants it. After the call.
  virtual void deliver() = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_RESULT_COPIES_H_
