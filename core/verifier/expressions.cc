#include "core/verifier/expressions.h"

#include <fmt/format.h>

#include <algorithm>

namespace hycoll::verifier {
namespace {

constexpr std::uint64_t kLeafSeed = 0x6a09e667f3bcc908;

}  // namespace

std::uint64_t mix_digest(std::uint64_t digest, std::uint64_t next) {
  // The finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, 2014); the two parts have different
  // weights, so that their order matters.
  std::uint64_t mixed = digest * 0x9e3779b97f4a7c15 + (next ^ (next >> 29U)) + 0x632be59bd9b4e019;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31U;
  return mixed == 0 ? 1 : mixed;
}

Expressions::Expressions(int member_count)
    : member_count_(member_count), numbers_(static_cast<std::size_t>(4 * member_count)) {
  for (int member = 0; member < member_count; ++member) {
    nodes_.push_back({Kind::leaf, member, kUndefined, 1});
  }
}

Expression Expressions::make(Kind kind, Expression left, int right) {
  const std::uint64_t key = static_cast<std::uint64_t>(kind) << 62U |
                            static_cast<std::uint64_t>(left) << 31U |
                            static_cast<std::uint64_t>(right);
  const int fresh = static_cast<int>(nodes_.size());
  const int number = numbers_.find_or_insert(key, fresh);
  if (number == fresh) {
    const int more = kind == Kind::native ? 0 : node(right).occurrence_count;
    nodes_.push_back(
        {kind, left, right, std::min(node(left).occurrence_count + more, member_count_ + 1)});
  }
  return number;
}

Contributions Expressions::contributions_of(Expression expression, int expected_count) const {
  // The count comes first: only an expression with as many occurrences as members is walked
  // through.
  if (node(expression).occurrence_count != expected_count) return {false, false};
  std::vector<bool> has_occurred(static_cast<std::size_t>(member_count_), false);
  Contributions found{.is_each_once = true, .is_rank_ordered = true};
  int expected = 0;
  std::vector<Expression> to_visit = {expression};
  while (!to_visit.empty()) {
    const Node at = node(to_visit.back());
    to_visit.pop_back();
    switch (at.kind) {
      case Kind::leaf:
        if (at.left >= expected_count || has_occurred[static_cast<std::size_t>(at.left)]) {
          found.is_each_once = false;
        }
        has_occurred[static_cast<std::size_t>(at.left)] = true;
        if (at.left != expected++) found.is_rank_ordered = false;
        break;
      case Kind::native:
        // One operand alone has no order.
        if (node(at.left).kind == Kind::operands) found.is_rank_ordered = false;
        to_visit.push_back(at.left);
        break;
      case Kind::reduce:
      case Kind::operands:
        to_visit.push_back(at.right);
        to_visit.push_back(at.left);
        break;
    }
  }
  return found;
}

std::vector<std::uint64_t> Expressions::tree_digests() const {
  // Operands have smaller numbers than what is made of them.
  std::vector<std::uint64_t> digests;
  digests.reserve(nodes_.size());
  for (const Node& at : nodes_) {
    if (at.kind == Kind::leaf) {
      digests.push_back(mix_digest(kLeafSeed, static_cast<std::uint64_t>(at.left)));
      continue;
    }
    const std::uint64_t left = digests[static_cast<std::size_t>(at.left)];
    const std::uint64_t right =
        at.kind == Kind::reduce ? digests[static_cast<std::size_t>(at.right)] : 0;
    const bool is_known = left != 0 && right != 0;
    digests.push_back(is_known ? mix_digest(left, right) : 0);
  }
  return digests;
}

std::string Expressions::to_text(Expression expression) const {
  constexpr std::size_t kLongest = 200;
  if (expression == kUndefined) return "nothing";
  std::string text;
  // What is still to be written, last first: expressions, or literal characters as -2 - character.
  std::vector<int> pending = {expression};
  const auto literal = [](char character) { return -2 - static_cast<int>(character); };
  while (!pending.empty()) {
    if (text.size() > kLongest) return text + "...";
    const int next = pending.back();
    pending.pop_back();
    if (next <= -2) {
      text += static_cast<char>(-2 - next);
      continue;
    }
    const Node at = node(next);
    if (at.kind == Kind::leaf) {
      text += fmt::format("{}", at.left);
    } else if (at.kind == Kind::native) {
      text += "native(";
      pending.insert(pending.end(), {literal(')'), at.left});
    } else if (at.kind == Kind::operands) {
      pending.insert(pending.end(), {at.right, literal(' '), literal(','), at.left});
    } else {
      text += '(';
      pending.insert(pending.end(), {literal(')'), at.right, literal(' '), at.left});
    }
  }
  return text;
}

}  // namespace hycoll::verifier
