#include "tools/command/costs/setup_cost.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/job/node_grouping.h"
#include "collectives/job/rank_map.h"
#include "collectives/job/setup_steps.h"
#include "collectives/selection/groups.h"
#include "heap/arena_memory.h"
#include "numa/topology/affinity_mask.h"
#include "tools/command/costs/allocations.h"

namespace hycoll::command {
namespace {

constexpr int kDomains = 4;
constexpr std::size_t kNoLimit = SIZE_MAX;

/// By rank: the machine, and the NUMA domain there (else none).
struct MadeUpJob {
  std::vector<int> machines;
  std::vector<int> domains;
};

/// Numbers machines as they first occur.
std::vector<int> renumbered(std::vector<int> machines) {
  std::vector<int> numbers(machines.size(), -1);
  int next = 0;
  for (int& machine : machines) {
    int& number = numbers[static_cast<std::size_t>(machine)];
    if (number < 0) number = next++;
    machine = number;
  }
  return machines;
}

MadeUpJob make_up(const SetupTask& task) {
  MadeUpJob job;
  for (int machine = 0; machine < task.machines; ++machine) {
    const bool is_smaller = task.map == ProcessMapKind::unequal && machine % 4 == 3;
    const int members = std::max(1, task.members - (is_smaller ? 1 : 0));
    for (int member = 0; member < members; ++member) {
      job.machines.push_back(task.map == ProcessMapKind::cyclic
                                 ? static_cast<int>(job.machines.size()) % task.machines
                                 : machine);
      if (task.map == ProcessMapKind::numa) job.domains.push_back(member % kDomains);
    }
  }
  if (task.map == ProcessMapKind::irregular) {
    std::ranges::shuffle(job.machines, std::mt19937(1));
    job.machines = renumbered(std::move(job.machines));
  }
  return job;
}

/// What the first process of each machine says of its processes' numbers.
std::vector<std::vector<int>> descriptions_of(const std::vector<int>& machines,
                                              const std::vector<int>& numbers) {
  const auto count = static_cast<std::size_t>(*std::ranges::max_element(machines)) + 1;
  std::vector<std::vector<int>> ranks(count);
  std::vector<std::vector<int>> values(count);
  for (std::size_t rank = 0; rank < machines.size(); ++rank) {
    const auto machine = static_cast<std::size_t>(machines[rank]);
    ranks[machine].push_back(static_cast<int>(rank));
    values[machine].push_back(numbers[rank]);
  }
  std::vector<std::vector<int>> descriptions;
  for (std::size_t m = 0; m < count; ++m) {
    descriptions.push_back(describe_ranks(ranks[m], values[m]));
  }
  return descriptions;
}

std::size_t longest_bytes(const std::vector<std::vector<int>>& descriptions) {
  std::size_t longest = 0;
  for (const auto& description : descriptions) longest = std::max(longest, description.size());
  return longest * sizeof(int);
}

/// What a process keeps of the processes of a communicator.
struct Knowledge {
  RankMap machines;
  RankMap places;
  NodeGrouping grouping;
  ThreadNumbering threads;
  std::vector<EqualNodes> nodes;
  Processes processes;
};

Knowledge knowledge_of(RankMap machines, const RankMap& domains) {
  RankMap places = node_places(machines, domains, 0, Dealing::blocks);
  NodeGrouping grouping = group_processes(places);
  ThreadNumbering threads = ThreadNumbering::one_each(machines.size());
  std::vector<EqualNodes> nodes = node_runs(grouping, threads);
  Processes processes = threads.processes();
  return {.machines = std::move(machines),
          .places = std::move(places),
          .grouping = std::move(grouping),
          .threads = std::move(threads),
          .nodes = std::move(nodes),
          .processes = std::move(processes)};
}

/// As a communicator's map is made from that of the world: number by number.
RankMap in_order(const RankMap& map, const RankOrder& order) {
  RankMap::Builder builder;
  for (int number = 0; number < map.size(); ++number) builder.add(map.at(order.rank_of(number)));
  return builder.build();
}

/// All that a process keeps of the others.
struct Setup {
  std::shared_ptr<const RankMap> world;
  std::shared_ptr<const std::vector<std::string>> hosts;
  std::unique_ptr<Knowledge> own;        ///< Of the communicator,
  RankOrder order;                       ///< and where its ranks are scattered,
  std::unique_ptr<Knowledge> regrouped;  ///< of that in another order.
};

/// The same for each process of the machine.
struct NodeSetup {
  std::vector<AffinityMask> masks;
  std::vector<ArenaDescription> heaps;
  std::vector<int> process_ids;
  std::vector<int> first_workers;
};

Setup set_up(const std::vector<std::vector<int>>& machine_descriptions,
             const std::vector<std::vector<int>>& domain_descriptions,
             const std::vector<std::string>& hosts) {
  Setup setup;
  const RankMap merged = merge_descriptions(machine_descriptions);
  setup.world = std::make_shared<const RankMap>(RankMap::unpacked(merged.packed()));
  setup.hosts = std::make_shared<const std::vector<std::string>>(hosts);
  const RankMap domains = merge_descriptions(domain_descriptions);
  setup.own = std::make_unique<Knowledge>(knowledge_of(in_order(*setup.world, {}), domains));
  setup.order = RankOrder::by_place(setup.own->places);
  if (setup.order.is_own()) return setup;
  const RankMap its_domains = domains.size() == 0 ? RankMap() : in_order(domains, setup.order);
  setup.regrouped =
      std::make_unique<Knowledge>(knowledge_of(in_order(*setup.world, setup.order), its_domains));
  return setup;
}

CommunicatorSizes sizes_of(const Knowledge& knowledge) {
  // Three levels of equal groups.
  constexpr int kGroupNumbers = 13;
  std::set<int> kinds;
  int fewest = knowledge.nodes.front().node.workers;
  int most = fewest;
  for (const auto& [node, count] : knowledge.nodes) {
    kinds.insert(node.workers);
    fewest = std::min(fewest, node.workers);
    most = std::max(most, node.workers);
  }
  const bool has_groups = most >= InsideCosts::kLeastWorkers;
  return {.node_count = knowledge.grouping.node_count(),
          .lane_count = fewest,
          .leader_kinds = static_cast<int>(kinds.size()),
          .group_numbers = has_groups ? kGroupNumbers : 0,
          .has_groups = has_groups};
}

/// What the first process of a machine receives, and what another one does.
void count(const std::vector<SetupStep>& steps, SetupCounts counts, SetupCost& cost) {
  const SetupTraffic traffic = traffic_of(steps, counts);
  cost.received_bytes += traffic.received_bytes;
  cost.messages += traffic.messages;
  counts.first_ones = 1;
  cost.others_received_bytes += traffic_of(steps, counts).received_bytes;
}

/// `domain_sizes`: null where there are none.
void count_communicator(const Knowledge& knowledge, const MapSizes* domain_sizes,
                        SetupCounts counts, SetupCost& cost) {
  counts.node = knowledge.grouping.size_of(0);
  const CommunicatorSizes sizes = sizes_of(knowledge);
  count(communicator_steps(sizes), counts, cost);
  const SetupStep comparison{"numbers", SetupStep::Kind::allreduce, SetupStep::Among::all,
                             2 * sizeof(int)};
  if (sizes.leader_kinds > 1) {
    const std::size_t packed_bytes = knowledge.machines.packed().size() * sizeof(int);
    count({comparison}, counts, cost);
    count(gather_steps({.description_bytes = 5 * sizeof(int), .packed_bytes = packed_bytes}),
          counts, cost);
  }
  if (domain_sizes == nullptr) return;
  count({comparison}, counts, cost);
  count(gather_steps(*domain_sizes), counts, cost);
}

std::size_t node_bytes_of(int members) {
  const auto count = static_cast<std::size_t>(members);
  AffinityMask mask;
  for (int unit = 0; unit < members; ++unit) mask.add(unit);
  const AllocationCount allocations(kNoLimit);
  const NodeSetup setup{.masks = std::vector<AffinityMask>(count, mask),
                        .heaps = std::vector<ArenaDescription>(count),
                        .process_ids = std::vector<int>(count),
                        .first_workers = std::vector<int>(count)};
  return allocations.present_bytes();
}

}  // namespace

std::size_t most_setup_bytes(int processes, int members, int nodes) noexcept {
  const int rounds = std::bit_width(static_cast<unsigned>(processes - 1));
  return 160 * static_cast<std::size_t>(members + nodes) + 2048 * static_cast<std::size_t>(rounds);
}

SetupCost measure_setup(const SetupTask& task) {
  const MadeUpJob job = make_up(task);
  const auto machines = descriptions_of(job.machines, job.machines);
  const auto domains = job.domains.empty() ? std::vector<std::vector<int>>()
                                           : descriptions_of(job.machines, job.domains);
  const std::vector<std::string> hosts(static_cast<std::size_t>(task.machines),
                                       "node-10000.cluster");
  SetupCost cost{.processes = static_cast<int>(job.machines.size()),
                 .node_bytes = node_bytes_of(task.members)};
  const AllocationCount allocations(kNoLimit);
  const auto start = std::chrono::steady_clock::now();
  const Setup setup = set_up(machines, domains, hosts);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  cost.seconds = time.count();
  cost.held_bytes = allocations.present_bytes();
  cost.runs = setup.world->run_count();
  const Knowledge& last = setup.regrouped != nullptr ? *setup.regrouped : *setup.own;
  cost.nodes = last.grouping.node_count();

  const SetupCounts counts{
      .all = cost.processes, .machine = task.members, .node = 1, .first_ones = task.machines};
  const std::size_t name_bytes = hosts.front().size() + 1;
  count(map_steps({.machine_count = task.machines,
                   .description_bytes = longest_bytes(machines),
                   .packed_bytes = setup.world->packed().size() * sizeof(int),
                   .name_bytes = name_bytes,
                   .names_bytes = hosts.size() * name_bytes,
                   .mask_bytes = static_cast<std::size_t>(task.members + 63) / 64 * 8}),
        counts, cost);
  const MapSizes domain_sizes{
      .description_bytes = longest_bytes(domains),
      .packed_bytes = merge_descriptions(domains).packed().size() * sizeof(int)};
  const MapSizes* const gathered = domains.empty() ? nullptr : &domain_sizes;
  count_communicator(*setup.own, gathered, counts, cost);
  if (setup.regrouped != nullptr) count_communicator(*setup.regrouped, gathered, counts, cost);
  return cost;
}

}  // namespace hycoll::command
