#ifndef HYCOLL_COLLECTIVES_RUNS_SINGLE_CALL_H_
#define HYCOLL_COLLECTIVES_RUNS_SINGLE_CALL_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "collectives/runs/call_runs.h"
#include "collectives/runs/prepared_call.h"

namespace hycoll {

/// A call that is one run, and the agreement after it if its operator may fail.
class SingleCall final : public CallRuns {
 public:
  SingleCall(RunsOwner& owner, PreparedCall prepared, const Plan* agreement)
      : CallRuns(owner, prepared.arguments.signature, agreement), prepared_(std::move(prepared)) {}

 private:
  std::size_t part_count() const noexcept override { return 1; }
  std::vector<const Plan*> plans_of_parts() const override { return {prepared_.plan.get()}; }
  CallRun part(std::size_t /*index*/) const noexcept override {
    return {.plan = prepared_.plan.get(), .arguments = prepared_.arguments};
  }
  void load(std::size_t /*index*/) noexcept override {
    if (prepared_.work != nullptr) prepared_.work->copy_in();
  }
  void deliver() override {
    if (prepared_.work != nullptr) prepared_.work->deliver();
  }

  PreparedCall prepared_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_SINGLE_CALL_H_
