#include "core/schedule/shape_part.h"

#include <algorithm>

#include "core/base/errors.h"

namespace hycoll {

ShapePart part_of(const Shape& shape, NumberRange nodes) {
  const int count = std::min(nodes.count, shape.node_count() - nodes.first);
  HYCOLL_ASSERT(nodes.first >= 0 && count >= 1, "a part has nodes of the shape");
  const int last = nodes.first + count - 1;
  const auto range_of = [](int first, int first_of_last, int in_last) {
    return NumberRange{first, first_of_last + in_last - first};
  };
  return {.nodes = {nodes.first, count},
          .members = range_of(shape.first_member(nodes.first), shape.first_member(last),
                              shape.node(last).members),
          .workers = range_of(shape.first_worker(nodes.first), shape.first_worker(last),
                              shape.node(last).workers)};
}

}  // namespace hycoll
