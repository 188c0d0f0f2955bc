#ifndef HYCOLL_TESTS_SUPPORT_FOLD_ORDER_H_
#define HYCOLL_TESTS_SUPPORT_FOLD_ORDER_H_

#include <bit>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/collective.h"

namespace hycoll::tests {

/// What reproducible calls promise (docs), written down a second time: members of a process fold
/// from the left; the processes' totals are combined by a binary tree, whose leaves are the
/// processes, or two neighbours where there are not a power of two of them. Prefixes take the
/// totals of the processes before from the left, and then the members of their own one by one; but
/// the last member of a process combines, in a scan, with its process's total.
template <class Value>
struct FoldOrder {
  std::vector<int> members_of_node;
  std::function<Value(const Value& left, const Value& right)> combine;

  Value from_left(std::span<const Value> values) const {
    Value result = values.front();
    for (const Value& value : values.subspan(1)) result = combine(result, value);
    return result;
  }

  std::vector<Value> totals_of_nodes(std::span<const Value> inputs) const {
    std::vector<Value> totals;
    std::size_t first = 0;
    for (const int members : members_of_node) {
      const auto count = static_cast<std::size_t>(members);
      totals.push_back(from_left(inputs.subspan(first, count)));
      first += count;
    }
    return totals;
  }

  Value total(std::span<const Value> inputs) const {
    const std::vector<Value> nodes = totals_of_nodes(inputs);
    const std::size_t leaf_count = std::bit_floor(nodes.size());
    const std::size_t pair_count = nodes.size() - leaf_count;
    std::vector<Value> level;
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      const bool is_pair = node < 2 * pair_count;
      level.push_back(is_pair ? combine(nodes[node], nodes[node + 1]) : nodes[node]);
      if (is_pair) ++node;
    }
    while (level.size() > 1) {
      std::vector<Value> next;
      for (std::size_t i = 0; i < level.size(); i += 2) {
        next.push_back(combine(level[i], level[i + 1]));
      }
      level = std::move(next);
    }
    return level.front();
  }

  /// Of scan and exscan; nothing for member 0 in an exscan.
  std::optional<Value> prefix(Collective collective, std::span<const Value> inputs,
                              std::size_t member) const {
    std::size_t first = 0;  // of the member's node
    std::size_t node = 0;
    while (member >= first + static_cast<std::size_t>(members_of_node[node])) {
      first += static_cast<std::size_t>(members_of_node[node++]);
    }
    const std::size_t last = first + static_cast<std::size_t>(members_of_node[node]) - 1;
    const std::size_t end = collective == Collective::scan ? member + 1 : member;
    std::vector<Value> operands;
    if (node > 0) {
      const std::vector<Value> totals = totals_of_nodes(inputs);
      operands.push_back(from_left(std::span(totals).first(node)));
      if (collective == Collective::scan && member == last) {
        return combine(operands.front(), totals[node]);
      }
    }
    operands.insert(operands.end(), inputs.begin() + static_cast<std::ptrdiff_t>(first),
                    inputs.begin() + static_cast<std::ptrdiff_t>(end));
    if (operands.empty()) return std::nullopt;
    return from_left(operands);
  }

  /// What a member gets of each collective; its block for reduce_scatter is still to be cut out.
  std::optional<Value> result(Collective collective, std::span<const Value> inputs,
                              std::size_t member) const {
    if (collective == Collective::scan || collective == Collective::exscan) {
      return prefix(collective, inputs, member);
    }
    return total(inputs);
  }
};

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_FOLD_ORDER_H_
