// All-to-alls as MPI allows them: any datatype, input and output described in different ways, and
// differently on different processes, in place or not, blocking and not.
// usage: alltoalls

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/preload/movements/descriptions.h"
#include "tests/preload/movements/trials.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::describe;
using programs::Description;
using programs::InputOutputTrial;
using programs::kPoison;
using programs::rank_of;
using programs::size_of;

/// What a block holds: as if its two processes were one with this rank.
int rank_of_pair(int from, int to) { return 100 * from + to; }

class Buffers {
 public:
  Buffers(const InputOutputTrial& trial, MPI_Comm communicator)
      : trial_(trial),
        communicator_(communicator),
        rank_(rank_of(communicator)),
        from_(describe(trial.input_way, trial.count)),
        to_(describe(trial.output_way, trial.count)),
        input_(filled(from_, [this](int to) { return rank_of_pair(rank_, to); })),
        output_(trial.is_in_place ? filled(to_, [this](int to) { return rank_of_pair(rank_, to); })
                                  : std::vector<int>(size_with(to_), kPoison)) {}

  int call() {
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

  InputOutputTrial trial_;
  MPI_Comm communicator_;
  int rank_;
  Description from_;
  Description to_;
  std::vector<int> input_;
  std::vector<int> output_;
};

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
void between_groups(const programs::EvenAndOdd& groups) {
  const auto& [between, is_odd, others] = groups;
  const std::vector<int> row(static_cast<std::size_t>(others), rank_of(MPI_COMM_WORLD));
  for (int round = 0; round < 5; ++round) {
    std::vector<int> column(row.size(), -1);
    MPI_Alltoall(row.data(), 1, MPI_INT, column.data(), 1, MPI_INT, between);
    for (int from = 0; from < others; ++from) {
      REQUIRE_HERE(column[static_cast<std::size_t>(from)] == 2 * from + 1 - is_odd);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return programs::run(argc, argv, "alltoalls", [](MPI_Comm communicator) {
    programs::in_all_ways<Buffers>(communicator);
    many_in_a_row(communicator);
    programs::between_even_and_odd(communicator, between_groups);
    nothing_and_negative(communicator);
  });
}
