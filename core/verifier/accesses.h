#ifndef HYCOLL_CORE_VERIFIER_ACCESSES_H_
#define HYCOLL_CORE_VERIFIER_ACCESSES_H_

#include <cstddef>
#include <span>
#include <vector>

namespace hycoll::verifier {

/// Somebody's access to a cell of memory.
struct Access {
  int component;   ///< Of the strand, in the clocks of its node.
  int completion;  ///< The position that a clock must hold there to know that the access is over.
  int who;         ///< A step, or the worker w whose caller it is, as -1 - w.
  int run;
};

/// Finds unordered accesses among all accesses to each cell, which are added in an order that
/// respects what is known of their order. A write that knows all reads since the last write, and
/// that write, is ordered behind everything; so only these are kept (C. Flanagan, S. Freund,
/// FastTrack, 2009).
class AccessHistory {
 public:
  explicit AccessHistory(int cell_count) : cells_(static_cast<std::size_t>(cell_count)) {}

  /// Adds an access by somebody who knows `clock`. Returns an earlier access that conflicts with it
  /// and may not be over, or nullptr; it is valid until the next call.
  const Access* add_read(int cell, const Access& access, std::span<const int> clock);
  const Access* add_write(int cell, const Access& access, std::span<const int> clock);

  /// Adds a read that is ordered behind the last write by what it reads.
  void add_ordered_read(int cell, const Access& access);

 private:
  static constexpr int kNone = -1;

  struct Read {
    Access access;
    int next;
  };
  struct Cell {
    Access write{.component = 0, .completion = 0, .who = 0, .run = -1};
    int first_read = kNone;
  };

  std::vector<Cell> cells_;
  std::vector<Read> reads_;
  int first_free_ = kNone;
};

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_VERIFIER_ACCESSES_H_
