// The drawing of a topology: read back as text.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "numa/drawing/drawing.h"
#include "numa/placement/placement.h"
#include "tests/numa/topology_samples.h"

namespace hycoll {
namespace topology_drawing_test {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

struct Tag {
  std::string name;
  std::string text;  ///< From < to >.
};

std::vector<Tag> tags_of(const std::string& svg) {
  std::vector<Tag> tags;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    REQUIRE(end != std::string::npos);
    const std::size_t name_end = svg.find_first_of(" />\n", at + 2);
    tags.push_back({svg.substr(at + 1, name_end - at - 1), svg.substr(at, end - at + 1)});
  }
  return tags;
}

/// That every element is closed in the right order and that text holds no stray markup.
void check_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (const Tag& tag : tags_of(svg)) {
    CHECK(std::count(tag.text.begin(), tag.text.end(), '<') == 1);
    CHECK(std::count(tag.text.begin(), tag.text.end(), '"') % 2 == 0);
    if (tag.name.front() == '/') {
      REQUIRE_FALSE(open.empty());
      CHECK("/" + open.back() == tag.name);
      open.pop_back();
    } else if (tag.text[tag.text.size() - 2] != '/') {
      open.push_back(tag.name);
    }
  }
  CHECK(open.empty());
  std::size_t entities = 0;
  for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;"})
    entities += occurrences(svg, entity);
  CHECK(occurrences(svg, "&") == entities);
}

std::string attribute(const std::string& tag, const std::string& name) {
  const std::string start = " " + name + "=\"";
  const std::size_t at = tag.find(start);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + start.size();
  return tag.substr(begin, tag.find('"', begin) - begin);
}

struct Rectangle {
  double x, y, width, height;
  std::string fill;
  int core;  ///< -1 for other boxes.
};

std::vector<Rectangle> rectangles_of(const std::string& svg) {
  std::vector<Rectangle> rectangles;
  for (const Tag& tag : tags_of(svg)) {
    if (tag.name != "rect") continue;
    const auto number = [&](const char* name) {
      return std::atof(attribute(tag.text, name).c_str());
    };
    const std::string core = attribute(tag.text, "data-core");
    rectangles.push_back({number("x"), number("y"), number("width"), number("height"),
                          attribute(tag.text, "fill"),
                          core.empty() ? -1 : std::atoi(core.c_str())});
  }
  return rectangles;
}

bool overlap(const Rectangle& a, const Rectangle& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool is_within(const Rectangle& inner, const Rectangle& outer) {
  // Coordinates are rounded to tenths.
  constexpr double kRounding = 0.11;
  return inner.x >= outer.x - kRounding && inner.y >= outer.y - kRounding &&
         inner.x + inner.width <= outer.x + outer.width + kRounding &&
         inner.y + inner.height <= outer.y + outer.height + kRounding;
}

TEST_CASE("every sample: well formed, each core once, boxes nested and apart") {
  for (const testing::NamedTopology& sample : testing::sample_topologies()) {
    CAPTURE(sample.name);
    const Topology& topology = sample.topology;
    const std::string svg = topology_svg(topology, {}, {});
    check_well_formed(svg);
    const std::vector<Rectangle> rectangles = rectangles_of(svg);
    std::set<int> cores;
    for (std::size_t i = 0; i < rectangles.size(); ++i) {
      CHECK(is_within(rectangles[i], rectangles[0]));
      if (rectangles[i].core >= 0) CHECK(cores.insert(rectangles[i].core).second);
      for (std::size_t j = 1; j < i; ++j) {
        const bool nested = rectangles[i].core >= 0 && rectangles[j].core >= 0
                                ? false
                                : is_within(rectangles[i], rectangles[j]);
        CHECK((nested || !overlap(rectangles[i], rectangles[j])));
      }
    }
    CHECK(cores.size() == topology.cores().size());
    CHECK(*cores.rbegin() == topology.core_count() - 1);
    CHECK(occurrences(svg, ">Package ") == topology.packages().size());
    CHECK(occurrences(svg, "NUMA domain ") >= topology.numa_domains().size());
    for (const NumaDomain& domain : topology.numa_domains()) {
      CHECK(svg.find("NUMA domain " + std::to_string(domain.index)) != std::string::npos);
    }
  }
}

/// The fill of a core's box.
std::string fill_of(const std::vector<Rectangle>& rectangles, int core) {
  for (const Rectangle& rectangle : rectangles) {
    if (rectangle.core == core) return rectangle.fill;
  }
  return "";
}

TEST_CASE("workers and leaders are marked, and nothing else is") {
  for (const std::string description :
       {"pack:2 numa:2 l3:1 core:14 pu:2", "core:1", "pack:2 numa:4 l3:2 core:8"}) {
    const Topology topology = Topology::synthetic(description);
    for (int worker_count : {1, topology.core_count() / 2 + 1, topology.core_count()}) {
      for (int lane_count : {1, std::min(3, worker_count)}) {
        CAPTURE(description);
        CAPTURE(worker_count);
        CAPTURE(lane_count);
        const std::vector<Core> workers = place_workers(topology, worker_count, Placement::spread);
        const std::vector<int> lanes = lane_workers(workers, lane_count, Placement::spread);
        const std::string svg = topology_svg(topology, workers, lanes);
        check_well_formed(svg);
        const std::vector<Rectangle> rectangles = rectangles_of(svg);
        std::vector<std::string> expected(topology.cores().size(), "idle");
        for (const Core& worker : workers)
          expected[static_cast<std::size_t>(worker.index)] = "worker";
        for (int worker : lanes) {
          expected[static_cast<std::size_t>(workers[static_cast<std::size_t>(worker)].index)] =
              "leader";
        }
        std::set<std::string> fills_of_kind[3];
        for (const Core& core : topology.cores()) {
          const std::string& kind = expected[static_cast<std::size_t>(core.index)];
          fills_of_kind[kind == "idle"     ? 0
                        : kind == "worker" ? 1
                                           : 2]
              .insert(fill_of(rectangles, core.index));
        }
        std::set<std::string> all;
        std::size_t kinds = 0;
        for (const std::set<std::string>& fills : fills_of_kind) {
          CHECK(fills.size() <= 1);
          kinds += fills.size();
          all.insert(fills.begin(), fills.end());
        }
        CHECK(all.size() == kinds);
        for (int worker = 0; worker < worker_count; ++worker) {
          CHECK(svg.find(">worker " + std::to_string(worker) + "<") != std::string::npos);
        }
        for (int lane = 0; lane < lane_count; ++lane) {
          CHECK(svg.find(">lane " + std::to_string(lane) + "<") != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("many workers or lanes on a core are counted where they do not fit") {
  const Topology topology = Topology::synthetic("core:2");
  const std::vector<Core> workers = place_workers(topology, 40, Placement::compact);
  const std::string svg =
      topology_svg(topology, workers, lane_workers(workers, 80, Placement::compact));
  check_well_formed(svg);
  CHECK(occurrences(svg, ">20 workers<") == 2);
  CHECK(occurrences(svg, ">40 lanes<") == 2);
  // The tooltips have them all.
  CHECK(occurrences(svg, "; workers 0-19; lanes 0,2,4,6,") == 1);
  CHECK(occurrences(svg, "; workers 20-39; lanes 1,3,5,7,") == 1);
}

TEST_CASE("a core's text fits its box") {
  const Topology topology = Topology::synthetic("pack:2 numa:4 l3:2 core:8");
  const std::vector<Core> workers = place_workers(topology, 128, Placement::compact);
  const std::string svg =
      topology_svg(topology, workers, lane_workers(workers, 128, Placement::spread));
  std::size_t labels = 0;
  for (std::size_t at = svg.find("</text>"); at != std::string::npos;
       at = svg.find("</text>", at + 1)) {
    const std::size_t begin = svg.rfind('>', at) + 1;
    const std::string label = svg.substr(begin, at - begin);
    const bool is_of_core = label.rfind("core ", 0) == 0 || label.rfind("worker ", 0) == 0 ||
                            label.rfind("lane ", 0) == 0;
    // Not the legend's words.
    if (!is_of_core || label.find_first_of("0123456789") == std::string::npos) continue;
    // About 5.9 units a character at the largest font of a core's box, which is 70 units wide.
    CHECK(label.size() <= 11);
    ++labels;
  }
  CHECK(labels == 3 * 128);
}

TEST_CASE("self-contained") {
  const Topology topology = Topology::this_machine();
  const std::vector<Core> workers =
      place_workers(topology, topology.core_count(), Placement::compact);
  const std::string svg =
      topology_svg(topology, workers, lane_workers(workers, 1, Placement::compact));
  check_well_formed(svg);
  CHECK(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0) == 0);
  CHECK(occurrences(svg, "http") == 1);
  CHECK(occurrences(svg, "<script") == 0);
  CHECK(occurrences(svg, "<style") == 0);
  CHECK(svg.find(topology.summary()) != std::string::npos);
}

TEST_CASE("workers and lanes that do not belong to the topology are refused") {
  const Topology topology = Topology::synthetic("core:2");
  const std::vector<Core> workers = place_workers(topology, 2, Placement::compact);
  const std::vector<Core> strangers =
      place_workers(Topology::synthetic("core:3"), 3, Placement::compact);
  CHECK_THROWS_AS(topology_svg(topology, strangers, {}), Error);
  for (int worker : {-1, 2}) {
    CHECK_THROWS_AS(topology_svg(topology, workers, std::vector<int>{0, worker}), Error);
  }
  CHECK_THROWS_AS(topology_svg(topology, {}, std::vector<int>{0}), Error);
}

}  // namespace topology_drawing_test
}  // namespace hycoll
