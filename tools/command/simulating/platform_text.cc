#include "tools/command/simulating/platform_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/base/errors.h"
#include "core/base/own_folder.h"
#include "core/base/price_text.h"
#include "core/network/network_file.h"
#include "core/network/text_lines.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/output.h"
#include "tools/command/simulating/platform_part.h"

namespace hycoll::command {
namespace {

constexpr std::array<std::string_view, 7> kNetworks = {"star",      "tree",     "fat-tree", "torus",
                                                       "dragonfly", "topology", "simgrid"};

std::string network_names() { return fmt::format("{}", fmt::join(kNetworks, ", ")); }

bool is_network(std::string_view kind) {
  return std::ranges::find(kNetworks, kind) != kNetworks.end();
}

/// What is beyond is rather a slip than a platform.
constexpr int kMostHosts = 65'536;
constexpr int kMostLevels = 4;

/// Of the files of machines that come with hycoll.
constexpr const char* kPlatformEnding = ".platform";

/// Hosts and switches are numbered in the order in which they are made.
class TreeMaker {
 public:
  TreeMaker(const std::string& where, double host_capacity, double uplink_capacity)
      : tree_(where), host_capacity_(host_capacity), uplink_capacity_(uplink_capacity) {}

  NetworkTree make(const std::vector<int>& fan_outs) && {
    const int root = tree_.add("switch", NetworkVertex::Kind::network_switch, 1);
    add_below(root, "switch", fan_outs);
    return std::move(tree_).tree(root);
  }

 private:
  void add_below(int upper, const std::string& upper_name, std::span<const int> fan_outs) {
    for (int i = 0; i < fan_outs.front(); ++i) {
      if (fan_outs.size() == 1) {
        const int host = tree_.add(fmt::format("node{}", hosts_++), NetworkVertex::Kind::host, 1);
        tree_.link(host, upper, host_capacity_, 1);
        continue;
      }
      const std::string name = fmt::format("{}.{}", upper_name, i);
      const int lower = tree_.add(name, NetworkVertex::Kind::network_switch, 1);
      tree_.link(lower, upper, uplink_capacity_, 1);
      add_below(lower, name, fan_outs.subspan(1));
    }
  }

  NetworkDescription tree_;
  double host_capacity_;
  double uplink_capacity_;
  int hosts_ = 0;
};

class Reader {
 public:
  Reader(std::string folder, int usual_hosts, const MachinePrices& prices)
      : folder_(std::move(folder)), usual_hosts_(usual_hosts) {
    platform_.prices = prices;
  }

  void read(PlatformPart part) {
    if (part.kind() == "name") {
      platform_.name = part.rest();
    } else if (part.kind() == "node") {
      read_node(part);
    } else {
      read_network(std::move(part));
    }
  }

  Platform finish(const std::string& where) && {
    if (!network_) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: there is no network. Give one of {}", where, network_names()));
    }
    make_network(*network_);
    network_->check_all_used();
    if (platform_.name.empty()) platform_.name = to_text(platform_.network);
    return std::move(platform_);
  }

 private:
  void read_node(PlatformPart& part) {
    for (const PlatformValue& value : part.take_all()) {
      if (std::ranges::find(node_keys_, value.key) != node_keys_.end()) {
        part.fail(fmt::format("{} is given twice. Give it once", value.key));
      }
      node_keys_.push_back(value.key);
      if (value.key == "packages") {
        platform_.host.packages = part.number(value, 1, kMaximumMembers);
      } else if (value.key == "domains") {
        platform_.host.domains = part.number(value, 1, kMaximumMembers);
      } else if (value.key == "cores") {
        platform_.host.cores = part.number(value, 1, kMaximumMembers);
      } else {
        set_price(platform_.prices, part.title() + ", besides packages, domains and cores",
                  value.key, value.text);
      }
    }
  }

  void read_network(PlatformPart part) {
    if (!is_network(part.kind())) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: there is no '{}'. Give one of {}, or node or name", part.where(),
                              part.kind(), network_names()));
    }
    if (!network_) {
      network_ = std::move(part);
    } else if (network_->kind() == part.kind()) {
      network_->add(part);
    } else {
      part.fail(fmt::format("a second network; there is {} before. Give one", network_->kind()));
    }
  }

  /// When the prices are known, which say how fast links are.
  void make_network(PlatformPart& part) {
    if (part.kind() == "simgrid") {
      platform_.network = SimGridFile{path_of(part)};
      return;
    }
    platform_.link_gb_per_s = part.take_rate("link", platform_.prices.bandwidth_gb_per_s);
    platform_.link_latency_us = part.take_time("latency", 0);
    if (std::isinf(platform_.link_gb_per_s)) {
      part.fail("links as fast as cards, whose bandwidth is unlimited. Give link=RATE");
    }
    if (part.kind() == "star") {
      make_star(part);
    } else if (part.kind() == "tree") {
      const double uplink = part.take_rate("uplink", platform_.link_gb_per_s);
      platform_.network = TreeMaker(part.where(), card_capacity(), uplink / platform_.link_gb_per_s)
                              .make(part.take_sizes("4x16, switches below the root and hosts below "
                                                    "each of them",
                                                    kMostHosts));
    } else if (part.kind() == "fat-tree") {
      make_fat_tree(part);
    } else if (part.kind() == "torus") {
      platform_.network = Torus{part.take_sizes("8x8x8", kMostHosts)};
    } else if (part.kind() == "dragonfly") {
      make_dragonfly(part);
    } else {
      platform_.network = read_network_file(part.title(), path_of(part));
    }
  }

  /// What a host's link can carry, in multiples of a link.
  double card_capacity() const {
    return std::min(1.0, platform_.prices.bandwidth_gb_per_s / platform_.link_gb_per_s);
  }

  void make_star(PlatformPart& part) {
    const int hosts = part.take_number("hosts", usual_hosts_, 1, kMostHosts);
    if (hosts == 0) part.fail("hosts is missing. Give hosts=COUNT, or --nodes");
    platform_.network = TreeMaker(part.where(), card_capacity(), 1).make({hosts});
  }

  void make_fat_tree(PlatformPart& part) {
    const int levels = part.take_number("levels", 2, 1, kMostLevels);
    const int ports = part.take_number("ports", 16, 1, kMostHosts);
    const int hosts = part.take_number("hosts", usual_hosts_, 1, kMostHosts);
    if (hosts == 0) part.fail("hosts is missing. Give hosts=COUNT, or --nodes");
    const double oversubscription = part.take_ratio("oversubscription", 1);
    const double uplinks = ports / oversubscription;
    if (levels > 1 && std::abs(uplinks - std::round(uplinks)) > 1e-6) {
      part.fail(
          fmt::format("{} hosts below a leaf switch and oversubscription {:g} make {:g} links "
                      "up; expected a whole number of them",
                      ports, oversubscription, uplinks));
    }
    FatTree tree;
    double below = 1;
    for (int level = 0; level < levels; ++level) {
      const bool is_top = level + 1 == levels;
      tree.below.push_back(is_top ? std::max(1, static_cast<int>(std::ceil(hosts / below)))
                                  : ports);
      // Above the leaf switches there are as many links up as down.
      tree.above.push_back(level == 0   ? 1
                           : level == 1 ? static_cast<int>(std::lround(uplinks))
                                        : ports);
      tree.links.push_back(1);
      below *= ports;
    }
    platform_.network = std::move(tree);
  }

  void make_dragonfly(PlatformPart& part) {
    Dragonfly dragonfly{.groups = part.take_number("groups", 1, 1, kMostHosts),
                        .chassis = part.take_number("chassis", 1, 1, kMostHosts),
                        .routers = part.take_number("routers", 1, 1, kMostHosts),
                        .hosts = part.take_number("hosts", 1, 1, kMostHosts),
                        .group_links = part.take_number("group-links", 1, 1, kMostHosts),
                        .chassis_links = part.take_number("chassis-links", 1, 1, kMostHosts),
                        .router_links = part.take_number("router-links", 1, 1, kMostHosts)};
    if (dragonfly.groups > dragonfly.chassis * dragonfly.routers) {
      part.fail(
          fmt::format("{} groups of {} routers; a group has a router for each group, so that "
                      "chassis x routers must be at least as many as groups",
                      dragonfly.groups, dragonfly.chassis * dragonfly.routers));
    }
    const double hosts = static_cast<double>(dragonfly.groups) * dragonfly.chassis *
                         dragonfly.routers * dragonfly.hosts;
    if (hosts > kMostHosts) {
      part.fail(fmt::format("{:.0f} hosts; expected {} at most", hosts, kMostHosts));
    }
    platform_.network = dragonfly;
  }

  std::string path_of(PlatformPart& part) const {
    const std::string path = part.take_bare();
    if (path.empty()) part.fail(fmt::format("no file. Give {}:FILE", part.kind()));
    return path.starts_with('/') ? path : folder_ + path;
  }

  std::string folder_;
  int usual_hosts_;
  Platform platform_;
  std::optional<PlatformPart> network_;
  std::vector<std::string> node_keys_;
};

bool is_description(std::string_view text) {
  const std::string_view kind = without_comment(text.substr(0, text.find_first_of(":;")));
  return is_network(kind) || kind == "node" || kind == "name";
}

/// Of a file: whether its first line with something in it is a part.
bool has_description(std::string_view text) {
  for (const TextLine& line : lines_of(text)) {
    const std::string_view content = without_comment(line.text);
    if (!content.empty()) return is_description(content);
  }
  return false;
}

/// Where the machines lie that come with hycoll: in the source tree from where the command runs, or
/// installed beside it.
std::vector<std::filesystem::path> shipped_folders() {
  return {"docs/platforms", own_folder() / "../share/hycoll/platforms"};
}

/// The names of the machines that come with hycoll, sorted.
std::set<std::string> shipped_names() {
  std::set<std::string> names;
  for (const std::filesystem::path& folder : shipped_folders()) {
    std::error_code error;
    for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
      if (file.path().extension() == kPlatformEnding) names.insert(file.path().stem());
    }
  }
  return names;
}

/// The file that a value names: that of a machine that comes with hycoll, or itself. Throws if it
/// looks like a name, and there is neither.
std::string platform_path(const std::string& argument, const std::string& value) {
  const bool may_be_name = !value.empty() && value.find_first_of("/.") == std::string::npos;
  if (!may_be_name) return value;
  std::error_code error;
  for (const std::filesystem::path& folder : shipped_folders()) {
    const std::filesystem::path path = folder / (value + kPlatformEnding);
    if (std::filesystem::exists(path, error)) return path;
  }
  if (!std::filesystem::exists(value, error)) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("{} '{}': neither a file nor a machine that comes with hycoll; these are {}",
                    argument, value, fmt::join(shipped_names(), ", ")));
  }
  return value;
}

}  // namespace

Platform parse_platform(std::string_view text, const std::string& where, const std::string& folder,
                        int usual_hosts, const MachinePrices& prices) {
  Reader reader(folder, usual_hosts, prices);
  const std::vector<TextLine> lines = lines_of(text);
  for (const TextLine& line : lines) {
    const std::string place = lines.size() == 1 ? where : fmt::format("{}:{}", where, line.number);
    for (const std::string& part : split(std::string(without_comment(line.text)), ';')) {
      const std::string_view content = without_comment(part);
      if (!content.empty()) reader.read(PlatformPart(content, place));
    }
  }
  return std::move(reader).finish(where);
}

Platform platform_argument(const std::string& argument, const std::string& value, int usual_hosts,
                           const MachinePrices& prices) {
  if (is_description(value)) return parse_platform(value, argument, "", usual_hosts, prices);
  Platform platform;
  platform.prices = prices;
  if (value.ends_with(".xml")) {
    platform.network = SimGridFile{value};
    platform.name = to_text(platform.network);
    return platform;
  }
  const std::string path = platform_path(argument, value);
  const std::string text = read_file(argument, path);
  if (has_description(text)) {
    return parse_platform(text, path, path.substr(0, path.rfind('/') + 1), usual_hosts, prices);
  }
  platform.network = read_network(text, path);
  platform.name = path;
  return platform;
}

}  // namespace hycoll::command
