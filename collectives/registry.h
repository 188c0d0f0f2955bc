#ifndef HYCOLL_COLLECTIVES_REGISTRY_H_
#define HYCOLL_COLLECTIVES_REGISTRY_H_

#include <span>
#include <string>
#include <string_view>

#include "collectives/allreduce.h"
#include "core/schedule.h"

namespace hycoll {

/// One algorithm that can be called by name: which shapes it serves, and its generator.
struct Algorithm {
  std::string_view name;
  std::string_view summary;  ///< One line, for listings.
  std::string_view source;   ///< The paper, or this project.
  Exchange exchange;
  std::string_view serves;  ///< The constraint in words, for error messages.
  bool (*serves_shape)(const Shape& shape);
  Schedule (*generate_with)(std::string name, const Shape& shape,
                            const AllreduceParameters& parameters);

  /// The schedule on one shape, with messages cut into `segments` parts where the exchange can.
  /// Throws Error (unsupported) if the algorithm does not serve the shape.
  Schedule generate(const Shape& shape, int segments = 1) const;
};

/// Every allreduce algorithm, in the order of listings.
std::span<const Algorithm> allreduce_algorithms() noexcept;

/// Throws Error (invalid_argument) that lists the names when there is no such algorithm.
const Algorithm& find_allreduce_algorithm(std::string_view name);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_REGISTRY_H_
