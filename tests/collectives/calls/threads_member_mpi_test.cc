// Members that are threads of one process, on machines that are near or far because the test says
// so.

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "collectives/calls/threads_member.h"
#include "collectives/job/process_group.h"
#include "collectives/node/workers.h"
#include "collectives/plans/plan_cache.h"
#include "tests/support/seed.h"

namespace hycoll {
namespace {

constexpr double kNearNs = 30;
constexpr double kFarNs = 300;
constexpr std::byte kUntouched{0xAB};

/// The members of a team, in the hands of the test.
struct Threads {
  explicit Threads(int count)
      : group(setup, MPI_COMM_WORLD, Options::from_environment()),
        workers(group, count, MemberCount::every_worker),
        plans(workers.plan_options(group)),
        staging_plans(workers.staging_plan_options(group)),
        far_plans(workers.far_plan_options(group)),
        pool(workers.executors(), group.topology(), workers.cores(), LeaderPool::Pinning::unpinned,
             workers.wait_policy()) {
    std::vector<LookedAfter*> runs;
    const ThreadsMember::FarPlans far{staging_plans, far_plans};
    for (int index = 0; index < count; ++index) {
      members.push_back(std::make_unique<ThreadsMember>(
          plans, &far, workers, pool,
          CallerIdentity{.rank = index, .member_count = count, .slot = index}));
      runs.push_back(members.back()->deferred());
    }
    keeper = std::make_unique<ProgressKeeper>(std::move(runs));
    for (const auto& member : members) member->set_keeper(*keeper);
  }

  /// body(member, rank) in a thread of each.
  template <class Body>
  void each(const Body& body) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      threads.emplace_back([&, rank] { body(*members[rank], static_cast<int>(rank)); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  int count() const { return static_cast<int>(members.size()); }

  /// Whatever the machine is like.
  void set_distance(double handoff_ns) {
    for (const auto& member : members) {
      member->set_distance(handoff_ns);
      if (member->looks() != nullptr) member->looks()->set_probe([] { return 0; });
    }
  }

  /// Whether somebody has written into staging since this was asked last.
  bool has_staged() {
    bool has_staged = false;
    for (int worker = 0; worker < count(); ++worker) {
      const std::span<std::byte> staging = workers.memory().further(worker);
      // Every byte is as the first one and the next: megabytes at once.
      const bool is_untouched = staging.empty() || (staging.front() == kUntouched &&
                                                    std::memcmp(staging.data(), staging.data() + 1,
                                                                staging.size() - 1) == 0);
      has_staged = has_staged || !is_untouched;
      std::memset(staging.data(), std::to_integer<int>(kUntouched), staging.size());
    }
    return has_staged;
  }

  JointSetup setup{MPI_COMM_WORLD};
  ProcessGroup group;
  NodeWorkers workers;
  PlanCache plans;
  PlanCache staging_plans;
  PlanCache far_plans;
  std::vector<std::unique_ptr<ThreadsMember>> members;
  LeaderPool pool;
  std::unique_ptr<ProgressKeeper> keeper;
};

enum class Way { blocking, nonblocking, persistent };

void make(ThreadsMember& member, const Call& call, Way way) {
  if (way == Way::blocking) return member.run(call);
  if (way == Way::nonblocking) {
    const std::unique_ptr<Request::State> request = member.start(call);
    request->finish();
    return;
  }
  const std::unique_ptr<Persistent::State> persistent = member.prepare(call);
  for (int start = 0; start < 2; ++start) member.run(*persistent);
}

std::int64_t value(int rank, std::size_t index) {
  return 1000 * (rank + 1) + static_cast<std::int64_t>(index % 777);
}

/// Whether sums and a broadcast, which may be staged, are right, of vectors of so many elements.
bool are_right(ThreadsMember& member, int rank, int count, std::size_t elements, Way way) {
  std::vector<std::int64_t> input(elements);
  for (std::size_t i = 0; i < elements; ++i) input[i] = value(rank, i);
  std::vector<std::int64_t> sums(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    for (int other = 0; other < count; ++other) sums[i] += value(other, i);
  }
  const int root = count - 1;
  std::vector<std::int64_t> output(elements, -1);
  make(member, calls::allreduce(input, output), way);
  bool is_right = output == sums;
  std::ranges::fill(output, -1);
  make(member, calls::reduce(input, output, Operator::sum, root), way);
  is_right = is_right && (rank != root || output == sums);
  std::vector<std::int64_t> passed(elements, -1);
  if (rank == root) passed = input;
  make(member, calls::broadcast(passed, root), way);
  for (std::size_t i = 0; i < elements; ++i) is_right = is_right && passed[i] == value(root, i);
  const std::size_t block = elements / static_cast<std::size_t>(count);
  std::vector<std::int64_t> own(block, -1);
  make(member,
       calls::reduce_scatter_block(input.data(), own.data(), block, DataType::int64, Operator::sum),
       way);
  const auto first = sums.begin() + static_cast<std::ptrdiff_t>(block) * rank;
  return is_right && std::ranges::equal(own, std::ranges::subrange(first, first + std::ssize(own)));
}

std::int64_t between(int from, int to, std::size_t index) { return 100 * value(from, index) + to; }

constexpr int kToAll = 99;

/// What all have for one member, or for all.
std::vector<std::int64_t> blocks_of_all(int count, std::size_t elements, int to) {
  std::vector<std::int64_t> blocks(elements * static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = between(static_cast<int>(i / elements), to, i % elements);
  }
  return blocks;
}

/// What one member has for all.
std::vector<std::int64_t> block_of(int rank, std::size_t elements) {
  std::vector<std::int64_t> block(elements);
  for (std::size_t i = 0; i < elements; ++i) block[i] = between(rank, kToAll, i);
  return block;
}

/// Whether all get what each one has for all, in place and not, and what the last one has.
bool all_have(ThreadsMember& member, int rank, int count, std::size_t elements, Way way) {
  const std::vector<std::int64_t> own = block_of(rank, elements);
  const std::vector<std::int64_t> expected = blocks_of_all(count, elements, kToAll);
  std::vector<std::int64_t> output(expected.size(), -1);
  make(member, calls::allgather(own.data(), output.data(), elements, DataType::int64), way);
  bool is_right = output == expected;
  std::ranges::fill(output, -1);
  const auto first = static_cast<std::ptrdiff_t>(elements) * rank;
  std::ranges::copy(own, output.begin() + first);
  const std::int64_t* const in_place = output.data() + first;
  make(member, calls::allgather(in_place, output.data(), elements, DataType::int64), way);
  is_right = is_right && output == expected;
  std::vector<std::int64_t> passed(elements, -1);
  if (rank == count - 1) passed = own;
  make(member, calls::broadcast(passed, count - 1), way);
  return is_right && passed == block_of(count - 1, elements);
}

/// Whether blocks for one member each get there.
bool are_dealt(ThreadsMember& member, int rank, int count, std::size_t elements, Way way) {
  const std::vector<std::int64_t> own = block_of(rank, elements);
  const std::vector<std::int64_t> of_all = blocks_of_all(count, elements, kToAll);
  std::vector<std::int64_t> row(of_all.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = between(rank, static_cast<int>(i / elements), i % elements);
  }
  std::vector<std::int64_t> output(of_all.size(), -1);
  make(member, calls::alltoall(row.data(), output.data(), elements, DataType::int64), way);
  bool is_right = output == blocks_of_all(count, elements, rank);
  for (const int root : {0, count - 1}) {
    std::ranges::fill(output, -1);
    make(member, calls::gather(own.data(), output.data(), elements, DataType::int64, root), way);
    is_right = is_right && (rank != root || output == of_all);
    std::vector<std::int64_t> got(elements, -1);
    make(member, calls::scatter(of_all.data(), got.data(), elements, DataType::int64, root), way);
    is_right = is_right && got == own;
  }
  return is_right;
}

/// Makes the calls of `body`, which says whether they were right, among so many members, near and
/// far, and asks whether something was staged: where members are far, or never.
template <class Body>
void check_calls(int count, bool is_staged_where_far, const Body& body) {
  CAPTURE(count);
  Threads threads(count);
  REQUIRE(threads.workers.may_stage());
  threads.has_staged();
  for (const double handoff_ns : {kNearNs, kFarNs, kNearNs}) {
    CAPTURE(handoff_ns);
    threads.set_distance(handoff_ns);
    for (const std::size_t elements : {4u, 1000u, 20'000u, 100'000u}) {
      CAPTURE(elements);
      for (const Way way : {Way::blocking, Way::blocking, Way::nonblocking, Way::persistent}) {
        std::vector<char> right(static_cast<std::size_t>(count), 0);
        threads.each([&](ThreadsMember& member, int rank) {
          right[static_cast<std::size_t>(rank)] = body(member, rank, count, elements, way) ? 1 : 0;
        });
        CHECK(std::ranges::count(right, 1) == count);
        const bool is_staged = is_staged_where_far && handoff_ns == kFarNs && elements > 4;
        CHECK(threads.has_staged() == is_staged);
      }
    }
  }
}

TEST_CASE("sums pass through staging where members are far, and do not where they are near") {
  for (const int count : {2, 3, 4}) check_calls(count, true, are_right);
}

TEST_CASE("blocks for one member each are never staged") {
  for (const int count : {2, 3, 5}) check_calls(count, false, are_dealt);
}

TEST_CASE("what all are to have is staged where they are far and many") {
  for (const int count : {2, 3, 5}) check_calls(count, count > 3, all_have);
}

TEST_CASE("vectors whose outputs are written past the caches are not staged") {
  Threads threads(2);
  threads.set_distance(kFarNs);
  threads.has_staged();
  const std::size_t threshold = threads.group.streaming_threshold_bytes();
  if (threshold > std::size_t{256} << 20) return;  // what the caches hold is not known, or too much
  threads.each([&](ThreadsMember& member, int) {
    std::vector<std::int64_t> vector(threshold / sizeof(std::int64_t), 1);
    member.run(calls::allreduce(vector));
  });
  CHECK(!threads.has_staged());
}

TEST_CASE("members measure how far they are from one another, and find the same") {
  Threads threads(2);
  threads.each([&](ThreadsMember& member, int rank) {
    for (int call = 0; call < 200; ++call) {
      CHECK(are_right(member, rank, 2, 500, Way::blocking));
    }
  });
  const double handoff_ns = threads.members.front()->handoff_ns();
  CHECK(handoff_ns == threads.members.back()->handoff_ns());
  if (!threads.workers.may_measure()) CHECK(handoff_ns == 0);
}

TEST_CASE("members change their ways while they run, all in the same call") {
  for (const Way way : {Way::blocking, Way::nonblocking, Way::persistent}) {
    Threads threads(2);
    if (!threads.workers.may_measure()) return;
    // Only those who know are near or far; the others are late.
    for (const double probed_ns : {kFarNs, kNearNs}) {
      CAPTURE(probed_ns);
      for (const auto& member : threads.members) {
        member->looks()->set_probe([probed_ns, &member, &threads] {
          return member == threads.members.back() ? probed_ns : 0;
        });
      }
      threads.has_staged();
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      std::atomic<bool> is_over{false};
      std::barrier meeting(2);
      threads.each([&](ThreadsMember& member, int rank) {
        bool is_right = true;
        while (!is_over.load()) {
          is_right = is_right && are_right(member, rank, 2, 500, way) &&
                     are_right(member, rank, 2, 600, Way::blocking);
          meeting.arrive_and_wait();
          if (rank == 0) {
            is_over = member.handoff_ns() == probed_ns || std::chrono::steady_clock::now() > end;
          }
          meeting.arrive_and_wait();
        }
        CHECK(is_right);
        CHECK(member.handoff_ns() == probed_ns);
      });
      threads.has_staged();
      threads.each(
          [&](ThreadsMember& member, int rank) { CHECK(are_right(member, rank, 2, 500, way)); });
      CHECK(threads.has_staged() == (probed_ns == kFarNs));
    }
  }
}

TEST_CASE("calls of all kinds are right while the distance changes, and some members are late") {
  Threads threads(2);
  if (!threads.workers.may_measure()) return;
  const std::uint64_t seed = tests::seed_offset();
  CAPTURE(seed);
  std::vector<std::vector<double>> distances(2);  // by member and round
  std::atomic<bool> are_all_right{true};
  threads.each([&](ThreadsMember& member, int rank) {
    std::mt19937_64 own(seed * 2 + static_cast<std::uint64_t>(rank));
    std::mt19937_64 shared(seed);
    member.looks()->set_interval({});
    member.looks()->set_probe([&own] {
      constexpr double kSeen[] = {0, kNearNs, kFarNs};
      return kSeen[own() % std::size(kSeen)];
    });
    for (int round = 0; round < 150; ++round) {
      constexpr std::size_t kElements[] = {1, 100, 250, 600, 4000, 20'000};
      const std::size_t elements = kElements[shared() % std::size(kElements)];
      const auto way = static_cast<Way>(shared() % 3);
      if (own() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 200));
      const auto body = shared() % 3;
      const bool is_right = body == 0   ? are_right(member, rank, 2, elements, way)
                            : body == 1 ? all_have(member, rank, 2, elements, way)
                                        : are_dealt(member, rank, 2, elements, way);
      if (!is_right) are_all_right = false;
      distances[static_cast<std::size_t>(rank)].push_back(member.handoff_ns());
    }
    // The numbers are the thread's.
    member.looks()->set_probe([] { return 0; });
  });
  CHECK(are_all_right.load());
  CHECK(distances[0] == distances[1]);
  CHECK(std::ranges::count(distances[0], kFarNs) > 10);
  CHECK(std::ranges::count(distances[0], kNearNs) > 10);
}

}  // namespace
}  // namespace hycoll
