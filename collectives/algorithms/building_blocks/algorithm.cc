#include "collectives/algorithms/building_blocks/algorithm.h"

#include <fmt/format.h>

#include "core/base/errors.h"
#include "core/staging/staging.h"

namespace hycoll {

Schedule Algorithm::generate(const Shape& shape, int segments, int root,
                             const PartRequest& nodes) const {
  if (shape.visibility() == Visibility::staged) {
    HYCOLL_ASSERT(nodes.reader == nullptr, "the steps of direct schedules are shown");
    return staged(generate(shape.with_visibility(Visibility::direct), segments, root, nodes),
                  shape.processes());
  }
  if (!serves_shape(shape)) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("{} algorithm '{}' serves {}; this shape has {} nodes, {} members and {} "
                    "lanes. Choose another algorithm, or 'auto'",
                    name_of(collective), name, serves, shape.node_count(), shape.member_count(),
                    shape.lane_count()));
  }
  return generate_with(std::string(name), shape,
                       {.collective = collective,
                        .exchange = exchange,
                        .segments = segments,
                        .root = root,
                        .nodes = nodes});
}

StepReplay Algorithm::replay(const Shape& shape, int segments, int root, int node) const {
  return [=, this](StepReader& reader) {
    return generate(shape, segments, root, {only_node(node), &reader});
  };
}

bool serves_any_shape(const Shape& shape) {
  return shape.visibility() == Visibility::direct && !shape.has_aggregators();
}

bool serves_one_node(const Shape& shape) {
  return serves_any_shape(shape) && shape.node_count() == 1;
}

bool serves_one_lane(const Shape& shape) {
  return serves_any_shape(shape) && shape.lane_count() == 1;
}

bool serves_one_lane_led_by_members(const Shape& shape) {
  for (const int node : shape.first_nodes()) {
    if (shape.leader(node, 0) - shape.first_worker(node) >= shape.node(node).members) return false;
  }
  return serves_one_lane(shape);
}

bool serves_one_lane_and_member(const Shape& shape) {
  for (const int node : shape.first_nodes()) {
    if (shape.node(node).members != 1) return false;
  }
  return serves_one_lane(shape);
}

}  // namespace hycoll
