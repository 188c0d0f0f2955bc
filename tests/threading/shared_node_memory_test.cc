// A node's memory that several mappings of one segment share, as processes have it: each thread
// here has a mapping and an object of its own. This is what runs under ThreadSanitizer.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "numa/topology/topology.h"
#include "threading/execution/executor.h"
#include "threading/memory/node_memory.h"
#include "threading/memory/shared_segment.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace shared_node_memory_test {

constexpr std::size_t kFurtherBytes = 8192;
constexpr int kCalls = 20;

/// What is announced is an offset in the segment.
class Offsets final : public AddressSpace {
 public:
  explicit Offsets(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t announce(const void* address) const noexcept override {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - bytes_.data());
  }
  std::byte* resolve(int, std::uint64_t announced) const noexcept override {
    return bytes_.data() + announced;
  }

 private:
  std::span<std::byte> bytes_;
};

/// One worker's view of the node.
struct View {
  View(const SharedSegment::Handle& handle, int worker_count)
      : segment(handle),
        addresses(segment.bytes()),
        memory(segment.bytes(), worker_count, kFurtherBytes, &addresses) {}
  SharedSegment segment;
  Offsets addresses;
  NodeMemory memory;
};

struct Node {
  explicit Node(int worker_count)
      : created(SharedSegment::Kind::anonymous,
                NodeMemory::block_bytes(worker_count, kFurtherBytes)) {
    for (int worker = 0; worker < worker_count; ++worker) {
      views.push_back(std::make_unique<View>(created.handle(), worker_count));
      views.back()->memory.construct_worker(worker, NodeMemory::Section::compact);
      views.back()->memory.construct_worker(worker, NodeMemory::Section::rest);
    }
  }
  NodeMemory& memory(std::size_t worker) { return views[worker]->memory; }
  SharedSegment created;
  std::vector<std::unique_ptr<View>> views;
};

TEST_CASE("processes with several threads each provide both sections of the block, once") {
  for (int threads = 1; threads < 5; ++threads) {
    for (int processes = 1; processes < 5; ++processes) {
      const int workers = processes * threads;
      std::size_t end = 0;
      for (const NodeMemory::Section section :
           {NodeMemory::Section::compact, NodeMemory::Section::rest}) {
        for (int process = 0; process < processes; ++process) {
          const NodeMemory::Extent extent =
              NodeMemory::extent_of(section, process * threads, threads, workers, kFurtherBytes);
          CHECK(extent.offset_bytes == end);
          end += extent.size_bytes;
        }
      }
      CHECK(end == NodeMemory::block_bytes(workers, kFurtherBytes));
    }
  }
}

TEST_CASE("the compact section of a worker takes a small part of its memory") {
  constexpr std::size_t kStagingBytes = std::size_t{512} << 10;
  const auto bytes_of = [](NodeMemory::Section section) {
    return NodeMemory::extent_of(section, 1, 1, 8, kStagingBytes).size_bytes;
  };
  CHECK(40 * bytes_of(NodeMemory::Section::compact) < bytes_of(NodeMemory::Section::rest));
}

/// What a worker's part in the compact memory is written by: nothing may lie in the rest.
TEST_CASE("short calls touch nothing of the rest") {
  for (const std::size_t count : {std::size_t{1}, kMaximumCompactLinesBytes / 8}) {
    const Schedule schedule = find_algorithm(Collective::allreduce, "lines-recursive-doubling")
                                  .generate(Shape::uniform(1, 2, 1));
    const std::vector<Program> programs =
        bind_schedule(schedule, 0, {.count = count}, {.element_bytes = 8});
    Node node(2);
    const NodeMemory::Extent rest =
        NodeMemory::extent_of(NodeMemory::Section::rest, 0, 2, 2, kFurtherBytes);
    const std::span<std::byte> bytes =
        node.created.bytes().subspan(rest.offset_bytes, rest.size_bytes);
    std::ranges::fill(bytes, std::byte{0xa5});
    std::vector<std::thread> threads;
    for (int worker = 0; worker < 2; ++worker) {
      threads.emplace_back([&, worker] {
        const Topology topology = Topology::synthetic("core:2");
        WorkerExecutor executor(node.memory(static_cast<std::size_t>(worker)), worker, {}, nullptr,
                                {.wait_policy = WaitPolicy::oversubscribed(),
                                 .topology = &topology,
                                 .member_count = 2,
                                 .on_timeout = {}});
        for (CallNumber call = 1; call <= kCalls; ++call) {
          std::vector<std::int64_t> values(count, worker + 1);
          executor.run(programs[static_cast<std::size_t>(worker)],
                       {.call = call,
                        .input = values.data(),
                        .output = values.data(),
                        .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::int64)},
                        .signature = {}});
          if (values.back() != 3) std::abort();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0xa5}; }));
  }
}

TEST_CASE("a worker's further bytes are the same through every mapping") {
  Node node(2);
  CHECK(node.memory(0).further(1).size() == kFurtherBytes);
  node.memory(0).further(1).back() = std::byte{3};
  CHECK(node.memory(1).further(1).back() == std::byte{3});
  CHECK(node.memory(1).further(0).back() == std::byte{0});
}

TEST_CASE("failures and their reasons are seen through every mapping") {
  Node node(3);
  node.memory(1).fail(1, 5, Error(ErrorKind::mismatch, "worker 1 says why"));
  node.memory(2).fail(2, 5, Error(ErrorKind::environment, "too late"));
  CHECK_NOTHROW(node.memory(0).throw_if_failed(4));
  CHECK_NOTHROW(node.memory(0).throw_if_failed(6));
  for (std::size_t worker = 0; worker < 3; ++worker) {
    CHECK_THROWS_WITH_AS(node.memory(worker).throw_if_failed(5), "worker 1 says why", Error);
  }
  node.memory(2).fail(2, 7, Error(ErrorKind::environment, std::string(5000, 'x')));
  try {
    node.memory(0).throw_if_failed(7);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(error.what() == std::string(SharedText::kMaximumBytes, 'x'));
  }

  node.memory(1).record_operator_failure(1, 8, 9, Error(ErrorKind::user_operator, "threw"));
  node.memory(1).record_operator_failure(1, 8, 9, Error(ErrorKind::user_operator, "again"));
  const std::uint64_t mark = *node.memory(0).operator_failure_mark(1);
  CHECK(failed_call_of(mark) == 9);
  CHECK(failed_rank_of(mark) == 8);
  CHECK(node.memory(2).operator_failure(1, mark) == "threw");
  CHECK_FALSE(node.memory(2).operator_failure(0, mark).has_value());
}

/// Every worker's part in several calls on buffers in the segment; the number of wrong elements.
int run_calls(NodeMemory& memory, int worker, const std::vector<Program>& programs,
              std::size_t count) {
  const Topology topology = Topology::synthetic("core:2");
  WorkerExecutor executor(memory, worker, {}, nullptr,
                          {.wait_policy = WaitPolicy::oversubscribed(),
                           .topology = &topology,
                           .member_count = memory.worker_count(),
                           .on_timeout = {}});
  auto* const input = reinterpret_cast<std::int64_t*>(memory.further(worker).data());
  std::int64_t* const output = input + count;
  const int workers = memory.worker_count();
  int wrong = 0;
  for (int call = 1; call <= kCalls; ++call) {
    for (std::size_t i = 0; i < count; ++i) {
      input[i] = 1000 * call + 10 * worker + static_cast<std::int64_t>(i);
      output[i] = -1;
    }
    executor.run(programs[static_cast<std::size_t>(worker)],
                 {.call = static_cast<CallNumber>(call),
                  .input = input,
                  .output = output,
                  .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::int64)},
                  .signature = {}});
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t expected =
          workers * (1000 * call + static_cast<std::int64_t>(i)) + 5 * workers * (workers - 1);
      if (output[i] != expected) ++wrong;
    }
  }
  return wrong;
}

TEST_CASE("algorithms run over mappings: through lines, and on buffers in the segment") {
  for (const char* name : {"lines-recursive-doubling", "dpml-recursive-doubling"}) {
    for (const int workers : {1, 2, 3}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{9}, std::size_t{400}}) {
        const int lanes = std::string(name).starts_with("lines") ? 1 : workers;
        const Schedule schedule =
            find_algorithm(Collective::allreduce, name).generate(Shape::uniform(1, workers, lanes));
        const std::vector<Program> programs =
            bind_schedule(schedule, 0, {.count = count}, {.element_bytes = 8});
        Node node(workers);
        std::vector<int> wrong(static_cast<std::size_t>(workers), -1);
        std::vector<std::thread> threads;
        for (int worker = 0; worker < workers; ++worker) {
          threads.emplace_back([&, worker] {
            const auto w = static_cast<std::size_t>(worker);
            wrong[w] = run_calls(node.memory(w), worker, programs, count);
          });
        }
        for (std::thread& thread : threads) thread.join();
        for (const int number : wrong) CHECK(number == 0);
      }
    }
  }
}

}  // namespace shared_node_memory_test
}  // namespace hycoll
