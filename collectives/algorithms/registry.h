#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_REGISTRY_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_REGISTRY_H_

#include <span>
#include <string_view>
#include <vector>

#include "collectives/algorithms/building_blocks/algorithm.h"

namespace hycoll {

/// The algorithms of a collective, in the order of listings.
std::span<const Algorithm> algorithms_of(Collective collective) noexcept;

/// Those of all collectives.
std::vector<const Algorithm*> all_algorithms();

/// The algorithm of this name; null if there is none.
const Algorithm* algorithm_named(Collective collective, std::string_view name) noexcept;

/// The same. Throws Error (invalid_argument) that lists the names when there is no such algorithm.
const Algorithm& find_algorithm(Collective collective, std::string_view name);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_REGISTRY_H_
