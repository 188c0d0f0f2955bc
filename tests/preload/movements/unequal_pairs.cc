// Alltoallv and alltoallw as MPI allows them: any datatype, rows and columns described in different
// ways, and differently on different processes and for different blocks, in any order and apart, in
// place or not, blocking and not.
// usage: unequal_pairs [blocking]
//   blocking  no nonblocking calls

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
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

enum class Kind { alltoallv, alltoallw };

/// Integers that every description can have.
constexpr int kUnit = 6;

struct Trial {
  Kind kind = Kind::alltoallv;
  int units = 0;  ///< Of the longest block; others have less, and some none.
  int sent_way = 0;
  int received_way = 0;
  bool is_in_place = false;
  bool is_apart = false;  ///< The last block comes first, and some room lies between any two.
  int round = 0;

  /// Alike in both directions: in place a block is replaced by one as long.
  int units_of(int from, int to) const {
    const int draw = (std::min(from, to) * 5 + std::max(from, to) * 3 + round) % 4;
    return draw == 0 ? 0 : std::max(1, units / draw);
  }
};

/// One process's row or column.
class Blocks {
 public:
  /// Blocks of an alltoallw have descriptions of their own.
  Blocks(const Trial& trial, int rank, int size, int way) {
    int next = 0;
    counts_.resize(static_cast<std::size_t>(size));
    places_.resize(counts_.size());
    units_.resize(counts_.size());
    descriptions_.resize(counts_.size());
    for (int i = 0; i < size; ++i) {
      const int other = trial.is_apart ? size - 1 - i : i;
      const auto o = static_cast<std::size_t>(other);
      const bool has_types = trial.kind == Kind::alltoallw;
      // One type of an alltoallv is made once, and freed once.
      if (i == 0 || has_types) one_ = describe((way + (has_types ? other : 0)) % kWays, kUnit);
      descriptions_[o] = one_;
      if (!has_types) descriptions_[o].is_derived = one_.is_derived && i == 0;
      const Description& description = descriptions_[o];
      if (trial.is_apart) next += kGap;
      units_[o] = trial.units_of(rank, other);
      counts_[o] = units_[o] * description.type_count;
      places_[o] = next;
      next += units_[o] * kUnit * static_cast<int>(description.stride);
      element_ints_ = kUnit * static_cast<int>(description.stride) / description.type_count;
      bytes_.push_back(0);
      elements_.push_back(0);
      types_.push_back(MPI_DATATYPE_NULL);
    }
    ints_ = next;
    for (std::size_t o = 0; o < counts_.size(); ++o) {
      bytes_[o] = places_[o] * static_cast<int>(sizeof(int));
      elements_[o] = places_[o] / element_ints_;
      types_[o] = descriptions_[o].type;
    }
  }

  const int* counts() const { return counts_.data(); }
  const int* elements() const { return elements_.data(); }
  const int* bytes() const { return bytes_.data(); }
  MPI_Datatype type() const { return types_.front(); }
  const MPI_Datatype* types() const { return types_.data(); }

  std::vector<int> poisoned() const {
    return std::vector<int>(static_cast<std::size_t>(ints_), kPoison);
  }
  /// `source_of(other)`: whose data each block has.
  template <class SourceOf>
  std::vector<int> filled(int round, const SourceOf& source_of) const {
    std::vector<int> all = poisoned();
    for (std::size_t o = 0; o < counts_.size(); ++o) {
      descriptions_[o].fill(all.data() + places_[o], units_[o] * kUnit,
                            source_of(static_cast<int>(o)), round);
    }
    return all;
  }

  void free() {
    for (Description& description : descriptions_) description.free();
  }

 private:
  static constexpr int kGap = 36;  // a whole number of elements of every description
  Description one_;
  std::vector<Description> descriptions_;
  std::vector<int> units_;
  std::vector<int> counts_;
  std::vector<int> places_;  // integers
  std::vector<int> elements_;
  std::vector<int> bytes_;
  std::vector<MPI_Datatype> types_;
  int element_ints_ = 1;
  int ints_ = 0;
};

class Buffers {
 public:
  Buffers(const Trial& trial, MPI_Comm communicator)
      : trial_(trial),
        communicator_(communicator),
        rank_(rank_of(communicator)),
        size_(size_of(communicator)),
        sent_(trial, rank_, size_, trial.is_in_place ? trial.received_way : trial.sent_way),
        received_(trial, rank_, size_, trial.received_way) {
    const std::vector<int> row =
        sent_.filled(trial.round, [&](int to) { return rank_ * size_ + to; });
    if (trial.is_in_place) {
      output_ = row;
    } else {
      input_ = row;
      output_ = received_.poisoned();
    }
  }

  /// The program frees its datatypes at once.
  int call() {
    const int code = trial_.kind == Kind::alltoallv
                         ? MPI_Alltoallv(input(), sent_.counts(), sent_.elements(), sent_.type(),
                                         output_.data(), received_.counts(), received_.elements(),
                                         received_.type(), communicator_)
                         : MPI_Alltoallw(input(), sent_.counts(), sent_.bytes(), sent_.types(),
                                         output_.data(), received_.counts(), received_.bytes(),
                                         received_.types(), communicator_);
    free_types();
    return code;
  }
  void start(MPI_Request* request) {
    if (trial_.kind == Kind::alltoallv) {
      MPI_Ialltoallv(input(), sent_.counts(), sent_.elements(), sent_.type(), output_.data(),
                     received_.counts(), received_.elements(), received_.type(), communicator_,
                     request);
      free_types();
    } else {
      // MPI wants the lists of an ialltoallw until the end.
      MPI_Ialltoallw(input(), sent_.counts(), sent_.bytes(), sent_.types(), output_.data(),
                     received_.counts(), received_.bytes(), received_.types(), communicator_,
                     request);
    }
  }

  void check() {
    free_types();
    REQUIRE_HERE(output_ ==
                 received_.filled(trial_.round, [&](int from) { return from * size_ + rank_; }));
  }

 private:
  const void* input() const { return trial_.is_in_place ? MPI_IN_PLACE : input_.data(); }
  void free_types() {
    sent_.free();
    received_.free();
  }

  Trial trial_;
  MPI_Comm communicator_;
  int rank_;
  int size_;
  Blocks sent_;
  Blocks received_;
  std::vector<int> input_;
  std::vector<int> output_;
};

/// All ways to describe rows and columns, the same on all processes and each its own.
void all_ways(Kind kind, int units, bool only_blocking, int& round, MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  for (int sent_way = 0; sent_way < kWays; ++sent_way) {
    for (int received_way = 0; received_way < kWays; ++received_way) {
      ++round;
      const int shift = round % 2 == 0 ? rank : 0;
      const Trial trial{.kind = kind,
                        .units = units,
                        .sent_way = (sent_way + 2 * shift) % kWays,
                        .received_way = (received_way + shift) % kWays,
                        .is_in_place = round % 3 == 0,
                        // On one process Open MPI 4.1.4 alone takes bytes for elements.
                        .is_apart = size_of(communicator) > 1 && (round + shift) % 4 > 1,
                        .round = round};
      programs::blocking<Buffers>(trial, communicator);
      if (!only_blocking) programs::nonblocking<Buffers>(trial, communicator);
    }
  }
}

/// Counts that change from call to call.
void many_in_a_row(MPI_Comm communicator) {
  const int size = size_of(communicator);
  const int rank = rank_of(communicator);
  const auto count_of = [](int round, int from, int to) { return (from * 7 + to * 3 + round) % 5; };
  for (int round = 0; round < 500; ++round) {
    std::vector<int> sent;
    std::vector<int> sent_at;
    std::vector<int> received;
    std::vector<int> received_at;
    std::vector<int> input;
    std::vector<int> expected;
    for (int other = 0; other < size; ++other) {
      sent_at.push_back(static_cast<int>(input.size()));
      received_at.push_back(static_cast<int>(expected.size()));
      sent.push_back(count_of(round, rank, other));
      received.push_back(count_of(round, other, rank));
      input.insert(input.end(), static_cast<std::size_t>(sent.back()), 100 * rank + other);
      expected.insert(expected.end(), static_cast<std::size_t>(received.back()),
                      100 * other + rank);
    }
    std::vector<int> output(expected.size(), -1);
    MPI_Alltoallv(input.data(), sent.data(), sent_at.data(), MPI_INT, output.data(),
                  received.data(), received_at.data(), MPI_INT, communicator);
    REQUIRE_HERE(output == expected);
    int sum = round;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, communicator);
    REQUIRE_HERE(sum == round * size);
  }
}

/// No elements, and what MPI does not allow: its own errors.
void nothing_and_wrong(MPI_Comm communicator) {
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const std::vector<int> none(size, 0);
  std::vector<int> all(size, -1);
  REQUIRE_HERE(MPI_Alltoallv(nullptr, none.data(), none.data(), MPI_INT, all.data(), none.data(),
                             none.data(), MPI_INT, communicator) == MPI_SUCCESS);
  const std::vector<int> negative(size, -1);
  REQUIRE_HERE(MPI_Alltoallv(all.data(), negative.data(), none.data(), MPI_INT, all.data(),
                             negative.data(), none.data(), MPI_INT, communicator) != MPI_SUCCESS);
  REQUIRE_HERE(MPI_Alltoallv(all.data(), none.data(), none.data(), MPI_DATATYPE_NULL, all.data(),
                             none.data(), none.data(), MPI_DATATYPE_NULL,
                             communicator) != MPI_SUCCESS);
  REQUIRE_HERE(std::ranges::count(all, -1) == size_of(communicator));
}

/// Between the even and the odd processes.
void between_groups(const programs::EvenAndOdd& groups) {
  const auto& [between, is_odd, others] = groups;
  const std::vector<int> ones(static_cast<std::size_t>(others), 1);
  std::vector<int> places;
  std::vector<int> expected;
  for (int other = 0; other < others; ++other) {
    places.push_back(other);
    expected.push_back(2 * other + 1 - is_odd);
  }
  const std::vector<int> input(ones.size(), rank_of(MPI_COMM_WORLD));
  std::vector<int> output(ones.size(), -1);
  MPI_Alltoallv(input.data(), ones.data(), places.data(), MPI_INT, output.data(), ones.data(),
                places.data(), MPI_INT, between);
  REQUIRE_HERE(output == expected);
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_blocking = argc > 1 && std::string_view(argv[1]) == "blocking";
  return programs::run(argc, argv, "unequal_pairs", [&](MPI_Comm communicator) {
    int round = 0;
    for (const Kind kind : {Kind::alltoallv, Kind::alltoallw}) {
      for (const int units : {1, 10, 2000, 40'000}) {
        all_ways(kind, units, only_blocking, round, communicator);
      }
    }
    many_in_a_row(communicator);
    nothing_and_wrong(communicator);
    programs::between_even_and_odd(communicator, between_groups);
  });
}
