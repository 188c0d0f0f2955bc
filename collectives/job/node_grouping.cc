#include "collectives/job/node_grouping.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace hycoll {
namespace {

/// The last of the runs that begins at or before a place: `begin_of` tells where each does.
template <class Runs, class BeginOf>
auto run_at(const Runs& runs, int place, BeginOf begin_of) {
  return std::prev(std::ranges::upper_bound(runs, place, {}, begin_of));
}

}  // namespace

void NodeGrouping::add(int size, int count) {
  if (runs_.empty() || runs_.back().size != size) {
    runs_.push_back({.first_node = node_count_, .first_rank = process_count_, .size = size});
  }
  node_count_ += count;
  process_count_ += size * count;
}

const NodeGrouping::Run& NodeGrouping::run_of_node(int node) const {
  return *run_at(runs_, node, &Run::first_node);
}

int NodeGrouping::node_of(int rank) const {
  const Run& run = *run_at(runs_, rank, &Run::first_rank);
  return run.first_node + (rank - run.first_rank) / run.size;
}

int NodeGrouping::first_rank_of(int node) const {
  const Run& run = run_of_node(node);
  return run.first_rank + (node - run.first_node) * run.size;
}

ThreadNumbering ThreadNumbering::one_each(int process_count) {
  return ThreadNumbering(RankMap::constant(process_count, 1));
}

ThreadNumbering::ThreadNumbering(const RankMap& thread_counts) {
  int threads = 0;
  thread_counts.for_each_stretch([&](const RankStretch& stretch) {
    runs_.push_back(
        {.first_process = stretch.first_rank, .first_thread = threads, .threads = stretch.value});
    threads += stretch.count * stretch.value;
  });
  runs_.push_back({.first_process = thread_counts.size(), .first_thread = threads, .threads = 1});
  runs_.shrink_to_fit();
}

const ThreadNumbering::Run& ThreadNumbering::run_of(int process) const {
  return *run_at(runs_, process, &Run::first_process);
}

int ThreadNumbering::first_of(int process) const {
  const Run& run = run_of(process);
  return run.first_thread + (process - run.first_process) * run.threads;
}

Processes ThreadNumbering::processes() const {
  std::vector<EqualProcesses> runs;
  for (std::size_t r = 0; r + 1 < runs_.size(); ++r) {
    runs.push_back({.first_process = runs_[r].first_process,
                    .count = runs_[r + 1].first_process - runs_[r].first_process,
                    .thread_count = runs_[r].threads});
  }
  return Processes(runs);
}

namespace {

struct Location {
  int machine;
  int domain;
  friend auto operator<=>(const Location&, const Location&) = default;
};

/// Visits the stretches of ranks that have one location.
template <class Visit>
void for_each_location(const RankMap& machines, const RankMap& domains, const Visit& visit) {
  machines.for_each_stretch([&](const RankStretch& stretch) {
    const int end = stretch.first_rank + stretch.count;
    if (domains.size() == 0) return visit(Location{stretch.value, 0}, stretch.count);
    for (int rank = stretch.first_rank; rank < end; ++rank) {
      visit(Location{stretch.value, domains.at(rank)}, 1);
    }
  });
}

/// The processes of one location.
struct Occupants {
  int count = 0;
  int seen = 0;             ///< Of them, by now.
  std::vector<int> places;  ///< By part; -1: not met yet.
};

int part_of(const Occupants& occupants, Dealing dealing) {
  const auto parts = static_cast<int>(occupants.places.size());
  if (dealing == Dealing::cyclic) return occupants.seen % parts;
  return static_cast<int>(static_cast<long>(occupants.seen) * parts / occupants.count);
}

}  // namespace

RankMap node_places(const RankMap& machines, const RankMap& domains, int emulated_nodes,
                    Dealing dealing) {
  const auto parts = static_cast<std::size_t>(std::max(1, emulated_nodes));
  std::map<Location, Occupants> all;
  for_each_location(machines, domains, [&](const Location& location, int count) {
    Occupants& occupants = all[location];
    occupants.places.resize(parts, -1);
    occupants.count += count;
  });
  RankMap::Builder builder;
  int place_count = 0;
  for_each_location(machines, domains, [&](const Location& location, int count) {
    Occupants& occupants = all[location];
    // Without parts a stretch has one place.
    const int step = parts == 1 ? count : 1;
    for (int i = 0; i < count; i += step, occupants.seen += step) {
      int& place = occupants.places[static_cast<std::size_t>(part_of(occupants, dealing))];
      if (place < 0) place = place_count++;
      builder.add(place, step);
    }
  });
  return builder.build();
}

NodeGrouping group_processes(const RankMap& places) {
  NodeGrouping grouping;
  places.for_each_stretch([&](const RankStretch& stretch) { grouping.add(stretch.count); });
  return grouping;
}

std::vector<EqualNodes> node_runs(const NodeGrouping& grouping, const ThreadNumbering& threads) {
  std::vector<EqualNodes> runs;
  const auto add = [&](int workers, int count) {
    const Node node{.members = workers, .workers = workers};
    if (runs.empty() || runs.back().node != node) runs.push_back({.node = node, .count = 0});
    runs.back().count += count;
  };
  const auto all = grouping.runs();
  for (std::size_t r = 0; r < all.size(); ++r) {
    const int begin = all[r].first_node;
    const int end = r + 1 < all.size() ? all[r + 1].first_node : grouping.node_count();
    const int end_rank = all[r].first_rank + (end - begin) * all[r].size;
    if (threads.is_constant(all[r].first_rank, end_rank)) {
      add(all[r].size * threads.count_of(all[r].first_rank), end - begin);
      continue;
    }
    for (int rank = all[r].first_rank; rank < end_rank; rank += all[r].size) {
      add(threads.first_of(rank + all[r].size) - threads.first_of(rank), 1);
    }
  }
  return runs;
}

RankOrder RankOrder::by_place(const RankMap& places) {
  std::vector<std::vector<RankPattern>> of_places;
  bool ascend = true;
  places.for_each_stretch([&](const RankStretch& stretch) {
    const auto place = static_cast<std::size_t>(stretch.value);
    ascend = ascend && place + 1 >= of_places.size();
    if (place >= of_places.size()) of_places.resize(place + 1);
    append(of_places[place], stretch.first_rank, stretch.count);
  });
  RankOrder order;
  if (ascend) return order;
  order.places_ = places;
  int number = 0;
  for (const std::vector<RankPattern>& runs : of_places) {
    order.first_run_of_place_.push_back(order.runs_.size());
    for (const RankPattern& run : runs) {
      order.runs_.push_back({.first_number = number, .ranks = run});
      number += run.rank_count();
    }
  }
  order.runs_.shrink_to_fit();
  return order;
}

int RankOrder::number_of(int rank) const {
  if (is_own()) return rank;
  const auto place = static_cast<std::size_t>(places_.at(rank));
  for (std::size_t r = first_run_of_place_[place];; ++r) {
    const auto& [first_number, ranks] = runs_[r];
    const int offset = rank - ranks.first_rank;
    const int step = ranks.count == 1 ? 0 : offset / ranks.stride;
    if (step < ranks.count && offset - step * ranks.stride < ranks.width) {
      return first_number + step * ranks.width + offset - step * ranks.stride;
    }
  }
}

int RankOrder::rank_of(int number) const {
  if (is_own()) return number;
  const auto& [first_number, ranks] = *run_at(runs_, number, &Run::first_number);
  const int offset = number - first_number;
  return ranks.first_rank + offset / ranks.width * ranks.stride + offset % ranks.width;
}

}  // namespace hycoll
