#include "core/verifier/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/collective_traits.h"
#include "core/schedule/pairs.h"

namespace hycoll::verifier {
namespace {

std::string describe_contributors(int count, int member_count) {
  if (count == member_count) return fmt::format("each of the {} members once", count);
  if (count == 1) return "member 0 alone";
  return fmt::format("each of the members 0 to {} once", count - 1);
}

}  // namespace

OutputCheck::OutputCheck(const Schedule& schedule, const Expressions& expressions)
    : schedule_(schedule), expressions_(expressions) {
  if (combines(schedule.collective) || has_pairs(schedule.collective)) return;
  sources_.assign(static_cast<std::size_t>(schedule.chunk_count), -1);
  for (int member = 0; member < schedule.shape.member_count(); ++member) {
    const ChunkRange input = input_chunks(schedule.collective, schedule.shape, schedule.chunk_count,
                                          schedule.root, member);
    std::fill_n(sources_.begin() + input.first, input.count, member);
  }
}

int OutputCheck::contributor_count(int member) const {
  switch (schedule_.collective.result) {
    case Result::reduction:
      return schedule_.shape.member_count();
    case Result::inclusive_prefix:
      return member + 1;
    case Result::exclusive_prefix:
      return member;
    case Result::copy:
      break;
  }
  return 1;
}

std::optional<Finding> OutputCheck::add(int member, std::span<const Expression> output) {
  if (output.empty()) return {};
  const CollectiveTraits& collective = schedule_.collective;
  if (!combines(collective)) return check_copies(member, output);
  if (contributor_count(member) != contributor_count_) {
    contributor_count_ = contributor_count(member);
    latest_ = kNone;
    ++group_count_;
  }
  if (collective.result == Result::reduction && collective.output.extent == Extent::vector) {
    if (!first_output_.empty()) return compare_with_first(member, output);
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
  const Contributions found = expressions_.contributions_of(value, contributor_count_);
  is_rank_ordered_ = is_rank_ordered_ && found.is_rank_ordered;
  if (found.is_each_once) return {};
  return finding(
      member, at,
      fmt::format("is {}, expected {}", expressions_.to_text(value),
                  describe_contributors(contributor_count_, schedule_.shape.member_count())));
}

std::optional<Finding> OutputCheck::check_copies(int member,
                                                 std::span<const Expression> output) const {
  for (std::size_t at = 0; at < output.size(); ++at) {
    if (output[at] == kUndefined) return finding(member, at, "is never written");
    const int source = source_of(chunk_at(member, at));
    if (output[at] == expressions_.leaf(source)) continue;
    return finding(member, at,
                   fmt::format("is {}, expected the input of member {}",
                               expressions_.to_text(output[at]), source));
  }
  return {};
}

int OutputCheck::source_of(int chunk) const {
  return has_pairs(schedule_.collective) ? pair_of(schedule_.shape, chunk).from
                                         : sources_[static_cast<std::size_t>(chunk)];
}

int OutputCheck::chunk_at(int member, std::size_t at) const {
  const auto output = static_cast<std::size_t>(schedule_.output(member));
  return chunk_in(schedule_, schedule_.buffers[output], static_cast<int>(at));
}

Finding OutputCheck::finding(int member, std::size_t at, std::string_view what) const {
  return {
      -1, -1,
      fmt::format("chunk {} of the output of member {} {}", chunk_at(member, at), member, what)};
}

ResultTrees OutputCheck::trees() const {
  ResultTrees trees{.is_rank_ordered = is_rank_ordered_, .digest = 0};
  std::uint64_t digest = 0;
  for (const char letter : schedule_.collective.name) {
    digest = mix_digest(digest, static_cast<std::uint64_t>(letter));
  }
  if (!combines(schedule_.collective)) {
    const int source = begins_at_root(schedule_.collective) ? schedule_.root : 0;
    trees.digest = mix_digest(digest, static_cast<std::uint64_t>(source));
    return trees;
  }
  if (values_.size() != group_count_) return trees;
  const std::vector<std::uint64_t> digests = expressions_.tree_digests();
  for (const Expression value : values_) {
    const std::uint64_t tree = digests[static_cast<std::size_t>(value)];
    if (tree == 0) return trees;
    digest = mix_digest(digest, tree);
  }
  trees.digest = digest;
  return trees;
}

}  // namespace hycoll::verifier
