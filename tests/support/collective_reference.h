#ifndef HYCOLL_TESTS_SUPPORT_COLLECTIVE_REFERENCE_H_
#define HYCOLL_TESTS_SUPPORT_COLLECTIVE_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/collective.h"

namespace hycoll::tests {

/// What every collective is to yield, for sums of whole numbers where it reduces, computed without
/// hycoll. Element i of member m in call c is element(m, c, i): distinct, and exact in any
/// order of summation.
struct CollectiveReference {
  Collective collective = Collective::allreduce;
  int member_count = 1;
  int root = 0;
  std::size_t count = 0;                  ///< As VectorExtent::count.
  std::vector<std::size_t> block_counts;  ///< As VectorExtent::block_counts.

  static std::int64_t element(int member, int call, std::size_t index) {
    return static_cast<std::int64_t>(index % 10'007 + 1) * (member + 3) + 1'003LL * call;
  }

  /// Of the vector; the longer of a member's buffers.
  std::size_t vector_size() const;
  std::size_t input_size(int member) const;
  /// 0 where the member gets no result.
  std::size_t output_size(int member) const;
  /// Where element 0 of the member's input, and output, lies in the vectors.
  std::size_t input_begin(int member) const;
  std::size_t output_begin(int member) const;
  /// Whether the input is the shorter one: in place, it is part of the output then.
  bool is_input_in_output(int member) const { return input_size(member) < output_size(member); }
  /// Element i of the member's output.
  std::int64_t expected(int member, int call, std::size_t index) const;

 private:
  /// Of so many members, the first ones.
  static std::int64_t sum_of_elements(int members, int call, std::size_t index) {
    const std::int64_t of_numbers = std::int64_t{members} * (members - 1) / 2;
    const std::int64_t of_threes = std::int64_t{3} * members;
    return static_cast<std::int64_t>(index % 10'007 + 1) * (of_numbers + of_threes) +
           1'003LL * call * members;
  }

  bool is_gathered() const;
  std::size_t block_size(int member) const;
  std::size_t block_begin(int member) const;
};

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_COLLECTIVE_REFERENCE_H_
