// A program whose collectives are called when it ends: by a function of atexit(), by the destructor
// of a static object, which ends MPI too, and by the delete callbacks of MPI_COMM_SELF. What
// collectives are made of must be there still, and what a function of the program's has allocated
// must not be theirs.
//
// usage: at_exit (used | fresh) [differ]
//   used    it has used all collectives before; fresh: none
//   differ  some calls differ between the processes, which are errors that hycoll finds

#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/preload/support/nonblocking_operation.h"
#include "tests/preload/support/persistent_operation.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::kKinds;
using programs::kPersistentKinds;
using programs::kType;
using programs::Operation;
using programs::own_sum;
using programs::Persistent;
using programs::PersistentOperation;
using programs::rank_of;
using programs::size_of;

bool calls_may_differ = false;

/// Two numbers, each with a gap behind it.
struct Spaced {
  int first;
  int gap;
  int second;
  int other_gap;
};

void add_spaced(void* from, void* to, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) {
    const Spaced& add = static_cast<const Spaced*>(from)[i];
    Spaced& sum = static_cast<Spaced*>(to)[i];
    sum.first += add.first;
    sum.second += add.second;
  }
}

/// By an operator of the program's, on elements with gaps.
void reduce_spaced(MPI_Comm communicator) {
  constexpr int kCount = 700;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(pair, 0, sizeof(Spaced), &type);
  MPI_Type_commit(&type);
  MPI_Op sum = MPI_OP_NULL;
  MPI_Op_create(&add_spaced, 1, &sum);
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  std::vector<Spaced> values(kCount, {.first = rank, .gap = 5, .second = 1, .other_gap = 6});
  MPI_Allreduce(MPI_IN_PLACE, values.data(), kCount, type, sum, communicator);
  for (const Spaced& value : values) {
    REQUIRE_HERE(value.first == size * (size - 1) / 2 && value.second == size);
    REQUIRE_HERE(value.gap == 5 && value.other_gap == 6);
  }
  MPI_Op_free(&sum);
  MPI_Type_free(&type);
  MPI_Type_free(&pair);
}

/// Blocks that are not equally long, beside memory of the program's that comes and goes.
void exchange(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  const auto size = static_cast<std::size_t>(size_of(communicator));
  for (int round = 0; round < 4; ++round) {
    std::free(std::malloc(64));
    std::vector<int> counts(size);
    std::vector<int> offsets(size);
    for (std::size_t i = 0; i < size; ++i) {
      counts[i] = 100 + round + static_cast<int>(i) + rank;
      offsets[i] = 300 * static_cast<int>(i);
    }
    const std::vector<double> input(300 * size, rank);
    std::vector<double> output(300 * size, -1);
    std::vector<char> mine(600, 'a');
    MPI_Alltoallv(input.data(), counts.data(), offsets.data(), MPI_DOUBLE, output.data(),
                  counts.data(), offsets.data(), MPI_DOUBLE, communicator);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t end = 300 * i + static_cast<std::size_t>(counts[i]);
      REQUIRE_HERE(output[end - 1] == static_cast<double>(i) && output[end] == -1);
    }
    for (const char letter : mine) REQUIRE_HERE(letter == 'a');
  }
}

/// Calls that the processes do not make alike: all of them are told.
void differ(MPI_Comm communicator) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(communicator, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  for (int i = 0; i < 4; ++i) MPI_Barrier(copy);
  std::vector<int> values(2, 1);
  const int code =
      MPI_Allreduce(MPI_IN_PLACE, values.data(), 1 + rank_of(copy) % 2, MPI_INT, MPI_SUM, copy);
  REQUIRE_HERE(code != MPI_SUCCESS);
  MPI_Comm_free(&copy);
}

void use_everything() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  std::vector<double> values(50'000, 1);
  for (int i = 0; i < 4; ++i) {
    MPI_Bcast(values.data(), 50'000, MPI_DOUBLE, i % size_of(copy), copy);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), 50'000, MPI_DOUBLE, MPI_MAX, copy);
    REQUIRE_HERE(values.back() == 1);
  }
  std::uint64_t round = 1;
  for (int kind = 0; kind < kKinds; ++kind) {
    Operation operation(copy, kind, 700, 0, ++round);
    operation.start();
    MPI_Wait(&operation.request(), MPI_STATUS_IGNORE);
    operation.check();
  }
  for (int kind = 0; kind < kPersistentKinds; ++kind) {
    PersistentOperation operation(copy, static_cast<Persistent>(kind), 700, 0, false);
    operation.start(++round);
    operation.finish(0);
  }
  reduce_spaced(copy);
  exchange(copy);
  if (calls_may_differ && size_of(copy) > 1) differ(copy);
  MPI_Comm_free(&copy);
}

int use_in_callback(MPI_Comm self, int /*key*/, void* /*value*/, void* /*state*/) {
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, self);
  REQUIRE_HERE(sum == 1);
  use_everything();
  return MPI_SUCCESS;
}

/// The last thing of this program's that is destroyed.
class AtEnd {
 public:
  ~AtEnd() {
    use_everything();
    const int rank = rank_of(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) std::puts("at_exit: ok");
  }
};

AtEnd at_end;

}  // namespace

int main(int argc, char** argv) {
  const std::string_view before = argc > 1 ? argv[1] : "used";
  calls_may_differ = argc > 2;
  std::atexit(&use_everything);
  int provided = MPI_THREAD_SINGLE;
  // Nonblocking calls between nodes need it.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Op_create(&programs::add_numbers, 1, &own_sum);
  for (int i = 0; i < 2; ++i) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &use_in_callback, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  }
  if (before == "used") use_everything();
  return 0;
}
