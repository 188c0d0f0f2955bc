#include "core/verifier/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace hycoll::verifier {
namespace {

std::string describe_contributors(int count, int member_count) {
  if (count == member_count) return fmt::format("each of the {} members once", count);
  if (count == 1) return "member 0 alone";
  return fmt::format("each of the members 0 to {} once", count - 1);
}

}  // namespace

int OutputCheck::contributor_count(int member) const {
  switch (schedule_.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
      break;
    case Collective::scan:
      return member + 1;
    case Collective::exscan:
      return member;
    case Collective::broadcast:
      return 1;
  }
  return schedule_.shape.member_count();
}

std::optional<Finding> OutputCheck::add(int member, std::span<const Expression> output) {
  if (output.empty()) return {};
  if (contributor_count(member) != contributor_count_) {
    contributor_count_ = contributor_count(member);
    latest_ = kNone;
    ++group_count_;
  }
  if (schedule_.collective == Collective::allreduce) {
    if (member > 0) return compare_with_first(member, output);
    first_output_ = output;
  }
  for (std::size_t at = 0; at < output.size(); ++at) {
    if (output[at] == latest_) continue;
    if (auto found = check_value(member, at, output[at])) return found;
    latest_ = output[at];
    values_.push_back(latest_);
  }
  return {};
}

std::optional<Finding> OutputCheck::compare_with_first(int member,
                                                       std::span<const Expression> output) const {
  const auto differing = std::ranges::mismatch(output, first_output_);
  if (differing.in1 == output.end()) return {};
  const auto at = static_cast<std::size_t>(differing.in1 - output.begin());
  if (output[at] == kUndefined) return finding(member, at, "is never written");
  return finding(member, at,
                 fmt::format("is {}, but that of member 0 is {}", expressions_.to_text(output[at]),
                             expressions_.to_text(first_output_[at])));
}

std::optional<Finding> OutputCheck::check_value(int member, std::size_t at, Expression value) {
  if (value == kUndefined) return finding(member, at, "is never written");
  if (schedule_.collective == Collective::broadcast) return check_copy(member, at, value);
  const Contributions found = expressions_.contributions_of(value, contributor_count_);
  is_rank_ordered_ = is_rank_ordered_ && found.is_rank_ordered;
  if (found.is_each_once) return {};
  return finding(
      member, at,
      fmt::format("is {}, expected {}", expressions_.to_text(value),
                  describe_contributors(contributor_count_, schedule_.shape.member_count())));
}

std::optional<Finding> OutputCheck::check_copy(int member, std::size_t at, Expression value) const {
  if (value == expressions_.leaf(schedule_.root)) return {};
  return finding(member, at,
                 fmt::format("is {}, expected the input of member {}", expressions_.to_text(value),
                             schedule_.root));
}

Finding OutputCheck::finding(int member, std::size_t at, std::string_view what) const {
  const auto output = static_cast<std::size_t>(schedule_.shape.member_count() + member);
  const std::size_t chunk = static_cast<std::size_t>(schedule_.buffers[output].first_chunk) + at;
  return {-1, -1, fmt::format("chunk {} of the output of member {} {}", chunk, member, what)};
}

ResultTrees OutputCheck::trees() const {
  ResultTrees trees{.is_rank_ordered = is_rank_ordered_, .digest = 0};
  if (values_.size() != group_count_) return trees;
  const std::vector<std::uint64_t> digests = expressions_.tree_digests();
  trees.digest = static_cast<std::uint64_t>(schedule_.collective) + 1;
  for (const Expression value : values_) {
    const std::uint64_t digest = digests[static_cast<std::size_t>(value)];
    if (digest == 0) return {.is_rank_ordered = is_rank_ordered_, .digest = 0};
    trees.digest = mix_digest(trees.digest, digest);
  }
  return trees;
}

}  // namespace hycoll::verifier
