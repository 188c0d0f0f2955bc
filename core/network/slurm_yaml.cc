#include "core/network/slurm_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/network/host_list.h"
#include "core/network/input_place.h"
#include "core/network/slurm_switches.h"
#include "core/network/yaml_subset.h"

namespace hycoll {
namespace {

constexpr std::string_view kTopologyKeys[] = {"topology", "cluster_default", "tree", "block",
                                              "flat"};
constexpr std::string_view kTreeKeys[] = {"switches"};
constexpr std::string_view kSwitchKeys[] = {"switch", "children", "nodes"};

class Interpreter {
 public:
  explicit Interpreter(const std::string& file) : file_(file) {}

  NetworkTree read(const YamlNode& document) const {
    const YamlNode& tree = *chosen_topology(document).find("tree");
    require_mapping(tree, "'tree'", kTreeKeys);
    const YamlNode* const switches = tree.find("switches");
    if (switches == nullptr || switches->kind != YamlNode::Kind::sequence) {
      fail(tree.line,
           "the tree has no list of switches; expected 'switches:' and '- switch: NAME' "
           "below it");
    }
    std::vector<SlurmSwitch> read;
    for (const YamlNode& item : switches->items) read.push_back(switch_of(item));
    return tree_of_switches(read, file_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& problem) const { place(line).fail(problem); }
  InputPlace place(int line) const { return {.file = file_, .line = line}; }

  void require_mapping(const YamlNode& node, std::string_view what,
                       std::span<const std::string_view> keys) const {
    if (node.kind != YamlNode::Kind::mapping) {
      fail(node.line, fmt::format("{} has no entries; expected {}", what, fmt::join(keys, ", ")));
    }
    for (const YamlEntry& entry : node.entries) {
      if (std::ranges::find(keys, entry.key) != keys.end()) continue;
      fail(entry.line, fmt::format("'{}' is not known in {}; expected {}", entry.key, what,
                                   fmt::join(keys, ", ")));
    }
  }

  bool is_true(const YamlNode* value) const {
    if (value == nullptr) return false;
    for (const char* word : {"true", "True", "TRUE"}) {
      if (value->text == word) return true;
    }
    for (const char* word : {"false", "False", "FALSE"}) {
      if (value->text == word) return false;
    }
    fail(value->line, fmt::format("'{}' is no truth value; expected true or false", value->text));
  }

  const YamlNode& chosen_topology(const YamlNode& document) const {
    if (document.kind != YamlNode::Kind::sequence) {
      fail(document.line, "there is no list of topologies; expected '- topology: NAME'");
    }
    const YamlNode* first_tree = nullptr;
    const YamlNode* by_default = nullptr;
    for (const YamlNode& topology : document.items) {
      require_mapping(topology, "a topology", kTopologyKeys);
      const bool is_default = is_true(topology.find("cluster_default"));
      if (is_default && by_default == nullptr) by_default = &topology;
      if (first_tree == nullptr && topology.find("tree") != nullptr) first_tree = &topology;
    }
    if (by_default == nullptr) by_default = first_tree;
    if (by_default == nullptr || by_default->find("tree") == nullptr) {
      fail(
          by_default == nullptr ? document.line : by_default->line,
          "the cluster's topology is no tree; expected 'tree:' with switches, as of topology/tree");
    }
    return *by_default;
  }

  SlurmSwitch switch_of(const YamlNode& node) const {
    require_mapping(node, "a switch", kSwitchKeys);
    const YamlNode* const name = node.find("switch");
    if (name == nullptr || !is_network_name(name->text)) {
      fail(name == nullptr ? node.line : name->line,
           fmt::format("'{}' is no name of a switch; expected '- switch: NAME'",
                       name == nullptr ? "" : name->text));
    }
    return {.name = name->text,
            .switches = names_of(node.find("children")),
            .nodes = names_of(node.find("nodes")),
            .line = node.line};
  }

  std::vector<std::string> names_of(const YamlNode* value) const {
    if (value == nullptr) return {};
    if (value->kind == YamlNode::Kind::scalar) {
      return expand_host_list(value->text, place(value->line).title());
    }
    std::vector<std::string> names;
    for (const YamlNode& item : value->items) {
      std::ranges::move(names_of(&item), std::back_inserter(names));
    }
    if (names.empty()) fail(value->line, "there are no names; expected a host list");
    return names;
  }

  const std::string& file_;
};

}  // namespace

NetworkTree read_slurm_yaml(std::string_view text, const std::string& file) {
  return Interpreter(file).read(parse_yaml_subset(text, file));
}

}  // namespace hycoll
