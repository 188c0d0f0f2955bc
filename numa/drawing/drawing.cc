#include "numa/drawing/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "core/base/errors.h"
#include "core/base/markup.h"
#include "numa/drawing/drawing_layout.h"
#include "numa/topology/affinity_mask.h"

namespace hycoll {
namespace {

using internal::Box;
using internal::BoxKind;

constexpr int kMostCacheLevels = 5;
constexpr double kMargin = 14;
constexpr double kHeaderHeight = 52;
constexpr double kLineHeight = 17;
constexpr double kLegendHeight = 30;
constexpr double kTitleFontSize = 16;
constexpr double kTextFontSize = 12;

struct Colours {
  const char* fill;
  const char* stroke;
  const char* text;
};
constexpr Colours kPackageColours{"#f3f4f6", "#8b95a5", "#1f2937"};
constexpr Colours kDomainColours{"#e3efe6", "#7da489", "#1f3b29"};
constexpr Colours kCacheColours{"#fbf6e6", "#c0a661", "#57470f"};
constexpr Colours kIdleColours{"#ffffff", "#c4cad3", "#6b7280"};
constexpr Colours kWorkerColours{"#bcd8f2", "#3a76b3", "#10304d"};
constexpr Colours kLeaderColours{"#b24700", "#6f2c00", "#ffffff"};

/// What runs on one core; both ascending.
struct CoreUse {
  std::vector<int> workers;
  std::vector<int> lanes;
};

std::vector<CoreUse> use_of_cores(const Topology& topology, std::span<const Core> workers,
                                  std::span<const int> worker_of_lane) {
  std::vector<CoreUse> uses(topology.cores().size());
  for (std::size_t worker = 0; worker < workers.size(); ++worker) {
    const int core = workers[worker].index;
    if (core < 0 || core >= topology.core_count()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("workers[{}] is on core {}: expected 0 to {}, a core of the topology",
                              worker, core, topology.core_count() - 1));
    }
    uses[static_cast<std::size_t>(core)].workers.push_back(static_cast<int>(worker));
  }
  for (std::size_t lane = 0; lane < worker_of_lane.size(); ++lane) {
    const int worker = worker_of_lane[lane];
    if (worker < 0 || static_cast<std::size_t>(worker) >= workers.size()) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("worker_of_lane[{}] is {}: expected the number of one of the {} workers",
                      lane, worker, workers.size()));
    }
    const int core = workers[static_cast<std::size_t>(worker)].index;
    uses[static_cast<std::size_t>(core)].lanes.push_back(static_cast<int>(lane));
  }
  return uses;
}

/// "worker 3", "workers 0-3", or "8 workers" where the numbers do not fit into a core's box.
std::string named_numbers(const std::string& noun, const std::vector<int>& numbers) {
  constexpr std::size_t kLongestText = 11;
  const std::string plural = numbers.size() == 1 ? "" : "s";
  const std::string text = fmt::format("{}{} {}", noun, plural, number_ranges(numbers));
  if (text.size() <= kLongestText) return text;
  return fmt::format("{} {}{}", numbers.size(), noun, plural);
}

Colours colours_of(const Box& box, const std::vector<CoreUse>& uses) {
  switch (box.kind) {
    case BoxKind::machine:
      break;
    case BoxKind::package:
      return kPackageColours;
    case BoxKind::numa_domain:
      return kDomainColours;
    case BoxKind::cache:
      return kCacheColours;
    case BoxKind::core: {
      const CoreUse& use = uses[static_cast<std::size_t>(box.core)];
      return !use.lanes.empty()     ? kLeaderColours
             : !use.workers.empty() ? kWorkerColours
                                    : kIdleColours;
    }
  }
  return {"none", "none", "#000000"};
}

/// "L1 32 KiB, L2 1 MiB": the caches that serve this core alone.
std::string own_caches_text(const Topology& topology, int core) {
  std::string words;
  for (int level = 1; level <= kMostCacheLevels; ++level) {
    for (const Cache& cache : topology.caches()) {
      if (cache.level != level || cache.cores != std::vector<int>{core}) continue;
      if (!words.empty()) words += ", ";
      words += fmt::format("L{} {}", level, size_text(cache.size_bytes));
    }
  }
  return words;
}

/// "each core: L1 32 KiB, L2 1 MiB" if that holds for all, else "".
std::string common_caches_text(const Topology& topology) {
  const std::string words = own_caches_text(topology, 0);
  for (const Core& core : topology.cores()) {
    if (own_caches_text(topology, core.index) != words) return "";
  }
  return words.empty() ? "" : "each core: " + words;
}

class Drawing {
 public:
  Drawing(const Topology& topology, std::span<const Core> workers,
          std::span<const int> worker_of_lane)
      : topology_(topology),
        worker_count_(workers.size()),
        lane_count_(worker_of_lane.size()),
        uses_(use_of_cores(topology, workers, worker_of_lane)) {}

  std::string draw() {
    const std::string caches = common_caches_text(topology_);
    const double top = kMargin + kHeaderHeight + (caches.empty() ? 0 : kLineHeight);
    const Box machine = internal::lay_out(topology_, kMargin, top);
    const double legend_top = machine.y + machine.height;
    const std::string summary = topology_.summary();
    const double inner_width =
        std::max({machine.width, legend_width(), internal::text_width(title(), kTitleFontSize),
                  internal::text_width(summary, kTextFontSize)});
    const double width = inner_width + 2 * kMargin;
    const double height = legend_top + kLegendHeight + kMargin;
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\" "
        "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n",
        width, height, escaped(title()));
    add("<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"#ffffff\"/>\n", width, height);
    text(kMargin, kMargin + 16, kTitleFontSize, "#111827", title(), "font-weight=\"bold\"");
    text(kMargin, kMargin + 36, kTextFontSize, "#4b5563", summary);
    text(kMargin, kMargin + 36 + kLineHeight, kTextFontSize, "#4b5563", caches);
    draw_box(machine);
    draw_legend(legend_top + 22);
    add("</svg>\n");
    return svg_;
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Values>(values)...);
  }

  void text(double x, double y, double font_size, const char* colour, const std::string& words,
            const char* attributes = "") {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\" {}>{}</text>\n", x, y,
        font_size, colour, attributes, escaped(words));
  }

  void rectangle(double x, double y, double width, double height, const Colours& colours,
                 const std::string& attributes = "") {
    add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"4\" fill=\"{}\" "
        "stroke=\"{}\" {}/>\n",
        x, y, width, height, colours.fill, colours.stroke, attributes);
  }

  std::string title() const {
    const auto counted = [](std::size_t count, const char* noun) {
      return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
    };
    if (worker_count_ == 0) return "Topology";
    if (lane_count_ == 0) return "Placement of " + counted(worker_count_, "worker");
    return fmt::format("Placement of {} and {}", counted(worker_count_, "worker"),
                       counted(lane_count_, "lane"));
  }

  void draw_box(const Box& box) {
    if (box.kind == BoxKind::core) {
      draw_core(box);
      return;
    }
    if (box.kind != BoxKind::machine) {
      const Colours colours = colours_of(box, uses_);
      rectangle(box.x, box.y, box.width, box.height, colours);
      text(box.x + internal::kPadding, box.y + internal::kPadding + 9, kTextFontSize, colours.text,
           box.label);
    }
    for (const Box& child : box.children) draw_box(child);
  }

  void draw_core(const Box& box) {
    constexpr const char* kCentred = "text-anchor=\"middle\"";
    const CoreUse& use = uses_[static_cast<std::size_t>(box.core)];
    const Colours colours = colours_of(box, uses_);
    const double centre = box.x + box.width / 2;
    add("<g><title>{}</title>\n", escaped(tooltip(box.core)));
    rectangle(box.x, box.y, box.width, box.height, colours,
              fmt::format("data-core=\"{}\"", box.core));
    text(centre, box.y + 13, 10, colours.text, box.label, kCentred);
    if (!use.workers.empty()) {
      text(centre, box.y + 26, 10.5, colours.text, named_numbers("worker", use.workers), kCentred);
    }
    if (!use.lanes.empty()) {
      text(centre, box.y + 39, 10.5, colours.text, named_numbers("lane", use.lanes),
           "text-anchor=\"middle\" font-weight=\"bold\"");
    }
    add("</g>\n");
  }

  std::string tooltip(int core) const {
    const CoreUse& use = uses_[static_cast<std::size_t>(core)];
    std::string words = fmt::format("core {}, processing units {}", core,
                                    number_ranges(topology_.processing_units(core)));
    for (int level = 1; level <= kMostCacheLevels; ++level) {
      const std::uint64_t size_bytes = topology_.cache_size_bytes(core, level);
      if (size_bytes > 0) words += fmt::format(", L{} {}", level, size_text(size_bytes));
    }
    if (!use.workers.empty()) words += "; workers " + number_ranges(use.workers);
    if (!use.lanes.empty()) words += "; lanes " + number_ranges(use.lanes);
    return words;
  }

  struct LegendEntry {
    Colours colours;
    const char* words;
  };
  static constexpr LegendEntry kLegend[] = {
      {kLeaderColours, "leader: drives lanes"},
      {kWorkerColours, "worker"},
      {kIdleColours, "core without worker"},
  };
  static constexpr double kSwatch = 14;

  static double entry_width(const LegendEntry& entry) {
    return kSwatch + 6 + internal::text_width(entry.words, kTextFontSize) + 12;
  }

  static double legend_width() {
    double width = 0;
    for (const LegendEntry& entry : kLegend) width += entry_width(entry);
    return width;
  }

  void draw_legend(double baseline) {
    double x = kMargin;
    for (const LegendEntry& entry : kLegend) {
      rectangle(x, baseline - 11, kSwatch, kSwatch, entry.colours);
      text(x + kSwatch + 6, baseline, kTextFontSize, "#374151", entry.words);
      x += entry_width(entry);
    }
  }

  const Topology& topology_;
  std::size_t worker_count_;
  std::size_t lane_count_;
  std::vector<CoreUse> uses_;
  std::string svg_;
};

}  // namespace

std::string topology_svg(const Topology& topology, std::span<const Core> workers,
                         std::span<const int> worker_of_lane) {
  return Drawing(topology, workers, worker_of_lane).draw();
}

}  // namespace hycoll
