// Operators and datatypes of the program's that are freed and made anew: MPI libraries give the
// handles of freed ones to new ones, on some processes and not on others. What else of them is the
// program's: the layout of types, their padding, their attributes.
// usage: handles [attributes]
// Attributes: of types of persistent calls, too, which MPI libraries by themselves do not get
// right.

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/preload/reductions/type_attributes.h"
#include "tests/preload/reductions/type_layouts.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

void add(void* left, void* right, int* count, MPI_Datatype* /*type*/) {
  const auto* const from = static_cast<const int*>(left);
  auto* const to = static_cast<int*>(right);
  for (int i = 0; i < *count; ++i) to[i] += from[i];
}

/// Associative, and not commutative.
void take_left(void* left, void* right, int* count, MPI_Datatype* /*type*/) {
  std::memcpy(right, left, static_cast<std::size_t>(*count) * sizeof(int));
}

/// The byte-wise maximum of elements of any size.
void largest(void* left, void* right, int* count, MPI_Datatype* type) {
  int size_bytes = 0;
  PMPI_Type_size(*type, &size_bytes);
  const auto* const from = static_cast<const unsigned char*>(left);
  auto* const to = static_cast<unsigned char*>(right);
  for (int i = 0; i < *count * size_bytes; ++i) to[i] = from[i] > to[i] ? from[i] : to[i];
}

/// On odd ranks something else gets the handle that has just been freed.
void operators(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&add, 1, &op);
  for (int round = 0; round < 4; ++round) {
    int sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, op, communicator);
    REQUIRE_HERE(sum == size * (size - 1) / 2);
  }
  MPI_Op_free(&op);
  MPI_Op other = MPI_OP_NULL;
  if (rank % 2 == 1) MPI_Op_create(&add, 1, &other);
  MPI_Op_create(&take_left, 0, &op);
  int first = 100 + rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, op, communicator);
  REQUIRE_HERE(first == 100);
  MPI_Op_free(&op);
  if (other != MPI_OP_NULL) MPI_Op_free(&other);
}

MPI_Datatype block_of(int bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(bytes, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return type;
}

void reduce_blocks(MPI_Datatype type, std::size_t bytes, MPI_Op op, MPI_Comm communicator) {
  constexpr int kCount = 1000;
  const int rank = rank_of(communicator);
  std::vector<unsigned char> input(kCount * bytes, static_cast<unsigned char>(rank + 1));
  std::vector<unsigned char> output(input.size(), 0);
  MPI_Reduce(input.data(), output.data(), kCount, type, op, 0, communicator);
  if (rank != 0) return;
  for (const unsigned char byte : output) REQUIRE_HERE(byte == size_of(communicator));
}

/// The same with elements of other sizes, on which it depends who serves the call.
void datatypes(MPI_Comm communicator) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&largest, 1, &op);
  MPI_Datatype type = block_of(200);
  for (int round = 0; round < 4; ++round) reduce_blocks(type, 200, op, communicator);
  MPI_Type_free(&type);
  MPI_Datatype other = MPI_DATATYPE_NULL;
  if (rank_of(communicator) % 2 == 1) other = block_of(8);
  type = block_of(10);
  reduce_blocks(type, 10, op, communicator);
  MPI_Type_free(&type);
  if (other != MPI_DATATYPE_NULL) MPI_Type_free(&other);
  MPI_Op_free(&op);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  operators(communicator);
  datatypes(communicator);
  programs::reduce_own_layouts(communicator);
  programs::leave_padding_alone(communicator);
  if (argc > 1) programs::keep_attributes_alone(communicator);
  const int rank = rank_of(communicator);
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  if (rank == 0) std::puts("handles: ok");
  return 0;
}
