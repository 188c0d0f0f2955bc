#ifndef HYCOLL_TESTS_COLLECTIVES_CALLS_DESCRIBED_BLOCKS_H_
#define HYCOLL_TESTS_COLLECTIVES_CALLS_DESCRIBED_BLOCKS_H_

#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hycoll::tests {

using Numbers = std::vector<std::int32_t>;

inline constexpr std::int32_t kPoison = -77'777;

/// How a member describes a block of so many pairs of numbers.
struct Description {
  ElementType type;
  std::size_t count;
  std::size_t extent;  ///< The numbers from a pair to the next one.

  static std::int32_t value_of(int member, std::size_t index) {
    return static_cast<std::int32_t>(1'000'003 * (member + 1) + 7 * static_cast<int>(index));
  }

  void fill(std::int32_t* block, std::size_t pairs, int member) const {
    for (std::size_t d = 0; d < 2 * pairs; ++d) {
      block[d / 2 * extent + d % 2] = value_of(member, d);
    }
  }

  /// Those of all members, and poison in between.
  Numbers blocks(std::size_t pairs, int member_count) const {
    const auto members = static_cast<std::size_t>(member_count);
    Numbers all(members * pairs * extent, kPoison);
    for (int member = 0; member < member_count; ++member) {
      fill(all.data() + static_cast<std::size_t>(member) * pairs * extent, pairs, member);
    }
    return all;
  }
};

/// Two of every three numbers, for as long as this lives.
class GappedType {
 public:
  static constexpr std::size_t kData = 2;
  static constexpr std::size_t kExtent = 3;

  GappedType() {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(kData, MPI_INT32_T, &pair);
    MPI_Type_create_resized(pair, 0, kExtent * sizeof(std::int32_t), &handle_);
    MPI_Type_free(&pair);
    MPI_Type_commit(&handle_);
  }
  ~GappedType() { MPI_Type_free(&handle_); }
  GappedType(const GappedType&) = delete;
  GappedType& operator=(const GappedType&) = delete;

  /// In turn by this type, by numbers, and by longer numbers.
  Description description(std::size_t turn, std::size_t pairs) const {
    const Description descriptions[] = {
        {.type = ElementType(handle_), .count = pairs, .extent = kExtent},
        {.type = DataType::int32, .count = 2 * pairs, .extent = 2},
        {.type = DataType::int64, .count = pairs, .extent = 2}};
    return descriptions[turn % 3];
  }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_COLLECTIVES_CALLS_DESCRIBED_BLOCKS_H_
