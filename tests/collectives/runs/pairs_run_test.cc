// All-to-alls of unequal blocks, by threads on emulated nodes of one process: every algorithm that
// can, where blocks are moved from where they are, and through staging in slices. This is what runs
// under ThreadSanitizer.

#include "collectives/runs/pairs_run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/staging/staging.h"
#include "tests/threading/mailbox_network.h"
#include "tests/threading/one_core.h"

namespace hycoll {
namespace {

constexpr std::size_t kAny = SIZE_MAX;
constexpr std::byte kPoison{0xee};

/// Where a member tells of its blocks, and how blocks pass inside a node.
struct Way {
  bool is_staged = false;
  std::size_t limit_bytes = kAny;
  bool tells_in_staging = false;
  std::size_t most_data_bytes = 0;
};

/// The lengths of a call's blocks: some are empty, and in some calls those of one node are long.
std::size_t length_of(int call, int from, int to) {
  const int draw = (call * 7 + from * 5 + to * 3) % 6;
  if (draw == 0) return 0;
  const bool is_long = call % 5 == 4 && from < 2 && to < 2;
  return static_cast<std::size_t>(draw * (call + 1) + (is_long ? 700 : 0));
}

std::byte value_of(int call, int from, int to, std::size_t index) {
  return static_cast<std::byte>((call * 11 + from * 31 + to * 7 + static_cast<int>(index)) % 200);
}

class Job {
 public:
  Job(const Schedule& direct, const Way& way)
      : schedule_(way.is_staged ? staged(direct) : direct),
        way_(way),
        network_(schedule_.shape.node_count(), schedule_.shape.lane_count(),
                 MailboxNetwork::Delivery::alternating) {
    for (int node = 0; node < shape().node_count(); ++node) {
      memories_.push_back(
          std::make_unique<NodeMemory>(shape().node(node).workers, std::size_t{2} << 16));
    }
  }

  /// Several calls in a row; the complaint.
  std::string run(int calls) {
    std::vector<std::string> complaints(static_cast<std::size_t>(shape().worker_count()));
    std::vector<std::thread> threads;
    for (int worker = 0; worker < shape().worker_count(); ++worker) {
      threads.emplace_back(
          [&, worker] { complaints[static_cast<std::size_t>(worker)] = work(worker, calls); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& complaint : complaints) {
      if (!complaint.empty()) return complaint;
    }
    return "";
  }

 private:
  const Shape& shape() const { return schedule_.shape; }

  std::string work(int member, int calls) {
    const int node = shape().node_of_member(member);
    const int slot = member - shape().first_member(node);
    NodeMemory& memory = *memories_[static_cast<std::size_t>(node)];
    std::vector<Endpoint*> endpoints;
    for (int lane = 0; lane < shape().lane_count(); ++lane) {
      endpoints.push_back(&network_.endpoint(node, lane));
    }
    WorkerExecutor executor(memory, slot, endpoints, nullptr,
                            {.wait_policy = WaitPolicy::oversubscribed(),
                             .topology = &tests::one_core(),
                             .first_rank = shape().first_member(node),
                             .member_count = shape().node(node).members,
                             .running_ahead = RunningAhead::allowed,
                             .on_timeout = {}});
    const auto ways = std::make_shared<const PairWays>(
        PairWays{.usual = {schedule_, node, BindingOptions{}, way_.limit_bytes}, .copied = {}});
    UnequalPairs pairs(ways, {.first = slot, .count = 1},
                       {.worker = slot,
                        .worker_count = shape().node(node).workers,
                        .in_staging = way_.tells_in_staging,
                        .bytes = {.blocks = MemberBlocks::bytes_for(shape().member_count()),
                                  .data = way_.most_data_bytes,
                                  .data_in_lines = way_.most_data_bytes / 4}});
    CallNumber runs = 0;
    std::string complaint;
    for (int call = 0; call < calls; ++call) {
      Memory row(call, shape().member_count(), [&](int to) { return length_of(call, member, to); });
      Memory column(call, shape().member_count(),
                    [&](int from) { return length_of(call, from, member); });
      row.fill([&](int to, std::size_t i) { return value_of(call, member, to, i); });
      row.describe(pairs.origin(), pairs.blocks().row());
      column.describe(pairs.origin(), pairs.blocks().column());
      const CallSignature signature{.collective = Collective::alltoall};
      CallArguments arguments{.call = static_cast<CallNumber>(call) + 1,
                              .input = pairs.origin(),
                              .output = pairs.origin(),
                              .reducer = {},
                              .signature = signature.packed()};
      PairsRun(executor, memory, pairs, arguments, [&] { return ++runs; }).finish();
      const bool is_right =
          column.holds([&](int from, std::size_t i) { return value_of(call, from, member, i); });
      if (!is_right && complaint.empty()) {
        complaint = fmt::format("call {} is wrong on member {}", call, member);
      }
    }
    return complaint;
  }

  /// A row or column, with gaps between the blocks.
  class Memory {
   public:
    template <class LengthOf>
    Memory(int call, int members, const LengthOf& length_of) {
      for (int member = 0; member < members; ++member) {
        begins_.push_back(bytes_.size() + static_cast<std::size_t>(call % 3));
        lengths_.push_back(length_of(member));
        bytes_.resize(begins_.back() + lengths_.back(), kPoison);
      }
    }

    template <class ValueOf>
    void fill(const ValueOf& value_of) {
      for_each([&](int member, std::size_t i, std::byte& byte) { byte = value_of(member, i); });
    }
    template <class ValueOf>
    bool holds(const ValueOf& value_of) {
      std::vector<std::byte> expected(bytes_.size(), kPoison);
      bytes_.swap(expected);
      fill(value_of);
      bytes_.swap(expected);
      return bytes_ == expected;
    }
    void describe(const void* origin, std::span<PairBlock> blocks) {
      for (std::size_t member = 0; member < begins_.size(); ++member) {
        const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data() + begins_[member]);
        const auto distance = address - reinterpret_cast<std::uintptr_t>(origin);
        blocks[member] = {.size_bytes = lengths_[member],
                          .offset_bytes = static_cast<std::ptrdiff_t>(distance)};
      }
    }

   private:
    template <class Body>
    void for_each(const Body& body) {
      for (std::size_t member = 0; member < begins_.size(); ++member) {
        for (std::size_t i = 0; i < lengths_[member]; ++i) {
          body(static_cast<int>(member), i, bytes_[begins_[member] + i]);
        }
      }
    }

    std::vector<std::size_t> begins_;
    std::vector<std::size_t> lengths_;
    std::vector<std::byte> bytes_;
  };

  Schedule schedule_;
  Way way_;
  MailboxNetwork network_;
  std::vector<std::unique_ptr<NodeMemory>> memories_;
};

std::vector<Shape> shapes() {
  const auto shape_of = [](std::vector<int> members, int lanes) {
    std::vector<EqualNodes> nodes;
    for (const int count : members) nodes.push_back({.node = {.members = count, .workers = count}});
    return Shape(nodes, lanes);
  };
  return {shape_of({1}, 1),      shape_of({2}, 2),       shape_of({3}, 1),
          shape_of({4}, 4),      shape_of({1, 1, 1}, 1), shape_of({2, 3}, 1),
          shape_of({2, 3}, 2),   shape_of({1, 2, 2}, 1), shape_of({3, 1, 2}, 3),
          shape_of({2, 2, 2}, 2)};
}

/// All algorithms, but that through lines, on all shapes that they serve; how many there were.
int try_all(const Way& way) {
  int tried = 0;
  for (const Algorithm& algorithm : algorithms_of(Collective::alltoall)) {
    if (algorithm.name == "lines") continue;
    for (const Shape& shape : shapes()) {
      if (!algorithm.serves_shape(shape)) continue;
      // Selection refuses these.
      if (algorithm.exchange.passes_on_blocks && shape.node_count() > 1) continue;
      const bool is_told_data = way.most_data_bytes > 0 && shape.node_count() > 1;
      if (is_told_data) continue;
      CAPTURE(algorithm.name);
      CAPTURE(shape.node_count());
      for (const int segments : {1, 2, 3}) {
        if (segments > 1 && algorithm.segmentation == Segmentation::none) break;
        CHECK(Job(algorithm.generate(shape, segments, 0), way).run(12) == "");
        ++tried;
      }
    }
  }
  return tried;
}

TEST_CASE("from where the blocks are") {
  CHECK(try_all({}) > 20);
  CHECK(try_all({.tells_in_staging = true}) > 20);
}

TEST_CASE("through staging, in one run and in several") {
  CHECK(try_all({.is_staged = true, .limit_bytes = 1024, .tells_in_staging = true}) > 20);
  CHECK(try_all({.is_staged = true, .limit_bytes = 64, .tells_in_staging = true}) > 20);
}

TEST_CASE("told with their data, as far as they are short") {
  CHECK(try_all({.tells_in_staging = true, .most_data_bytes = 4096}) > 5);
  CHECK(try_all({.tells_in_staging = true, .most_data_bytes = 200}) > 5);
}

TEST_CASE("without data one line says so, however many members there are") {
  constexpr int kMembers = 20'000;
  MemberBlocks blocks(kMembers);
  TellingMeeting meeting(
      0, 2, kMembers, {.blocks = MemberBlocks::bytes_for(kMembers), .data = 0, .data_in_lines = 0});
  const Program& program = meeting.tell(blocks, blocks.address());
  int written = 0;
  for (const Instruction& instruction : program.strands.front().instructions) {
    if (instruction.kind != InstructionKind::write_lines) continue;
    ++written;
    CHECK(line_count_for(instruction.size_bytes) == 1);
  }
  CHECK(written == 1);
}

TEST_CASE("members that do not mean the same by a block") {
  const Algorithm& algorithm = find_algorithm(Collective::alltoall, "onmpml");
  const Shape shape(std::vector<EqualNodes>{{.node = {.members = 2, .workers = 2}}}, 2);
  const PairBinding binding(algorithm.generate(shape, 1, 0), 0, {}, SIZE_MAX);
  BoundPairs bound = binding.memory_for({});
  std::vector<MemberBlocks> blocks(2, MemberBlocks(2));
  blocks[0].row()[1].size_bytes = 5;
  blocks[1].column()[0].size_bytes = 4;
  binding.read(
      {}, [&](int slot) { return blocks[static_cast<std::size_t>(slot)].told(); }, bound);
  REQUIRE(bound.mismatch);
  CHECK(std::string(bound.mismatch->what()) ==
        "alltoall: rank 0 has 5 bytes for rank 1, which expects 4; pass the same size on both");
}

TEST_CASE("lines cannot") {
  const Algorithm& algorithm = find_algorithm(Collective::alltoall, "lines");
  const Shape shape(std::vector<EqualNodes>{{.node = {.members = 2, .workers = 2}}}, 1);
  CHECK_THROWS_WITH_AS(PairBinding(algorithm.generate(shape, 1, 0), 0, {}, SIZE_MAX),
                       "alltoall algorithm 'lines' moves blocks of one length only, through lines; "
                       "choose 'onmpml'",
                       Error);
}

}  // namespace
}  // namespace hycoll
