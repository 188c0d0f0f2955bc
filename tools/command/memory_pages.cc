#include "tools/command/memory_pages.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

#include "collectives/api/hycoll.h"
#include "collectives/calls/own_memory.h"
#include "heap/heap.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

constexpr int kLeastMembersOfTwoNodes = 4;
constexpr std::size_t kVectorBytes = 256 * 1024;

enum Kind { kStaging, kHeap, kExchangeBuffers, kKinds };
constexpr std::array<const char*, kKinds> kNames = {"staging", "heap", "exchange buffers"};
using CountsByKind = std::array<PageCounts, kKinds>;

Options options_for(const MpiSession& session) {
  Options options = Options::from_environment();
  options.layout = Options::Layout::processes;
  options.algorithm = "onmpml";
  options.aggregators = 0;
  if (options.emulated_nodes == 0 && session.local_size >= kLeastMembersOfTwoNodes) {
    options.emulated_nodes = 2;
  }
  return options;
}

CountsByKind counts_here(const MpiSession& session) {
  Communicator communicator(session.world, options_for(session));
  const auto members = static_cast<std::size_t>(communicator.size());
  const std::size_t block_count =
      std::max<std::size_t>(16, kVectorBytes / sizeof(std::int32_t) / members);
  const std::vector<std::int32_t> input(block_count * members, 1);
  std::vector<std::int32_t> output(input.size());
  communicator.alltoall(input, output, block_count);
  const std::vector<std::int32_t, Allocator<std::int32_t>> heap_input(input.size(), 1);
  std::vector<std::int32_t, Allocator<std::int32_t>> heap_output(input.size());
  communicator.alltoall(heap_input, heap_output, block_count);

  CountsByKind counts;
  const OwnMemory own = own_memory(communicator);
  for (const auto bytes_of_one : own.staging) counts[kStaging] += count_pages(bytes_of_one);
  for (const auto bytes_of_one : own.exchange_buffers) {
    counts[kExchangeBuffers] += count_pages(bytes_of_one);
  }
  counts[kHeap] += count_pages(std::as_bytes(std::span(heap_input)));
  counts[kHeap] += count_pages(std::as_bytes(std::span(heap_output)));
  return counts;
}

/// The sums over the processes of this machine, on the first of them.
CountsByKind summed(const CountsByKind& here, MPI_Comm machine) {
  int domain_count = 0;
  for (const PageCounts& counts : here) {
    if (!counts.in_domain.empty()) {
      domain_count = std::max(domain_count, counts.in_domain.rbegin()->first + 1);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &domain_count, 1, MPI_INT, MPI_MAX, machine);
  const auto domains = static_cast<std::size_t>(domain_count);
  const std::size_t stride = domains + 2;
  std::vector<std::uint64_t> own(kKinds * stride, 0);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (const auto& [domain, pages] : here[kind].in_domain) {
      own[kind * stride + static_cast<std::size_t>(domain)] = pages;
    }
    own[kind * stride + domains] = here[kind].absent;
    own[kind * stride + domains + 1] = here[kind].untold;
  }
  std::vector<std::uint64_t> all(own.size(), 0);
  MPI_Reduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_UINT64_T, MPI_SUM, 0,
             machine);
  CountsByKind sums;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (std::size_t domain = 0; domain < domains; ++domain) {
      const std::uint64_t pages = all[kind * stride + domain];
      if (pages > 0) sums[kind].in_domain[static_cast<int>(domain)] = pages;
    }
    sums[kind].absent = all[kind * stride + domains];
    sums[kind].untold = all[kind * stride + domains + 1];
  }
  return sums;
}

std::set<int> domains_of(const MemoryPages& memory) {
  std::set<int> domains;
  for (const KindOfMemory& kind : memory.kinds) {
    for (const auto& [domain, pages] : kind.pages.in_domain) domains.insert(domain);
  }
  return domains;
}

std::size_t pages_in(const PageCounts& pages, int domain) {
  const auto found = pages.in_domain.find(domain);
  return found == pages.in_domain.end() ? 0 : found->second;
}

}  // namespace

MemoryPages used_memory_pages(const MpiSession& session) {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(session.world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  const CountsByKind counts = summed(counts_here(session), machine);
  MPI_Comm_free(&machine);
  MemoryPages memory{.kinds = {}, .processes = session.local_size, .why_not = found_numa().why_not};
  if (!session.speaks()) return memory;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    memory.kinds.push_back({.name = kNames[kind], .pages = counts[kind]});
  }
  return memory;
}

std::string memory_pages_text(const MemoryPages& memory) {
  const std::set<int> domains = domains_of(memory);
  std::vector<std::string> header = {
      fmt::format("pages of {} process{}", memory.processes, memory.processes == 1 ? "" : "es")};
  for (const int domain : domains) header.push_back(fmt::format("NUMA domain {}", domain));
  header.insert(header.end(), {"not touched", "not told"});
  TextTable table(header);
  for (const KindOfMemory& kind : memory.kinds) {
    std::vector<std::string> row = {kind.name};
    for (const int domain : domains) row.push_back(std::to_string(pages_in(kind.pages, domain)));
    row.push_back(std::to_string(kind.pages.absent));
    row.push_back(std::to_string(kind.pages.untold));
    table.add_row(row);
  }
  std::string text = table.to_text();
  if (!memory.why_not.empty()) {
    text += fmt::format("where pages lie cannot be told: {}\n", memory.why_not);
  }
  return text;
}

Json to_json(const MemoryPages& memory) {
  Json kinds = Json::object();
  for (const KindOfMemory& kind : memory.kinds) {
    Json in_domain = Json::object();
    for (const auto& [domain, pages] : kind.pages.in_domain) {
      in_domain[std::to_string(domain)] = pages;
    }
    kinds[kind.name] = {{"in_domain", in_domain},
                        {"not_touched", kind.pages.absent},
                        {"not_told", kind.pages.untold}};
  }
  return {{"processes", memory.processes},
          {"why_not_told", memory.why_not.empty() ? Json() : Json(memory.why_not)},
          {"pages", kinds}};
}

}  // namespace hycoll::command
