// Allgathers as MPI allows them: any datatype, input and output described in different ways, and
// differently on different processes, in place or not, blocking and not.
// usage: allgathers

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

class Buffers {
 public:
  Buffers(const InputOutputTrial& trial, MPI_Comm communicator)
      : trial_(trial),
        communicator_(communicator),
        from_(describe(trial.input_way, trial.count)),
        to_(describe(trial.output_way, trial.count)),
        block_(static_cast<std::size_t>(trial.count) * to_.stride),
        input_(static_cast<std::size_t>(trial.count) * from_.stride, kPoison),
        output_(block_ * static_cast<std::size_t>(size_of(communicator)), kPoison) {
    const int rank = rank_of(communicator);
    if (trial.is_in_place) {
      fill(output_.data() + static_cast<std::size_t>(rank) * block_, to_, rank);
    } else {
      fill(input_.data(), from_, rank);
    }
  }

  int call() {
    const int code = trial_.is_in_place
                         ? MPI_Allgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, output_.data(),
                                         to_.type_count, to_.type, communicator_)
                         : MPI_Allgather(input_.data(), from_.type_count, from_.type,
                                         output_.data(), to_.type_count, to_.type, communicator_);
    free_types();
    return code;
  }

  /// The program frees its datatypes at once.
  void start(MPI_Request* request) {
    if (trial_.is_in_place) {
      MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, output_.data(), to_.type_count, to_.type,
                     communicator_, request);
    } else {
      MPI_Iallgather(input_.data(), from_.type_count, from_.type, output_.data(), to_.type_count,
                     to_.type, communicator_, request);
    }
    free_types();
  }

  void check() const {
    std::vector<int> expected(output_.size(), kPoison);
    for (int rank = 0; rank < size_of(communicator_); ++rank) {
      fill(expected.data() + static_cast<std::size_t>(rank) * block_, to_, rank);
    }
    REQUIRE_HERE(output_ == expected);
    if (trial_.is_in_place) return;
    std::vector<int> input(input_.size(), kPoison);
    fill(input.data(), from_, rank_of(communicator_));
    REQUIRE_HERE(input_ == input);
  }

 private:
  /// The data of one process.
  void fill(int* block, const Description& as, int rank) const {
    as.fill(block, trial_.count, rank, trial_.round);
  }

  void free_types() {
    from_.free();
    to_.free();
  }

  InputOutputTrial trial_;
  MPI_Comm communicator_;
  Description from_;
  Description to_;
  std::size_t block_;
  std::vector<int> input_;
  std::vector<int> output_;
};

/// The calls of a program, one like the other.
void many_in_a_row(MPI_Comm communicator) {
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const std::int64_t rank = rank_of(communicator);
  std::vector<std::int64_t> all(size);
  for (std::int64_t round = 0; round < 2000; ++round) {
    const std::int64_t own = rank * 10'000 + round;
    if (round % 2 == 0) {
      MPI_Allgather(&own, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, communicator);
    } else {
      all[static_cast<std::size_t>(rank)] = own;
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), 1, MPI_INT64_T, communicator);
    }
    for (std::size_t i = 0; i < size; ++i) {
      REQUIRE_HERE(all[i] == static_cast<std::int64_t>(i) * 10'000 + round);
    }
  }
}

/// No elements, and what MPI does not allow: its own errors.
void nothing_and_negative(MPI_Comm communicator) {
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  int own = rank_of(communicator);
  std::vector<int> all(static_cast<std::size_t>(size_of(communicator)), -1);
  const auto gather = [&](int input_count, MPI_Datatype input_type, int count, MPI_Datatype type) {
    return MPI_Allgather(&own, input_count, input_type, all.data(), count, type, communicator);
  };
  REQUIRE_HERE(gather(0, MPI_INT, 0, MPI_INT) == MPI_SUCCESS);
  REQUIRE_HERE(gather(1, MPI_INT, -1, MPI_INT) != MPI_SUCCESS);
  REQUIRE_HERE(gather(-1, MPI_INT, 1, MPI_INT) != MPI_SUCCESS);
  REQUIRE_HERE(gather(1, MPI_DATATYPE_NULL, 1, MPI_INT) != MPI_SUCCESS);
  REQUIRE_HERE(gather(1, MPI_INT, 1, MPI_DATATYPE_NULL) != MPI_SUCCESS);
  REQUIRE_HERE(std::ranges::count(all, -1) == size_of(communicator));
}

/// Between the even and the odd processes, which have blocks of different lengths.
void between_groups(const programs::EvenAndOdd& groups) {
  const auto& [between, is_odd, others] = groups;
  const std::vector<int> own(static_cast<std::size_t>(is_odd != 0 ? 3 : 2),
                             rank_of(MPI_COMM_WORLD));
  const int count = is_odd != 0 ? 2 : 3;
  for (int round = 0; round < 5; ++round) {
    std::vector<int> all(static_cast<std::size_t>(others * count), -1);
    MPI_Allgather(own.data(), static_cast<int>(own.size()), MPI_INT, all.data(), count, MPI_INT,
                  between);
    for (std::size_t i = 0; i < all.size(); ++i) {
      REQUIRE_HERE(all[i] == static_cast<int>(i) / count * 2 + 1 - is_odd);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return programs::run(argc, argv, "allgathers", [](MPI_Comm communicator) {
    programs::in_all_ways<Buffers>(communicator);
    many_in_a_row(communicator);
    programs::between_even_and_odd(communicator, between_groups);
    nothing_and_negative(communicator);
  });
}
