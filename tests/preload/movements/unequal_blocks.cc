// Allgatherv, gatherv and scatterv as MPI allows them: any datatype, all blocks and the own one
// described in different ways, and differently on different processes, in any order and apart, in
// place or not, blocking and not.
// usage: unequal_blocks [blocking]
//   blocking  no nonblocking calls: MPICH 4.0.2 alone fails in allgathers of long unequal blocks
//   that processes describe
//             differently

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/preload/movements/descriptions.h"
#include "tests/preload/movements/trials.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::describe;
using programs::Description;
using programs::kPoison;
using programs::kWays;
using programs::rank_of;
using programs::size_of;

enum class Kind { allgather, gather, scatter };
enum class Which { all, blocking };

/// Integers that every description can have.
constexpr int kUnit = 6;

struct Trial {
  Kind kind = Kind::allgather;
  int units = 0;  ///< Of rank 0; others have more, and some none.
  int all_way = 0;
  int own_way = 0;
  bool is_in_place = false;
  bool is_apart = false;  ///< The last block comes first, and a unit lies between any two.
  int root = 0;
  int round = 0;
};

class Buffers {
 public:
  Buffers(const Trial& trial, MPI_Comm communicator)
      : trial_(trial),
        communicator_(communicator),
        rank_(rank_of(communicator)),
        all_type_(describe(trial.all_way, kUnit)),
        own_type_(describe(trial.own_way, kUnit)) {
    const int size = size_of(communicator);
    int next = 0;
    counts_.resize(static_cast<std::size_t>(size));
    displacements_.resize(counts_.size());
    for (int i = 0; i < size; ++i) {
      const int rank = trial.is_apart ? size - 1 - i : i;
      if (trial.is_apart) ++next;
      counts_[static_cast<std::size_t>(rank)] = units_of(rank) * all_type_.type_count;
      displacements_[static_cast<std::size_t>(rank)] = next * all_type_.type_count;
      next += units_of(rank);
    }
    const bool gathers = trial.kind != Kind::scatter;
    if (has_all()) {
      all_.assign(static_cast<std::size_t>(next * kUnit) * all_type_.stride, kPoison);
    }
    own_.assign(static_cast<std::size_t>(own_count() * kUnit) * own_type_.stride, kPoison);
    if (gathers && is_in_place()) fill_in_all(all_, rank_);
    if (gathers && !is_in_place()) fill_own(own_);
    if (!gathers && has_all()) fill_all(all_);
  }

  int call() {
    int code = MPI_SUCCESS;
    const int own_count = this->own_count() * own_type_.type_count;
    switch (trial_.kind) {
      case Kind::allgather:
        code = MPI_Allgatherv(own(), own_count, own_type_.type, all_.data(), counts_.data(),
                              displacements_.data(), all_type_.type, communicator_);
        break;
      case Kind::gather:
        code = MPI_Gatherv(own(), own_count, own_type_.type, all_.data(), counts(), displacements(),
                           all_type_.type, trial_.root, communicator_);
        break;
      case Kind::scatter:
        code = MPI_Scatterv(all_.data(), counts(), displacements(), all_type_.type, own(),
                            own_count, own_type_.type, trial_.root, communicator_);
        break;
    }
    free_types();
    return code;
  }

  /// The program frees its datatypes at once.
  void start(MPI_Request* request) {
    const int own_count = this->own_count() * own_type_.type_count;
    switch (trial_.kind) {
      case Kind::allgather:
        MPI_Iallgatherv(own(), own_count, own_type_.type, all_.data(), counts_.data(),
                        displacements_.data(), all_type_.type, communicator_, request);
        break;
      case Kind::gather:
        MPI_Igatherv(own(), own_count, own_type_.type, all_.data(), counts(), displacements(),
                     all_type_.type, trial_.root, communicator_, request);
        break;
      case Kind::scatter:
        MPI_Iscatterv(all_.data(), counts(), displacements(), all_type_.type, own(), own_count,
                      own_type_.type, trial_.root, communicator_, request);
        break;
    }
    free_types();
  }

  void check() const {
    if (has_all()) {
      std::vector<int> expected(all_.size(), kPoison);
      fill_all(expected);
      REQUIRE_HERE(all_ == expected);
    }
    std::vector<int> expected(own_.size(), kPoison);
    if (!is_in_place()) fill_own(expected);
    REQUIRE_HERE(own_ == expected);
  }

 private:
  int units_of(int rank) const { return rank % 3 == 1 ? 0 : trial_.units * (rank + 1); }
  int own_count() const { return units_of(rank_); }
  bool has_all() const { return trial_.kind == Kind::allgather || rank_ == trial_.root; }
  bool is_in_place() const { return trial_.is_in_place && has_all(); }
  void* own() { return is_in_place() ? MPI_IN_PLACE : own_.data(); }
  /// Only the root has them.
  const int* counts() const { return has_all() ? counts_.data() : nullptr; }
  const int* displacements() const { return has_all() ? displacements_.data() : nullptr; }

  void fill_own(std::vector<int>& own) const {
    own_type_.fill(own.data(), own_count() * kUnit, rank_, trial_.round);
  }
  void fill_in_all(std::vector<int>& all, int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const std::size_t first =
        static_cast<std::size_t>(displacements_[r] / all_type_.type_count * kUnit);
    all_type_.fill(all.data() + first * all_type_.stride, units_of(rank) * kUnit, rank,
                   trial_.round);
  }
  void fill_all(std::vector<int>& all) const {
    for (int rank = 0; rank < size_of(communicator_); ++rank) fill_in_all(all, rank);
  }

  void free_types() {
    all_type_.free();
    own_type_.free();
  }

  Trial trial_;
  MPI_Comm communicator_;
  int rank_;
  Description all_type_;
  Description own_type_;
  std::vector<int> counts_;
  std::vector<int> displacements_;
  std::vector<int> all_;
  std::vector<int> own_;
};

/// All ways to describe all blocks and the own one, the same on all processes and each its own, and
/// in place, with every root in turn. In place on all processes or on none.
void all_ways(Kind kind, int units, Which which, int& round, MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  for (int all_way = 0; all_way < kWays; ++all_way) {
    for (int own_way = 0; own_way < kWays; ++own_way) {
      ++round;
      const int shift = round % 2 == 0 ? rank : 0;
      const Trial trial{.kind = kind,
                        .units = units,
                        .all_way = (all_way + 2 * shift) % kWays,
                        .own_way = (own_way + shift) % kWays,
                        .is_in_place = round % 3 == 0,
                        // MPICH 4.0.2 alone ignores displacements on one process.
                        .is_apart = size_of(communicator) > 1 && (round + shift) % 4 > 1,
                        .root = round % size_of(communicator),
                        .round = round};
      programs::blocking<Buffers>(trial, communicator);
      if (which == Which::all) programs::nonblocking<Buffers>(trial, communicator);
    }
  }
}

/// Counts that change from call to call.
void many_in_a_row(MPI_Comm communicator) {
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const int rank = rank_of(communicator);
  const int last = static_cast<int>(size) - 1;
  for (int round = 0; round < 500; ++round) {
    std::vector<int> counts(size);
    std::vector<int> begins(size);
    std::vector<int> expected;
    for (std::size_t r = 0; r < size; ++r) {
      counts[r] = (static_cast<int>(r) * 7 + round) % 5;
      begins[r] = static_cast<int>(expected.size());
      expected.insert(expected.end(), static_cast<std::size_t>(counts[r]),
                      static_cast<int>(r) * 1000 + round);
    }
    const int own_count = counts[static_cast<std::size_t>(rank)];
    const std::vector<int> own(static_cast<std::size_t>(own_count), rank * 1000 + round);
    std::vector<int> all(expected.size(), -1);
    MPI_Allgatherv(own.data(), own_count, MPI_INT, all.data(), counts.data(), begins.data(),
                   MPI_INT, communicator);
    REQUIRE_HERE(all == expected);
    all.assign(all.size(), -1);
    MPI_Gatherv(own.data(), own_count, MPI_INT, all.data(), counts.data(), begins.data(), MPI_INT,
                last, communicator);
    if (rank == last) REQUIRE_HERE(all == expected);
    std::vector<int> back(own.size(), -1);
    MPI_Scatterv(all.data(), counts.data(), begins.data(), MPI_INT, back.data(), own_count, MPI_INT,
                 last, communicator);
    REQUIRE_HERE(back == own);
  }
}

/// Who gets less than there is room for keeps the rest.
void less_than_room(MPI_Comm communicator) {
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const int rank = rank_of(communicator);
  const std::vector<int> room(size, 3);
  std::vector<int> begins(size);
  std::vector<int> expected(3 * size, -1);
  for (std::size_t r = 0; r < size; ++r) {
    begins[r] = static_cast<int>(3 * r);
    expected[3 * r] = expected[3 * r + 1] = static_cast<int>(r);
  }
  const std::array<int, 2> own = {rank, rank};
  std::vector<int> all(3 * size, -1);
  MPI_Gatherv(own.data(), 2, MPI_INT, all.data(), room.data(), begins.data(), MPI_INT, 0,
              communicator);
  if (rank == 0) REQUIRE_HERE(all == expected);
  const std::vector<int> sent(size, 2);
  std::array<int, 3> back = {-1, -1, -1};
  MPI_Scatterv(all.data(), sent.data(), begins.data(), MPI_INT, back.data(), 3, MPI_INT, 0,
               communicator);
  REQUIRE_HERE(back == (std::array<int, 3>{rank, rank, -1}));
}

/// No elements, and what MPI does not allow: its own errors, or hycoll's.
void nothing_and_wrong(MPI_Comm communicator) {
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const std::vector<int> none(size, 0);
  const std::vector<int> negative(size, -1);
  std::vector<int> all(size, -1);
  int own = -1;
  const auto calls = [&](int count, MPI_Datatype type, const std::vector<int>& counts) {
    const bool gathers_all = MPI_Allgatherv(&own, count, type, all.data(), counts.data(),
                                            none.data(), MPI_INT, communicator) == MPI_SUCCESS;
    const bool gathers = MPI_Gatherv(&own, count, type, all.data(), counts.data(), none.data(),
                                     MPI_INT, 0, communicator) == MPI_SUCCESS;
    const bool scatters = MPI_Scatterv(all.data(), counts.data(), none.data(), MPI_INT, &own, count,
                                       type, 0, communicator) == MPI_SUCCESS;
    REQUIRE_HERE(gathers == gathers_all && gathers == scatters);
    return gathers;
  };
  REQUIRE_HERE(calls(0, MPI_INT, none));
  REQUIRE_HERE(!calls(-1, MPI_INT, negative));
  REQUIRE_HERE(!calls(0, MPI_DATATYPE_NULL, negative));
  REQUIRE_HERE(own == -1 && std::ranges::count(all, -1) == size_of(communicator));
}

/// Between the even and the odd processes, which have blocks of different lengths.
void between_groups(const programs::EvenAndOdd& groups) {
  const auto& [between, is_odd, others] = groups;
  const int rank = rank_of(MPI_COMM_WORLD);
  std::vector<int> counts;
  std::vector<int> begins;
  std::vector<int> expected;
  for (int other = 0; other < others; ++other) {
    counts.push_back(other + 1);
    begins.push_back(static_cast<int>(expected.size()));
    expected.insert(expected.end(), static_cast<std::size_t>(other) + 1, 2 * other + 1 - is_odd);
  }
  const std::vector<int> own(static_cast<std::size_t>(rank / 2) + 1, rank);
  std::vector<int> all(expected.size(), -1);
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_INT, all.data(), counts.data(),
                 begins.data(), MPI_INT, between);
  REQUIRE_HERE(all == expected);
  // From the even processes to the first of the odd ones.
  const int root = is_odd == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
  all.assign(all.size(), -1);
  const bool has_all = root == MPI_ROOT;
  MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_INT, all.data(),
              has_all ? counts.data() : nullptr, has_all ? begins.data() : nullptr, MPI_INT, root,
              between);
  if (has_all) REQUIRE_HERE(all == expected);
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_blocking = argc > 1 && std::string_view(argv[1]) == "blocking";
  const Which which = only_blocking ? Which::blocking : Which::all;
  return programs::run(argc, argv, "unequal_blocks", [&](MPI_Comm communicator) {
    int round = 0;
    for (const Kind kind : {Kind::allgather, Kind::gather, Kind::scatter}) {
      for (const int units : {1, 10, 2000}) all_ways(kind, units, which, round, communicator);
      programs::blocking<Buffers>(
          Trial{.kind = kind, .units = 20'000, .own_way = 4, .round = ++round}, communicator);
    }
    many_in_a_row(communicator);
    less_than_room(communicator);
    programs::between_even_and_odd(communicator, between_groups);
    nothing_and_wrong(communicator);
  });
}
