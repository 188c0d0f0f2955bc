#include "collectives/algorithms/registry.h"

#include <fmt/format.h>

#include <string>

#include "core/base/errors.h"

namespace hycoll {

std::span<const Algorithm> algorithms_of(Collective collective) noexcept {
  switch (collective) {
    case Collective::allreduce:
      return allreduce_algorithms();
    case Collective::reduce:
      return reduce_algorithms();
    case Collective::reduce_scatter:
      return reduce_scatter_algorithms();
    case Collective::scan:
      return scan_algorithms();
    case Collective::exscan:
      return exscan_algorithms();
    case Collective::broadcast:
      return broadcast_algorithms();
    case Collective::allgather:
      return allgather_algorithms();
    case Collective::gather:
      return gather_algorithms();
    case Collective::scatter:
      return scatter_algorithms();
    case Collective::alltoall:
      return alltoall_algorithms();
  }
  return {};
}

std::vector<const Algorithm*> all_algorithms() {
  std::vector<const Algorithm*> all;
  for (int collective = 0; collective < kCollectiveCount; ++collective) {
    for (const Algorithm& algorithm : algorithms_of(static_cast<Collective>(collective))) {
      all.push_back(&algorithm);
    }
  }
  return all;
}

const Algorithm* algorithm_named(Collective collective, std::string_view name) noexcept {
  for (const Algorithm& algorithm : algorithms_of(collective)) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

const Algorithm& find_algorithm(Collective collective, std::string_view name) {
  if (const Algorithm* const algorithm = algorithm_named(collective, name)) return *algorithm;
  std::string known = "auto";
  for (const Algorithm& algorithm : algorithms_of(collective)) {
    known += fmt::format(", {}", algorithm.name);
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("algorithm '{}' does not exist for {}; known: {}", name,
                          name_of(collective), known));
}

}  // namespace hycoll
