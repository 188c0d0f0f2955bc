// Measures what a call costs whose root, or whose blocks, differ from the last one's: finding its
// plan, beside that of the same call again, for one process among many nodes that need not be
// there. At the end makes a million more, and says how much memory the process has got besides.
// Times are of the processor, so that others who use it do not count.
//
// usage: bench_roots [NODES [MEMBERS [MORE_CALLS]]]
//
// Broadcasts with each member as the root in turn, and reduce_scatters with ever other counts; once
// where the members are threads of a process, and once where each is a process of its own.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "collectives/plans/plan_cache.h"

namespace {

using hycoll::Collective;
using hycoll::PlanQuery;
using hycoll::RecentPlans;

constexpr std::size_t kShortBytes = 8;
constexpr std::size_t kLongBytes = 256 * 1024;
constexpr std::size_t kRepeatedCalls = 100'000;
constexpr std::size_t kElementBytes = 8;
/// Lists of counts that differ from one another; more than a caller keeps plans of.
constexpr std::size_t kLists = 512;
constexpr int kPasses = 3;

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

/// The query of each of many calls.
using Queries = std::function<PlanQuery(std::size_t call)>;

/// What this thread has had of the processor.
double processor_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

/// Of one call, in microseconds.
double time_us(RecentPlans& plans, std::size_t calls, const Queries& query_of) {
  const double start = processor_us();
  for (std::size_t call = 0; call < calls; ++call) plans.find(query_of(call));
  return (processor_us() - start) / static_cast<double>(calls);
}

/// `different` calls that differ from one another, several times over.
void measure(const char* what, hycoll::PlanCache& cache, std::size_t different,
             std::size_t more_calls, const Queries& query_of) {
  RecentPlans plans(cache, {.first = 0, .count = 1});
  std::printf("%s:", what);
  for (int pass = 0; pass < kPasses; ++pass) {
    std::printf(" %.3f", time_us(plans, different, query_of));
  }
  const double again = time_us(plans, kRepeatedCalls, [&](std::size_t) { return query_of(0); });
  const double before_mib = resident_mib();
  time_us(plans, more_calls, query_of);
  std::printf(" us in pass 1 to %d, the same again %.3f us; %.2f MiB more after %zu calls more\n",
              kPasses, again, resident_mib() - before_mib, more_calls);
}

hycoll::PlanOptions options_of(int nodes, int members, hycoll::Peers peers) {
  constexpr std::size_t kStagingBytes = 512 * 1024;
  hycoll::PlanOptions options{
      .nodes = {{.node = {.members = members, .workers = members}, .count = nodes}},
      .node = nodes / 2,
      .leaders = {},
      .peers = peers,
      .staging_bytes = kStagingBytes};
  if (peers == hycoll::Peers::processes) options.workers.count = 1;
  return options;
}

/// Of up to 64 elements each.
std::vector<std::vector<std::size_t>> lists_of_counts(std::size_t members) {
  constexpr std::size_t kMostElements = 64;
  std::mt19937_64 random(1);
  std::vector<std::vector<std::size_t>> lists(kLists, std::vector<std::size_t>(members));
  for (std::vector<std::size_t>& list : lists) {
    for (std::size_t& count : list) count = 1 + random() % kMostElements;
  }
  return lists;
}

void measure_all(int nodes, int members, std::size_t more_calls, hycoll::Peers peers) {
  const auto member_count = static_cast<std::size_t>(nodes) * static_cast<std::size_t>(members);
  for (const std::size_t size_bytes : {kShortBytes, kLongBytes}) {
    hycoll::PlanCache cache(options_of(nodes, members, peers));
    const std::string what = "broadcasts of " + std::to_string(size_bytes) + " B, each root";
    measure(what.c_str(), cache, member_count, more_calls, [&](std::size_t call) {
      return PlanQuery{.collective = Collective::broadcast,
                       .root = static_cast<int>(call % member_count),
                       .extent = {.count = size_bytes}};
    });
  }
  hycoll::PlanCache cache(options_of(nodes, members, peers));
  const auto lists = lists_of_counts(member_count);
  // A call reads as many counts as there are members.
  measure("reduce_scatters, each list", cache, kLists, more_calls / 100, [&](std::size_t call) {
    return PlanQuery{.collective = Collective::reduce_scatter,
                     .element_bytes = kElementBytes,
                     .extent = {.block_counts = lists[call % kLists]}};
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, int otherwise) {
    return std::max(1, argc > index ? std::atoi(argv[index]) : otherwise);
  };
  const int nodes = number(1, 64);
  const int members = number(2, 16);
  const auto more_calls = static_cast<std::size_t>(number(3, 1'000'000));
  std::puts("members are threads");
  measure_all(nodes, members, more_calls, hycoll::Peers::nodes);
  std::puts("members are processes");
  measure_all(nodes, members, more_calls, hycoll::Peers::processes);
}
