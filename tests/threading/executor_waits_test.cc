// What an executor does about long waits: who says what of whom, and when a wait begins anew.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "core/kernels/kernels.h"
#include "numa/topology/topology.h"
#include "threading/execution/executor.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"
#include "threading/transport/endpoint.h"

namespace hycoll {
namespace executor_waits_test {

/// An allreduce of 100 doubles among the three members of one node.
std::vector<Program> programs_of_three() {
  const Schedule schedule =
      find_algorithm(Collective::allreduce, "dpml-ring").generate(Shape::uniform(1, 3, 3));
  return bind_schedule(schedule, 0, {.count = 100}, {.element_bytes = 8});
}

void check_that_a_missing_member_is_named(WaitPolicy::Rest rest) {
  const std::vector<Program> programs = programs_of_three();
  NodeMemory memory(3);
  const Topology topology = Topology::synthetic("core:2");
  const auto report = [](const std::string& message) { throw Error(ErrorKind::timeout, message); };
  WorkerExecutor executor(memory, 0, {}, nullptr,
                          {.wait_policy = WaitPolicy::oversubscribed().with_rest(rest),
                           .topology = &topology,
                           .first_rank = 1,
                           .user_rank_of =
                               [](int member) {
                                 return std::array{5, 7, 8, 6}.at(static_cast<std::size_t>(member));
                               },
                           .member_count = 3,
                           .timeout = std::chrono::milliseconds(20),
                           .on_timeout = report});
  std::vector<double> buffer(100, 1.0);
  CHECK_THROWS_WITH_AS(
      executor.run(programs[0],
                   {.call = 1,
                    .input = buffer.data(),
                    .output = buffer.data(),
                    .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::float64)},
                    .signature = {}}),
      doctest::Contains("rank 8 has not arrived (its last call was 0)"), Error);
}

TEST_CASE("a member that never arrives is named") {
  check_that_a_missing_member_is_named(WaitPolicy::Rest::naps);
  check_that_a_missing_member_is_named(WaitPolicy::Rest::sleep);
}

TEST_CASE("a member that is late is named by one of those that wait for it, and nothing else") {
  const std::vector<Program> programs = programs_of_three();
  NodeMemory memory(3);
  const Topology topology = Topology::synthetic("core:2");
  std::vector<std::string> told;
  std::vector<std::unique_ptr<WorkerExecutor>> executors;
  std::vector<double> buffer(100, 1.0);
  for (int worker = 0; worker < 2; ++worker) {
    executors.push_back(std::make_unique<WorkerExecutor>(
        memory, worker, std::vector<Endpoint*>{}, nullptr,
        ExecutorOptions{
            .wait_policy = WaitPolicy::oversubscribed(),
            .topology = &topology,
            .member_count = 3,
            .warn_after = std::chrono::milliseconds(50),
            .on_long_wait = [&told](const std::string& message) { told.push_back(message); },
            .on_timeout = {}}));
    executors.back()->start(programs[static_cast<std::size_t>(worker)], {.call = 1,
                                                                         .input = buffer.data(),
                                                                         .output = buffer.data(),
                                                                         .reducer = {},
                                                                         .signature = {}});
    CHECK(executors.back()->advance() != WorkerExecutor::Progress::finished);
  }
  Waiter first{WaitPolicy{}};
  Waiter second{WaitPolicy{}};
  while (told.empty()) {
    executors[0]->slow_turn(first);
    executors[1]->slow_turn(second);
  }
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("allreduce (call 1) has been waiting for 0.") != std::string::npos);
  CHECK(told[0].find("rank 2 has not arrived") != std::string::npos);
}

/// Sends everything at once, but says so one by one.
class SlowEndpoint : public Endpoint {
 public:
  EndpointRequest send(int, int, const void*, std::size_t) override { return {.handle = ++sent_}; }
  EndpointRequest receive(int, int, void*, std::size_t) override { return {.handle = ++sent_}; }
  EndpointRequest allreduce(int, const void*, void*, std::size_t, DataType, Operator) override {
    return {.handle = ++sent_};
  }
  void blocking_allreduce(int, const void*, void*, std::size_t, DataType, Operator) override {}
  bool test(EndpointRequest& request) override { return request.handle <= completed_; }
  bool cancel(EndpointRequest&) override { return false; }
  void leave_alone(EndpointRequest&) override {}
  void send_failure(int, int) override {}
  void discard(int, int, std::size_t) override {}
  void advance() override {}
  void progress() override {}
  int tag_count() const override { return 1000; }
  std::string describe_peer(int) const override { return "a peer"; }

  void complete_one() { ++completed_; }
  std::uintptr_t sent() const { return sent_; }

 private:
  std::uintptr_t sent_ = 0;
  std::uintptr_t completed_ = 0;
};

/// The root of a broadcast of 100 bytes among so many nodes of one member.
class Root {
 public:
  Root(int node_count, Endpoint& endpoint)
      : programs_(bind_schedule(find_algorithm(Collective::broadcast, "binomial")
                                    .generate(Shape::uniform(node_count, 1, 1)),
                                0, {.count = 100}, {.element_bytes = 1})),
        executor_(
            memory_, 0, {&endpoint}, nullptr,
            {.wait_policy = WaitPolicy::own_core(), .topology = &topology_, .on_timeout = {}}) {}

  WorkerExecutor& executor() { return executor_; }
  void start() { executor_.start(programs_[0], next_call()); }
  void run() { executor_.run(programs_[0], next_call()); }

 private:
  CallArguments next_call() {
    return {.call = ++call_,
            .input = buffer_.data(),
            .output = buffer_.data(),
            .reducer = {},
            .signature = {}};
  }

  std::vector<Program> programs_;
  NodeMemory memory_{1};
  Topology topology_ = Topology::synthetic("core:2");
  std::vector<std::byte> buffer_ = std::vector<std::byte>(100);
  CallNumber call_ = 0;
  WorkerExecutor executor_;
};

TEST_CASE("a message that has gone its way is progress, so that a wait begins anew") {
  SlowEndpoint endpoint;
  Root root(4, endpoint);
  root.start();
  WorkerExecutor& executor = root.executor();
  using Progress = WorkerExecutor::Progress;
  CHECK(executor.advance() == Progress::advanced);
  REQUIRE(endpoint.sent() == 2);
  CHECK(executor.advance() == Progress::blocked);
  endpoint.complete_one();
  CHECK(executor.advance() == Progress::advanced);
  CHECK(executor.advance() == Progress::blocked);
  endpoint.complete_one();
  CHECK(executor.advance() == Progress::finished);
}

/// One whose looks are like calls of the system's, of which only the last of so many finds that
/// everything has been sent.
class DistantEndpoint final : public SlowEndpoint {
 public:
  static constexpr int kLooks = 100;

  bool test(EndpointRequest&) override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(5);
    while (std::chrono::steady_clock::now() < until) continue;
    return ++looks_ >= kLooks;
  }
  void advance() override { ++advances_; }
  void progress() override { ++drives_; }

  void begin_run() { looks_ = drives_ = advances_ = 0; }
  int drives() const { return drives_; }
  int advances() const { return advances_; }

 private:
  int looks_ = 0;
  int drives_ = 0;
  int advances_ = 0;
};

TEST_CASE("waits after one whose looks were slow give way at once, and drive others seldom") {
  DistantEndpoint endpoint;
  Root root(2, endpoint);
  const auto drives_of_a_run = [&] {
    endpoint.begin_run();
    root.run();
    CHECK(endpoint.advances() == 0);  // each turn has looked at its message already
    return endpoint.drives();
  };
  // Patient up to the second look at the clock, then in each turn.
  const int of_patient = drives_of_a_run();
  CHECK(of_patient >= DistantEndpoint::kLooks - 66);
  CHECK(of_patient <= DistantEndpoint::kLooks - 62);
  constexpr int kOfImpatient = DistantEndpoint::kLooks / 16;
  for (int run = 0; run < 63; ++run) CHECK(drives_of_a_run() == kOfImpatient);
  // Then looks are timed again.
  CHECK(drives_of_a_run() == of_patient);
  CHECK(drives_of_a_run() == kOfImpatient);
}

}  // namespace executor_waits_test
}  // namespace hycoll
