#include "threading/transport/mpi/type_contents.h"

#include <cstddef>

#include "threading/transport/mpi/check_mpi.h"

namespace hycoll {
namespace {

/// How many arguments of each kind a constructor got.
struct Envelope {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

/// The arguments themselves, by kind.
struct Arguments {
  explicit Arguments(const Envelope& envelope)
      : integers(static_cast<std::size_t>(envelope.integers)),
        addresses(static_cast<std::size_t>(envelope.addresses)),
        large_counts(static_cast<std::size_t>(envelope.large_counts)) {}

  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large_counts;
};

#if MPI_VERSION >= 4

// The functions without _c refuse types that were made with counts of type MPI_Count.
Envelope envelope_of(MPI_Datatype type) {
  Envelope envelope;
  check_mpi(MPI_Type_get_envelope_c(type, &envelope.integers, &envelope.addresses,
                                    &envelope.large_counts, &envelope.types, &envelope.combiner),
            "MPI_Type_get_envelope_c");
  return envelope;
}

void get_contents(MPI_Datatype type, const Envelope& envelope, Arguments& arguments,
                  MPI_Datatype* types) {
  check_mpi(
      MPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.large_counts,
                              envelope.types, arguments.integers.data(), arguments.addresses.data(),
                              arguments.large_counts.data(), types),
      "MPI_Type_get_contents_c");
}

#else

Envelope envelope_of(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  check_mpi(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner),
            "MPI_Type_get_envelope");
  return {.integers = integers, .addresses = addresses, .types = types, .combiner = combiner};
}

void get_contents(MPI_Datatype type, const Envelope& envelope, Arguments& arguments,
                  MPI_Datatype* types) {
  check_mpi(
      MPI_Type_get_contents(type, static_cast<int>(envelope.integers),
                            static_cast<int>(envelope.addresses), static_cast<int>(envelope.types),
                            arguments.integers.data(), arguments.addresses.data(), types),
      "MPI_Type_get_contents");
}

#endif

/// After how many of the integers the large counts stand among a constructor's arguments.
std::ptrdiff_t integers_before_counts(int combiner) noexcept {
  if (combiner == MPI_COMBINER_SUBARRAY) return 1;  // the number of dimensions
  return combiner == MPI_COMBINER_DARRAY ? 3 : 0;   // size, rank and number of dimensions
}

/// Predefined types are not to be freed, and need not be.
bool is_owned(MPI_Datatype type) {
  switch (combiner_of(type)) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_INTEGER:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
      return false;
    default:
      return true;
  }
}

}  // namespace

int combiner_of(MPI_Datatype type) { return envelope_of(type).combiner; }

TypeContents::TypeContents(MPI_Datatype type) {
  const Envelope envelope = envelope_of(type);
  combiner_ = envelope.combiner;
  Arguments arguments(envelope);
  types_.assign(static_cast<std::size_t>(envelope.types), MPI_DATATYPE_NULL);
  get_contents(type, envelope, arguments, types_.data());
  numbers_.assign(arguments.integers.begin(), arguments.integers.end());
  if (!arguments.large_counts.empty()) {
    numbers_.insert(numbers_.begin() + integers_before_counts(combiner_),
                    arguments.large_counts.begin(), arguments.large_counts.end());
  }
  numbers_.insert(numbers_.end(), arguments.addresses.begin(), arguments.addresses.end());
}

TypeContents::~TypeContents() {
  for (MPI_Datatype& type : types_) {
    if (is_owned(type)) MPI_Type_free(&type);
  }
}

}  // namespace hycoll
