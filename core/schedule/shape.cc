#include "core/schedule/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/errors.h"
#include "core/base/lifetime.h"

namespace hycoll {
namespace {

void check_lanes(int lane_count, std::span<const int> lane_workers) {
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

void check_node(const Node& node, int number) {
  if (node.members >= 0 && node.workers >= std::max(node.members, 1)) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("shape: node {} has {} members and {} workers; expected 0 <= members "
                          "<= workers and at least 1 worker",
                          number, node.members, node.workers));
}

void check_worker_count(int so_far, const EqualNodes& added) {
  const std::int64_t workers = so_far + std::int64_t{added.count} * added.node.workers;
  if (workers <= std::numeric_limits<int>::max()) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("shape: the nodes have {} workers; expected at most {}", workers,
                          std::numeric_limits<int>::max()));
}

void check_leaders(const EqualLeaders& led, int first_node, int lane_count) {
  if (std::cmp_equal(led.workers.size(), lane_count)) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("shape: node {} has {} leaders for {} lanes; give one per lane",
                          first_node, led.workers.size(), lane_count));
}

void check_leaders_exist(const EqualLeaders& led, int node, int worker_count) {
  for (const int worker : led.workers) {
    if (worker >= 0 && worker < worker_count) continue;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("shape: worker {} of node {} is to lead, which has {} workers", worker,
                            node, worker_count));
  }
}

void check_groups(const Groups& groups, int node, int worker_count) {
  if (groups.is_flat() || groups.worker_count() == worker_count) return;
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("shape: node {} has {} workers, its groups {}; group all of them, or none", node,
                  worker_count, groups.worker_count()));
}

/// Throws Error unless there is something for each node; `what` says what.
template <class Run>
void check_for_each_node(std::span<const Run> runs, int node_count, std::string_view what) {
  const int given = std::accumulate(runs.begin(), runs.end(), 0,
                                    [](int sum, const Run& run) { return sum + run.count; });
  if (given == node_count) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("shape: {} are given for {} nodes of {}; give them for each", what, given,
                          node_count));
}

}  // namespace

std::vector<EqualNodes> runs_of(std::span<const Node> nodes) {
  std::vector<EqualNodes> runs;
  for (const Node& node : nodes) {
    if (runs.empty() || runs.back().node != node) runs.push_back({node, 0});
    ++runs.back().count;
  }
  return runs;
}

std::vector<EqualLeaders> runs_of(std::span<const std::vector<int>> leaders) {
  std::vector<EqualLeaders> runs;
  for (const std::vector<int>& workers : leaders) {
    if (runs.empty() || runs.back().workers != workers) runs.push_back({workers, 0});
    ++runs.back().count;
  }
  return runs;
}

/// The nodes and their leaders, by runs of nodes that are equal in both. What is the same has the
/// same representation.
class Shape::Nodes {
 public:
  /// Neighbouring equal nodes, led alike.
  struct Run {
    Node node = {.members = 0, .workers = 0};
    int first_node = 0;
    int first_member = 0;
    int first_worker = 0;
    int count = 0;
    int leaders = kDefault;  ///< Which list of leaders.
    int groups = kDefault;   ///< Which groups.
    friend bool operator==(const Run&, const Run&) = default;
  };

  explicit Nodes(int lane_count) : lane_count_(lane_count), runs_(1) {}

  /// Adds nodes behind those that are there; `leaders` are none, or one for each lane.
  void append(const EqualNodes& added, std::span<const int> leaders, const Groups& groups = {}) {
    if (added.count <= 0) return;
    check_node(added.node, end().first_node);
    check_worker_count(end().first_worker, added);
    const int list = leads_by_default(added.node, leaders) ? kDefault : number_of(leaders);
    const int grouped = groups.is_flat() ? kDefault : number_of(groups);
    const bool goes_on = runs_.size() > 1 && runs_[runs_.size() - 2].node == added.node &&
                         runs_[runs_.size() - 2].leaders == list &&
                         runs_[runs_.size() - 2].groups == grouped;
    if (!goes_on) {
      runs_.back().node = added.node;
      runs_.back().leaders = list;
      runs_.back().groups = grouped;
      runs_.push_back({});
    }
    runs_[runs_.size() - 2].count += added.count;
    runs_.back() = behind(runs_[runs_.size() - 2]);
  }

  /// Requires that no more nodes are added.
  std::shared_ptr<const Nodes> finished() && {
    runs_.shrink_to_fit();
    leaders_.shrink_to_fit();
    groups_.shrink_to_fit();
    return std::make_shared<const Nodes>(std::move(*this));
  }

  /// The run that a node, member or worker is in; `first` says which of these the number is.
  const Run& run_of(int number, int Run::*first) const {
    const auto after =
        std::upper_bound(runs_.begin(), std::prev(runs_.end()), number,
                         [first](int value, const Run& run) { return value < run.*first; });
    return *std::prev(after);
  }

  std::span<const Run> runs() const { return std::span(runs_).first(runs_.size() - 1); }
  /// Where the nodes end.
  const Run& end() const { return runs_.back(); }

  /// The index within its node of the worker that drives a lane on each node of a run.
  int leader(const Run& run, int lane) const {
    if (run.leaders == kDefault) return lane % run.node.workers;
    return leaders_[static_cast<std::size_t>(run.leaders * lane_count_ + lane)];
  }

  /// All of them, within the node.
  std::vector<int> leaders(const Run& run) const {
    std::vector<int> workers;
    for (int lane = 0; lane < lane_count_; ++lane) workers.push_back(leader(run, lane));
    return workers;
  }

  const Groups& groups(const Run& run) const {
    static const Immortal<Groups> flat;
    return run.groups == kDefault ? *flat : groups_[static_cast<std::size_t>(run.groups)];
  }

  friend bool operator==(const Nodes&, const Nodes&) = default;

 private:
  static constexpr int kDefault = -1;

  /// What begins where a run ends.
  static Run behind(const Run& run) {
    return {.first_node = run.first_node + run.count,
            .first_member = run.first_member + run.count * run.node.members,
            .first_worker = run.first_worker + run.count * run.node.workers};
  }

  static bool leads_by_default(const Node& node, std::span<const int> leaders) {
    for (int lane = 0; std::cmp_less(lane, leaders.size()); ++lane) {
      if (leaders[static_cast<std::size_t>(lane)] != lane % node.workers) return false;
    }
    return true;
  }

  /// The last list, if it is this one; otherwise a new one.
  int number_of(std::span<const int> leaders) {
    const auto lanes = static_cast<std::size_t>(lane_count_);
    if (leaders_.empty() || !std::ranges::equal(std::span(leaders_).last(lanes), leaders)) {
      leaders_.insert(leaders_.end(), leaders.begin(), leaders.end());
    }
    return static_cast<int>(leaders_.size() / lanes) - 1;
  }

  /// The last groups, if they are these; otherwise new ones.
  int number_of(const Groups& groups) {
    if (groups_.empty() || groups_.back() != groups) groups_.push_back(groups);
    return static_cast<int>(groups_.size()) - 1;
  }

  int lane_count_;
  std::vector<Run> runs_;     // and behind them one that says where they end
  std::vector<int> leaders_;  // lists of one for each lane
  std::vector<Groups> groups_;
};

Shape::Shape(std::span<const EqualNodes> nodes, int lane_count, Visibility visibility,
             std::span<const int> lane_workers)
    : lane_count_(lane_count), visibility_(visibility) {
  check_lanes(lane_count, lane_workers);
  Nodes checked(lane_count);
  std::vector<int> leaders(lane_workers.size());
  for (const EqualNodes& run : nodes) {
    std::ranges::transform(lane_workers, leaders.begin(),
                           [&](int worker) { return worker % std::max(run.node.workers, 1); });
    checked.append(run, leaders);
  }
  if (checked.end().first_node == 0) {
    throw Error(ErrorKind::invalid_argument,
                "shape: 0 nodes; a collective needs at least one node");
  }
  if (checked.end().first_member == 0) {
    throw Error(ErrorKind::invalid_argument,
                "shape: no node has a member; a collective needs at least one");
  }
  nodes_ = std::move(checked).finished();
}

Shape::Shape(const std::vector<Node>& nodes, int lane_count, Visibility visibility,
             const std::vector<int>& lane_workers)
    : Shape(runs_of(nodes), lane_count, visibility, lane_workers) {}

Shape Shape::uniform(int node_count, int members, int lane_count, Visibility visibility) {
  const EqualNodes run{.node = {.members = members, .workers = members}, .count = node_count};
  return Shape(std::span(&run, 1), lane_count, visibility);
}

Shape Shape::with_leaders(std::span<const EqualLeaders> leaders) const {
  check_for_each_node(leaders, node_count(), "leaders");
  Nodes checked(lane_count_);
  for (const EqualLeaders& led : leaders) {
    const int first = checked.end().first_node;
    check_leaders(led, first, lane_count_);
    for (int node = first; node < first + led.count; node = checked.end().first_node) {
      const Nodes::Run& run = nodes_->run_of(node, &Nodes::Run::first_node);
      check_leaders_exist(led, node, run.node.workers);
      const int end = std::min(first + led.count, run.first_node + run.count);
      checked.append({run.node, end - node}, led.workers, nodes_->groups(run));
    }
  }
  Shape shape = *this;
  shape.nodes_ = std::move(checked).finished();
  return shape;
}

Shape Shape::with_groups(std::span<const EqualGroupings> groups) const {
  check_for_each_node(groups, node_count(), "groups");
  Nodes checked(lane_count_);
  for (const EqualGroupings& grouped : groups) {
    const int first = checked.end().first_node;
    for (int node = first; node < first + grouped.count; node = checked.end().first_node) {
      const Nodes::Run& run = nodes_->run_of(node, &Nodes::Run::first_node);
      check_groups(grouped.groups, node, run.node.workers);
      const int end = std::min(first + grouped.count, run.first_node + run.count);
      checked.append({run.node, end - node}, nodes_->leaders(run), grouped.groups);
    }
  }
  Shape shape = *this;
  shape.nodes_ = std::move(checked).finished();
  return shape;
}

Shape Shape::with_groups(const Groups& groups) const {
  const EqualGroupings everywhere{.groups = groups, .count = node_count()};
  return with_groups(std::span(&everywhere, 1));
}

Shape Shape::with_leaders(const std::vector<std::vector<int>>& leaders) const {
  return with_leaders(runs_of(leaders));
}

Shape Shape::with_visibility(Visibility visibility) const {
  Shape shape = *this;
  shape.visibility_ = visibility;
  return shape;
}

Shape Shape::with_processes(const Processes& processes) const {
  if (processes.worker_count() != 0 && processes.worker_count() != worker_count()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("shape: processes has {} entries for {} workers; give one per worker, "
                            "or none",
                            processes.worker_count(), worker_count()));
  }
  check_processes(processes);
  Shape shape = with_visibility(Visibility::staged);
  shape.processes_ = processes.is_one_each() ? Processes() : processes;
  return shape;
}

void Shape::check_processes(const Processes& processes) const {
  const auto change_with_nodes = [&](const Nodes::Run& run) {
    return processes.begin_at(run.first_worker, run.node.workers, run.count);
  };
  if (processes.ascend() && std::ranges::all_of(nodes_->runs(), change_with_nodes)) return;
  std::map<int, int> node_of_process;
  for (int worker = 0; worker < worker_count(); ++worker) {
    const int process = processes.of(worker);
    const int node = node_of_worker(worker);
    if (process < 0 || node_of_process.try_emplace(process, node).first->second != node) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("shape: worker {} of node {} is in process {}; processes are numbered "
                      "from 0 on, and have workers on one node only",
                      worker, node, process));
    }
  }
}

Shape Shape::with_processes_of(int thread_count) const {
  HYCOLL_ASSERT(thread_count >= 1, "a process has at least one worker");
  std::vector<EqualProcesses> processes;
  int next = 0;
  const auto add = [&](int count, int threads) {
    if (count == 0) return;
    processes.push_back({.first_process = next, .count = count, .thread_count = threads});
    next += count;
  };
  for (const Nodes::Run& run : nodes_->runs()) {
    const int threads = std::min(thread_count, run.node.workers);
    const int rest = run.node.workers % threads;
    if (rest == 0) {
      add(run.count * (run.node.workers / threads), threads);
      continue;
    }
    for (int node = 0; node < run.count; ++node) {
      add(run.node.workers / threads, threads);
      add(1, rest);
    }
  }
  return with_processes(Processes(processes));
}

int Shape::node_count() const noexcept { return nodes_->end().first_node; }

int Shape::member_count() const noexcept { return nodes_->end().first_member; }

int Shape::worker_count() const noexcept { return nodes_->end().first_worker; }

const Node& Shape::node(int node) const {
  return nodes_->run_of(node, &Nodes::Run::first_node).node;
}

const Groups& Shape::groups(int node) const {
  return nodes_->groups(nodes_->run_of(node, &Nodes::Run::first_node));
}

std::vector<EqualNodes> Shape::node_runs() const {
  std::vector<EqualNodes> runs;
  for (const Nodes::Run& run : nodes_->runs()) {
    if (runs.empty() || runs.back().node != run.node) runs.push_back({run.node, 0});
    runs.back().count += run.count;
  }
  return runs;
}

std::vector<int> Shape::first_nodes() const {
  std::vector<int> nodes;
  for (const Nodes::Run& run : nodes_->runs()) nodes.push_back(run.first_node);
  return nodes;
}

bool Shape::has_aggregators() const noexcept {
  return std::ranges::any_of(nodes_->runs(),
                             [](const Nodes::Run& run) { return run.node.members == 0; });
}

int Shape::first_member(int node) const {
  const Nodes::Run& run = nodes_->run_of(node, &Nodes::Run::first_node);
  return run.first_member + (node - run.first_node) * run.node.members;
}

int Shape::first_worker(int node) const {
  const Nodes::Run& run = nodes_->run_of(node, &Nodes::Run::first_node);
  return run.first_worker + (node - run.first_node) * run.node.workers;
}

int Shape::worker_of_member(int member) const {
  const Nodes::Run& run = nodes_->run_of(member, &Nodes::Run::first_member);
  const int index = member - run.first_member;
  return run.first_worker + index / run.node.members * run.node.workers + index % run.node.members;
}

int Shape::node_of_member(int member) const {
  const Nodes::Run& run = nodes_->run_of(member, &Nodes::Run::first_member);
  return run.first_node + (member - run.first_member) / run.node.members;
}

int Shape::node_of_worker(int worker) const {
  const Nodes::Run& run = nodes_->run_of(worker, &Nodes::Run::first_worker);
  return run.first_node + (worker - run.first_worker) / run.node.workers;
}

bool Shape::reaches(int worker, int member) const {
  const int owner = worker_of_member(member);
  return visibility_ == Visibility::direct ? node_of_worker(worker) == node_of_worker(owner)
                                           : process(worker) == process(owner);
}

int Shape::leader(int node, int lane) const {
  const Nodes::Run& run = nodes_->run_of(node, &Nodes::Run::first_node);
  return run.first_worker + (node - run.first_node) * run.node.workers + nodes_->leader(run, lane);
}

bool operator==(const Shape& a, const Shape& b) noexcept {
  return a.lane_count_ == b.lane_count_ && a.visibility_ == b.visibility_ &&
         a.processes_ == b.processes_ && (a.nodes_ == b.nodes_ || *a.nodes_ == *b.nodes_);
}

}  // namespace hycoll
