// All-to-alls as MPI allows them: any datatype, input and output described in different ways, and
// differently on different processes, in place or not, blocking and not.
// usage: alltoalls

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/preload/movements/descriptions.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::describe;
using programs::Description;
using programs::kPoison;
using programs::kWays;
using programs::rank_of;
using programs::size_of;

struct Trial {
  int count = 0;  ///< Integers of a block.
  int input_way = 0;
  int output_way = 0;
  bool is_in_place = false;
  int round = 0;
};

/// What a block holds: as if its two processes were one with this rank.
int rank_of_pair(int from, int to) { return 100 * from + to; }

class Buffers {
 public:
  Buffers(const Trial& trial, MPI_Comm communicator)
      : trial_(trial),
        communicator_(communicator),
        rank_(rank_of(communicator)),
        from_(describe(trial.input_way, trial.count)),
        to_(describe(trial.output_way, trial.count)),
        input_(filled(from_, [this](int to) { return rank_of_pair(rank_, to); })),
        output_(trial.is_in_place ? filled(to_, [this](int to) { return rank_of_pair(rank_, to); })
                                  : std::vector<int>(size_with(to_), kPoison)) {}

  int exchange() {
    const int code = trial_.is_in_place
                         ? MPI_Alltoall(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, output_.data(),
                                        to_.type_count, to_.type, communicator_)
                         : MPI_Alltoall(input_.data(), from_.type_count, from_.type, output_.data(),
                                        to_.type_count, to_.type, communicator_);
    free_types();
    return code;
  }

  /// The program frees its datatypes at once.
  void start(MPI_Request* request) {
    if (trial_.is_in_place) {
      MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, output_.data(), to_.type_count, to_.type,
                    communicator_, request);
    } else {
      MPI_Ialltoall(input_.data(), from_.type_count, from_.type, output_.data(), to_.type_count,
                    to_.type, communicator_, request);
    }
    free_types();
  }

  void check() const {
    REQUIRE_HERE(output_ == filled(to_, [this](int from) { return rank_of_pair(from, rank_); }));
    REQUIRE_HERE(input_ == filled(from_, [this](int to) { return rank_of_pair(rank_, to); }));
  }

 private:
  std::size_t block_with(const Description& as) const {
    return static_cast<std::size_t>(trial_.count) * as.stride;
  }
  std::size_t size_with(const Description& as) const {
    return block_with(as) * static_cast<std::size_t>(size_of(communicator_));
  }

  /// Blocks that are described like that, whose data say whose they are.
  template <class RankOfBlock>
  std::vector<int> filled(const Description& as, const RankOfBlock& rank_of_block) const {
    std::vector<int> blocks(size_with(as), kPoison);
    for (int block = 0; block < size_of(communicator_); ++block) {
      as.fill(blocks.data() + static_cast<std::size_t>(block) * block_with(as), trial_.count,
              rank_of_block(block), trial_.round);
    }
    return blocks;
  }

  void free_types() {
    from_.free();
    to_.free();
  }

  Trial trial_;
  MPI_Comm communicator_;
  int rank_;
  Description from_;
  Description to_;
  std::vector<int> input_;
  std::vector<int> output_;
};

void blocking(const Trial& trial, MPI_Comm communicator) {
  Buffers buffers(trial, communicator);
  REQUIRE_HERE(buffers.exchange() == MPI_SUCCESS);
  buffers.check();
}

/// Two calls are under way.
void nonblocking(const Trial& trial, MPI_Comm communicator) {
  Trial next = trial;
  next.round += 5000;
  programs::two_under_way<Buffers>(trial, next, communicator);
}

/// All ways to describe input and output, the same on all processes and each its own, and in place
/// on all.
void all_ways(int count, int& round, MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  for (int input_way = 0; input_way < kWays; ++input_way) {
    for (int output_way = 0; output_way < kWays; ++output_way) {
      for (const int shift : {0, rank}) {
        const Trial trial{.count = count,
                          .input_way = (input_way + shift) % kWays,
                          .output_way = (output_way + 2 * shift) % kWays,
                          .round = ++round};
        blocking(trial, communicator);
        nonblocking(trial, communicator);
      }
    }
  }
  for (int output_way = 0; output_way < kWays; ++output_way) {
    const Trial trial{.count = count,
                      .input_way = output_way,
                      .output_way = output_way,
                      .is_in_place = true,
                      .round = ++round};
    blocking(trial, communicator);
    nonblocking(trial, communicator);
  }
}

/// The calls of a program, one like the other, and in place between them.
void many_in_a_row(MPI_Comm communicator) {
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const std::int64_t rank = rank_of(communicator);
  const auto value = [](std::int64_t from, std::int64_t to, std::int64_t round) {
    return 1'000'000 * from + 10'000 * to + round;
  };
  std::vector<std::int64_t> row(size);
  std::vector<std::int64_t> column(size);
  for (std::int64_t round = 0; round < 2000; ++round) {
    const bool is_in_place = round % 3 == 2;
    std::vector<std::int64_t>& sent = is_in_place ? column : row;
    for (std::size_t to = 0; to < size; ++to) {
      sent[to] = value(rank, static_cast<std::int64_t>(to), round);
    }
    if (is_in_place) {
      MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, column.data(), 1, MPI_INT64_T, communicator);
    } else {
      MPI_Alltoall(row.data(), 1, MPI_INT64_T, column.data(), 1, MPI_INT64_T, communicator);
    }
    for (std::size_t from = 0; from < size; ++from) {
      REQUIRE_HERE(column[from] == value(static_cast<std::int64_t>(from), rank, round));
    }
  }
}

/// No elements, and what MPI does not allow: its own errors.
void nothing_and_negative(MPI_Comm communicator) {
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const std::vector<int> row(static_cast<std::size_t>(size_of(communicator)), 3);
  std::vector<int> column(row.size(), -1);
  const auto exchange = [&](int input_count, MPI_Datatype input_type, int count,
                            MPI_Datatype type) {
    return MPI_Alltoall(row.data(), input_count, input_type, column.data(), count, type,
                        communicator);
  };
  REQUIRE_HERE(exchange(0, MPI_INT, 0, MPI_INT) == MPI_SUCCESS);
  REQUIRE_HERE(exchange(1, MPI_INT, -1, MPI_INT) != MPI_SUCCESS);
  REQUIRE_HERE(exchange(-1, MPI_INT, 1, MPI_INT) != MPI_SUCCESS);
  REQUIRE_HERE(exchange(1, MPI_DATATYPE_NULL, 1, MPI_INT) != MPI_SUCCESS);
  REQUIRE_HERE(exchange(1, MPI_INT, 1, MPI_DATATYPE_NULL) != MPI_SUCCESS);
  REQUIRE_HERE(std::ranges::count(column, -1) == size_of(communicator));
}

/// Between the even and the odd processes.
void between_groups(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  if (size_of(communicator) < 2) return;
  const int is_odd = rank % 2;
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(communicator, is_odd, rank, &group);
  MPI_Intercomm_create(group, 0, communicator, 1 - is_odd, 5, &between);
  int others = 0;
  MPI_Comm_remote_size(between, &others);
  const std::vector<int> row(static_cast<std::size_t>(others), rank);
  for (int round = 0; round < 5; ++round) {
    std::vector<int> column(row.size(), -1);
    MPI_Alltoall(row.data(), 1, MPI_INT, column.data(), 1, MPI_INT, between);
    for (int from = 0; from < others; ++from) {
      REQUIRE_HERE(column[static_cast<std::size_t>(from)] == 2 * from + 1 - is_odd);
    }
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  const int rank = rank_of(communicator);
  int round = 0;
  for (const int count : {6, 60, 3000, 30'000}) all_ways(count, round, communicator);
  blocking({.count = 300'000, .input_way = 0, .output_way = 4, .round = ++round}, communicator);
  many_in_a_row(communicator);
  between_groups(communicator);
  nothing_and_negative(communicator);
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  if (rank == 0) std::puts("alltoalls: ok");
  return 0;
}
