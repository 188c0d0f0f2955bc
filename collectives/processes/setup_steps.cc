#include "collectives/processes/setup_steps.h"

#include <bit>

namespace hycoll {
namespace {

using Kind = SetupStep::Kind;
using Among = SetupStep::Among;

constexpr std::size_t kInt = sizeof(int);

void add(std::vector<SetupStep>& steps, const std::vector<SetupStep>& more) {
  steps.insert(steps.end(), more.begin(), more.end());
}

/// Between the first ones, and on to the others.
std::vector<SetupStep> exchange_steps(std::string_view what, std::size_t own_bytes,
                                      std::size_t all_bytes) {
  return {{what, Kind::allgather, Among::first_ones, kInt},
          {what, Kind::allgather, Among::first_ones, own_bytes},
          {what, Kind::broadcast, Among::machine, kInt},
          {what, Kind::broadcast, Among::machine, all_bytes}};
}

int rounds_of(int count) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(count - 1)));
}

std::size_t received_bytes(const SetupStep& step, int count) {
  const auto rounds = static_cast<std::size_t>(rounds_of(count));
  switch (step.kind) {
    case Kind::allgather:
      return static_cast<std::size_t>(count - 1) * step.size_bytes;
    case Kind::allreduce:
    case Kind::exscan:
      return rounds * step.size_bytes;
    case Kind::broadcast:
      return count > 1 ? step.size_bytes : 0;
    case Kind::barrier:
      break;
  }
  return 0;
}

}  // namespace

int SetupCounts::among(SetupStep::Among among) const noexcept {
  switch (among) {
    case Among::all:
      return all;
    case Among::machine:
      return machine;
    case Among::node:
      return node;
    case Among::first_ones:
      break;
  }
  return first_ones;
}

std::vector<SetupStep> gather_steps(const MapSizes& sizes) {
  std::vector<SetupStep> steps = {{"numbers", Kind::allgather, Among::machine, kInt}};
  add(steps, exchange_steps("numbers", sizes.description_bytes, sizes.packed_bytes));
  return steps;
}

std::vector<SetupStep> map_steps(const MapSizes& sizes) {
  std::vector<SetupStep> steps = {{"ranks", Kind::allgather, Among::machine, kInt}};
  if (sizes.machine_count > 1) {
    const std::size_t table_bytes = static_cast<std::size_t>(sizes.machine_count) * kInt;
    add(steps, {{"machines", Kind::exscan, Among::all, kInt},
                {"machines", Kind::allreduce, Among::all, kInt},
                {"machines", Kind::allreduce, Among::all, table_bytes}});
    add(steps, gather_steps(sizes));
    add(steps, exchange_steps("hosts", sizes.name_bytes, sizes.names_bytes));
  }
  add(steps, {{"masks", Kind::allreduce, Among::machine, kInt},
              {"masks", Kind::allgather, Among::machine, sizes.mask_bytes}});
  return steps;
}

std::vector<SetupStep> communicator_steps(const CommunicatorSizes& sizes) {
  std::vector<SetupStep> steps = {
      {"options", Kind::allreduce, Among::all, 32 * kInt},
      {"cores", Kind::allgather, Among::node, 5 * kInt},
      {"terms", Kind::allreduce, Among::all, 3 * kInt},
      {"segment", Kind::broadcast, Among::node, 104},
      {"segment", Kind::allreduce, Among::node, kInt},
      {"heaps", Kind::allgather, Among::node, 32},
      {"heaps", Kind::allreduce, Among::node, 2 * kInt},
      {"copies", Kind::allgather, Among::node, 24},
      {"copies", Kind::allreduce, Among::node, kInt},
      {"segment", Kind::barrier, Among::node, 0},
      {"distance", Kind::allreduce, Among::node, 16},
      {"segment", Kind::allreduce, Among::all, kInt},
      {"cores", Kind::allreduce, Among::all, kInt},
  };
  const auto numbers = static_cast<std::size_t>(sizes.lane_count + sizes.group_numbers);
  std::vector<SetupStep> list;
  if (sizes.group_numbers > 0) list.push_back({"leaders", Kind::broadcast, Among::all, kInt});
  list.push_back({"leaders", Kind::broadcast, Among::all, numbers * kInt});
  if (sizes.node_count == 1) {
    add(steps, list);
  } else {
    const SetupStep teller{"leaders", Kind::allreduce, Among::all, kInt};
    for (int kind = 0; kind < sizes.leader_kinds; ++kind) {
      steps.push_back(teller);
      add(steps, list);
    }
    steps.push_back(teller);
    if (sizes.leader_kinds > 1 && sizes.is_one_machine) {
      steps.push_back({"leaders", Kind::allgather, Among::all, kInt});
    }
    steps.push_back({"transport", Kind::allreduce, Among::all, 4 * kInt});
  }
  if (sizes.has_groups) steps.push_back({"latencies", Kind::broadcast, Among::all, 40});
  return steps;
}

SetupTraffic traffic_of(std::span<const SetupStep> steps, const SetupCounts& counts) {
  SetupTraffic traffic;
  for (const SetupStep& step : steps) {
    const int count = counts.among(step.among);
    traffic.received_bytes += received_bytes(step, count);
    traffic.messages += rounds_of(count);
  }
  return traffic;
}

}  // namespace hycoll
