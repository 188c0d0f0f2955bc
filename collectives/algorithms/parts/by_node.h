#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_BY_NODE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_BY_NODE_H_

#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/part.h"

namespace hycoll {

/// A value for each node that a schedule is made for. Other nodes all have the same one, kElsewhere
/// for instance: a generator may look there, as it may add steps there (ScheduleBuilder).
template <class Value>
class ByNode {
 public:
  explicit ByNode(NumberRange nodes, Value elsewhere = {})
      : nodes_(nodes),
        values_(static_cast<std::size_t>(nodes.count), elsewhere),
        elsewhere_(std::move(elsewhere)) {}

  NumberRange nodes() const noexcept { return nodes_; }

  const Value& operator[](int node) const {
    return nodes_.holds(node) ? values_[index_of(node)] : elsewhere_;
  }
  /// Requires a node that the schedule is made for.
  Value& at(int node) {
    HYCOLL_ASSERT(nodes_.holds(node), "the node is one of those asked for");
    return values_[index_of(node)];
  }

 private:
  std::size_t index_of(int node) const { return static_cast<std::size_t>(node - nodes_.first); }

  NumberRange nodes_;
  std::vector<Value> values_;
  Value elsewhere_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_BY_NODE_H_
