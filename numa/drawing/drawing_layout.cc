#include "numa/drawing/drawing_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

namespace hycoll::internal {
namespace {

constexpr double kCoreWidth = 70;
constexpr double kCoreHeight = 46;
constexpr double kCoreGap = 5;
constexpr double kBoxGap = 10;
constexpr double kLabelFontSize = 12;
// Flat grids of cores in boxes that stand side by side make pictures that fit a page.
constexpr double kCoresAspect = 2.6;
constexpr double kBoxesAspect = 1.7;

/// The cores of `chosen` by a member of Core, groups and cores ascending.
std::map<int, std::vector<int>> grouped(std::span<const Core> cores, const std::vector<int>& chosen,
                                        int Core::*member) {
  std::map<int, std::vector<int>> groups;
  for (int core : chosen) groups[cores[static_cast<std::size_t>(core)].*member].push_back(core);
  return groups;
}

std::string cache_label(const Topology& topology, int cache_index, std::size_t cores_here) {
  if (cache_index < 0) return "";
  const Cache& cache = topology.caches()[static_cast<std::size_t>(cache_index)];
  const char* part = cache.cores.size() > cores_here ? "part of " : "";
  if (cache.size_bytes == 0) return fmt::format("{}L{}", part, cache.level);
  return fmt::format("{}L{} {}", part, cache.level, size_text(cache.size_bytes));
}

std::vector<Box> core_boxes(const std::vector<int>& cores) {
  std::vector<Box> boxes;
  for (int core : cores) boxes.push_back({BoxKind::core, fmt::format("core {}", core), core});
  return boxes;
}

Box domain_box(const Topology& topology, int domain_index, const std::vector<int>& cores) {
  const NumaDomain& domain = topology.numa_domains()[static_cast<std::size_t>(domain_index)];
  Box box{BoxKind::numa_domain, fmt::format("NUMA domain {}", domain_index)};
  if (domain.cores.size() > cores.size()) box.label = "part of " + box.label;
  if (domain.memory_bytes > 0) box.label += ", " + size_text(domain.memory_bytes);
  const auto caches = grouped(topology.cores(), cores, &Core::last_level_cache);
  // Boxes help where caches divide the domain's cores; a cache per core or one for all is a label.
  if (caches.size() == 1 && cores.size() > 1 && caches.begin()->first >= 0) {
    box.label += ", " + cache_label(topology, caches.begin()->first, cores.size());
  }
  if (caches.size() == 1 || caches.size() == cores.size()) {
    box.children = core_boxes(cores);
    return box;
  }
  for (const auto& [cache, sharers] : caches) {
    Box cache_box{BoxKind::cache, cache_label(topology, cache, sharers.size())};
    cache_box.children = core_boxes(sharers);
    box.children.push_back(std::move(cache_box));
  }
  return box;
}

Box machine_box(const Topology& topology) {
  Box machine{BoxKind::machine, ""};
  for (const Package& package : topology.packages()) {
    Box box{BoxKind::package, fmt::format("Package {}", package.index)};
    if (!package.model.empty()) box.label += ": " + package.model;
    for (const auto& [domain, cores] :
         grouped(topology.cores(), package.cores, &Core::numa_domain)) {
      box.children.push_back(domain_box(topology, domain, cores));
    }
    machine.children.push_back(std::move(box));
  }
  return machine;
}

struct Grid {
  std::size_t columns;
  double gap;
  double cell_width;
  double cell_height;

  std::size_t rows(std::size_t count) const { return (count + columns - 1) / columns; }
  double width() const { return static_cast<double>(columns) * (cell_width + gap) - gap; }
  double height(std::size_t count) const {
    return static_cast<double>(rows(count)) * (cell_height + gap) - gap;
  }
};

/// The column count whose outline is nearest to the wanted aspect, with a price on empty cells.
Grid best_grid(std::size_t count, double gap, double wanted_aspect, double cell_width,
               double cell_height) {
  Grid best{1, gap, cell_width, cell_height};
  double least_cost = std::numeric_limits<double>::infinity();
  for (std::size_t columns = 1; columns <= count; ++columns) {
    const Grid grid{columns, gap, cell_width, cell_height};
    const double aspect = grid.width() / grid.height(count);
    const double cells = static_cast<double>(grid.rows(count) * columns);
    const double empty = (cells - static_cast<double>(count)) / static_cast<double>(count);
    const double cost = std::abs(std::log(aspect / wanted_aspect)) + 3 * empty;
    if (cost < least_cost) {
      least_cost = cost;
      best = grid;
    }
  }
  return best;
}

Grid grid_of_children(const Box& box) {
  double width = 0;
  double height = 0;
  for (const Box& child : box.children) {
    width = std::max(width, child.width);
    height = std::max(height, child.height);
  }
  const bool of_cores = box.children.front().kind == BoxKind::core;
  return best_grid(box.children.size(), of_cores ? kCoreGap : kBoxGap,
                   of_cores ? kCoresAspect : kBoxesAspect, width, height);
}

double label_height(const Box& box) { return box.label.empty() ? 0 : kLabelHeight; }

double padding(const Box& box) { return box.kind == BoxKind::machine ? 0 : kPadding; }

/// Sizes from the inside out.
void measure(Box& box) {
  if (box.kind == BoxKind::core) {
    box.width = kCoreWidth;
    box.height = kCoreHeight;
    return;
  }
  for (Box& child : box.children) measure(child);
  const Grid grid = grid_of_children(box);
  box.width = std::max(grid.width(), text_width(box.label, kLabelFontSize)) + 2 * padding(box);
  box.height = grid.height(box.children.size()) + label_height(box) + 2 * padding(box);
}

/// Places from the outside in. All children of one box take the size of its grid's cells.
void place(Box& box, double x, double y) {
  box.x = x;
  box.y = y;
  if (box.children.empty()) return;
  const Grid grid = grid_of_children(box);
  for (std::size_t i = 0; i < box.children.size(); ++i) {
    Box& child = box.children[i];
    const double left = x + padding(box);
    const double top = y + padding(box) + label_height(box);
    const double column = static_cast<double>(i % grid.columns);
    const double row = static_cast<double>(i / grid.columns);
    place(child, left + column * (grid.cell_width + grid.gap),
          top + row * (grid.cell_height + grid.gap));
    child.width = grid.cell_width;
    child.height = grid.cell_height;
  }
}

}  // namespace

double text_width(const std::string& text, double font_size) {
  return static_cast<double>(text.size()) * font_size * 0.6;
}

Box lay_out(const Topology& topology, double x, double y) {
  Box machine = machine_box(topology);
  measure(machine);
  place(machine, x, y);
  return machine;
}

}  // namespace hycoll::internal
