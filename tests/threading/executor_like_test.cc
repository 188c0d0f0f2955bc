// Runs that are like the last one of their worker, as far as callers know.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "core/kernels/kernels.h"
#include "numa/topology/topology.h"
#include "threading/execution/executor.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace executor_like_test {

constexpr std::size_t kMembers = 2;

CallArguments arguments_of(Operator op, std::uint64_t form) {
  const CallSignature signature{.count = 1, .op_code = static_cast<std::uint8_t>(op)};
  return {.op = op,
          .reducer = {.kernel = reduce_kernel(op, DataType::float64)},
          .signature = signature.packed(),
          .form = form};
}

/// Two members of a node, driven by one thread.
class Pair {
 public:
  Pair() {
    for (std::size_t m = 0; m < kMembers; ++m) {
      executors_.push_back(std::make_unique<WorkerExecutor>(
          memory_, static_cast<int>(m), std::vector<Endpoint*>{}, nullptr, options(0)));
    }
  }

  ExecutorOptions options(std::uint32_t salt) const {
    ExecutorOptions options;
    options.topology = &topology_;
    options.member_count = kMembers;
    options.running_ahead = RunningAhead::allowed;
    options.salt = salt;
    return options;
  }

  /// An allreduce of 3 and 5.
  std::array<double, kMembers> results(const CallArguments& like) {
    const std::array<double, kMembers> inputs = {3, 5};
    std::array<double, kMembers> outputs{};
    start(like, inputs, outputs);
    while (!have_finished()) {
    }
    return outputs;
  }

  void start(const CallArguments& like, const std::array<double, kMembers>& inputs,
             std::array<double, kMembers>& outputs) {
    ++call_;
    for (std::size_t m = 0; m < kMembers; ++m) {
      is_over_[m] = false;
      executors_[m]->start_like(programs_[m], like, call_, call_, &inputs[m], &outputs[m]);
    }
  }

  bool have_finished() {
    for (std::size_t m = 0; m < kMembers; ++m) {
      if (!is_over_[m]) {
        is_over_[m] = executors_[m]->advance() == WorkerExecutor::Progress::finished;
      }
    }
    return is_over_[0] && is_over_[1];
  }

  NodeMemory& memory() { return memory_; }
  WorkerExecutor& executor(std::size_t member) { return *executors_[member]; }

 private:
  const std::vector<Program> programs_ =
      bind_schedule(find_algorithm(Collective::allreduce, "lines-recursive-doubling")
                        .generate(Shape::uniform(1, 2, 1)),
                    0, {.count = 1}, {.element_bytes = sizeof(double)});
  const Topology topology_ = Topology::synthetic("core:2");
  NodeMemory memory_{kMembers};
  std::vector<std::unique_ptr<WorkerExecutor>> executors_;
  std::array<bool, kMembers> is_over_{};
  CallNumber call_ = 0;
};

using Results = std::array<double, kMembers>;

TEST_CASE("calls of one form are like each other, and those of another one or of none are not") {
  Pair pair;
  for (int round = 0; round < 3; ++round) {
    for (int again = 0; again < 20; ++again) {
      CHECK(pair.results(arguments_of(Operator::sum, 1)) == Results{8, 8});
    }
    CHECK(pair.results(arguments_of(Operator::max, 2)) == Results{5, 5});
    CHECK(pair.results(arguments_of(Operator::min, 0)) == Results{3, 3});
    CHECK(pair.results(arguments_of(Operator::prod, 0)) == Results{15, 15});
  }
}

TEST_CASE("after others have used the executor no run is like the last one") {
  Pair pair;
  CHECK(pair.results(arguments_of(Operator::sum, 1)) == Results{8, 8});
  std::array<ExecutorContext, kMembers> others;
  for (std::size_t m = 0; m < kMembers; ++m) {
    others[m].options = pair.options(7);
    pair.executor(m).exchange(others[m]);
  }
  const CallArguments sum = arguments_of(Operator::sum, 1);
  CHECK(pair.results(sum) == Results{8, 8});
  // What members compare is of the new context.
  CHECK(pair.memory().post(0).digest(2) == sum.signature.digest(7));
}

TEST_CASE("after a failure the next run of the same form begins anew") {
  Pair pair;
  const CallArguments sum = arguments_of(Operator::sum, 1);
  CHECK(pair.results(sum) == Results{8, 8});
  CHECK(pair.results(sum) == Results{8, 8});
  const Results inputs = {3, 5};
  Results outputs{};
  pair.start(sum, inputs, outputs);
  pair.executor(0).fail(Error(ErrorKind::environment, "no memory"));
  for (std::size_t m = 0; m < kMembers; ++m) {
    CHECK_THROWS_WITH_AS(pair.executor(m).finish(), "no memory", Error);
  }
  CHECK(pair.results(sum) == Results{8, 8});
}

}  // namespace executor_like_test
}  // namespace hycoll
