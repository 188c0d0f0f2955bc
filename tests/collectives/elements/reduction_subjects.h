#ifndef HYCOLL_TESTS_COLLECTIVES_ELEMENTS_REDUCTION_SUBJECTS_H_
#define HYCOLL_TESTS_COLLECTIVES_ELEMENTS_REDUCTION_SUBJECTS_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

/// Everything predefined that MPI can reduce, with arithmetic that owes nothing to hycoll or MPI.
namespace hycoll::testing {

enum class ReductionOp { max, min, sum, prod, land, band, lor, bor, lxor, bxor, maxloc, minloc };

struct NamedOp {
  ReductionOp op;
  MPI_Op handle;
  const char* name;
};

/// The predefined operators of collectives.
std::vector<NamedOp> all_operators();

/// A type, with its arithmetic behind functions on arrays of elements at any address.
struct ReductionSubject {
  const char* name;
  MPI_Datatype handle;
  /// What MPI allows; nothing for characters and packed data.
  std::vector<ReductionOp> allowed;
  std::size_t size_bytes;
  /// Sets `count` elements that depend on the seed. Sums of floating-point numbers
  /// round; complex numbers, pairs and truth values take few values, and do not.
  std::function<void(std::byte* elements, std::size_t count, std::uint64_t seed)> fill;
  /// left[i] = left[i] op right[i]. Throws std::logic_error for operators that are not allowed.
  std::function<void(ReductionOp op, const std::byte* right, std::byte* left, std::size_t count)>
      fold_into_left;
  /// Whether two elements are the same, padding aside.
  std::function<bool(const std::byte* left, const std::byte* right)> is_equal;
};

/// The types that the MPI library has, by all their names; Fortran's by precision among them.
/// Requires that MPI is initialised.
std::vector<ReductionSubject> all_subjects();

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_COLLECTIVES_ELEMENTS_REDUCTION_SUBJECTS_H_
