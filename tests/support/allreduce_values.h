#ifndef HYCOLL_TESTS_SUPPORT_ALLREDUCE_VALUES_H_
#define HYCOLL_TESTS_SUPPORT_ALLREDUCE_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hycoll::tests {

/// What a rank contributes to an allreduce: different for every rank, index and salt.
inline std::int32_t element(int rank, std::size_t index, int salt) {
  return static_cast<std::int32_t>(index % 10'007) * (rank + 1) + salt * 13 + rank;
}

inline std::vector<std::int32_t> contribution(int rank, std::size_t count, int salt) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element(rank, i, salt);
  return values;
}

/// The sum of the contributions of ranks 0 to size - 1.
inline std::vector<std::int32_t> expected_sum(int size, std::size_t count, int salt) {
  std::vector<std::int32_t> values(count, 0);
  for (int rank = 0; rank < size; ++rank) {
    for (std::size_t i = 0; i < count; ++i) values[i] += element(rank, i, salt);
  }
  return values;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_ALLREDUCE_VALUES_H_
