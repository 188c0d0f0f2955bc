#include "core/simulation/simgrid_xml.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "core/base/errors.h"
#include "core/base/markup.h"

namespace hycoll {
namespace {

constexpr std::string_view kHead =
    "<?xml version='1.0'?>\n"
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\">\n";

/// Hosts compute nothing in the simulation, but SimGrid wants to know how fast.
constexpr std::string_view kSpeed = "speed=\"1Gf\"";

class Writer {
 public:
  explicit Writer(const Platform& platform)
      : gb_per_s_(platform.link_gb_per_s > 0 ? platform.link_gb_per_s
                                             : platform.prices.bandwidth_gb_per_s),
        latency_us_(platform.link_latency_us),
        text_(kHead) {}

  void operator()(const NetworkTree& tree) {
    add("<zone id=\"network\" routing=\"DijkstraCache\">\n");
    for (const NetworkVertex& vertex : tree.vertices()) {
      const std::string name = escaped(vertex.name);
      if (vertex.is_host()) {
        add("<host id=\"{}\" {}/>\n", name, kSpeed);
      } else {
        add("<router id=\"{}\"/>\n", name);
      }
    }
    for (const NetworkVertex& vertex : tree.vertices()) {
      if (vertex.parent < 0) continue;
      for (const std::string_view direction : {"up", "down"}) {
        add("<link id=\"{} {}\" {}/>\n", escaped(vertex.name), direction,
            speed_text(vertex.capacity));
      }
    }
    // SimGrid wants all links before the first route.
    for (const NetworkVertex& vertex : tree.vertices()) {
      if (vertex.parent < 0) continue;
      const std::string lower = escaped(vertex.name);
      const std::string upper = escaped(tree.at(vertex.parent).name);
      add_route(lower, upper, lower + " up");
      add_route(upper, lower, lower + " down");
    }
    add("</zone>\n");
  }

  void operator()(const FatTree& tree) {
    add_cluster(host_count(tree), "FAT_TREE",
                fmt::format("{};{};{};{}", tree.below.size(), fmt::join(tree.below, ","),
                            fmt::join(tree.above, ","), fmt::join(tree.links, ",")));
  }

  void operator()(const Torus& torus) {
    add_cluster(host_count(torus), "TORUS", fmt::format("{}", fmt::join(torus.sizes, ",")));
  }

  void operator()(const Dragonfly& dragonfly) {
    add_cluster(host_count(dragonfly), "DRAGONFLY",
                fmt::format("{},{};{},{};{},{};{}", dragonfly.groups, dragonfly.group_links,
                            dragonfly.chassis, dragonfly.chassis_links, dragonfly.routers,
                            dragonfly.router_links, dragonfly.hosts));
  }

  void operator()(const SimGridFile&) {
    HYCOLL_ASSERT(false, "a file of SimGrid's is read by SimGrid");
  }

  std::string finish() && { return std::move(text_) + "</platform>\n"; }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  std::string speed_text(double capacity) const {
    return fmt::format("bandwidth=\"{}GBps\" latency=\"{}us\"", gb_per_s_ * capacity, latency_us_);
  }

  void add_route(const std::string& from, const std::string& to, const std::string& link) {
    add("<route src=\"{}\" dst=\"{}\" symmetrical=\"NO\"><link_ctn id=\"{}\"/></route>\n", from, to,
        link);
  }

  void add_cluster(int hosts, std::string_view topology, const std::string& parameters) {
    add("<cluster id=\"network\" prefix=\"node\" suffix=\"\" radical=\"0-{}\" {} bw=\"{}GBps\" "
        "lat=\"{}us\" topology=\"{}\" topo_parameters=\"{}\"/>\n",
        hosts - 1, kSpeed, gb_per_s_, latency_us_, topology, parameters);
  }

  double gb_per_s_;
  double latency_us_;
  std::string text_;
};

}  // namespace

std::string to_simgrid_xml(const Platform& platform) {
  Writer writer(platform);
  std::visit(writer, platform.network);
  return std::move(writer).finish();
}

}  // namespace hycoll
