// Persistent collectives are matched by the order in which they were set up; processes may start
// them in any order, which may differ between processes (MPI 4.0, section 6.13). Orders drawn by
// each rank for itself, between blocking and nonblocking calls that keep theirs; starts that others
// wait for; many set-ups and frees, and more than hycoll has room for.
// usage: start_orders [SEED [ROUNDS [single|multiple]]]

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/preload/support/persistent_operation.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::kPersistentKinds;
using programs::Operation;
using programs::Persistent;
using programs::PersistentOperation;
using programs::rank_of;
using programs::size_of;

using Operations = std::vector<std::unique_ptr<PersistentOperation>>;

/// What ranks draw alike, and each for itself.
class Draws {
 public:
  Draws(unsigned seed, int rank) : common_(seed), own_(seed + 7919U * (1U + unsigned(rank))) {}

  std::uint64_t common(std::uint64_t end) { return common_() % end; }
  std::uint64_t own(std::uint64_t end) { return own_() % end; }
  /// 0, 1, ... in an order of this rank's.
  std::vector<std::size_t> own_order(std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, own_);
    return order;
  }
  /// Lengths of lines, of staging, and beyond a slice of it.
  int common_count() {
    constexpr int kMost[] = {6, 40, 900, 9000, 60'000};
    return 1 + static_cast<int>(common(static_cast<std::uint64_t>(kMost[common(5)])));
  }

 private:
  std::mt19937_64 common_;
  std::mt19937_64 own_;
};

std::unique_ptr<PersistentOperation> drawn(MPI_Comm communicator, Draws& draws) {
  const auto kind = static_cast<Persistent>(draws.common(kPersistentKinds));
  const int count = draws.common_count();
  const auto root =
      static_cast<int>(draws.common(static_cast<std::uint64_t>(size_of(communicator))));
  const bool spaced = draws.common(3) == 0;
  return std::make_unique<PersistentOperation>(communicator, kind, count, root, spaced);
}

Operations some_drawn(MPI_Comm communicator, Draws& draws, std::size_t count) {
  Operations operations;
  while (operations.size() < count) operations.push_back(drawn(communicator, draws));
  return operations;
}

void start_in_own_order(Operations& operations, Draws& draws, std::uint64_t round) {
  for (const std::size_t index : draws.own_order(operations.size())) {
    operations[index]->start(round + index);
  }
}

/// Not by Testall and its kin: MPICH 4.0.2 fails there where persistent collectives of its own,
/// which it serves where hycoll has no room, are not over.
std::uint64_t way_to_finish(Draws& draws) {
  constexpr std::array<std::uint64_t, 4> kWays = {0, 1, 7, 8};
  return kWays[draws.own(kWays.size())];
}

void finish_in_own_order(Operations& operations, Draws& draws) {
  for (const std::size_t index : draws.own_order(operations.size())) {
    operations[index]->finish(way_to_finish(draws));
  }
}

/// By MPI_Start, one after another, and by MPI_Startall, of an array in an order of the rank's.
void orders_differ(MPI_Comm communicator, Draws& draws) {
  Operations operations = some_drawn(communicator, draws, 5);
  for (std::uint64_t round = 0; round < 6; ++round) {
    if (draws.own(2) == 0) {
      start_in_own_order(operations, draws, 10 * round);
      finish_in_own_order(operations, draws);
      continue;
    }
    std::vector<MPI_Request> requests;
    const std::vector<std::size_t> order = draws.own_order(operations.size());
    for (const std::size_t index : order) {
      operations[index]->fill(10 * round + index);
      requests.push_back(operations[index]->request());
    }
    MPI_Startall(static_cast<int>(requests.size()), requests.data());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& operation : operations) operation->check();
  }
}

/// Blocking and nonblocking calls in one order, which all ranks make in turn.
class OtherCalls {
 public:
  OtherCalls(MPI_Comm communicator, Draws& draws, std::uint64_t round)
      : communicator_(communicator), round_(round) {
    for (int call = 0; call < 4; ++call) {
      nonblocking_.push_back(draws.common(2) == 0);
      counts_.push_back(static_cast<std::uint64_t>(draws.common_count()));
    }
  }

  bool are_over() const { return made_ == counts_.size(); }
  void make_next() {
    const std::uint64_t count = counts_[made_];
    const std::uint64_t number = 100 * round_ + made_;
    if (nonblocking_[made_]) {
      under_way_.emplace_back(communicator_, static_cast<int>(number % 6), count, 0, number);
      under_way_.back().start();
    } else {
      std::vector<std::uint64_t> sums(count, number + unsigned(rank_of(communicator_)));
      MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(count), programs::kType, MPI_SUM,
                    communicator_);
      const auto size = static_cast<std::uint64_t>(size_of(communicator_));
      const std::uint64_t expected = size * number + size * (size - 1) / 2;
      REQUIRE_HERE(std::ranges::count(sums, expected) == static_cast<std::ptrdiff_t>(count));
    }
    ++made_;
  }
  void finish() {
    for (Operation& operation : under_way_) {
      programs::complete(operation.request(), round_);
      operation.check();
    }
  }

 private:
  MPI_Comm communicator_;
  std::uint64_t round_;
  std::vector<bool> nonblocking_;
  std::vector<std::uint64_t> counts_;
  std::deque<Operation> under_way_;
  std::size_t made_ = 0;
};

/// Starts lie anywhere between the others, on each rank elsewhere. Some ranks wait for all starts
/// before the last blocking calls, in which the others go on with them.
void other_calls_lie_between(MPI_Comm communicator, Draws& draws) {
  Operations operations = some_drawn(communicator, draws, 4);
  for (std::uint64_t round = 1; round < 7; ++round) {
    OtherCalls others(communicator, draws, round);
    for (const std::size_t index : draws.own_order(operations.size())) {
      while (!others.are_over() && draws.own(2) == 0) others.make_next();
      operations[index]->start(50 * round + index);
    }
    while (!others.are_over()) others.make_next();
    const bool waits_first = draws.own(2) == 0;
    if (waits_first) finish_in_own_order(operations, draws);
    OtherCalls last(communicator, draws, 1000 + round);
    while (!last.are_over()) last.make_next();
    if (!waits_first) finish_in_own_order(operations, draws);
    others.finish();
    last.finish();
  }
}

/// Some ranks start each when the one before is over, or when another rank says so; the others all
/// at once, the last one first.
void starts_wait_for_others(MPI_Comm communicator, Draws& draws) {
  Operations operations = some_drawn(communicator, draws, 3);
  const int rank = rank_of(communicator);
  const int last = size_of(communicator) - 1;
  for (std::uint64_t round = 0; round < 5; ++round) {
    const bool is_patient = (static_cast<std::uint64_t>(rank) + round) % 2 == 0;
    if (!is_patient) {
      for (std::size_t i = operations.size(); i-- > 0;) operations[i]->start(9 * round + i);
    }
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (is_patient) operations[i]->start(9 * round + i);
      operations[i]->finish(way_to_finish(draws));
      // The first rank goes on when the last one has come so far.
      int word = 0;
      if (rank == last) MPI_Send(&word, 1, MPI_INT, 0, 5, communicator);
      if (rank == 0) MPI_Recv(&word, 1, MPI_INT, last, 5, communicator, MPI_STATUS_IGNORE);
    }
  }
}

/// The requests live for different times on different ranks.
void many_are_set_up_and_freed(MPI_Comm communicator, Draws& draws) {
  Operations live;
  for (std::uint64_t round = 0; round < 400; ++round) {
    const auto kind = static_cast<Persistent>(draws.common(kPersistentKinds));
    const int count = 1 + static_cast<int>(draws.common(6));
    const std::size_t first = live.size();
    for (int i = 0; i < 3; ++i) {
      live.push_back(std::make_unique<PersistentOperation>(communicator, kind, count, 0,
                                                           draws.common(2) == 0));
    }
    std::vector<std::size_t> order = draws.own_order(3);
    for (const std::size_t i : order) live[first + i]->start(4 * round + i);
    for (const std::size_t i : order) live[first + i]->finish(way_to_finish(draws));
    while (live.size() > 5 || (!live.empty() && draws.own(3) == 0)) {
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(draws.own(live.size())));
    }
  }
}

/// More at a time than hycoll serves. Reductions only, which MPI libraries by themselves get right.
void more_than_have_room(MPI_Comm communicator, Draws& draws) {
  for (const int count : {3, 300}) {
    Operations operations;
    for (int i = 0; i < 70; ++i) {
      const auto kind = static_cast<Persistent>(draws.common(4));
      operations.push_back(
          std::make_unique<PersistentOperation>(communicator, kind, count, 0, false));
    }
    for (std::uint64_t round = 0; round < 3; ++round) {
      start_in_own_order(operations, draws, 100 * round);
      finish_in_own_order(operations, draws);
    }
  }
}

/// Long waits, all of them within what HYCOLL_TIMEOUT_S allows for one, together more; and a start
/// that nobody waits for while another rank is later than that.
void waits_are_timed_one_by_one(MPI_Comm communicator) {
  PersistentOperation sum(communicator, Persistent::allreduce, 100, 0, false);
  const auto rank = static_cast<std::uint64_t>(rank_of(communicator));
  const auto size = static_cast<std::uint64_t>(size_of(communicator));
  for (std::uint64_t round = 0; round < 8; ++round) {
    if (round % size == rank) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    sum.start(round);
    sum.finish(round);
  }
  if (rank != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  sum.start(0);
  if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  sum.finish(0);
}

}  // namespace

int main(int argc, char** argv) {
  const auto seed = static_cast<unsigned>(argc > 1 ? std::atol(argv[1]) : 1);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const bool is_multiple = argc > 3 && std::string_view(argv[3]) == "multiple";
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, is_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  const int rank = rank_of(MPI_COMM_WORLD);
  if (rank == 0) std::printf("start_orders: seed %u\n", seed);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  for (int i = 0; i < 3; ++i) MPI_Barrier(communicator);
  Draws draws(seed, rank);
  if (rounds == 0) {
    waits_are_timed_one_by_one(communicator);
  }
  for (int round = 0; round < rounds; ++round) {
    orders_differ(communicator, draws);
    other_calls_lie_between(communicator, draws);
    starts_wait_for_others(communicator, draws);
  }
  if (rounds > 0) {
    many_are_set_up_and_freed(communicator, draws);
    more_than_have_room(communicator, draws);
  }
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  if (rank == 0) std::puts("start_orders: ok");
  return 0;
}
