// What the plans of a process hold, on machines that are described here.

#include "collectives/plans/plan_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "collectives/node/leaders.h"

namespace hycoll {
namespace plan_cache_test {

constexpr PlanQuery kLongAllreduce{.element_bytes = 8, .extent = {.count = 1 << 20}};

/// On every node, whatever workers it has.
constexpr int kOpenLanes = 8;

/// A node of a machine of this kind, with a worker on each core.
struct PlacedNode {
  PlacedNode(const std::string& machine, MemberCount members, Placement placement)
      : topology(Topology::synthetic(machine)),
        cores(worker_cores(topology, topology.usable_core_count(), placement, members)),
        leaders(leaders_of(cores, kOpenLanes, placement)) {}

  Node node(MemberCount members) const {
    const int workers = static_cast<int>(cores.size());
    return {.members = members == MemberCount::one ? 1 : workers, .workers = workers};
  }

  Topology topology;
  std::vector<Core> cores;
  std::vector<int> leaders;
};

/// The plans of one process in a job of these nodes.
PlanCache plans_of(const std::vector<PlacedNode>& placed, int node, MemberCount members, int lanes,
                   const std::string& algorithm = "auto") {
  PlanCache::Options options{.nodes = {},
                             .node = node,
                             .requested_lanes = lanes,
                             .requested_algorithm = algorithm,
                             .leaders = {}};
  for (const PlacedNode& one : placed) {
    options.nodes.push_back({one.node(members)});
    if (members == MemberCount::every_worker) options.leaders.push_back({one.leaders});
  }
  return PlanCache(std::move(options));
}

bool exchanges(const Instruction& instruction) {
  return instruction.kind == InstructionKind::send || instruction.kind == InstructionKind::native;
}

/// The workers whose programs send.
std::vector<int> leaders_in(const Plan& plan) {
  std::vector<int> leaders;
  for (std::size_t worker = 0; worker < plan.programs.size(); ++worker) {
    const bool leads =
        std::ranges::any_of(plan.programs[worker].strands, [](const StrandProgram& strand) {
          return std::ranges::any_of(strand.instructions, exchanges);
        });
    if (leads) leaders.push_back(static_cast<int>(worker));
  }
  return leaders;
}

void check_spread(const std::string& machine, int lanes, int Core::*place) {
  for (const MemberCount members : {MemberCount::one, MemberCount::every_worker}) {
    const std::vector<PlacedNode> placed(2, PlacedNode(machine, members, Placement::spread));
    PlanCache plans = plans_of(placed, 1, members, lanes);
    const PlanPointer plan = plans.find(kLongAllreduce);
    std::set<int> places;
    for (const int worker : leaders_in(*plan)) {
      places.insert(placed[1].cores[static_cast<std::size_t>(worker)].*place);
    }
    CAPTURE(machine);
    CAPTURE(static_cast<int>(members));
    CHECK(std::ssize(leaders_in(*plan)) == lanes);
    CHECK(std::ssize(places) == lanes);
    if (members == MemberCount::one) CHECK(std::ssize(plan->programs) == lanes);
  }
}

TEST_CASE("few lanes are led by workers of different domains, or caches") {
  check_spread("pack:1 numa:2 core:4", 2, &Core::numa_domain);
  check_spread("pack:2 numa:2 core:4", 4, &Core::numa_domain);
  check_spread("pack:1 l3:8 core:8", 8, &Core::last_level_cache);
}

TEST_CASE("nodes are led each by its own placement, and all know it") {
  constexpr MemberCount kMembers = MemberCount::every_worker;
  const std::vector<PlacedNode> placed = {
      {"pack:2 core:4", kMembers, Placement::spread},
      {"pack:4 core:2", kMembers, Placement::spread},
      {"pack:1 core:3", kMembers, Placement::spread},
  };
  for (int node = 0; node < 3; ++node) {
    CAPTURE(node);
    PlanCache plans = plans_of(placed, node, kMembers, 3);
    const auto& order = placed[static_cast<std::size_t>(node)].leaders;
    std::vector<int> expected(order.begin(), order.begin() + 3);
    std::ranges::sort(expected);
    CHECK(leaders_in(*plans.find(kLongAllreduce)) == expected);
  }
}

TEST_CASE("whether native exchanges block is the same on nodes that are led differently") {
  constexpr MemberCount kMembers = MemberCount::every_worker;
  // On the second node a worker leads two lanes, so it has two strands.
  const std::vector<PlacedNode> placed = {{"pack:1 core:4", kMembers, Placement::spread},
                                          {"pack:1 core:3", kMembers, Placement::spread}};
  for (const int lanes : {3, 4}) {
    for (int node = 0; node < 2; ++node) {
      CAPTURE(lanes);
      CAPTURE(node);
      PlanCache plans = plans_of(placed, node, kMembers, lanes, "dpml-native");
      const PlanPointer plan = plans.find(kLongAllreduce);
      for (const int worker : leaders_in(*plan)) {
        CHECK(plan->programs[static_cast<std::size_t>(worker)].blocks_alone == (lanes == 3));
      }
    }
  }
}

/// As far as the programs of different workers differ.
bool are_alike(const Program& a, const Program& b) {
  const auto sizes = [](const Program& program) {
    std::vector<std::size_t> all{program.operands.size(), program.staging_bytes,
                                 program.scratch_bytes, program.is_looked_up ? 1u : 0u};
    for (const StrandProgram& strand : program.strands) all.push_back(strand.instructions.size());
    return all;
  };
  return sizes(a) == sizes(b) && a.some_run_ahead == b.some_run_ahead;
}

TEST_CASE("a process of a node with several keeps the programs of its own workers only") {
  const PlanQuery short_call{.element_bytes = 8, .extent = {.count = 1}};
  PlanCache::Options options{.nodes = {{4, 4}, {4, 4}},
                             .node = 1,
                             .leaders = {},
                             .peers = Peers::processes,
                             .staging_bytes = 1 << 20};
  PlanCache of_all(options);
  for (const int worker : {0, 3}) {
    CAPTURE(worker);
    const auto w = static_cast<std::size_t>(worker);
    options.workers = {.first = worker, .count = 1};
    PlanCache own(options);
    const PlanPointer whole = own.find(short_call);
    REQUIRE(whole->programs.size() == 1);
    CHECK(are_alike(whole->programs[0], of_all.find(short_call)->programs[w]));
    const PlanPointer long_plan = own.find(kLongAllreduce);
    REQUIRE(long_plan->crossing);
    const SlicedPrograms& staged = long_plan->crossing->staged;
    REQUIRE(staged.run_count > 1);
    for (std::size_t run = 0; run < staged.programs.size(); ++run) {
      REQUIRE(staged.programs[run].size() == 1);
      CHECK(are_alike(staged.programs[run][0],
                      of_all.find(kLongAllreduce)->crossing->staged.programs[run][w]));
    }
  }
}

TEST_CASE("of many processes the kernel copies longer vectors, and other collectives too") {
  const auto shortest = [](int members, Collective collective) {
    return NearSingleCopies{members}.shortest_bytes(collective);
  };
  const auto shortest_kib = [&](int members, Collective collective) {
    return shortest(members, collective) >> 10;
  };
  CHECK(shortest(0, Collective::broadcast) == SIZE_MAX);
  for (const Collective rooted : {Collective::broadcast, Collective::gather, Collective::scatter}) {
    CHECK(shortest_kib(2, rooted) == 1024);
  }
  CHECK(shortest(2, Collective::reduce) == SIZE_MAX);
  CHECK(shortest_kib(2, Collective::alltoall) == 8192);
  CHECK(shortest_kib(2, Collective::allgather) == 2048);
  for (const int members : {4, 16}) {
    CAPTURE(members);
    CHECK(shortest_kib(members, Collective::alltoall) == 256);
    CHECK(shortest(members, Collective::scan) == SIZE_MAX);
  }
  CHECK(shortest_kib(4, Collective::allgather) == 256);
  CHECK(shortest_kib(16, Collective::allgather) == 512);
  for (const Collective rooted : {Collective::gather, Collective::scatter, Collective::reduce}) {
    CAPTURE(name_of(rooted));
    CHECK(shortest_kib(4, rooted) == 512);
    CHECK(shortest_kib(16, rooted) == 1024);
  }
  CHECK(shortest_kib(16, Collective::broadcast) == 2048);
  CHECK(shortest_kib(16, Collective::allreduce) == 8192);
}

TEST_CASE("by default the kernel copies long broadcasts, and only where processes are near") {
  constexpr std::size_t kShortest = 1024 * 1024;  // of two
  const auto query_of = [](Collective collective, std::size_t bytes) {
    return PlanQuery{.collective = collective, .element_bytes = 1, .extent = {.count = bytes}};
  };
  PlanCache::Options options{.nodes = {{2, 2}},
                             .leaders = {},
                             .peers = Peers::processes,
                             .staging_bytes = 1 << 20,
                             .single_copies = {.near = {.members = 2}}};
  for (const bool is_named : {false, true}) {
    CAPTURE(is_named);
    if (is_named) options.single_copies.shortest_bytes = 2'000'000;
    PlanCache plans(options);
    for (const Collective collective :
         {Collective::broadcast, Collective::allreduce, Collective::reduce}) {
      CAPTURE(static_cast<int>(collective));
      const bool is_broadcast = collective == Collective::broadcast;
      for (const std::size_t bytes :
           {kShortest - 1, kShortest, std::size_t{1'999'999}, std::size_t{2'000'000}}) {
        CAPTURE(bytes);
        const PlanPointer plan = plans.find(query_of(collective, bytes));
        REQUIRE(plan->crossing);
        const bool is_asked_for = is_named && bytes >= 2'000'000;
        CHECK(are_copied(plan->crossing->copies, true) == is_asked_for);
        CHECK(are_copied(plan->crossing->copies, false) ==
              (is_asked_for || (is_broadcast && bytes >= kShortest)));
      }
    }
  }
}

}  // namespace plan_cache_test
}  // namespace hycoll
