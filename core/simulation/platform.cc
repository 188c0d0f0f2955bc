#include "core/simulation/platform.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace hycoll {
namespace {

int product(const std::vector<int>& factors) {
  return std::accumulate(factors.begin(), factors.end(), 1, std::multiplies<>());
}

struct HostCount {
  int operator()(const NetworkTree& tree) const { return static_cast<int>(tree.hosts().size()); }
  int operator()(const FatTree& tree) const { return product(tree.below); }
  int operator()(const Torus& torus) const { return product(torus.sizes); }
  int operator()(const Dragonfly& dragonfly) const {
    return dragonfly.groups * dragonfly.chassis * dragonfly.routers * dragonfly.hosts;
  }
  int operator()(const SimGridFile&) const { return 0; }
};

struct NetworkText {
  std::string operator()(const NetworkTree& tree) const {
    const std::size_t switches = tree.vertices().size() - tree.hosts().size();
    return switches == 1 ? "star" : fmt::format("tree of {} switches", switches);
  }
  std::string operator()(const FatTree& tree) const {
    return fmt::format("fat tree of {} levels", tree.below.size());
  }
  std::string operator()(const Torus& torus) const {
    return fmt::format("torus {}", fmt::join(torus.sizes, "x"));
  }
  std::string operator()(const Dragonfly& dragonfly) const {
    return fmt::format("dragonfly of {} groups", dragonfly.groups);
  }
  std::string operator()(const SimGridFile& file) const {
    return fmt::format("SimGrid's platform {}", file.path);
  }
};

}  // namespace

int host_count(const PlatformNetwork& network) { return std::visit(HostCount(), network); }

std::string to_text(const PlatformNetwork& network) { return std::visit(NetworkText(), network); }

}  // namespace hycoll
