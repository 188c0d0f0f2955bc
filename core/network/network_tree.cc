#include "core/network/network_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/network/host_list.h"
#include "core/network/input_place.h"

namespace hycoll {

std::vector<int> NetworkTree::hosts() const {
  std::vector<int> hosts;
  for (std::size_t vertex = 0; vertex < vertices_.size(); ++vertex) {
    if (vertices_[vertex].is_host()) hosts.push_back(static_cast<int>(vertex));
  }
  return hosts;
}

int NetworkTree::find_host(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() || !at(found->second).is_host() ? -1 : found->second;
}

std::vector<int> NetworkTree::depth_first() const {
  // Trees may be deeper than a thread's stack.
  std::vector<int> order;
  std::vector<int> waiting = {root_};
  while (!waiting.empty()) {
    order.push_back(waiting.back());
    waiting.pop_back();
    const std::vector<int>& children = at(order.back()).children;
    waiting.insert(waiting.end(), children.rbegin(), children.rend());
  }
  return order;
}

void NetworkDescription::fail(int line, const std::string& problem) const {
  InputPlace{.file = file_, .line = line}.fail(problem);
}

std::string NetworkDescription::title(int vertex) const {
  return fmt::format("{} '{}'", is_host(vertex) ? "host" : "switch",
                     vertices_[static_cast<std::size_t>(vertex)].name);
}

int NetworkDescription::add(const std::string& name, NetworkVertex::Kind kind, int line) {
  const auto vertex = static_cast<int>(vertices_.size());
  const auto [known, is_new] = by_name_.try_emplace(name, vertex);
  if (!is_new) {
    fail(line, fmt::format("'{}' is already the name of a {} in line {}; expected each name once",
                           name, is_host(known->second) ? "host" : "switch",
                           line_of_[static_cast<std::size_t>(known->second)]));
  }
  if (vertices_.size() == kMostNames) {
    fail(line, fmt::format("there are more switches and hosts than expected, which is at most {}",
                           kMostNames));
  }
  vertices_.push_back({.name = name, .kind = kind, .children = {}});
  line_of_.push_back(line);
  links_.emplace_back();
  joined_.push_back(vertex);
  return vertex;
}

int NetworkDescription::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

int NetworkDescription::representative(int vertex) {
  // Halving the ways keeps them short.
  for (int* next = &joined_[static_cast<std::size_t>(vertex)]; *next != vertex;
       next = &joined_[static_cast<std::size_t>(vertex)]) {
    vertex = *next = joined_[static_cast<std::size_t>(*next)];
  }
  return vertex;
}

void NetworkDescription::link(int a, int b, double capacity, int line) {
  const int one = representative(a);
  const int other = representative(b);
  if (one == other) {
    fail(line, fmt::format("a link between '{}' and '{}' closes a cycle, as they are connected "
                           "already; expected a tree, with one way between any two",
                           vertices_[static_cast<std::size_t>(a)].name,
                           vertices_[static_cast<std::size_t>(b)].name));
  }
  joined_[static_cast<std::size_t>(other)] = one;
  links_[static_cast<std::size_t>(a)].push_back({.to = b, .capacity = capacity});
  links_[static_cast<std::size_t>(b)].push_back({.to = a, .capacity = capacity});
}

void NetworkDescription::make_ends_hosts() {
  for (std::size_t vertex = 0; vertex < vertices_.size(); ++vertex) {
    if (links_[vertex].size() <= 1) vertices_[vertex].kind = NetworkVertex::Kind::host;
  }
}

NetworkTree NetworkDescription::tree(int root) && {
  if (std::ranges::none_of(vertices_, &NetworkVertex::is_host)) {
    fail(line_of_.empty() ? 1 : line_of_.back(), "there is no host; expected one at least");
  }
  for (int vertex = 0; std::cmp_less(vertex, vertices_.size()); ++vertex) {
    if (representative(vertex) == representative(root)) continue;
    fail(line_of_[static_cast<std::size_t>(vertex)],
         fmt::format("{} is not connected with {}; expected one tree, so a link or a switch "
                     "above both is missing",
                     title(vertex), title(root)));
  }
  NetworkTree tree;
  tree.root_ = root;
  tree.vertices_ = std::move(vertices_);
  tree.by_name_ = std::move(by_name_);
  std::vector<int> waiting = {root};
  while (!waiting.empty()) {
    const int vertex = waiting.back();
    waiting.pop_back();
    NetworkVertex& here = tree.vertices_[static_cast<std::size_t>(vertex)];
    for (const auto& [to, capacity] : links_[static_cast<std::size_t>(vertex)]) {
      if (to == here.parent) continue;
      NetworkVertex& child = tree.vertices_[static_cast<std::size_t>(to)];
      child.parent = vertex;
      child.capacity = capacity;
      here.children.push_back(to);
      waiting.push_back(to);
    }
  }
  return tree;
}

}  // namespace hycoll
