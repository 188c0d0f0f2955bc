#ifndef HYCOLL_COLLECTIVES_JOB_WORKER_GROUPS_H_
#define HYCOLL_COLLECTIVES_JOB_WORKER_GROUPS_H_

#include <span>
#include <string>
#include <vector>

#include "collectives/selection/groups.h"
#include "core/schedule/shape.h"
#include "numa/topology/neighbourhoods.h"

namespace hycoll {

/// What Options::groups asks for: the machine's, or these sizes from inner to outer; none are flat.
struct GroupRequest {
  bool is_of_machine = false;
  std::vector<int> sizes;
};

/// Errors: invalid_argument, if the text is neither a word nor sizes that can be groups.
GroupRequest parse_groups(const std::string& requested);

/// The same sizes on every node, where they stand for caches, domains and packages, one after the
/// other; none where all nodes are flat.
std::vector<EqualNearness> groups_of_sizes(std::span<const EqualNodes> nodes,
                                           std::span<const int> sizes);

/// Of the workers of a node that run at these places.
EqualNearness groups_of_places(std::span<const CorePlace> place_of_worker);

/// A node's groups as numbers, few where groups are equal, and back.
std::vector<int> packed(const EqualNearness& near);
EqualNearness unpacked(std::span<const int> numbers);

/// Whether there are none at all.
bool are_flat(std::span<const EqualNearness> near);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_WORKER_GROUPS_H_
