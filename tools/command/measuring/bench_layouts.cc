#include "tools/command/measuring/bench_layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

constexpr Layout kLayouts[] = {Layout::threads, Layout::per_node, Layout::processes,
                               Layout::processes_heap, Layout::native};

}  // namespace

const RoleTiming* BenchRow::fastest(Role role) const {
  const RoleTiming* best = nullptr;
  for (const RoleTiming& one : timings) {
    if (one.role != role) continue;
    if (best == nullptr || one.timing.call_us.median < best->timing.call_us.median) best = &one;
  }
  return best;
}

bool BenchRow::verified(Role role) const {
  return std::all_of(timings.begin(), timings.end(), [role](const RoleTiming& one) {
    return one.role != role || one.timing.verified;
  });
}

bool BenchRow::verified() const {
  return std::all_of(timings.begin(), timings.end(),
                     [](const RoleTiming& one) { return one.timing.verified; });
}

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::threads:
      return "threads";
    case Layout::per_node:
      return "per_node";
    case Layout::processes:
      return "processes";
    case Layout::processes_heap:
      return "processes_heap";
    default:
      return "native";
  }
}

bool has_communicator(Layout layout) { return layout == Layout::per_node || shares_nodes(layout); }

bool shares_nodes(Layout layout) {
  return layout == Layout::processes || layout == Layout::processes_heap;
}

Layout parse_layout(std::string_view argument, std::string_view name) {
  for (const Layout layout : kLayouts) {
    if (name_of(layout) == name) return layout;
  }
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("{} '{}' is no layout. Give threads, per_node, processes, processes_heap or "
                  "native",
                  argument, name));
}

Options hycoll_options(const BenchSettings& settings, const std::string& algorithm) {
  Options options = Options::from_environment();
  options.algorithm = algorithm;
  options.workers = settings.workers;
  options.lanes = settings.lanes;
  options.bits = settings.bits;
  options.aggregators = settings.aggregators;
  if (has_communicator(settings.layout)) {
    options.layout =
        shares_nodes(settings.layout) ? Options::Layout::processes : Options::Layout::per_node;
  }
  options.emulated_nodes = settings.emulated_nodes;
  return options;
}

}  // namespace hycoll::command
