#ifndef HYCOLL_CORE_NETWORK_NETWORK_TREE_H_
#define HYCOLL_CORE_NETWORK_NETWORK_TREE_H_

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hycoll {

/// A switch or a host, and its link towards the root.
struct NetworkVertex {
  enum class Kind { network_switch, host };

  std::string name;
  Kind kind = Kind::network_switch;
  int parent = -1;      ///< -1: the root.
  double capacity = 1;  ///< Messages that the link carries at full rate in each direction.
  std::vector<int> children;

  bool is_host() const noexcept { return kind == Kind::host; }
};

/// The network of a cluster, as far as it is a tree: switches and hosts with one way between any
/// two of them. Links carry messages in both directions at once. A value.
class NetworkTree {
 public:
  /// By the vertices' numbers, in the order in which the description names them.
  std::span<const NetworkVertex> vertices() const noexcept { return vertices_; }
  const NetworkVertex& at(int vertex) const { return vertices_[static_cast<std::size_t>(vertex)]; }
  int root() const noexcept { return root_; }

  /// The numbers of all hosts, ascending; at least one.
  std::vector<int> hosts() const;
  /// The number of the host of that name; -1 if there is none.
  int find_host(const std::string& name) const;
  /// All vertices in depth-first order from the root: each before its children, and the children
  /// of a vertex, with all that is below each, in the order in which they are described.
  std::vector<int> depth_first() const;

 private:
  friend class NetworkDescription;

  std::vector<NetworkVertex> vertices_;
  std::unordered_map<std::string, int> by_name_;
  int root_ = 0;
};

/// What a file says of a network, read from its beginning to its end; it becomes a tree if it is
/// one. Errors are Error (invalid_argument) with "FILE:LINE: " at their beginning.
class NetworkDescription {
 public:
  /// `file`: what messages call it.
  explicit NetworkDescription(std::string file) : file_(std::move(file)) {}

  /// Errors: a name that is there already; more than kMostNames.
  int add(const std::string& name, NetworkVertex::Kind kind, int line);
  /// The vertex of that name; -1 if there is none.
  int find(const std::string& name) const;
  /// Errors: the two are joined already, so that there would be two ways between them.
  void link(int a, int b, double capacity, int line);

  /// Makes hosts of the vertices with one link or none.
  void make_ends_hosts();
  bool is_host(int vertex) const { return vertices_[static_cast<std::size_t>(vertex)].is_host(); }
  std::size_t vertex_count() const noexcept { return vertices_.size(); }

  /// Errors: there is no host, or something is not connected with the root.
  NetworkTree tree(int root) &&;

  [[noreturn]] void fail(int line, const std::string& problem) const;

 private:
  struct Link {
    int to;
    double capacity;
  };

  int representative(int vertex);
  std::string title(int vertex) const;

  std::string file_;
  std::vector<NetworkVertex> vertices_;
  std::vector<int> line_of_;
  std::vector<std::vector<Link>> links_;  // both ends have each
  std::vector<int> joined_;  // union-find: towards the representative of what is joined
  std::unordered_map<std::string, int> by_name_;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_NETWORK_TREE_H_
