// Gathers and scatters as MPI allows them: any datatype, the root's own block described in another
// way than all blocks, and each process's in its own, in place or not, from and to every root,
// blocking and not. What counts at the root only is nonsense elsewhere.
// usage: gathers

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
using programs::kPoison;
using programs::kWays;
using programs::rank_of;
using programs::size_of;

enum class Kind { gather, scatter };

struct Trial {
  Kind kind = Kind::gather;
  int count = 0;  ///< Integers of a block.
  int all_way = 0;
  int own_way = 0;
  bool is_in_place = false;  ///< At the root.
  int root = 0;
  int round = 0;
};

class Buffers {
 public:
  Buffers(const Trial& trial, MPI_Comm communicator)
      : trial_(trial),
        communicator_(communicator),
        rank_(rank_of(communicator)),
        all_as_(describe(trial.all_way, trial.count)),
        own_as_(describe(trial.own_way, trial.count)),
        all_(empty_blocks()),
        own_(static_cast<std::size_t>(trial.count) * own_as_.stride, kPoison) {
    if (trial.kind == Kind::scatter) {
      if (is_root()) all_ = filled_blocks();
    } else if (is_in_place()) {
      fill_block(all_, rank_);
    } else {
      fill_own(own_);
    }
  }

  int call() {
    const Side own = own_side();
    const Side all = all_side();
    const int code = trial_.kind == Kind::gather
                         ? MPI_Gather(own.address, own.count, own.type, all.address, all.count,
                                      all.type, trial_.root, communicator_)
                         : MPI_Scatter(all.address, all.count, all.type, own.address, own.count,
                                       own.type, trial_.root, communicator_);
    free_types();
    return code;
  }

  /// The program frees its datatypes at once.
  void start(MPI_Request* request) {
    const Side own = own_side();
    const Side all = all_side();
    if (trial_.kind == Kind::gather) {
      MPI_Igather(own.address, own.count, own.type, all.address, all.count, all.type, trial_.root,
                  communicator_, request);
    } else {
      MPI_Iscatter(all.address, all.count, all.type, own.address, own.count, own.type, trial_.root,
                   communicator_, request);
    }
    free_types();
  }

  void check() const {
    if (is_root()) REQUIRE_HERE(all_ == filled_blocks());
    std::vector<int> own(own_.size(), kPoison);
    if (!is_in_place()) fill_own(own);
    REQUIRE_HERE(own_ == own);
  }

 private:
  struct Side {
    void* address;
    int count;
    MPI_Datatype type;
  };

  bool is_root() const { return rank_ == trial_.root; }
  bool is_in_place() const { return is_root() && trial_.is_in_place; }

  Side own_side() {
    if (is_in_place()) return {MPI_IN_PLACE, -7, MPI_DATATYPE_NULL};
    return {own_.data(), own_as_.type_count, own_as_.type};
  }
  Side all_side() {
    if (!is_root()) return {nullptr, -9, MPI_DATATYPE_NULL};
    return {all_.data(), all_as_.type_count, all_as_.type};
  }

  std::size_t block() const { return static_cast<std::size_t>(trial_.count) * all_as_.stride; }
  std::vector<int> empty_blocks() const {
    return std::vector<int>(block() * static_cast<std::size_t>(size_of(communicator_)), kPoison);
  }
  std::vector<int> filled_blocks() const {
    std::vector<int> blocks = empty_blocks();
    for (int rank = 0; rank < size_of(communicator_); ++rank) fill_block(blocks, rank);
    return blocks;
  }
  void fill_block(std::vector<int>& blocks, int rank) const {
    all_as_.fill(blocks.data() + static_cast<std::size_t>(rank) * block(), trial_.count, rank,
                 trial_.round);
  }
  void fill_own(std::vector<int>& own) const {
    own_as_.fill(own.data(), trial_.count, rank_, trial_.round);
  }

  void free_types() {
    all_as_.free();
    own_as_.free();
  }

  Trial trial_;
  MPI_Comm communicator_;
  int rank_;
  Description all_as_;
  Description own_as_;
  std::vector<int> all_;
  std::vector<int> own_;
};

/// Two calls are under way, with different roots.
void nonblocking(const Trial& trial, MPI_Comm communicator) {
  Trial next = trial;
  next.round += 5000;
  next.root = (trial.root + 1) % size_of(communicator);
  programs::two_under_way<Buffers>(trial, next, communicator);
}

/// All ways to describe all blocks and the own one, the same on all processes and each its own, and
/// in place, with every root in turn.
void all_ways(Kind kind, int count, int& round, MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  for (int all_way = 0; all_way < kWays; ++all_way) {
    for (int own_way = 0; own_way < kWays; ++own_way) {
      for (const bool is_in_place : {false, true}) {
        const int shift = round % 2 == 0 ? rank : 0;
        const Trial trial{.kind = kind,
                          .count = count,
                          .all_way = all_way,
                          .own_way = (own_way + shift) % kWays,
                          .is_in_place = is_in_place,
                          .root = ++round % size_of(communicator),
                          .round = round};
        programs::blocking<Buffers>(trial, communicator);
        nonblocking(trial, communicator);
      }
    }
  }
}

/// The calls of a program, one like the other.
void many_in_a_row(MPI_Comm communicator) {
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const std::int64_t rank = rank_of(communicator);
  const int last = static_cast<int>(size) - 1;
  std::vector<std::int64_t> all(size);
  for (std::int64_t round = 0; round < 2000; ++round) {
    const std::int64_t own = rank * 10'000 + round;
    std::int64_t back = -1;
    MPI_Gather(&own, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, last, communicator);
    for (std::size_t i = 0; i < size && rank == last; ++i) {
      REQUIRE_HERE(all[i] == static_cast<std::int64_t>(i) * 10'000 + round);
    }
    MPI_Scatter(all.data(), 1, MPI_INT64_T, &back, 1, MPI_INT64_T, last, communicator);
    REQUIRE_HERE(back == own);
  }
}

/// No elements, and what MPI does not allow: its own errors, or hycoll's.
void nothing_and_wrong(MPI_Comm communicator) {
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const int size = size_of(communicator);
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  int own = -1;
  const auto calls = [&](int count, MPI_Datatype type, int root) {
    const bool gathers = MPI_Gather(&own, count, type, all.data(), std::max(count, 0), MPI_INT,
                                    root, communicator) == MPI_SUCCESS;
    const bool scatters = MPI_Scatter(all.data(), std::max(count, 0), MPI_INT, &own, count, type,
                                      root, communicator) == MPI_SUCCESS;
    REQUIRE_HERE(gathers == scatters);
    return gathers;
  };
  REQUIRE_HERE(calls(0, MPI_INT, 0));
  REQUIRE_HERE(!calls(-1, MPI_INT, 0));
  REQUIRE_HERE(!calls(1, MPI_DATATYPE_NULL, 0));
  REQUIRE_HERE(!calls(1, MPI_INT, size));
  REQUIRE_HERE(own == -1 && std::ranges::count(all, -1) == size);
}

/// From the even processes to the first of the odd ones, and back.
void between_groups(const programs::EvenAndOdd& groups) {
  const auto& [between, is_odd, others] = groups;
  const int rank = rank_of(MPI_COMM_WORLD);
  const int root = is_odd == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
  for (int round = 0; round < 5; ++round) {
    int own = rank + round;
    std::vector<int> all(static_cast<std::size_t>(others), -1);
    MPI_Gather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, root, between);
    for (std::size_t i = 0; i < all.size() && rank == 1; ++i) {
      REQUIRE_HERE(all[i] == 2 * static_cast<int>(i) + round);
    }
    own = -1;
    MPI_Scatter(all.data(), 1, MPI_INT, &own, 1, MPI_INT, root, between);
    if (is_odd == 0) REQUIRE_HERE(own == rank + round);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return programs::run(argc, argv, "gathers", [](MPI_Comm communicator) {
    int round = 0;
    for (const Kind kind : {Kind::gather, Kind::scatter}) {
      for (const int count : {6, 60, 3000, 30'000}) all_ways(kind, count, round, communicator);
      programs::blocking<Buffers>(
          Trial{.kind = kind, .count = 300'000, .own_way = 4, .round = ++round}, communicator);
    }
    many_in_a_row(communicator);
    programs::between_even_and_odd(communicator, between_groups);
    nothing_and_wrong(communicator);
  });
}
