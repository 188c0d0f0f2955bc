// What MPI promises of persistent collectives: results of many starts on changing data, completion
// by all functions, inactive requests, order, progress, requests and communicators given up early;
// and random mixes on several communicators.
// usage: persistent [SECONDS [SEED [THREADS]]]
// With 0 seconds it does only what MPI libraries by themselves do right, and with several threads
// nothing that needs the processes to be one node.

#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "tests/preload/support/persistent_operation.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::add_numbers;
using programs::Counts;
using programs::HandledErrors;
using programs::kHasLargeCounts;
using programs::kPersistentKinds;
using programs::kType;
using programs::Operation;
using programs::Persistent;
using programs::PersistentOperation;
using programs::rank_of;
using programs::size_of;

/// A communicator that hycoll has prepared itself for. MPICH 4.0.2, by itself, gets starts that
/// move data wrong, and waits for inactive requests.
MPI_Comm warm_copy(MPI_Comm parent) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(parent, &copy);
  for (int i = 0; i < 3; ++i) MPI_Barrier(copy);
  return copy;
}

void require_inactive(MPI_Request& request) {
  const MPI_Request before = request;
  MPI_Status status;
  int is_over = 0;
  MPI_Wait(&request, &status);
  REQUIRE_HERE(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
  MPI_Test(&request, &is_over, &status);
  REQUIRE_HERE(is_over != 0 && status.MPI_SOURCE == MPI_ANY_SOURCE);
  int index = 0;
  MPI_Waitany(1, &request, &index, &status);
  REQUIRE_HERE(index == MPI_UNDEFINED);
  MPI_Waitsome(1, &request, &index, &is_over, &status);
  REQUIRE_HERE(index == MPI_UNDEFINED);
  MPI_Testsome(1, &request, &index, &is_over, &status);
  REQUIRE_HERE(index == MPI_UNDEFINED);
  MPI_Waitall(1, &request, &status);
  REQUIRE_HERE(request == before);
}

void every_collective_completes_in_every_way(MPI_Comm communicator) {
  std::uint64_t round = 0;
  for (int k = 0; k < kPersistentKinds; ++k) {
    const auto kind = static_cast<Persistent>(k);
    for (const int count : {1, 5, 600, 3001, 100'000}) {
      for (const bool spaced : {false, true}) {
        if (spaced && kind < Persistent::allgather) continue;
        const int root = static_cast<int>(++round) % size_of(communicator);
        const Counts counts = kHasLargeCounts && round % 2 == 0 ? Counts::large : Counts::plain;
        PersistentOperation operation(communicator, kind, count, root, spaced, counts);
        require_inactive(operation.request());
        const std::uint64_t starts = count > 5000 ? 2 : 9;
        for (std::uint64_t way = 0; way < starts; ++way) {
          operation.start(++round);
          operation.finish(way);
        }
        require_inactive(operation.request());
      }
    }
  }
}

/// Messages of the program's that go round the processes, by persistent requests.
class Ring {
 public:
  Ring(MPI_Comm communicator, int tag) {
    const int rank = rank_of(communicator);
    const int size = size_of(communicator);
    previous_ = (rank + size - 1) % size;
    MPI_Send_init(&outgoing_, 1, MPI_INT, (rank + 1) % size, tag, communicator, &requests_[0]);
    MPI_Recv_init(&incoming_, 1, MPI_INT, previous_, tag, communicator, &requests_[1]);
    outgoing_ = rank;
  }
  ~Ring() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  MPI_Request& operator[](std::size_t index) { return requests_[index]; }
  void check() {
    REQUIRE_HERE(incoming_ == previous_);
    incoming_ = -1;
  }

 private:
  int previous_ = 0;
  int outgoing_ = 0;
  int incoming_ = -1;
  std::array<MPI_Request, 2> requests_{};
};

/// Completes all, by functions that take some at a time.
void complete_some(std::vector<MPI_Request>& requests, std::uint64_t way) {
  const auto count = static_cast<int>(requests.size());
  std::vector<int> indices(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  int completed = 0;
  for (int left = count; left > 0;) {
    switch (way % 5) {
      case 0:
        MPI_Waitany(count, requests.data(), indices.data(), statuses.data());
        REQUIRE_HERE(indices[0] >= 0 && indices[0] < count);
        --left;
        break;
      case 1:
        MPI_Waitsome(count, requests.data(), &completed, indices.data(), statuses.data());
        REQUIRE_HERE(completed > 0 && completed <= left);
        left -= completed;
        break;
      case 2:
        MPI_Testsome(count, requests.data(), &completed, indices.data(), MPI_STATUSES_IGNORE);
        REQUIRE_HERE(completed >= 0 && completed <= left);
        left -= completed;
        break;
      case 3:
        MPI_Testany(count, requests.data(), indices.data(), &completed, MPI_STATUS_IGNORE);
        left -= completed;
        break;
      default:
        MPI_Waitall(count, requests.data(), statuses.data());
        left = 0;
    }
  }
  REQUIRE_HERE(std::ranges::count(requests, MPI_REQUEST_NULL) == 0);
}

void requests_may_be_mixed(MPI_Comm communicator) {
  PersistentOperation sum(communicator, Persistent::allreduce, 300, 0, false);
  PersistentOperation blocks(communicator, Persistent::alltoallv, 20, 0, true);
  Ring ring(communicator, 9);
  std::vector<MPI_Request> requests = {ring[0], sum.request(), ring[1], blocks.request()};
  for (std::uint64_t round = 0; round < 25; ++round) {
    sum.fill(round);
    blocks.fill(100 + round);
    MPI_Startall(4, requests.data());
    complete_some(requests, round);
    sum.check();
    blocks.check();
    ring.check();
  }
  // Startall of none, and of others' only.
  MPI_Startall(0, requests.data());  // Open MPI takes no null pointer here
  MPI_Request* const others = &ring[0];
  MPI_Startall(2, others);
  MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
  ring.check();
}

/// Several under way, with nonblocking and blocking calls between them, completed in another order
/// on each rank.
void order_is_kept(MPI_Comm communicator) {
  PersistentOperation sum(communicator, Persistent::allreduce, 900, 0, false);
  PersistentOperation word(communicator, Persistent::bcast, 1, size_of(communicator) - 1, false);
  PersistentOperation blocks(communicator, Persistent::alltoall, 7, 0, false);
  const int rank = rank_of(communicator);
  for (std::uint64_t round = 0; round < 20; ++round) {
    sum.start(round);
    Operation between(communicator, 0, 1 + 500 * (round % 3), 0, 7000 + round);
    between.start();
    word.start(round);
    blocks.start(round);
    int most = rank;
    if (round % 2 == 0) {
      MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, communicator);
      REQUIRE_HERE(most == size_of(communicator) - 1);
    }
    if (rank % 2 == 0) blocks.finish(round);
    word.finish(round + 1);
    programs::complete(between.request(), round);
    between.check();
    sum.finish(round + 2);
    if (rank % 2 == 1) blocks.finish(round + 3);
  }
}

/// A process that waits for a message goes on with its collective: else these never end.
void collectives_go_on_beside_messages(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  int word = rank;
  if (size_of(communicator) < 2) return;
  for (const int count : {1, 2000, 200'000}) {
    PersistentOperation operation(communicator, Persistent::allreduce, count, 0, false);
    operation.start(1);
    // Rank 0 receives what rank 1 sends after the collective.
    if (rank == 0) MPI_Recv(&word, 1, MPI_INT, 1, 3, communicator, MPI_STATUS_IGNORE);
    operation.finish(0);
    if (rank == 1) MPI_Send(&word, 1, MPI_INT, 0, 3, communicator);
    operation.start(2);
    // Rank 0 waits for what rank 1 sends after the collective.
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Irecv(&word, 1, MPI_INT, 1, 4, communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    operation.finish(1);
    if (rank == 1) MPI_Send(&word, 1, MPI_INT, 0, 4, communicator);
  }
}

/// MPI libraries give the handles of freed requests to new ones.
void handles_are_given_out_again(MPI_Comm communicator) {
  for (std::uint64_t round = 0; round < 50; ++round) {
    std::vector<std::unique_ptr<PersistentOperation>> operations;
    for (int i = 0; i < 4; ++i) {
      operations.push_back(std::make_unique<PersistentOperation>(
          communicator, Persistent::allreduce, 3 + i, 0, false));
    }
    operations[1].reset();
    operations[3].reset();
    {
      Ring ring(communicator, 11);
      for (const std::size_t index : {0, 1}) MPI_Start(&ring[index]);
      for (const std::size_t index : {0, 1}) MPI_Wait(&ring[index], MPI_STATUS_IGNORE);
      ring.check();
    }
    for (const std::size_t i : {0, 2}) operations[i]->start(round);
    for (const std::size_t i : {2, 0}) operations[i]->finish(round);
  }
}

/// What a program gives up while requests are there.
void handles_may_go_early(MPI_Comm communicator) {
  MPI_Comm copy = warm_copy(communicator);
  {
    PersistentOperation sum(copy, Persistent::allreduce, 50, 0, false);
    PersistentOperation other(copy, Persistent::reduce, 5000, 0, false);
    // Whoever is late enters the call only when all others have freed the communicator.
    const int rank = rank_of(communicator);
    int told = 0;
    for (int peer = 1; rank == 0 && peer < size_of(communicator); ++peer) {
      MPI_Recv(&told, 1, MPI_INT, peer, 0, communicator, MPI_STATUS_IGNORE);
    }
    sum.start(1);
    MPI_Comm_free(&copy);
    if (rank != 0) MPI_Ssend(&told, 1, MPI_INT, 0, 0, communicator);
    sum.finish(0);
    for (std::uint64_t round = 2; round < 6; ++round) {
      sum.start(round);
      other.start(round);
      sum.finish(round);
      other.finish(round);
    }
  }
  auto active =
      std::make_unique<PersistentOperation>(communicator, Persistent::allreduce, 4, 0, false);
  active->start(1);
  MPI_Cancel(&active->request());
  active->finish(0);
  if (size_of(communicator) > 1) {
    // MPI forbids it. The call must go on, for the others.
    active->start(2);
    active->free();
  }
  for (int is_there = 0; !active->has_result();) {
    MPI_Iprobe(MPI_ANY_SOURCE, 99, communicator, &is_there, MPI_STATUS_IGNORE);
  }
  active->check();
}

/// Operators of the program's go to the MPI library.
void operators_may_be_the_programs(MPI_Comm communicator) {
  MPI_Op sum = MPI_OP_NULL;
  MPI_Op_create(&add_numbers, 1, &sum);
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  PERSISTENT(Allreduce)
  (&input, &output, 1, kType, sum, communicator, MPI_INFO_NULL, &request);
  const auto size = static_cast<std::uint64_t>(size_of(communicator));
  for (std::uint64_t round = 0; round < 4; ++round) {
    input = static_cast<std::uint64_t>(rank_of(communicator)) + round;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    REQUIRE_HERE(output == size * (size - 1) / 2 + size * round);
  }
  MPI_Request_free(&request);
  MPI_Op_free(&sum);
}

/// Whoever serves them.
void reductions_start_again(MPI_Comm communicator) {
  for (int k = 0; k < static_cast<int>(Persistent::barrier); ++k) {
    PersistentOperation operation(communicator, static_cast<Persistent>(k), 40, 0, false);
    for (std::uint64_t round = 0; round < 3; ++round) {
      operation.start(round);
      operation.finish(0);
    }
  }
}

/// Memory that is allocated in this process after so many requests, each started some times.
/// Without datatypes of the program's, each of which leaves 64 bytes behind in MPICH 4.0.2.
std::size_t held_bytes_after(int requests, MPI_Comm communicator) {
  for (int i = 0; i < requests; ++i) {
    PersistentOperation operation(communicator, Persistent::alltoallw, 2, 0, false);
    PersistentOperation other(communicator, Persistent::allreduce, 2, 0, false);
    for (const std::uint64_t round : {1, 2, 3}) {
      operation.start(round);
      other.start(round);
      operation.finish(0);
      other.finish(0);
    }
  }
  return mallinfo2().uordblks;
}

/// Searches for leaks under AddressSanitizer are no use here: what MPI libraries leave hides them.
void calls_leave_nothing_behind(MPI_Comm communicator) {
  constexpr int kRequests = 300;
  const std::size_t before = held_bytes_after(kRequests, communicator);
  const std::size_t after = held_bytes_after(kRequests, communicator);
  REQUIRE_HERE(after <= before + kRequests * 16);
}

void errors_reach_the_handler(MPI_Comm communicator) {
  const HandledErrors handled(communicator);
  std::array<double, 8> values{};
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PERSISTENT(Reduce)(values.data(), values.data() + 4, 4, MPI_DOUBLE, MPI_SUM,
                                      1000, communicator, MPI_INFO_NULL, &request);
  REQUIRE_HERE(code != MPI_SUCCESS && handled.count() == 1 && request == MPI_REQUEST_NULL);
}

/// An error that a start meets is the communicator's, and that of whoever waits. The processes are
/// one node: others do not compare their calls.
void calls_that_differ_are_errors(MPI_Comm communicator) {
  MPI_Comm copy = warm_copy(communicator);
  std::optional<HandledErrors> handled(copy);
  for (const MPI_Comm waits : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(waits, MPI_ERRORS_RETURN);
  }
  std::array<int, 8> values{};
  MPI_Request request = MPI_REQUEST_NULL;
  PERSISTENT(Allreduce)
  (MPI_IN_PLACE, values.data(), rank_of(copy) == 0 ? 4 : 5, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL,
   &request);
  MPI_Start(&request);
  REQUIRE_HERE(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS && handled->count() == 1);
  // Open MPI has freed it.
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  for (const MPI_Comm waits : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(waits, MPI_ERRORS_ARE_FATAL);
  }
  handled.reset();
  MPI_Comm_free(&copy);
}

/// Random starts of requests on two communicators; which of its own a rank completes when, each
/// decides for itself.
class Player {
 public:
  Player(MPI_Comm parent, unsigned seed, int rank)
      : random_(seed), own_(seed + 77 * static_cast<unsigned>(rank + 1)) {
    for (MPI_Comm& communicator : communicators_) communicator = warm_copy(parent);
  }

  void play(double seconds) {
    const double start = MPI_Wtime();
    for (int go_on = 1; go_on != 0;) {
      game();
      const int here = MPI_Wtime() - start < seconds ? 1 : 0;
      MPI_Allreduce(&here, &go_on, 1, MPI_INT, MPI_MIN, communicators_[0]);
    }
    for (MPI_Comm& communicator : communicators_) MPI_Comm_free(&communicator);
  }

  std::uint64_t rounds() const { return round_; }

 private:
  struct Entry {
    std::unique_ptr<PersistentOperation> operation;
    bool is_active = false;
  };

  void game() {
    std::vector<Entry> entries(6);
    for (Entry& entry : entries) entry.operation = drawn();
    for (int step = 0; step < 60; ++step) {
      Entry& entry = entries[random_() % entries.size()];
      if (entry.is_active) finish(entry);
      if (random_() % 16 == 0) entry.operation = drawn();
      entry.operation->start(++round_);
      entry.is_active = true;
      if (random_() % 5 == 0) MPI_Barrier(communicators_[random_() % communicators_.size()]);
      Entry& other = entries[own_() % entries.size()];
      if (other.is_active) finish(other);
    }
    for (Entry& entry : entries) {
      if (entry.is_active) finish(entry);
    }
  }

  void finish(Entry& entry) {
    entry.operation->finish(own_());
    entry.is_active = false;
  }

  std::unique_ptr<PersistentOperation> drawn() {
    const MPI_Comm communicator = communicators_[random_() % communicators_.size()];
    const auto kind = static_cast<Persistent>(random_() % kPersistentKinds);
    const auto count = static_cast<int>(1 + random_() % (random_() % 8 == 0 ? 20'000 : 600));
    const auto root =
        static_cast<int>(random_() % static_cast<std::uint64_t>(size_of(communicator)));
    return std::make_unique<PersistentOperation>(communicator, kind, count, root,
                                                 random_() % 3 == 0);
  }

  std::mt19937_64 random_;  // the same on all ranks
  std::mt19937_64 own_;
  std::array<MPI_Comm, 2> communicators_{};
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
  std::printf("persistent: %llu starts\n",
              static_cast<unsigned long long>(players.front().rounds()));
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atol(argv[2]) : 1);
  const int thread_count = argc > 3 ? std::atoi(argv[3]) : 1;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, thread_count > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  const int rank = rank_of(MPI_COMM_WORLD);
  if (rank == 0) std::printf("persistent: seed %u\n", seed);
  MPI_Comm communicator = warm_copy(MPI_COMM_WORLD);
  operators_may_be_the_programs(communicator);
  reductions_start_again(communicator);
  if (seconds > 0 && size_of(communicator) > 1) {
    every_collective_completes_in_every_way(communicator);
    requests_may_be_mixed(communicator);
    order_is_kept(communicator);
    collectives_go_on_beside_messages(communicator);
    if (thread_count == 1) calls_that_differ_are_errors(communicator);
    handles_are_given_out_again(communicator);
    handles_may_go_early(communicator);
    calls_leave_nothing_behind(communicator);
    errors_reach_the_handler(communicator);
    play(seconds, seed, thread_count);
  }
  // One is left, inactive.
  auto* const left = new PersistentOperation(communicator, Persistent::allreduce, 3, 0, false);
  left->start(1);
  left->finish(0);
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  if (rank == 0) std::puts("persistent: ok");
  return 0;
}
