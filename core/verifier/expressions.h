#ifndef HYCOLL_CORE_VERIFIER_EXPRESSIONS_H_
#define HYCOLL_CORE_VERIFIER_EXPRESSIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/table.h"

namespace hycoll::verifier {

/// A symbolic value, by its number: equal numbers are equal expressions, and only these.
using Expression = int;
inline constexpr Expression kUndefined = -1;

/// Continues a digest by one more number; never 0.
std::uint64_t mix_digest(std::uint64_t digest, std::uint64_t next);

/// What an expression is made of.
struct Contributions {
  bool is_each_once;     ///< Every expected member occurs exactly once, and no other.
  bool is_rank_ordered;  ///< They occur in rank order, and the order is known.
};

/// The expressions over the contributions of members, each kept once (hash-consing).
class Expressions {
 public:
  explicit Expressions(int member_count);

  Expression leaf(int member) const { return member; }
  /// left op right.
  Expression reduce(Expression left, Expression right) { return make(Kind::reduce, left, right); }
  /// What the MPI library makes of its operands, in an order of its own. Operands are added one by
  /// one, the first to kUndefined, and closed by the number of the call.
  Expression add_native_operand(Expression operands, Expression operand) {
    return operands == kUndefined ? operand : make(Kind::operands, operands, operand);
  }
  Expression native(Expression operands, int call) { return make(Kind::native, operands, call); }

  /// Expects the members [0, expected_count), of which there is at least one.
  Contributions contributions_of(Expression expression, int expected_count) const;

  /// A digest of each expression's tree, by its number: equal for equal trees, in other instances
  /// too, and different for different ones but for collisions of 64 bits. 0 for one with a native
  /// call, whose tree is unknown.
  std::vector<std::uint64_t> tree_digests() const;

  /// In parentheses, members by number: ((0 1) 2); cut off when long.
  std::string to_text(Expression expression) const;

 private:
  enum class Kind : std::uint8_t { leaf, reduce, operands, native };
  struct Node {
    Kind kind;
    Expression left;
    int right;             // an Expression, or the number of a native call
    int occurrence_count;  // of members, cut off at more than there are
  };

  Expression make(Kind kind, Expression left, int right);
  const Node& node(Expression expression) const {
    return nodes_[static_cast<std::size_t>(expression)];
  }

  int member_count_;
  std::vector<Node> nodes_;
  NumberTable numbers_;
};

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_VERIFIER_EXPRESSIONS_H_
