#ifndef HYCOLL_TESTS_SUPPORT_GAPPED_TYPE_H_
#define HYCOLL_TESTS_SUPPORT_GAPPED_TYPE_H_

#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace hycoll::tests {

/// Two of every three numbers of 32 bits, for as long as this lives.
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

  ElementType type() const { return ElementType(handle_); }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_GAPPED_TYPE_H_
