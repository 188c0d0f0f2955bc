#include <fmt/format.h>

#include <utility>

#include "core/schedule/walk.h"

namespace hycoll::verifier {
namespace {

constexpr int kNobody = -1;    // no step has to complete first
constexpr int kNever = -2;     // what has to complete first does not exist
constexpr int kNoStrand = -1;  // the end of a list of strands

/// All that a step can wait for is that other steps complete: its dependencies, the signal behind a
/// wait, the writers of lines and streams that it reads. (That a full FIFO makes its writer wait
/// for readers is no matter: these never wait for anybody but the writer, as check_streams()
/// proves.) And, in blocking calls, the native before it, if natives may block: what ends then ends
/// in other calls too, where steps wait for less. So a blocked strand stands in the list of the one
/// step that blocks it, and the time is linear in the size of the schedule.
class AbstractExecution {
 public:
  /// Without matches messages are complete when they are issued.
  AbstractExecution(const Index& index, const Matches* matches, std::vector<int>& order)
      : index_(index),
        matches_(matches),
        order_(order),
        next_step_(index.schedule.strands.size(), 0),
        next_blocked_(index.schedule.strands.size(), kNoStrand),
        first_blocked_(static_cast<std::size_t>(index.step_count()), kNoStrand),
        is_issued_(static_cast<std::size_t>(index.step_count()), false),
        is_complete_(static_cast<std::size_t>(index.step_count()), false),
        missing_natives_(matches == nullptr ? 0 : matches->native_steps.size() / node_count(),
                         static_cast<int>(node_count())),
        natives_block_(natives_may_block(index.schedule)) {
    order_.clear();
    order_.reserve(static_cast<std::size_t>(index.step_count()));
  }

  std::optional<Finding> run() {
    for (std::size_t strand = index_.schedule.strands.size(); strand-- > 0;) {
      ready_.push_back(static_cast<int>(strand));
    }
    while (!ready_.empty()) {
      const int strand = ready_.back();
      ready_.pop_back();
      advance(strand);
    }
    if (std::cmp_equal(order_.size(), index_.step_count())) return {};
    return describe_blocked();
  }

 private:
  std::size_t node_count() const {
    return static_cast<std::size_t>(index_.schedule.shape.node_count());
  }
  const std::vector<Step>& steps_of(int strand) const {
    return index_.schedule.strands[static_cast<std::size_t>(strand)].steps;
  }

  void advance(int strand) {
    int& at = next_step_[static_cast<std::size_t>(strand)];
    const std::vector<Step>& steps = steps_of(strand);
    for (; std::cmp_less(at, steps.size()); ++at) {
      const Step& step = steps[static_cast<std::size_t>(at)];
      const int blocker = blocker_of(strand, at);
      if (blocker == kNever) return;
      if (blocker != kNobody) {
        int& first = first_blocked_[static_cast<std::size_t>(blocker)];
        next_blocked_[static_cast<std::size_t>(strand)] = first;
        first = strand;
        return;
      }
      issue(index_.number(strand, at), step);
    }
  }

  /// A step that has to complete before the one at this place can be issued, or kNobody or kNever.
  int blocker_of(int strand, int at) const {
    const Step& step = steps_of(strand)[static_cast<std::size_t>(at)];
    if (natives_block_ && at > 0) {
      const int before = index_.number(strand, at - 1);
      const bool is_over = is_complete_[static_cast<std::size_t>(before)];
      if (index_.step(before).kind == StepKind::native && !is_over) return before;
    }
    for (const int dependency : index_.schedule.dependencies_of(step)) {
      const int id = index_.number(strand, dependency);
      if (!is_complete_[static_cast<std::size_t>(id)]) return id;
    }
    if (step.kind == StepKind::wait) {
      const int signal = index_.awaited_signal(step);
      return is_complete_[static_cast<std::size_t>(signal)] ? kNobody : signal;
    }
    for (const Span& source : index_.schedule.sources(step)) {
      if (!index_.is_awaited(source)) continue;
      const int first = index_.cell(source);
      for (int cell = first; cell < first + source.chunk_count; ++cell) {
        const int writer = index_.awaited_writer[static_cast<std::size_t>(cell)];
        if (writer < 0) return kNever;
        if (!is_complete_[static_cast<std::size_t>(writer)]) return writer;
      }
    }
    return kNobody;
  }

  void issue(int id, const Step& step) {
    order_.push_back(id);
    is_issued_[static_cast<std::size_t>(id)] = true;
    if (!is_asynchronous(step.kind) || matches_ == nullptr) return complete(id);
    const int partner = matches_->partner[static_cast<std::size_t>(id)];
    if (step.kind != StepKind::native) {
      if (!is_issued_[static_cast<std::size_t>(partner)]) return;
      complete(id);
      complete(partner);
      return;
    }
    if (--missing_natives_[static_cast<std::size_t>(partner)] > 0) return;
    const std::size_t first = static_cast<std::size_t>(partner) * node_count();
    for (std::size_t node = 0; node < node_count(); ++node) {
      complete(matches_->native_steps[first + node]);
    }
  }

  void complete(int id) {
    is_complete_[static_cast<std::size_t>(id)] = true;
    int strand = first_blocked_[static_cast<std::size_t>(id)];
    for (; strand != kNoStrand; strand = next_blocked_[static_cast<std::size_t>(strand)]) {
      ready_.push_back(strand);
    }
    first_blocked_[static_cast<std::size_t>(id)] = kNoStrand;
  }

  Finding describe_blocked() const {
    constexpr int kShown = 8;
    Finding finding;
    int blocked = 0;
    for (int strand = 0; std::cmp_less(strand, index_.schedule.strands.size()); ++strand) {
      const int at = next_step_[static_cast<std::size_t>(strand)];
      if (std::cmp_equal(at, steps_of(strand).size())) continue;
      if (blocked++ == 0) {
        finding = {strand, at, "can never be issued: " + describe_blocker(strand)};
      } else if (blocked <= kShown) {
        finding.what +=
            fmt::format("; strand {} step {}: {}", strand, at, describe_blocker(strand));
      }
    }
    if (blocked > kShown) finding.what += fmt::format("; and {} more strands", blocked - kShown);
    return finding;
  }

  std::string describe_blocker(int strand) const {
    const int blocker = blocker_of(strand, next_step_[static_cast<std::size_t>(strand)]);
    if (blocker == kNever) return "it reads lines that nobody writes";
    const StepPlace& at = index_.place[static_cast<std::size_t>(blocker)];
    const std::string name = fmt::format("step {} of strand {} (a {})", at.step, at.strand,
                                         name_of(index_.step(blocker).kind));
    if (!is_issued_[static_cast<std::size_t>(blocker)]) return "it waits for " + name;
    return fmt::format("it waits for {}, which was issued, but not its partner", name);
  }

  const Index& index_;
  const Matches* matches_;
  std::vector<int>& order_;
  std::vector<int> next_step_;      // per strand
  std::vector<int> next_blocked_;   // per strand: the next one in the same list
  std::vector<int> first_blocked_;  // per step: the first strand that it blocks
  std::vector<bool> is_issued_;
  std::vector<bool> is_complete_;
  std::vector<int> missing_natives_;  // per group: nodes that have not issued their call
  bool natives_block_;
  std::vector<int> ready_;
};

}  // namespace

std::optional<Finding> check_deadlock(const Index& index, const Matches& matches,
                                      std::vector<int>& order) {
  return AbstractExecution(index, &matches, order).run();
}

std::optional<Finding> order_of_part(const Index& index, std::vector<int>& order) {
  return AbstractExecution(index, nullptr, order).run();
}

}  // namespace hycoll::verifier
