#include "core/schedule/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

/// The node whose range [first[n], first[n + 1]) holds the value.
int find_range(const std::vector<int>& first, int value) {
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), value) - first.begin()) - 1;
}

void check_lanes(int lane_count, const std::vector<int>& lane_workers) {
  if (lane_count < 1) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("shape: lane_count is {}; ask for at least 1 lane", lane_count));
  }
  if (!lane_workers.empty() && std::cmp_not_equal(lane_workers.size(), lane_count)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("shape: lane_workers has {} entries for {} lanes; give one worker per "
                            "lane, or none for the default",
                            lane_workers.size(), lane_count));
  }
  if (std::any_of(lane_workers.begin(), lane_workers.end(), [](int w) { return w < 0; })) {
    throw Error(ErrorKind::invalid_argument,
                "shape: lane_workers has a negative entry; workers are numbered from 0");
  }
}

}  // namespace

Shape::Shape(std::vector<Node> nodes, int lane_count, Visibility visibility,
             const std::vector<int>& lane_workers)
    : nodes_(std::move(nodes)),
      lane_count_(lane_count),
      visibility_(visibility),
      first_member_{0},
      first_worker_{0} {
  if (nodes_.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "shape: 0 nodes; a collective needs at least one node");
  }
  check_lanes(lane_count_, lane_workers);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if (node.members < 0 || node.workers < std::max(node.members, 1)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("shape: node {} has {} members and {} workers; expected 0 <= members "
                              "<= workers and at least 1 worker",
                              n, node.members, node.workers));
    }
    first_member_.push_back(first_member_.back() + node.members);
    first_worker_.push_back(first_worker_.back() + node.workers);
  }
  if (member_count() == 0) {
    throw Error(ErrorKind::invalid_argument,
                "shape: no node has a member; a collective needs at least one");
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const int worker : lane_workers) {
      leaders_.push_back(first_worker_[n] + worker % nodes_[n].workers);
    }
  }
}

Shape Shape::with_leaders(const std::vector<std::vector<int>>& workers) const {
  if (workers.size() != nodes_.size()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("shape: leaders are given for {} nodes of {}; give them for each",
                            workers.size(), nodes_.size()));
  }
  Shape shape = *this;
  shape.leaders_.clear();
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (std::cmp_not_equal(workers[n].size(), lane_count_)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("shape: node {} has {} leaders for {} lanes; give one per lane", n,
                              workers[n].size(), lane_count_));
    }
    for (const int worker : workers[n]) {
      if (worker < 0 || worker >= nodes_[n].workers) {
        throw Error(ErrorKind::invalid_argument,
                    fmt::format("shape: worker {} of node {} is to lead, which has {} workers",
                                worker, n, nodes_[n].workers));
      }
      shape.leaders_.push_back(first_worker_[n] + worker);
    }
  }
  return shape;
}

Shape Shape::uniform(int node_count, int members, int lane_count, Visibility visibility) {
  return Shape(std::vector<Node>(static_cast<std::size_t>(std::max(node_count, 0)),
                                 Node{.members = members, .workers = members}),
               lane_count, visibility);
}

Shape Shape::with_visibility(Visibility visibility) const {
  Shape shape = *this;
  shape.visibility_ = visibility;
  return shape;
}

Shape Shape::with_processes(std::vector<int> processes) const {
  if (!processes.empty() && std::cmp_not_equal(processes.size(), worker_count())) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("shape: processes has {} entries for {} workers; give one per worker, "
                            "or none",
                            processes.size(), worker_count()));
  }
  std::map<int, int> node_of_process;
  for (int worker = 0; std::cmp_less(worker, processes.size()); ++worker) {
    const int process = processes[static_cast<std::size_t>(worker)];
    const int node = node_of_worker(worker);
    if (process < 0 || node_of_process.try_emplace(process, node).first->second != node) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("shape: worker {} of node {} is in process {}; processes are numbered "
                      "from 0 on, and have workers on one node only",
                      worker, node, process));
    }
  }
  Shape shape = with_visibility(Visibility::staged);
  shape.processes_ = std::move(processes);
  return shape;
}

Shape Shape::with_processes_of(int thread_count) const {
  HYCOLL_ASSERT(thread_count >= 1, "a process has at least one worker");
  std::vector<int> processes;
  int first_of_node = 0;
  for (const Node& node : nodes_) {
    for (int i = 0; i < node.workers; ++i) processes.push_back(first_of_node + i / thread_count);
    first_of_node = processes.back() + 1;
  }
  return with_processes(std::move(processes));
}

bool Shape::has_aggregators() const noexcept {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const Node& node) { return node.members == 0; });
}

int Shape::worker_of_member(int member) const {
  const int node = node_of_member(member);
  return first_worker(node) + member - first_member(node);
}

bool Shape::reaches(int worker, int member) const {
  const int owner = worker_of_member(member);
  return visibility_ == Visibility::direct ? node_of_worker(worker) == node_of_worker(owner)
                                           : process(worker) == process(owner);
}

int Shape::node_of_member(int member) const { return find_range(first_member_, member); }

int Shape::node_of_worker(int worker) const { return find_range(first_worker_, worker); }

int Shape::leader(int node, int lane) const {
  if (leaders_.empty()) return first_worker(node) + lane % this->node(node).workers;
  return leaders_[static_cast<std::size_t>(node * lane_count_ + lane)];
}

}  // namespace hycoll
