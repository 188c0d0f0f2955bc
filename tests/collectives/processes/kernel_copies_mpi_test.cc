// Where the kernel copies between processes: on machines that are near or far because the test says
// so.

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "collectives/calls/processes_member.h"
#include "collectives/job/process_group.h"
#include "collectives/node/distance_looks.h"
#include "collectives/node/node_processes.h"
#include "collectives/node/single_copy.h"
#include "collectives/plans/plan_cache.h"
#include "core/base/errors.h"
#include "tests/support/forbidden_copies.h"
#include "tests/support/process_options.h"
#include "tests/support/seed.h"

namespace hycoll::tests {
namespace {

constexpr std::size_t kKib = 1024;
constexpr double kNearNs = 30;
constexpr double kFarNs = 300;

/// A member of its own communicator.
struct Process {
  explicit Process(const Options& options)
      : group(setup, MPI_COMM_WORLD, options, MpiCallers::user_only),
        processes(group, ThreadNumbering::one_each(size())),
        plans(processes.plan_options(group)),
        member(group, processes, plans, nullptr) {
    // Whatever the machine is like: who looks is late, which changes nothing.
    DistanceLooks* const looks = processes.segment().looks();
    if (looks != nullptr) looks->set_probe([] { return 0; });
  }

  static int size() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
  }

  JointSetup setup{MPI_COMM_WORLD};
  ProcessGroup group;
  NodeProcesses processes;
  PlanCache plans;
  ProcessesMember member;
};

Options options_with_single_copy(std::optional<int> kib, int emulated_nodes = 0) {
  Options options = options_with(emulated_nodes);
  options.single_copy_kib = kib;
  return options;
}

/// Whether the kernel copies what a call passes, which some process is forbidden.
bool is_copied(Process& process, double handoff_ns, const Call& call) {
  process.processes.segment().set_distance(handoff_ns);
  try {
    process.member.run(call);
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("process_vm_readv") != std::string::npos);
    return true;
  }
  return false;
}

SingleCopy copies_of_world() {
  JointSetup setup(MPI_COMM_WORLD);
  return SingleCopy(setup, MPI_COMM_WORLD);
}

/// The same of broadcasts of so many bytes.
bool is_copied(Process& process, double handoff_ns, std::size_t bytes) {
  std::vector<unsigned char> vector(bytes, process.group.rank() == 0 ? 7 : 0);
  const bool was_copied = is_copied(process, handoff_ns, calls::broadcast(vector, 0));
  if (!was_copied) CHECK(vector == std::vector<unsigned char>(bytes, 7));
  return was_copied;
}

/// The bytes that each member has for each: the same on all members, of one round of a test.
class PairLengths {
 public:
  PairLengths(std::mt19937& random, bool is_symmetric)
      : size_(static_cast<std::size_t>(Process::size())), lengths_(size_ * size_) {
    const auto below = [&](std::size_t bound) { return random() % bound; };
    const std::size_t most = std::vector<std::size_t>{1, 70, 5'000, 40'000, 700'000}[below(5)];
    const bool is_equal = below(6) == 0;
    const bool has_zeros = below(2) == 0;
    for (std::size_t& length : lengths_) {
      length = is_equal || (has_zeros && below(3) != 0) ? 0 : below(most + 1);
    }
    if (is_equal) std::ranges::fill(lengths_, most);
    if (below(3) == 0) lengths_[below(lengths_.size())] = 1'500'000;  // one large
    for (std::size_t from = 0; is_symmetric && from < size_; ++from) {
      for (std::size_t to = 0; to < from; ++to) lengths_[from * size_ + to] = of(to, from);
    }
  }
  std::size_t of(std::size_t from, std::size_t to) const { return lengths_[from * size_ + to]; }

 private:
  std::size_t size_;
  std::vector<std::size_t> lengths_;
};

/// A member's row or column: blocks in any order, with gaps between them.
class Blocks {
 public:
  template <class LengthOf>
  Blocks(std::mt19937& random, const LengthOf& length_of)
      : counts_(static_cast<std::size_t>(Process::size())), displacements_(counts_.size()) {
    std::vector<std::size_t> order(counts_.size());
    std::iota(order.begin(), order.end(), 0);
    if (random() % 2 == 0) std::ranges::shuffle(order, random);
    for (const std::size_t member : order) {
      size_ += random() % 3 * 37;
      displacements_[member] = static_cast<std::ptrdiff_t>(size_);
      size_ += counts_[member] = length_of(member);
    }
  }

  PairCounts counts() const { return {counts_, displacements_}; }
  /// `first_of(member)` begins its block, whose bytes count from there.
  template <class FirstOf>
  std::vector<std::uint8_t> filled(const FirstOf& first_of) const {
    std::vector<std::uint8_t> bytes(size_, 0xee);
    for (std::size_t member = 0; member < counts_.size(); ++member) {
      const auto begin = bytes.begin() + displacements_[member];
      std::size_t value = first_of(member);
      std::generate_n(begin, counts_[member],
                      [&] { return static_cast<std::uint8_t>(value++ % 251); });
    }
    return bytes;
  }

 private:
  std::vector<std::size_t> counts_;
  std::vector<std::ptrdiff_t> displacements_;
  std::size_t size_ = 0;
};

/// One call with random unequal blocks, which all members draw alike; whether it is right.
bool try_unequal(Process& process, std::mt19937& random) {
  const auto rank = static_cast<std::size_t>(process.group.rank());
  const bool is_in_place = random() % 4 == 0;
  const PairLengths lengths(random, is_in_place);
  const std::size_t seed = random();
  std::mt19937 own_random(static_cast<std::uint32_t>(seed + rank));
  const Blocks row(own_random, [&](std::size_t to) { return lengths.of(rank, to); });
  const Blocks column =
      is_in_place ? row
                  : Blocks(own_random, [&](std::size_t from) { return lengths.of(from, rank); });
  const auto first = [&](std::size_t from, std::size_t to) { return seed % 97 + from * 13 + to; };
  const std::vector<std::uint8_t> input =
      row.filled([&](std::size_t to) { return first(rank, to); });
  std::vector<std::uint8_t> output = is_in_place ? input : column.filled([](auto) { return 200; });
  const void* const from = is_in_place ? output.data() : input.data();
  const Call call =
      calls::alltoallv(from, row.counts(), output.data(), column.counts(), DataType::uint8);
  if (random() % 3 == 0 && !is_in_place) {
    const auto persistent = process.member.prepare(call);
    process.member.run(*persistent);
  } else {
    process.member.run(call);
  }
  return output == column.filled([&](std::size_t member) { return first(member, rank); });
}

TEST_CASE("sums have the same bits, whether they are staged or copied by the kernel") {
  REQUIRE(copies_of_world().is_permitted());
  Process staged(options_with_single_copy(0));
  Process copied(options_with_single_copy(1));
  std::mt19937 random(static_cast<std::uint32_t>(staged.group.rank()));
  std::vector<float> input(100'003);
  for (float& value : input) value = std::uniform_real_distribution<float>(-1, 1)(random);
  const auto sums_of = [&](Process& process) {
    std::vector<float> sums = input;
    process.member.run(calls::allreduce(sums));
    return sums;
  };
  CHECK(sums_of(staged) == sums_of(copied));
}

TEST_CASE("unequal blocks arrive, wherever processes are and whoever copies") {
  REQUIRE(copies_of_world().is_permitted());
  std::mt19937 random(static_cast<std::uint32_t>(seed_offset()));
  for (const int nodes : {0, 2}) {
    for (const std::optional<int> kib : {std::optional<int>{}, {0}, {1}, {100}}) {
      Process process(options_with_single_copy(kib, nodes));
      CAPTURE(nodes);
      CAPTURE(kib.value_or(-1));
      for (int round = 0; round < 24; ++round) {
        CAPTURE(round);
        process.processes.segment().set_distance(random() % 2 == 0 ? kFarNs : kNearNs);
        CHECK(try_unequal(process, random));
      }
    }
  }
}

/// The kernel copies unequal blocks where it copies equal ones.
void check_pairs(Process& by_default, Process& when_asked, Process& never) {
  const auto size = static_cast<std::size_t>(Process::size());
  const std::size_t shortest = size == 2 ? 8192 * kKib : 256 * kKib;
  // Rows of up to 32 KiB are told with the blocks, whoever copies else.
  for (const std::size_t bytes : {56 * kKib, 128 * kKib, shortest - 64 * kKib, shortest}) {
    CAPTURE(bytes);
    const std::size_t block = (bytes + size - 1) / size;
    const std::vector<std::uint8_t> input(block * size, 5);
    std::vector<std::uint8_t> output(block * size, 0);
    const std::vector<std::size_t> counts(size, block);
    const Call equal = calls::alltoall(input.data(), output.data(), block, DataType::uint8);
    const Call unequal = calls::alltoallv(input.data(), {.counts = counts}, output.data(),
                                          {.counts = counts}, DataType::uint8);
    for (const double handoff_ns : {0.0, kNearNs, kFarNs, kNearNs}) {
      CAPTURE(handoff_ns);
      for (const Call* const call : {&equal, &unequal}) {
        CAPTURE(call == &unequal);
        CHECK(is_copied(by_default, handoff_ns, *call) ==
              (bytes >= shortest && handoff_ns != kFarNs));
        CHECK(is_copied(when_asked, handoff_ns, *call) == (bytes >= 64 * kKib));
        output.assign(output.size(), 0);
        CHECK(!is_copied(never, handoff_ns, *call));
        CHECK(output == input);
      }
    }
  }
}

TEST_CASE(
    "the kernel copies broadcasts and pairs where processes are near, or where it is asked to") {
  REQUIRE(copies_of_world().is_permitted());
  Process by_default(options_with_single_copy({}));
  Process when_asked(options_with_single_copy(64));
  Process never(options_with_single_copy(0));
  if (by_default.group.rank() == Process::size() - 1) forbid_process_vm_readv();
  const int shortest_kib = Process::size() == 2 ? 1024 : Process::size() * 128;
  for (const int kib : {16, 48, 64, 256, 1023, 1024}) {
    CAPTURE(kib);
    const std::size_t bytes = static_cast<std::size_t>(kib) * kKib;
    // Unknown is near.
    for (const double handoff_ns : {0.0, kNearNs, kFarNs, kNearNs}) {
      CAPTURE(handoff_ns);
      CHECK(is_copied(by_default, handoff_ns, bytes) ==
            (kib >= shortest_kib && handoff_ns != kFarNs));
      CHECK(is_copied(when_asked, handoff_ns, bytes) == (kib >= 64));
      CHECK(!is_copied(never, handoff_ns, bytes));
    }
  }
  check_pairs(by_default, when_asked, never);
}

}  // namespace
}  // namespace hycoll::tests
