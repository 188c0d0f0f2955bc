// Nonblocking calls go on whatever their process does meanwhile, even if that waits in MPI for
// somebody who waits for the call. A test that hangs has failed.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/call_sweeps.h"
#include "tests/support/processor_time.h"

namespace hycoll::tests {
namespace progress_mpi_test {

constexpr int kRounds = 20;
constexpr int kTag = 77;

/// What the first member does after its call has completed, and the last one before it asks for
/// its own: the message cannot come before the call has completed elsewhere.
void send_to(int rank) { MPI_Send(nullptr, 0, MPI_CHAR, rank, kTag, MPI_COMM_WORLD); }
void receive_from(int rank) {
  MPI_Recv(nullptr, 0, MPI_CHAR, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

struct World {
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0;
  int size = 1;
};

/// Starts and finishes a call by two functions. Rank 0 completes it and then tells rank `listener`,
/// which hears of that before it looks at its own call. The others complete theirs at once.
template <class Start, class Finish>
void listen_while_under_way(const World& world, int listener, const Start& start,
                            const Finish& finish) {
  start();
  if (world.rank == listener && listener != 0) receive_from(0);
  finish();
  if (world.rank == 0 && listener != 0) send_to(listener);
}

const std::size_t kCounts[] = {1, 100, 900, 50'000};

TEST_CASE("a process that waits in MPI goes on with its calls") {
  const World world;
  Communicator communicator(MPI_COMM_WORLD);
  for (const std::size_t count : kCounts) {
    for (const CollectiveReference& reference : references_of_all(world.size, count)) {
      CallTrial trial(reference, world.rank, Placement::separate);
      for (int listener = 0; listener < world.size; ++listener) {
        trial.fill(listener);
        Request request;
        listen_while_under_way(
            world, listener, [&] { request = communicator.start(trial.call()); },
            [&] { request.wait(); });
        CHECK(trial.complaint() == "");
      }
    }
  }
}

TEST_CASE("so does one that has started a persistent call") {
  const World world;
  Communicator communicator(MPI_COMM_WORLD);
  for (const std::size_t count : kCounts) {
    const CollectiveReference reference{
        .member_count = world.size, .count = count, .block_counts = {}};
    CallTrial trial(reference, world.rank, Placement::separate);
    Persistent persistent = communicator.prepare(trial.call());
    for (int round = 0; round < kRounds; ++round) {
      trial.fill(round);
      listen_while_under_way(
          world, round % world.size, [&] { persistent.start(); }, [&] { persistent.wait(); });
      CHECK(trial.complaint() == "");
    }
  }
}

TEST_CASE("so does one that has several calls under way on several communicators") {
  const World world;
  Communicator first(MPI_COMM_WORLD);
  Communicator second(MPI_COMM_WORLD);
  const CollectiveReference reference{.member_count = world.size, .count = 40, .block_counts = {}};
  for (int round = 0; round < kRounds; ++round) {
    std::vector<CallTrial> trials;
    std::vector<Request> requests;
    for (int call = 0; call < 6; ++call) {
      trials.emplace_back(reference, world.rank, Placement::in_place);
      trials.back().fill(call);
    }
    listen_while_under_way(
        world, round % world.size,
        [&] {
          for (std::size_t call = 0; call < trials.size(); ++call) {
            requests.push_back((call % 2 == 0 ? first : second).start(trials[call].call()));
          }
        },
        [&] {
          for (Request& request : requests) request.wait();
        });
    for (const CallTrial& trial : trials) CHECK(trial.complaint() == "");
  }
}

TEST_CASE("so does a process whose thread is a member") {
  const World world;
  Team team(MPI_COMM_WORLD, 2);
  CHECK(in_every_thread(team, [&](Member& member) {
          std::string first;
          for (const std::size_t count : kCounts) {
            const CollectiveReference reference{
                .member_count = member.size(), .count = count, .block_counts = {}};
            CallTrial trial(reference, member.rank(), Placement::separate);
            Persistent persistent = member.prepare(trial.call());
            for (int round = 0; round < kRounds; ++round) {
              const int listener = round % world.size;
              trial.fill(round);
              Request request;
              const auto start = [&] {
                if (round % 2 == 0) {
                  request = member.start(trial.call());
                } else {
                  persistent.start();
                }
              };
              const auto finish = [&] {
                request.wait();
                persistent.wait();
              };
              // One thread of each process sends and listens; the other's call is left alone too.
              if (member.rank() % 2 == round / 2 % 2) {
                listen_while_under_way(world, listener, start, finish);
              } else {
                start();
                finish();
              }
              note(first, trial.complaint());
            }
          }
          return first;
        }) == "");
}

/// Makes a call up to three times, for which the last member is late each time; on a busy machine a
/// look takes longer for once. `all_agree(is_good)` tells whether it is so on all members. Returns
/// a complaint of the others, if they have used their core meanwhile each time.
template <class CallFunction, class AllAgree>
std::string complaint_of_a_wait(int rank, int size, const CallFunction& make_call,
                                const AllAgree& all_agree) {
  constexpr std::chrono::duration<double> kDelay{0.3};
  const bool is_late = rank == size - 1;
  double used = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (is_late) std::this_thread::sleep_for(kDelay);
    const double before = processor_seconds(RUSAGE_THREAD);
    make_call();
    used = processor_seconds(RUSAGE_THREAD) - before;
    if (all_agree(is_late || used < 0.05 * kDelay.count())) return "";
  }
  return "members have waited with their cores; this one has used " + std::to_string(used) + " s";
}

TEST_CASE("who waits for a late member leaves its core to others, if that is asked for") {
  const World world;
  Options options;
  options.waiting = Options::Waiting::sleep;
  options.workers = 2;
  const std::size_t count = 100;
  for (const auto layout : {Options::Layout::per_node, Options::Layout::processes}) {
    options.layout = layout;
    Team team(MPI_COMM_WORLD, 2, options);
    CHECK(in_every_thread(team, [&](Member& member) {
            const CollectiveReference reference{
                .member_count = member.size(), .count = count, .block_counts = {}};
            CallTrial trial(reference, member.rank(), Placement::separate);
            trial.fill(1);
            member.run(trial.call());
            const std::string complaint = complaint_of_a_wait(
                member.rank(), member.size(), [&] { member.run(trial.call()); },
                [&](bool is_good) {
                  std::uint8_t agreed = is_good ? 1 : 0;
                  member.allreduce(&agreed, &agreed, 1, DataType::uint8, Operator::min);
                  return agreed == 1;
                });
            return complaint.empty() ? trial.complaint() : complaint;
          }) == "");
  }
  options.layout = Options::Layout::per_node;
  Communicator communicator(MPI_COMM_WORLD, options);
  const CollectiveReference reference{
      .member_count = world.size, .count = count, .block_counts = {}};
  CallTrial trial(reference, world.rank, Placement::separate);
  trial.fill(1);
  communicator.run(trial.call());
  CHECK(complaint_of_a_wait(
            world.rank, world.size, [&] { communicator.start(trial.call()).wait(); },
            [&](bool is_good) {
              int agreed = is_good ? 1 : 0;
              MPI_Allreduce(MPI_IN_PLACE, &agreed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
              return agreed == 1;
            }) == "");
  CHECK(trial.complaint() == "");
}

TEST_CASE("a thread of a process may wait for another one before it asks for its call") {
  Team team(MPI_COMM_WORLD, 2);
  Member members[] = {team.join(0), team.join(1)};
  const CollectiveReference reference{
      .member_count = members[0].size(), .count = 30, .block_counts = {}};
  CallTrial first(reference, members[0].rank(), Placement::separate);
  CallTrial second(reference, members[1].rank(), Placement::separate);
  for (int round = 0; round < kRounds; ++round) {
    first.fill(round);
    second.fill(round);
    Request request = members[0].start(first.call());
    std::thread other([&] { members[1].run(second.call()); });
    other.join();
    request.wait();
    CHECK(first.complaint() == "");
    CHECK(second.complaint() == "");
  }
}

}  // namespace progress_mpi_test
}  // namespace hycoll::tests
