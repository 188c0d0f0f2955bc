// Every nonblocking collective of a program that has a thread level below MPI_THREAD_MULTIPLE. Who
// served them says the report.
// usage: thread_levels single|funneled|serialized

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

constexpr std::size_t kCount = 50;
using Numbers = std::vector<int>;

Numbers numbers_from(int first) {
  Numbers numbers(kCount);
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = first + static_cast<int>(i);
  return numbers;
}

/// The sum of element i over ranks first to last - 1, which pass `i + rank`.
int sum_of(int first, int last, std::size_t i) {
  int sum = 0;
  for (int rank = first; rank < last; ++rank) sum += static_cast<int>(i) + rank;
  return sum;
}

/// Starts a call by start(request), and completes it.
template <class Start>
void complete(const Start& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  REQUIRE_HERE(start(&request) == MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void sums(MPI_Comm on) {
  const int rank = rank_of(on);
  const int size = size_of(on);
  constexpr int kN = kCount;
  const Numbers input = numbers_from(rank);
  Numbers output(kCount, -1);
  const auto require_sums = [&](int first, int last) {
    for (std::size_t i = 0; i < kCount; ++i) REQUIRE_HERE(output[i] == sum_of(first, last, i));
  };
  complete([&](MPI_Request* request) {
    return MPI_Iallreduce(input.data(), output.data(), kN, MPI_INT, MPI_SUM, on, request);
  });
  require_sums(0, size);
  output.assign(kCount, -1);
  complete([&](MPI_Request* request) {
    return MPI_Ireduce(input.data(), output.data(), kN, MPI_INT, MPI_SUM, size - 1, on, request);
  });
  if (rank == size - 1) require_sums(0, size);
  complete([&](MPI_Request* request) {
    return MPI_Iscan(input.data(), output.data(), kN, MPI_INT, MPI_SUM, on, request);
  });
  require_sums(0, rank + 1);
  complete([&](MPI_Request* request) {
    return MPI_Iexscan(input.data(), output.data(), kN, MPI_INT, MPI_SUM, on, request);
  });
  if (rank > 0) require_sums(0, rank);
}

void blocks(MPI_Comm on) {
  const auto size = static_cast<std::size_t>(size_of(on));
  Numbers input;
  for (std::size_t block = 0; block < size; ++block) {
    const Numbers one = numbers_from(rank_of(on));
    input.insert(input.end(), one.begin(), one.end());
  }
  const std::vector<int> counts(size, kCount);
  Numbers equal(kCount, -1);
  Numbers counted(kCount, -1);
  complete([&](MPI_Request* request) {
    return MPI_Ireduce_scatter_block(input.data(), equal.data(), kCount, MPI_INT, MPI_SUM, on,
                                     request);
  });
  complete([&](MPI_Request* request) {
    return MPI_Ireduce_scatter(input.data(), counted.data(), counts.data(), MPI_INT, MPI_SUM, on,
                               request);
  });
  for (std::size_t i = 0; i < kCount; ++i) {
    REQUIRE_HERE(equal[i] == sum_of(0, size_of(on), i) && counted[i] == equal[i]);
  }
}

void movements(MPI_Comm on) {
  Numbers numbers = numbers_from(rank_of(on) * 1000);
  complete([&](MPI_Request* request) {
    return MPI_Ibcast(numbers.data(), kCount, MPI_INT, size_of(on) - 1, on, request);
  });
  REQUIRE_HERE(numbers == numbers_from((size_of(on) - 1) * 1000));
  const Numbers own = numbers_from(rank_of(on) * 1000);
  Numbers all(kCount * static_cast<std::size_t>(size_of(on)), -1);
  complete([&](MPI_Request* request) {
    return MPI_Iallgather(own.data(), kCount, MPI_INT, all.data(), kCount, MPI_INT, on, request);
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE_HERE(all[i] == static_cast<int>(i / kCount * 1000 + i % kCount));
  }
  Numbers gathered(all.size(), -1);
  complete([&](MPI_Request* request) {
    return MPI_Igather(own.data(), kCount, MPI_INT, gathered.data(), kCount, MPI_INT, 1, on,
                       request);
  });
  if (rank_of(on) == 1) REQUIRE_HERE(gathered == all);
  Numbers back(kCount, -1);
  complete([&](MPI_Request* request) {
    return MPI_Iscatter(gathered.data(), kCount, MPI_INT, back.data(), kCount, MPI_INT, 1, on,
                        request);
  });
  REQUIRE_HERE(back == own);
  complete([&](MPI_Request* request) { return MPI_Ibarrier(on, request); });
}

void add(void* input, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(input)[i];
}

/// What hycoll has no kernels for, or may lose.
void others(MPI_Comm on) {
  struct Pair {
    double value;
    int place;
  };
  const int rank = rank_of(on);
  const Pair own{.value = static_cast<double>(-rank), .place = rank};
  Pair least{.value = 1, .place = -1};
  complete([&](MPI_Request* request) {
    return MPI_Iallreduce(&own, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, on, request);
  });
  REQUIRE_HERE(least.place == size_of(on) - 1);
  MPI_Op sum = MPI_OP_NULL;
  MPI_Op_create(&add, 1, &sum);
  int total = 0;
  complete([&](MPI_Request* request) {
    return MPI_Iallreduce(&rank, &total, 1, MPI_INT, sum, on, request);
  });
  MPI_Op_free(&sum);
  REQUIRE_HERE(total == sum_of(0, size_of(on), 0));
}

int level_of(std::string_view name) {
  if (name == "serialized") return MPI_THREAD_SERIALIZED;
  return name == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

}  // namespace

int main(int argc, char** argv) {
  const int required = level_of(argc > 1 ? argv[1] : "single");
  int provided = -1;
  MPI_Init_thread(&argc, &argv, required, &provided);
  REQUIRE_HERE(provided >= required && provided < MPI_THREAD_MULTIPLE);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  // Before a blocking call has prepared hycoll; before one has taken the memory that longer calls
  // need, which the first round cannot ask for; and after.
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) {
      sums(own);
      blocks(own);
      movements(own);
      others(own);
    }
    MPI_Barrier(own);
  }
  MPI_Comm_free(&own);
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::puts("thread_levels: ok");
  return 0;
}
