// What MPI promises of nonblocking collectives: results, completion by all functions, order,
// progress, requests and communicators given up early; and random mixes on several communicators.
// usage: nonblocking [SECONDS [SEED [THREADS]]]

#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "tests/preload/support/nonblocking_operation.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::add_numbers;
using programs::complete;
using programs::HandledErrors;
using programs::kKinds;
using programs::kOwnOperator;
using programs::kType;
using programs::Operation;
using programs::own_sum;
using programs::rank_of;
using programs::size_of;

std::uint64_t sum_of_ranks(MPI_Comm communicator, std::uint64_t offset) {
  std::uint64_t own = static_cast<std::uint64_t>(rank_of(communicator)) + offset;
  std::uint64_t sum = 0;
  MPI_Allreduce(&own, &sum, 1, kType, MPI_SUM, communicator);
  return sum;
}

/// A communicator that hycoll has prepared itself for.
MPI_Comm warm_copy() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const auto size = static_cast<std::uint64_t>(size_of(copy));
  for (std::uint64_t i = 0; i < 12; ++i) {
    REQUIRE_HERE(sum_of_ranks(copy, i) == size * (size - 1) / 2 + size * i);
  }
  // hycoll takes the memory for long calls in blocking ones.
  std::vector<std::uint64_t> values(5000, size);
  MPI_Allreduce(MPI_IN_PLACE, values.data(), 5000, kType, MPI_MAX, copy);
  REQUIRE_HERE(values.back() == size);
  return copy;
}

void every_collective_completes_in_every_way(MPI_Comm communicator) {
  std::uint64_t round = 0;
  for (int kind = 0; kind < kKinds; ++kind) {
    // The MPI library's own take long on busy machines.
    const std::uint64_t way_count = kind == 6 ? 2 : 9;
    for (const std::uint64_t count : {1, 5, 600, 3001}) {
      for (std::uint64_t way = 0; way < way_count; ++way) {
        const int root = static_cast<int>(round) % size_of(communicator);
        Operation operation(communicator, kind, count, root, ++round);
        operation.start();
        complete(operation.request(), way);
        operation.check();
      }
    }
    Operation longest(communicator, kind, kind == 6 ? 3000 : 300'000, 0, ++round);
    longest.start();
    complete(longest.request(), round);
    longest.check();
  }
}

void in_place(MPI_Comm communicator) {
  std::vector<std::uint64_t> values(700, static_cast<std::uint64_t>(rank_of(communicator)));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), 700, kType, MPI_MAX, communicator, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const auto last = static_cast<std::uint64_t>(size_of(communicator) - 1);
  REQUIRE_HERE(std::ranges::all_of(values, [&](auto value) { return value == last; }));
}

/// Several under way, a blocking call after them, and completion in another order on each rank.
void order_is_kept(MPI_Comm communicator) {
  std::deque<Operation> operations;
  for (int i = 0; i < 12; ++i) {
    operations.emplace_back(communicator, i % kKinds, 1 + 977 * static_cast<std::uint64_t>(i % 5),
                            i % size_of(communicator), 5000 + i);
    operations.back().start();
  }
  if (rank_of(communicator) % 2 == 1) std::ranges::reverse(operations);
  for (std::size_t i = 0; i < 6; ++i) complete(operations[i].request(), i);
  const auto size = static_cast<std::uint64_t>(size_of(communicator));
  REQUIRE_HERE(sum_of_ranks(communicator, 0) == size * (size - 1) / 2);
  for (std::size_t i = 6; i < operations.size(); ++i) complete(operations[i].request(), i);
  for (const Operation& operation : operations) operation.check();
}

/// A process that waits for a message goes on with its collective: else these never end.
void collectives_go_on_beside_messages(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  int word = rank;
  if (size_of(communicator) < 2) return;
  for (const std::uint64_t count : {1, 2000, 200'000}) {
    Operation operation(communicator, 0, count, 0, 70 + count);
    operation.start();
    // Rank 0 receives what rank 1 sends after the collective.
    if (rank == 0) MPI_Recv(&word, 1, MPI_INT, 1, 3, communicator, MPI_STATUS_IGNORE);
    complete(operation.request(), 0);
    if (rank == 1) MPI_Send(&word, 1, MPI_INT, 0, 3, communicator);
    operation.check();

    Operation other(communicator, 2, count, 0, 90 + count);
    other.start();
    // Rank 0 sends what rank 1 receives after the collective.
    if (rank == 0) MPI_Ssend(&word, 1, MPI_INT, 1, 4, communicator);
    complete(other.request(), 7);
    if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 4, communicator, MPI_STATUS_IGNORE);
    other.check();
  }
}

/// Neither order of waiting, nor a blocking call elsewhere, holds up others' collectives.
void collectives_go_on_beside_others(MPI_Comm one, MPI_Comm other) {
  const bool is_first = rank_of(one) == 0;
  for (const std::uint64_t count : {3, 150'000}) {
    Operation first(one, 0, count, 0, 11);
    Operation second(other, 0, count, 0, 12);
    first.start();
    second.start();
    complete((is_first ? second : first).request(), 0);
    complete((is_first ? first : second).request(), 0);
    first.check();
    second.check();

    Operation third(one, 1, count, 0, 13);
    third.start();
    if (!is_first) complete(third.request(), 1);
    MPI_Barrier(other);
    if (is_first) complete(third.request(), 5);
    third.check();
  }
}

/// One request of several kinds, beside one that completes later.
void requests_may_be_mixed(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  if (size < 2) return;
  int incoming = -1;
  int outgoing = rank;
  Operation operation(communicator, 0, 900, 0, 21);
  std::array<MPI_Request, 3> requests{};
  MPI_Irecv(&incoming, 1, MPI_INT, (rank + 1) % size, 6, communicator, &requests[0]);
  operation.start();
  requests[1] = operation.request();
  int index = -1;
  MPI_Waitany(2, requests.data(), &index, MPI_STATUS_IGNORE);
  REQUIRE_HERE(index == 1);
  operation.check();
  MPI_Barrier(communicator);
  MPI_Isend(&outgoing, 1, MPI_INT, (rank + size - 1) % size, 6, communicator, &requests[2]);
  Operation next(communicator, 7, 0, 0, 22);
  next.start();
  requests[1] = next.request();
  MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
  REQUIRE_HERE(incoming == (rank + 1) % size);
}

/// What a program gives up while the call is under way.
void handles_may_go_early(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  MPI_Comm copy = warm_copy();
  Operation operation(copy, 0, 5000, 0, 31);
  operation.start();
  MPI_Comm_free(&copy);
  complete(operation.request(), static_cast<std::uint64_t>(rank));
  operation.check();

  MPI_Op sum = MPI_OP_NULL;
  MPI_Op_create(&add_numbers, 1, &sum);
  auto total = static_cast<std::uint64_t>(rank);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &total, 1, kType, sum, communicator, &request);
  MPI_Op_free(&sum);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const auto size = static_cast<std::uint64_t>(size_of(communicator));
  REQUIRE_HERE(total == size * (size - 1) / 2);

  // MPI knows neither for collectives. Libraries refuse them, or do nothing.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  MPI_Ibarrier(communicator, &request);
  MPI_Cancel(&request);
  complete(request, 0);
  MPI_Ibarrier(communicator, &request);
  if (MPI_Request_free(&request) != MPI_SUCCESS) complete(request, 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(communicator);
}

/// MPI_Comm_free does not wait for the calls under way: one process enters them only when all
/// others, which have freed the communicator, tell it to. A new communicator gets the handle before
/// the calls are over. Not with the program's operator: Open MPI's own calls do not outlive their
/// communicators.
void communicators_may_go_early(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  for (int round = 0; round < 2 * kKinds; ++round) {
    MPI_Comm copy = warm_copy();
    const int late = round % size;
    int told = 0;
    for (int other = 0; rank == late && other < size; ++other) {
      if (other == late) continue;
      MPI_Recv(&told, 1, MPI_INT, other, 0, communicator, MPI_STATUS_IGNORE);
    }
    const auto number = static_cast<std::uint64_t>(round);
    const auto kind = [](int drawn) { return drawn % kKinds == kOwnOperator ? 0 : drawn % kKinds; };
    Operation first(copy, kind(round), round % 2 == 0 ? 1 : 4000, late, 2 * number);
    Operation second(copy, kind(round + 3), 100, 0, 2 * number + 1);
    first.start();
    second.start();
    MPI_Comm_free(&copy);
    if (rank != late) MPI_Ssend(&told, 1, MPI_INT, late, 0, communicator);
    MPI_Comm next = MPI_COMM_NULL;
    MPI_Comm_split(communicator, 0, -rank, &next);
    for (int call = 0; call < 4; ++call) {
      int total = 1;
      MPI_Scan(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, next);
      REQUIRE_HERE(total == size - rank);
    }
    complete(second.request(), number);
    complete(first.request(), number);
    first.check();
    second.check();
    MPI_Comm_free(&next);
  }
}

/// The last calls under way belong to communicators that are gone when MPI ends.
void end_with_calls_of_freed_communicators() {
  MPI_Comm copy = warm_copy();
  Operation sum(copy, 0, 4000, 0, 77);
  Operation barrier(copy, 7, 1, 0, 78);
  sum.start();
  barrier.start();
  MPI_Comm_free(&copy);
  std::array<MPI_Request, 2> requests = {sum.request(), barrier.request()};
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  sum.check();
}

/// Memory that is allocated in this process after so many calls.
std::size_t held_bytes_after(int calls, MPI_Comm communicator) {
  for (int call = 0; call < calls; ++call) {
    int value = call;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    REQUIRE_HERE(value == call);
  }
  return mallinfo2().uordblks;
}

/// Searches for leaks under AddressSanitizer are no use here: what MPI libraries leave hides them.
void calls_leave_nothing_behind(MPI_Comm communicator) {
  constexpr int kCalls = 2000;
  const std::size_t before = held_bytes_after(kCalls, communicator);
  const std::size_t after = held_bytes_after(kCalls, communicator);
  // A call takes hundreds of bytes while it is under way.
  REQUIRE_HERE(after <= before + kCalls * 16);
}

void errors_reach_the_handler(MPI_Comm communicator) {
  const HandledErrors handled(communicator);
  std::array<double, 8> values{};
  MPI_Request request = MPI_REQUEST_NULL;
  int code =
      MPI_Iallreduce(MPI_IN_PLACE, values.data(), 4, MPI_DOUBLE, MPI_BAND, communicator, &request);
  REQUIRE_HERE(code != MPI_SUCCESS && handled.count() == 1);
  if (size_of(communicator) > 1) {
    code = MPI_Ireduce(values.data(), values.data() + 4, 4, MPI_DOUBLE, MPI_SUM, 1000, communicator,
                       &request);
    REQUIRE_HERE(code != MPI_SUCCESS && handled.count() == 2 && request == MPI_REQUEST_NULL);
  }
}

/// Random calls on three communicators; which of its own requests a rank completes when, each
/// decides for itself.
class Player {
 public:
  Player(MPI_Comm parent, unsigned seed, int rank)
      : random_(seed), own_(seed + 77 * static_cast<unsigned>(rank + 1)) {
    for (MPI_Comm& communicator : communicators_) MPI_Comm_dup(parent, &communicator);
  }

  void play(double seconds) {
    const double start = MPI_Wtime();
    for (int go_on = 1; go_on != 0;) {
      for (int step = 0; step < 60; ++step) this->step();
      while (!under_way_.empty()) complete_one();
      const int here = MPI_Wtime() - start < seconds ? 1 : 0;
      MPI_Allreduce(&here, &go_on, 1, MPI_INT, MPI_MIN, communicators_[0]);
    }
    for (MPI_Comm& communicator : communicators_) MPI_Comm_free(&communicator);
  }

  std::uint64_t rounds() const { return round_; }

 private:
  void step() {
    const MPI_Comm communicator = communicators_[random_() % communicators_.size()];
    const auto size = static_cast<std::uint64_t>(size_of(communicator));
    ++round_;
    if (random_() % 6 == 0) {
      REQUIRE_HERE(sum_of_ranks(communicator, round_) == size * (size - 1) / 2 + size * round_);
      return;
    }
    const auto kind = static_cast<int>(random_() % kKinds);
    const std::uint64_t count = 1 + random_() % (random_() % 12 == 0 ? 50'000 : 900);
    const auto root = static_cast<int>(random_() % size);
    under_way_.emplace_back(communicator, kind, count, root, round_);
    under_way_.back().start();
    while (own_() % 3 == 0 && !under_way_.empty()) complete_one();
    if (under_way_.size() > 10) complete_one();
  }

  void complete_one() {
    const auto chosen = static_cast<std::ptrdiff_t>(own_() % under_way_.size());
    Operation& operation = under_way_[static_cast<std::size_t>(chosen)];
    complete(operation.request(), own_());
    operation.check();
    under_way_.erase(under_way_.begin() + chosen);
  }

  std::mt19937_64 random_;  // the same on all ranks
  std::mt19937_64 own_;
  std::array<MPI_Comm, 3> communicators_{};
  std::deque<Operation> under_way_;
  std::uint64_t round_ = 0;
};

void play(double seconds, unsigned seed, int thread_count) {
  std::vector<Player> players;
  players.reserve(static_cast<std::size_t>(thread_count));
  for (int t = 0; t < thread_count; ++t) {
    players.emplace_back(MPI_COMM_WORLD, seed + 1000 * static_cast<unsigned>(t),
                         rank_of(MPI_COMM_WORLD));
  }
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < players.size(); ++t) {
    threads.emplace_back([&, t] { players[t].play(seconds); });
  }
  players.front().play(seconds);
  for (std::thread& thread : threads) thread.join();
  if (rank_of(MPI_COMM_WORLD) != 0) return;
  std::printf("nonblocking: %llu calls\n",
              static_cast<unsigned long long>(players.front().rounds()));
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atol(argv[2]) : 1);
  const int thread_count = argc > 3 ? std::atoi(argv[3]) : 1;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, thread_count > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  const int rank = rank_of(MPI_COMM_WORLD);
  if (rank == 0) std::printf("nonblocking: seed %u\n", seed);
  MPI_Op_create(&add_numbers, 1, &own_sum);
  MPI_Comm one = warm_copy();
  MPI_Comm other = warm_copy();
  every_collective_completes_in_every_way(one);
  in_place(one);
  order_is_kept(one);
  collectives_go_on_beside_messages(one);
  collectives_go_on_beside_others(one, other);
  requests_may_be_mixed(one);
  handles_may_go_early(one);
  communicators_may_go_early(one);
  calls_leave_nothing_behind(one);
  errors_reach_the_handler(one);
  MPI_Comm_free(&one);
  MPI_Comm_free(&other);
  play(seconds, seed, thread_count);
  end_with_calls_of_freed_communicators();
  MPI_Op_free(&own_sum);
  MPI_Finalize();
  if (rank == 0) std::puts("nonblocking: ok");
  return 0;
}
