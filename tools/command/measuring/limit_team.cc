#include "tools/command/measuring/limit_team.h"

#include <string>

namespace hycoll::command {

class LimitTeam::Part final : public Contestant {
 public:
  Part(LimitTeam& team, measure::LimitKernel kernel, const Problem& problem, int thread,
       std::size_t count)
      : team_(team),
        kernel_(kernel),
        problem_(problem),
        thread_(thread),
        count_(count),
        name_(name_of(kernel)),
        inputs_(team.posted_.size()),
        outputs_(team.posted_.size()) {}

  void run(const MemberBuffers& buffers, int calls) override {
    team_.posted_[static_cast<std::size_t>(thread_)] = &buffers;
    team_.crew_.meet(thread_);
    for (int done = 0, slot = 0; done < calls; ++done) {
      run_kernel(slot);
      if (++slot == buffers.slot_count()) slot = 0;
    }
    team_.crew_.meet(thread_);
  }

  const std::string& name() const override { return name_; }

 private:
  void run_kernel(int slot) {
    for (std::size_t thread = 0; thread < inputs_.size(); ++thread) {
      inputs_[thread] = team_.posted_[thread]->input(slot);
      outputs_[thread] = team_.posted_[thread]->output(slot);
    }
    const measure::LimitCall call{.collective = collective_of(problem_.routine),
                                  .root = problem_.root,
                                  .type = problem_.type,
                                  .count = count_,
                                  .inputs = inputs_,
                                  .outputs = outputs_};
    run_limit_kernel(kernel_, limit_share(call, thread_), call.type);
  }

  LimitTeam& team_;
  measure::LimitKernel kernel_;
  Problem problem_;
  int thread_;
  std::size_t count_;
  std::string name_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

LimitTeam::LimitTeam(Crew& crew)
    : crew_(crew), posted_(static_cast<std::size_t>(crew.thread_count())) {}

bool LimitTeam::serves(const Problem& problem) noexcept {
  return problem.routine != Routine::barrier && problem.op == Operator::sum;
}

std::unique_ptr<Contestant> LimitTeam::contestant(measure::LimitKernel kernel,
                                                  const Problem& problem, int thread,
                                                  std::size_t count) {
  return std::make_unique<Part>(*this, kernel, problem, thread, count);
}

}  // namespace hycoll::command
