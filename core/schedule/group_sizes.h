#ifndef HYCOLL_CORE_SCHEDULE_GROUP_SIZES_H_
#define HYCOLL_CORE_SCHEDULE_GROUP_SIZES_H_

#include <span>
#include <vector>

#include "core/schedule/groups.h"

namespace hycoll {

/// Groups by the size of each, on every level from inner to outer. Errors: as Groups.
Groups groups_of_sizes(std::span<const std::vector<int>> levels);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_GROUP_SIZES_H_
