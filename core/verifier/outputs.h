#ifndef HYCOLL_CORE_VERIFIER_OUTPUTS_H_
#define HYCOLL_CORE_VERIFIER_OUTPUTS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/verifier/checks.h"
#include "core/verifier/expressions.h"

namespace hycoll::verifier {

/// Compares the members' outputs with what the collective promises.
class OutputCheck {
 public:
  /// Both outlive the check. All expressions that are added exist before.
  OutputCheck(const Schedule& schedule, const Expressions& expressions);

  /// Adds the output of the next member, from 0 on: the values of its chunks, which stay valid.
  std::optional<Finding> add(int member, std::span<const Expression> output);

  /// Requires that all outputs were added and that nothing was found.
  ResultTrees trees() const;

 private:
  static constexpr Expression kNone = -2;

  /// The contributors of a member's output are the first so many members.
  int contributor_count(int member) const;
  std::optional<Finding> check_copies(int member, std::span<const Expression> output) const;
  std::optional<Finding> compare_with_first(int member, std::span<const Expression> output) const;
  std::optional<Finding> check_value(int member, std::size_t at, Expression value);
  /// The member whose input holds a chunk.
  int source_of(int chunk) const;
  /// The chunk of an output at a place in the values that were added.
  int chunk_at(int member, std::size_t at) const;
  Finding finding(int member, std::size_t at, std::string_view what) const;

  const Schedule& schedule_;
  const Expressions& expressions_;
  std::vector<int> sources_;  // where inputs are copied, by chunk; none for pairs, which tell
  std::span<const Expression> first_output_;
  int contributor_count_ = 0;       // of the latest output
  Expression latest_ = kNone;       // the latest value of an output with these contributors
  std::vector<Expression> values_;  // all that have been the latest one
  std::size_t group_count_ = 0;     // of outputs with the same contributors, which can be one tree
  bool is_rank_ordered_ = true;
};

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_VERIFIER_OUTPUTS_H_
