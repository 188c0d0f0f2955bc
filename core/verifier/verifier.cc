#include "core/verifier/verifier.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <utility>

#include "core/schedule/schedule_text.h"
#include "core/verifier/checks.h"

namespace hycoll {
namespace {

using verifier::Finding;

/// A finding as a sentence that names everything.
std::string describe(const Schedule& schedule, Check check, Aliasing aliasing,
                     const Finding& finding) {
  std::string text = fmt::format("{} on {}: check '{}' ({} buffers): ", describe_call(schedule),
                                 to_text(schedule.shape), name_of(check), name_of(aliasing));
  if (finding.strand >= 0) {
    const Strand& strand = schedule.strands[static_cast<std::size_t>(finding.strand)];
    text += fmt::format("worker {} (node {}), strand {}", strand.worker,
                        schedule.shape.node_of_worker(strand.worker), finding.strand);
    if (finding.step >= 0) {
      const Step& step = strand.steps[static_cast<std::size_t>(finding.step)];
      text += fmt::format(", step {} ({})", finding.step,
                          step.kind <= StepKind::native ? name_of(step.kind) : "?");
    }
    text += ": ";
  }
  return text + finding.what;
}

/// Runs the checks; those that do not depend on the aliasing run once.
class Verification {
 public:
  explicit Verification(const Schedule& schedule) : schedule_(schedule) {
    verdict_.step_count = schedule.step_count();
  }

  Verdict run(std::initializer_list<Aliasing> aliasings) {
    const Aliasing first = *aliasings.begin();
    if (failed(Check::structure, first, verifier::check_structure(schedule_))) return verdict_;
    const verifier::Index index(schedule_);
    verifier::Matches matches;
    std::vector<int> order;
    if (failed(Check::messages, first, verifier::check_messages(index, matches)) ||
        failed(Check::deadlock, first, verifier::check_deadlock(index, matches, order))) {
      return verdict_;
    }
    for (const Aliasing aliasing : aliasings) {
      verifier::ResultTrees trees;
      if (failed(Check::races, aliasing, verifier::check_races(index, order, aliasing)) ||
          failed(Check::result, aliasing,
                 verifier::check_result(index, matches, order, aliasing, trees))) {
        return verdict_;
      }
      add_trees(trees);
    }
    verdict_.resources = verifier::measure_resources(index);
    verdict_.correct = true;
    return verdict_;
  }

 private:
  bool failed(Check check, Aliasing aliasing, const std::optional<Finding>& finding) {
    if (!finding) return false;
    verdict_.failed_check = check;
    verdict_.failed_aliasing = aliasing;
    verdict_.failure = describe(schedule_, check, aliasing, *finding);
    return true;
  }

  /// What is said of the trees holds under every aliasing.
  void add_trees(const verifier::ResultTrees& trees) {
    const verifier::ResultTrees before = trees_.value_or(trees);
    trees_ = {.is_rank_ordered = before.is_rank_ordered && trees.is_rank_ordered,
              .digest = before.digest == trees.digest ? trees.digest : 0};
    verdict_.rank_ordered = trees_->is_rank_ordered;
    verdict_.tree_digest = trees_->digest;
  }

  const Schedule& schedule_;
  std::optional<verifier::ResultTrees> trees_;  // of the aliasings so far
  Verdict verdict_;
};

}  // namespace

std::string_view name_of(Check check) noexcept {
  constexpr std::array<std::string_view, 5> names = {"structure", "messages", "deadlock", "races",
                                                     "result"};
  return names[static_cast<std::size_t>(check)];
}

Verdict verify(const Schedule& schedule, Aliasing aliasing) {
  return Verification(schedule).run({aliasing});
}

Verdict verify(const Schedule& schedule) {
  return Verification(schedule).run({Aliasing::distinct, Aliasing::in_place});
}

}  // namespace hycoll
