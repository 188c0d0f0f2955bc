// Broadcasts as MPI allows them: any datatype, described in different ways on different processes,
// blocking and not, from every root.
// usage: broadcasts

#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;
using programs::value_of;

constexpr int kPoison = 123456;

int element(int root, std::size_t index, int round) {
  return static_cast<int>(value_of(root, index, static_cast<std::uint64_t>(round)) & 0xffffff);
}

/// A way to describe `count` integers (a multiple of 6) in a buffer.
struct Description {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int type_count = 0;
  std::size_t stride = 1;  ///< The distance of integers in the buffer.
  bool is_derived = false;
  bool swaps_pairs = false;  ///< The second integer of each two comes first.
};

constexpr int kWays = 6;

Description describe(int way, int count) {
  Description made;
  switch (way) {
    case 0:
      return {.type = MPI_INT, .type_count = count};
    case 1:  // one contiguous type
      MPI_Type_contiguous(count, MPI_INT, &made.type);
      made.type_count = 1;
      break;
    case 2:  // every other integer
      MPI_Type_vector(count / 2, 1, 2, MPI_INT, &made.type);
      MPI_Type_commit(&made.type);
      // Two of them would overlap: each is resized to its own end.
      {
        MPI_Datatype vector = made.type;
        MPI_Type_create_resized(vector, 0, static_cast<MPI_Aint>(count) * 4, &made.type);
        MPI_Type_free(&vector);
      }
      made.type_count = 2;
      made.stride = 2;
      break;
    case 3:  // triples
      MPI_Type_contiguous(3, MPI_INT, &made.type);
      made.type_count = count / 3;
      break;
    case 4: {  // without gaps, and not in the order of memory
      const std::array<int, 2> lengths = {1, 1};
      const std::array<int, 2> places = {1, 0};
      MPI_Type_indexed(2, lengths.data(), places.data(), MPI_INT, &made.type);
      made.type_count = count / 2;
      made.swaps_pairs = true;
      break;
    }
    default: {  // an integer and a gap of two
      MPI_Type_create_resized(MPI_INT, 0, 12, &made.type);
      made.type_count = count;
      made.stride = 3;
    }
  }
  made.is_derived = true;
  MPI_Type_commit(&made.type);
  return made;
}

struct Trial {
  int count = 0;
  int root = 0;
  int way = 0;  ///< Of this process.
  int round = 0;
};

class Buffer {
 public:
  Buffer(const Trial& trial, MPI_Comm communicator)
      : trial_(trial),
        description_(describe(trial.way, trial.count)),
        values_(static_cast<std::size_t>(trial.count) * description_.stride, kPoison) {
    if (rank_of(communicator) != trial.root) return;
    for (std::size_t i = 0; i < values_.size(); i += description_.stride) values_[i] = expected(i);
  }

  void* data() { return values_.data(); }
  const Description& description() const { return description_; }
  void free_type() {
    if (description_.is_derived) MPI_Type_free(&description_.type);
    description_.is_derived = false;
  }

  void check() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      REQUIRE_HERE(values_[i] == (i % description_.stride == 0 ? expected(i) : kPoison));
    }
  }

 private:
  int expected(std::size_t at) const {
    const std::size_t index = at / description_.stride;
    return element(trial_.root, description_.swaps_pairs ? index ^ 1 : index, trial_.round);
  }

  Trial trial_;
  Description description_;
  std::vector<int> values_;
};

void blocking(const Trial& trial, MPI_Comm communicator) {
  Buffer buffer(trial, communicator);
  const Description& as = buffer.description();
  REQUIRE_HERE(MPI_Bcast(buffer.data(), as.type_count, as.type, trial.root, communicator) ==
               MPI_SUCCESS);
  buffer.free_type();
  buffer.check();
}

/// The program frees its datatype at once, and two calls are under way.
void nonblocking(const Trial& trial, MPI_Comm communicator) {
  Trial next = trial;
  next.round += 5000;
  next.root = (trial.root + 1) % size_of(communicator);
  Buffer first(trial, communicator);
  Buffer second(next, communicator);
  MPI_Request requests[2];
  for (Buffer* buffer : {&first, &second}) {
    const Description& as = buffer->description();
    MPI_Ibcast(buffer->data(), as.type_count, as.type, buffer == &first ? trial.root : next.root,
               communicator, &requests[buffer == &first ? 0 : 1]);
    buffer->free_type();
  }
  if (trial.round % 2 == 0) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    for (int is_over = 0; is_over == 0;) MPI_Testall(2, requests, &is_over, MPI_STATUSES_IGNORE);
  }
  first.check();
  second.check();
}

void nothing_and_negative(MPI_Comm communicator) {
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  int value = rank_of(communicator);
  REQUIRE_HERE(MPI_Bcast(&value, 0, MPI_INT, 0, communicator) == MPI_SUCCESS);
  REQUIRE_HERE(MPI_Bcast(&value, -1, MPI_INT, 0, communicator) != MPI_SUCCESS);
  REQUIRE_HERE(MPI_Bcast(&value, 1, MPI_INT, size_of(communicator), communicator) != MPI_SUCCESS);
  REQUIRE_HERE(MPI_Bcast(&value, 1, MPI_INT, -1, communicator) != MPI_SUCCESS);
  REQUIRE_HERE(value == rank_of(communicator));
}

/// Longer than what hycoll packs at once.
void long_ones(MPI_Comm communicator) {
  for (int way = 0; way < kWays; ++way) {
    const int root = way % size_of(communicator);
    const int own = (way + rank_of(communicator)) % kWays;
    blocking({.count = 4'500'000, .root = root, .way = own, .round = 9000 + way}, communicator);
  }
}

/// The most memory that this process has had.
std::size_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

/// Every other integer of a long buffer: takes a small part of its data's memory more.
void long_strided(MPI_Comm communicator) {
  constexpr int kCount = 16'000'000;
  std::vector<int> buffer(2 * std::size_t{kCount}, rank_of(communicator));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(kCount, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  const std::size_t before = peak_bytes();
  MPI_Bcast(buffer.data(), 1, type, 0, communicator);
  REQUIRE_HERE(peak_bytes() - before < kCount * sizeof(int) / 2);
  MPI_Type_free(&type);
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    REQUIRE_HERE(buffer[i] == (i % 2 == 0 ? 0 : rank_of(communicator)));
  }
}

/// The same of several at a time, which complete in any order.
void long_strided_nonblocking(MPI_Comm communicator) {
  constexpr int kCount = 8'000'000;
  constexpr int kCalls = 2;
  const int rank = rank_of(communicator);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(kCount, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  std::vector<std::vector<int>> buffers(kCalls, std::vector<int>(2 * std::size_t{kCount}, rank));
  std::vector<MPI_Request> requests(kCalls);
  int number = rank;
  MPI_Request short_one = MPI_REQUEST_NULL;
  const std::size_t before = peak_bytes();
  for (int call = 0; call < kCalls; ++call) {
    const auto c = static_cast<std::size_t>(call);
    MPI_Ibcast(buffers[c].data(), 1, type, call % size_of(communicator), communicator,
               &requests[c]);
  }
  MPI_Ibcast(&number, 1, MPI_INT, 0, communicator, &short_one);
  MPI_Type_free(&type);
  for (int is_over = 0; is_over == 0;) MPI_Test(&short_one, &is_over, MPI_STATUS_IGNORE);
  REQUIRE_HERE(number == 0);
  for (int completed = 0; completed < kCalls; ++completed) {
    int index = MPI_UNDEFINED;
    MPI_Waitany(kCalls, requests.data(), &index, MPI_STATUS_IGNORE);
    REQUIRE_HERE(index != MPI_UNDEFINED);
  }
  // The MPI library, which serves them between nodes without MPI_THREAD_MULTIPLE, may take more.
  if (std::getenv("HYCOLL_EMULATE_NODES") == nullptr && size_of(communicator) > 1) {
    REQUIRE_HERE(peak_bytes() - before < kCount * sizeof(int) * 3 / 4);
  }
  for (int call = 0; call < kCalls; ++call) {
    const int root = call % size_of(communicator);
    for (std::size_t i = 0; i < 2 * std::size_t{kCount}; ++i) {
      REQUIRE_HERE(buffers[static_cast<std::size_t>(call)][i] == (i % 2 == 0 ? root : rank));
    }
  }
}

/// A root's broadcasts may run ahead of the others; they arrive in order.
void many_in_a_row(MPI_Comm communicator) {
  for (int round = 0; round < 2000; ++round) {
    const int root = round / 500 % size_of(communicator);
    std::int64_t value = rank_of(communicator) == root ? round * 7 + root : -1;
    MPI_Bcast(&value, 1, MPI_INT64_T, root, communicator);
    REQUIRE_HERE(value == round * 7 + root);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  const int rank = rank_of(communicator);
  int round = 0;
  for (const int count : {6, 60, 3000, 90'000}) {
    for (int root = 0; root < size_of(communicator); ++root) {
      for (int way = 0; way < kWays; ++way) {
        // All alike, and every process its own way.
        for (const int own : {way, (way + rank) % kWays}) {
          const Trial trial{.count = count, .root = root, .way = own, .round = ++round};
          blocking(trial, communicator);
          nonblocking(trial, communicator);
        }
      }
    }
  }
  long_ones(communicator);
  long_strided(communicator);
  long_strided_nonblocking(communicator);
  many_in_a_row(communicator);
  nothing_and_negative(communicator);
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  if (rank == 0) std::puts("broadcasts: ok");
  return 0;
}
