#ifndef HYCOLL_THREADING_TRANSPORT_MPI_TYPE_CONTENTS_H_
#define HYCOLL_THREADING_TRANSPORT_MPI_TYPE_CONTENTS_H_

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace hycoll {

/// How a datatype was made: MPI_COMBINER_NAMED, MPI_COMBINER_VECTOR and so on. Takes any handle but
/// MPI_DATATYPE_NULL and freed ones. Throws Error (environment) if MPI fails.
int combiner_of(MPI_Datatype type);

/// The arguments that a datatype was made with, whichever form of the constructor that was: counts
/// of type int or MPI_Count. Made and used by one thread.
class TypeContents {
 public:
  /// Requires a type that is not predefined, or one by precision (MPI_Type_create_f90_real and its
  /// kin). Throws Error (environment) if MPI fails.
  explicit TypeContents(MPI_Datatype type);
  ~TypeContents();
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;

  int combiner() const noexcept { return combiner_; }

  /// All numbers, in the order in which the constructor takes them: integers, counts and addresses.
  const std::vector<std::int64_t>& numbers() const noexcept { return numbers_; }

  /// The types; valid as long as this object.
  const std::vector<MPI_Datatype>& types() const noexcept { return types_; }

 private:
  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<std::int64_t> numbers_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_MPI_TYPE_CONTENTS_H_
