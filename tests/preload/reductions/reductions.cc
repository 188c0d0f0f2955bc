// Every reduction, as the preload library gives it and as PMPI does: both must be the same.

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;
using programs::value_of;

constexpr unsigned char kPoison = 0xA5;

struct Subject {
  MPI_Datatype type;
  MPI_Op op;
  std::size_t bytes;
};

/// Small numbers, so that no order of additions changes a sum.
std::vector<unsigned char> input_for(const Subject& subject, MPI_Comm communicator, int count) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count) * subject.bytes);
  const bool is_double = subject.type == MPI_DOUBLE;
  const std::size_t step = is_double ? sizeof(double) : std::min(sizeof(int), subject.bytes);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto small =
        static_cast<int>(value_of(rank_of(communicator), at / step, bytes.size()) % 1000);
    const double value = small;
    std::memcpy(bytes.data() + at, is_double ? static_cast<const void*>(&value) : &small, step);
  }
  return bytes;
}

/// Calls body(call, in place) with this library's and PMPI's call, and compares the outputs.
template <class Ours, class Theirs>
void compare(std::vector<unsigned char> input, std::size_t output_bytes, const Ours& ours,
             const Theirs& theirs) {
  std::vector<unsigned char> got(std::max(output_bytes, input.size()) + 8, kPoison);
  std::vector<unsigned char> expected = got;
  REQUIRE_HERE(ours(input.data(), got.data()) == MPI_SUCCESS);
  REQUIRE_HERE(theirs(input.data(), expected.data()) == MPI_SUCCESS);
  REQUIRE_HERE(got == expected);
  // In place, only the result itself is defined.
  std::memcpy(got.data(), input.data(), input.size());
  std::memcpy(expected.data(), input.data(), input.size());
  REQUIRE_HERE(ours(MPI_IN_PLACE, got.data()) == MPI_SUCCESS);
  REQUIRE_HERE(theirs(MPI_IN_PLACE, expected.data()) == MPI_SUCCESS);
  REQUIRE_HERE(std::memcmp(got.data(), expected.data(), output_bytes) == 0);
}

void reduce_to(const Subject& subject, int count, int root, MPI_Comm communicator) {
  const auto input = input_for(subject, communicator, count);
  std::vector<unsigned char> got(input.size() + 8, kPoison);
  std::vector<unsigned char> expected = got;
  const bool is_root = rank_of(communicator) == root;
  MPI_Reduce(input.data(), got.data(), count, subject.type, subject.op, root, communicator);
  PMPI_Reduce(input.data(), expected.data(), count, subject.type, subject.op, root, communicator);
  REQUIRE_HERE(got == expected);
  if (is_root) std::memcpy(got.data(), input.data(), input.size());
  MPI_Reduce(is_root ? MPI_IN_PLACE : input.data(), is_root ? got.data() : nullptr, count,
             subject.type, subject.op, root, communicator);
  REQUIRE_HERE(got == expected);
}

void all_but_scatters(const Subject& subject, int count, MPI_Comm communicator) {
  const auto input = input_for(subject, communicator, count);
  const auto& [type, op, bytes] = subject;
  compare(
      input, input.size(),
      [&](const void* in, void* out) {
        return MPI_Allreduce(in, out, count, type, op, communicator);
      },
      [&](const void* in, void* out) {
        return PMPI_Allreduce(in, out, count, type, op, communicator);
      });
  compare(
      input, input.size(),
      [&](const void* in, void* out) { return MPI_Scan(in, out, count, type, op, communicator); },
      [&](const void* in, void* out) { return PMPI_Scan(in, out, count, type, op, communicator); });
  const bool is_first = rank_of(communicator) == 0;
  compare(
      input, is_first ? 0 : input.size(),
      [&](const void* in, void* out) { return MPI_Exscan(in, out, count, type, op, communicator); },
      [&](const void* in, void* out) {
        return PMPI_Exscan(in, out, count, type, op, communicator);
      });
  for (int root = 0; root < size_of(communicator); ++root) {
    reduce_to(subject, count, root, communicator);
  }
}

void scatters(const Subject& subject, int count, MPI_Comm communicator) {
  const int size = size_of(communicator);
  const int rank = rank_of(communicator);
  const auto& [type, op, bytes] = subject;
  compare(
      input_for(subject, communicator, count * size), static_cast<std::size_t>(count) * bytes,
      [&](const void* in, void* out) {
        return MPI_Reduce_scatter_block(in, out, count, type, op, communicator);
      },
      [&](const void* in, void* out) {
        return PMPI_Reduce_scatter_block(in, out, count, type, op, communicator);
      });
  std::vector<int> counts;
  for (int r = 0; r < size; ++r) counts.push_back(r % 3 == 1 ? 0 : count + r);
  const int total = std::accumulate(counts.begin(), counts.end(), 0);
  compare(
      input_for(subject, communicator, total),
      static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]) * bytes,
      [&](const void* in, void* out) {
        return MPI_Reduce_scatter(in, out, counts.data(), type, op, communicator);
      },
      [&](const void* in, void* out) {
        return PMPI_Reduce_scatter(in, out, counts.data(), type, op, communicator);
      });
}

/// Associative, and does not commute: the composition of x -> a x + b, modulo 2^32. Elements have
/// any number of pairs.
void compose(void* left, void* right, int* count, MPI_Datatype* type) {
  int size_bytes = 0;
  PMPI_Type_size(*type, &size_bytes);
  auto* const first = static_cast<std::uint32_t*>(left);
  auto* const second = static_cast<std::uint32_t*>(right);
  const int pairs = *count * (size_bytes / static_cast<int>(2 * sizeof(std::uint32_t)));
  for (int i = 0; i < pairs; ++i) {
    const std::uint32_t a = first[2 * i] * second[2 * i];
    const std::uint32_t b = first[2 * i + 1] * second[2 * i] + second[2 * i + 1];
    second[2 * i] = a;
    second[2 * i + 1] = b;
  }
}

void sweep(MPI_Comm communicator, const std::vector<Subject>& subjects,
           const std::vector<int>& counts) {
  for (const Subject& subject : subjects) {
    for (const int count : counts) {
      all_but_scatters(subject, count, communicator);
      scatters(subject, count, communicator);
      MPI_Barrier(communicator);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
  MPI_Type_commit(&pair);
  // An element is longer than what hycoll stages at once.
  constexpr int kLong = 40'000;
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kLong, pair, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Op composition = MPI_OP_NULL;
  MPI_Op_create(&compose, 0, &composition);
  const std::vector<Subject> subjects = {
      {MPI_DOUBLE, MPI_SUM, 8},  {MPI_INT, MPI_MAX, 4},  {MPI_UNSIGNED_CHAR, MPI_BXOR, 1},
      {MPI_2INT, MPI_MINLOC, 8}, {pair, composition, 8},
  };

  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
  for (const MPI_Comm communicator : {MPI_COMM_WORLD, reversed, halves, MPI_COMM_SELF}) {
    sweep(communicator, subjects, {0, 1, 3, 7, 64, 1000, 20011});
    sweep(communicator, {{pairs, composition, std::size_t{8} * kLong}}, {1, 2});
  }
  MPI_Comm_free(&halves);
  MPI_Comm_free(&reversed);
  MPI_Op_free(&composition);
  MPI_Type_free(&pairs);
  MPI_Type_free(&pair);
  MPI_Finalize();
  if (rank == 0) std::puts("reductions: ok");
  return 0;
}
