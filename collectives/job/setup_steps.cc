#include "collectives/job/setup_steps.h"

#include <bit>
#include <cstdint>

#include "threading/transport/mpi/joint_setup.h"

namespace hycoll {
namespace {

using Kind = SetupStep::Kind;
using Among = SetupStep::Among;

constexpr std::size_t kInt = sizeof(int);

void add(std::vector<SetupStep>& steps, const std::vector<SetupStep>& more) {
  steps.insert(steps.end(), more.begin(), more.end());
}

SetupStep meeting(std::string_view what, Among among = Among::all) {
  return {what, Kind::allreduce, among, (1 + JointSetup::kNumbers) * sizeof(std::int64_t)};
}

/// Between the first ones, and on to the others.
std::vector<SetupStep> exchange_steps(std::string_view what, std::size_t own_bytes,
                                      std::size_t all_bytes) {
  return {meeting(what), {what, Kind::allgather, Among::first_ones, kInt},
          meeting(what), {what, Kind::allgather, Among::first_ones, own_bytes},
          meeting(what),  // and how long all is
          meeting(what), {what, Kind::broadcast, Among::machine, all_bytes}};
}

std::vector<SetupStep> segment_steps() {
  constexpr Among kNode = Among::node;
  return {meeting("segment", kNode),  {"segment", Kind::broadcast, kNode, 104},
          meeting("segment", kNode),  // whether all have it
          meeting("heaps", kNode),    {"heaps", Kind::allgather, kNode, 32},
          meeting("heaps", kNode),  // whether all reach all
          meeting("copies", kNode),   {"copies", Kind::allgather, kNode, 24},
          meeting("copies", kNode),    // whether all may copy
          meeting("segment", kNode),   // it is constructed
          meeting("distance", kNode),  // the largest
          meeting("segment", kNode)};
}

/// Who leads on each node, and who is near whom.
std::vector<SetupStep> leader_steps(const CommunicatorSizes& sizes) {
  const auto numbers = static_cast<std::size_t>(sizes.lane_count + sizes.group_numbers);
  const std::vector<SetupStep> list = {meeting("leaders"),
                                       {"leaders", Kind::broadcast, Among::all, numbers * kInt}};
  std::vector<SetupStep> steps;
  if (sizes.node_count == 1) {
    if (sizes.group_numbers > 0) steps.push_back(meeting("leaders"));  // how long the list is
    add(steps, list);
    return steps;
  }
  for (int kind = 0; kind < sizes.leader_kinds; ++kind) {
    steps.push_back(meeting("leaders"));  // who tells
    add(steps, list);
  }
  steps.push_back(meeting("leaders"));
  if (sizes.leader_kinds > 1 && sizes.is_one_machine) {
    add(steps, {meeting("leaders"), {"leaders", Kind::allgather, Among::all, kInt}});
  }
  return steps;
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
  std::vector<SetupStep> steps = {meeting("numbers"),
                                  {"numbers", Kind::allgather, Among::machine, kInt}};
  add(steps, exchange_steps("numbers", sizes.description_bytes, sizes.packed_bytes));
  return steps;
}

std::vector<SetupStep> map_steps(const MapSizes& sizes) {
  std::vector<SetupStep> steps = {
      meeting("machine"), meeting("ranks"), {"ranks", Kind::allgather, Among::machine, kInt}};
  if (sizes.machine_count > 1) {
    const std::size_t table_bytes = static_cast<std::size_t>(sizes.machine_count) * kInt;
    add(steps, {meeting("machines"),
                {"machines", Kind::exscan, Among::all, kInt},
                {"machines", Kind::allreduce, Among::all, kInt},
                meeting("machines"),
                {"machines", Kind::allreduce, Among::all, table_bytes},
                meeting("machines")});  // before the first ones have a communicator
    add(steps, gather_steps(sizes));
    add(steps, exchange_steps("hosts", sizes.name_bytes, sizes.names_bytes));
  }
  add(steps, {meeting("masks"),  // how long they are
              meeting("masks"),
              {"masks", Kind::allgather, Among::machine, sizes.mask_bytes}});
  return steps;
}

std::vector<SetupStep> communicator_steps(const CommunicatorSizes& sizes) {
  std::vector<SetupStep> steps = {meeting("parent"), meeting("control"), meeting("options")};
  if (sizes.node_count > 1) steps.push_back(meeting("node"));
  add(steps,
      {meeting("cores"), {"cores", Kind::allgather, Among::node, 5 * kInt}, meeting("terms")});
  add(steps, segment_steps());
  add(steps, leader_steps(sizes));
  if (sizes.has_groups) {
    add(steps, {meeting("latencies"), {"latencies", Kind::broadcast, Among::all, 40}});
  }
  if (sizes.node_count > 1) {
    add(steps, {meeting("lanes"), meeting("transport")});
    if (sizes.is_over_ucx) steps.push_back(meeting("transport"));  // whether all have workers
  }
  steps.push_back(meeting("end"));
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
