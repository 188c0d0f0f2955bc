// hycoll plan: what a collective does on a shape, without running it.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "collectives/selection/selection.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/base/price_text.h"
#include "core/base/transfer_times.h"
#include "core/drawing/schedule_svg.h"
#include "core/drawing/statistics.h"
#include "core/schedule/schedule_text.h"
#include "core/verifier/verifier.h"
#include "heap/available_memory.h"
#include "numa/topology/topology.h"
#include "threading/program/program.h"
#include "threading/program/staging_slices.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/plan_machine.h"
#include "tools/command/pricing/price_options.h"
#include "tools/command/pricing/price_reports.h"

namespace hycoll::command {
namespace {

constexpr const char* kPlanSummary = "Count, list and draw what a collective does on a shape";
constexpr const char* kPlanExplanation =
    "Counts, lists and draws what a collective does on a shape: steps, messages, bytes, memory and "
    "the critical path. Nothing is run, and no machine of that shape is needed.\n"
    "  hycoll plan reduce --root 3 --nodes 4 --members 2 --bytes 1Mi\n"
    "  hycoll plan allreduce --algorithm node-leader --nodes 4 --aggregators 1\n"
    "  hycoll plan --nodes 1 --members 128 --bytes 8 --topology 'pack:2 numa:4 l3:4 core:4' "
    "--algorithm lines-tree-recursive-doubling\n"
    "  hycoll plan alltoall --nodes 4 --members 64 --lanes 8 --algorithm mpml --topology 'pack:2 "
    "numa:4 l3:4 core:2' --placement spread\n"
    "  hycoll plan broadcast --nodes 256 --members 64 --bytes 1Mi --price "
    "alpha=1.5us,reduce=10GB/s\n"
    "A shape too large for memory can be looked at node by node: --of-node, which proves nothing "
    "and knows no critical path. The scratch is what a node needs besides its members' buffers. "
    "reduce_scatter, allgather, gather, scatter and alltoall have equal blocks, which together are "
    "the vector, of alltoall what a member sends; a barrier is an allreduce of one byte.";

struct PlanOptions {
  CollectiveOption collective;
  RootOption root;
  std::string algorithm = "auto";
  int nodes = 2;
  int of_node = -1;  // -1: all
  int members = 1;
  int aggregators = 0;
  int workers = 0;   // 0: as many as members
  int lanes = 0;     // 0: chosen
  int segments = 0;  // 0: chosen
  std::string bytes = "1Ki";
  std::string type = "float";
  std::string visibility = "direct";
  int threads = 1;
  bool reproducible = false;
  bool list = false;
  std::string svg_path;
  std::string topology;                            // "": nodes without groups
  std::string placement;                           // of the leaders; "": worker l drives lane l
  PriceOptions price{.machine = "", .price = ""};  // "": only counted
  OutputOptions output;
};

/// A schedule, and the vector that it is looked at with.
struct BoundSchedule {
  Schedule schedule;
  Partition partition;
  std::size_t element_bytes;
  std::size_t size_bytes;
  int segments;
  std::size_t worker_staging_bytes;  ///< Of the worker that needs most, for one run.
  std::optional<PlanMachine> machine;
};

/// The elements that a schedule is bound to: a barrier is an allreduce of one byte.
struct PlannedVector {
  std::size_t size_bytes;
  std::size_t element_bytes;
  VectorExtent extent;
};

PlannedVector vector_of(const PlanOptions& options, Routine routine, int member_count) {
  if (routine == Routine::barrier) return {1, 1, {.count = 1}};
  const DataType type = data_type_argument("--type", options.type);
  const std::size_t size_bytes = parse_size("--bytes", options.bytes);
  check_size_fits(size_bytes, "--bytes", type);
  const std::size_t count = size_bytes / size_of(type);
  const Problem problem{.routine = routine};
  if (const auto reason = unsuitable_count(problem, count, member_count)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--bytes '{}': {}. Give a multiple of {} bytes", options.bytes, *reason,
                            size_of(type) * static_cast<std::size_t>(member_count)));
  }
  const bool blocks = has_blocks(collective_of(routine));
  return {size_bytes,
          size_of(type),
          {.count = blocks ? count / static_cast<std::size_t>(member_count) : count}};
}

/// The shape, whose workers reach what the options say.
Shape with_reach(const Shape& shape, const PlanOptions& options) {
  const Visibility visibility = visibility_argument("--visibility", options.visibility);
  if (options.threads < 1) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--threads is {}; a process has at least 1", options.threads));
  }
  if (options.threads == 1) return shape.with_visibility(visibility);
  if (visibility == Visibility::direct) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--threads is {}, but with --visibility direct all workers of a node "
                            "reach each other's buffers anyway; give --visibility staged",
                            options.threads));
  }
  return shape.with_processes_of(options.threads);
}

std::string volume(std::size_t size_bytes) { return size_text(size_bytes); }

/// What a step of a whole schedule takes, with the proof and the counts: rings and recursive
/// doublings on 64 to 512 nodes took 160 to 310.
constexpr std::size_t kBytesPerStep = 256;

/// Throws Error (invalid_argument) if the whole schedule needs more memory than there is.
void check_memory(const Schedule& one_node) {
  const auto node_count = static_cast<std::size_t>(one_node.shape.node_count());
  const std::size_t wanted = node_count * one_node.step_count() * kBytesPerStep;
  const std::size_t available = AvailableMemory().bytes();
  if (wanted <= available) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("--nodes {}: the whole schedule has some {} steps and needs {} of "
                          "memory, of which {} is available. Give fewer nodes, or --of-node K "
                          "(0 to {}) for what one of them does",
                          node_count, node_count * one_node.step_count(), volume(wanted),
                          volume(available), node_count - 1));
}

/// The whole schedule, or the part of the node that is asked for.
Schedule make_schedule(const PlanOptions& options, const Algorithm& algorithm, const Shape& shape,
                       int segments) {
  const auto part = [&](NumberRange nodes) {
    return algorithm.generate(shape, segments, options.root.root, nodes);
  };
  const int node_count = shape.node_count();
  if (options.of_node >= node_count) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--of-node {}: there are nodes 0 to {} only. Give one of them",
                            options.of_node, node_count - 1));
  }
  if (options.of_node >= 0) {
    if (!options.svg_path.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  "--svg with --of-node: a timeline is of all nodes. Leave one of them away");
    }
    return part(only_node(options.of_node));
  }
  check_memory(part(only_node(node_count / 2)));
  return part(kAllNodes);
}

std::optional<PlanMachine> machine_of(const PlanOptions& options, int worker_count) {
  if (options.topology.empty()) {
    if (options.placement.empty()) return {};
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--placement '{}' without --topology: there are no domains to choose "
                            "leaders from. Describe the machine of a node, or leave it away",
                            options.placement));
  }
  if (options.aggregators > 0) {
    throw Error(ErrorKind::invalid_argument,
                "--topology with --aggregators: nodes without members have no such machine. Leave "
                "one of them away");
  }
  return PlanMachine(options.topology, worker_count);
}

/// The shape on that machine: who leads, and which workers are near one another.
Shape on_machine(const Shape& shape, const PlanMachine& machine, const PlanOptions& options,
                 int group_levels) {
  const Shape grouped = shape.with_groups(with_levels(machine.near(), group_levels));
  if (options.placement.empty()) return grouped;
  const EqualLeaders leaders{
      .workers = machine.leaders(shape.lane_count(), parse_placement(options.placement)),
      .count = shape.node_count()};
  return grouped.with_leaders(std::span(&leaders, 1));
}

BoundSchedule generate(const PlanOptions& options, Routine routine) {
  const Collective collective = collective_of(routine);
  options.root.check(routine);
  if (options.algorithm != "auto") find_algorithm(collective, options.algorithm);
  const int workers = options.workers > 0 ? options.workers : options.members;
  const std::vector<EqualNodes> nodes = {
      {.node = {options.members, workers}, .count = options.nodes}};
  const int member_count = options.nodes * options.members;
  check_root(options.root.root, member_count);
  const PlannedVector vector = vector_of(options, routine, member_count);
  const std::optional<PlanMachine> machine = machine_of(options, workers);
  std::optional<InsideCosts> inside;
  if (machine && options.members == workers) {
    const EqualNearness near{machine->near().groups, machine->near().shared, options.nodes};
    inside.emplace(nodes, std::span(&near, 1), kPublishedTimes);
  }
  const SelectedPlan selected =
      select({.collective = collective,
              .nodes = nodes,
              .size_bytes = vector.size_bytes,
              .order = options.reproducible ? OperandOrder::canonical : OperandOrder::any,
              .requested_lanes = options.lanes,
              .requested_algorithm = options.algorithm,
              .aggregators = options.aggregators,
              .visibility = visibility_argument("--visibility", options.visibility),
              .inside = inside ? &*inside : nullptr,
              .prices = options.price.prices()});
  const int segments = options.segments > 0 ? options.segments : selected.segments;
  const Shape flat =
      with_reach(Shape(with_aggregators(nodes, selected.aggregators), selected.lanes), options);
  const Shape shape = machine ? on_machine(flat, *machine, options, selected.group_levels) : flat;
  Schedule schedule =
      make_schedule(options, find_algorithm(collective, selected.algorithm), shape, segments);
  Partition partition = partition_for(schedule, vector.extent, vector.element_bytes);
  const std::size_t staging = staging_bytes(schedule, vector.extent, vector.element_bytes);
  return {std::move(schedule),
          std::move(partition),
          vector.element_bytes,
          vector.size_bytes,
          segments,
          staging,
          machine};
}

/// Everything that the node with most of it needs besides its members' buffers.
std::size_t node_memory_bytes(const ScheduleStatistics& counts) {
  std::size_t most = 0;
  for (const NodeStatistics& node : counts.nodes) {
    most = std::max(most, node.staging + node.scratch + node.lines);
  }
  return most;
}

double in_vectors(std::size_t memory_bytes, std::size_t size_bytes) {
  return size_bytes == 0 ? 0.0
                         : static_cast<double>(memory_bytes) / static_cast<double>(size_bytes);
}

const Algorithm& algorithm_of(const BoundSchedule& bound) {
  return find_algorithm(*collective_named(bound.schedule.collective.name),
                        bound.schedule.algorithm);
}

/// What the statistics say, as label and text.
std::vector<std::pair<std::string, std::string>> facts_of(const BoundSchedule& bound,
                                                          const ScheduleStatistics& counts) {
  const NodeStatistics& node = counts.maximum;
  std::string steps;
  for (const StepKind kind : {StepKind::send, StepKind::recv, StepKind::native, StepKind::reduce,
                              StepKind::copy, StepKind::signal, StepKind::wait}) {
    if (counts.count_of(kind) == 0) continue;
    steps +=
        fmt::format("{}{} {}", steps.empty() ? "" : ", ", counts.count_of(kind), name_of(kind));
  }
  return {
      {"algorithm", fmt::format("{}, {} segment{}, operands in order: {}", bound.schedule.algorithm,
                                bound.segments, bound.segments == 1 ? "" : "s",
                                name_of(algorithm_of(bound).order))},
      {"shape", to_text(bound.schedule.shape)},
      {"vector",
       fmt::format("{} in {} chunks", volume(bound.size_bytes), bound.schedule.chunk_count)},
      {"steps", fmt::format("{} ({})", counts.step_count(), steps)},
      {"messages",
       fmt::format("{}; of one node at most {}", counts.message_count, node.send_count)},
      {"sent by a node", fmt::format("{} at most", volume(node.sent))},
      {"reduced by a node",
       fmt::format("{} read, {} written", volume(node.reduce_read), volume(node.reduce_written))},
      {"copied by a node",
       fmt::format("{} read, {} written", volume(node.copy_read), volume(node.copy_written))},
      {"scratch of a node",
       fmt::format("{}, {:.2f} x the vector ({} staging, {} scratch, {} lines)",
                   volume(node_memory_bytes(counts)),
                   in_vectors(node_memory_bytes(counts), bound.size_bytes), volume(node.staging),
                   volume(node.scratch), volume(node.lines))},
      {"staging", bound.worker_staging_bytes == 0
                      ? "none"
                      : fmt::format("{} for a worker at most, if all passes through in one run",
                                    volume(bound.worker_staging_bytes))},
      {"critical path", bound.schedule.is_whole()
                            ? fmt::format("{} messages, {} steps", counts.critical_message_count,
                                          counts.critical_step_count)
                            : "not known of one node; nothing is proved"},
  };
}

Json record_of(const PlanOptions& options, Routine routine, const BoundSchedule& bound,
               const ScheduleStatistics& counts) {
  const NodeStatistics& node = counts.maximum;
  const bool is_whole = bound.schedule.is_whole();
  const auto if_whole = [&](auto value) { return is_whole ? Json(value) : Json(); };
  const std::size_t memory_bytes = node_memory_bytes(counts);
  return {{"collective", name_of(routine)},
          {"algorithm", bound.schedule.algorithm},
          {"nodes", options.nodes},
          {"of_node", is_whole ? Json() : Json(options.of_node)},
          {"members", options.members},
          {"aggregators", bound.schedule.shape.node_count() - options.nodes},
          {"workers", bound.schedule.shape.node(0).workers},
          {"lanes", bound.schedule.shape.lane_count()},
          {"segments", bound.segments},
          {"root", bound.schedule.root},
          {"visibility", options.visibility},
          {"threads", options.threads},
          {"order", name_of(algorithm_of(bound).order)},
          {"bytes", bound.size_bytes},
          {"chunks", bound.schedule.chunk_count},
          {"steps", counts.step_count()},
          {"messages", counts.message_count},
          {"node_messages", node.send_count},
          {"node_sent_bytes", node.sent},
          {"node_native_calls", node.native_count},
          {"node_reduce_read_bytes", node.reduce_read},
          {"node_reduce_written_bytes", node.reduce_written},
          {"node_copy_read_bytes", node.copy_read},
          {"node_copy_written_bytes", node.copy_written},
          {"node_memory_bytes", memory_bytes},
          {"node_memory_vectors", in_vectors(memory_bytes, bound.size_bytes)},
          {"node_staging_bytes", node.staging},
          {"worker_staging_bytes", bound.worker_staging_bytes},
          {"node_scratch_bytes", node.scratch},
          {"node_lines_bytes", node.lines},
          {"critical_messages", if_whole(counts.critical_message_count)},
          {"critical_steps", if_whole(counts.critical_step_count)},
          {"topology", options.topology.empty() ? Json() : Json(options.topology)},
          {"placement", options.placement.empty() ? Json() : Json(options.placement)},
          {"verified", is_whole}};
}

/// Instead of counting one plan: what all of them take.
ExitStatus price_plans(const PlanOptions& options) {
  const Routine routine = options.collective.routine();
  const int workers = options.workers > 0 ? options.workers : options.members;
  const int member_count = options.nodes * options.members;
  return report_plan_prices(
      {.collective = collective_of(routine),
       .nodes = {{.node = {options.members, workers}, .count = options.nodes}},
       .size_bytes = vector_of(options, routine, member_count).size_bytes,
       .order = options.reproducible ? OperandOrder::canonical : OperandOrder::any,
       .requested_lanes = options.lanes},
      options.algorithm, options.price.prices(), options.output);
}

ExitStatus run_plan(const PlanOptions& options) {
  const Routine routine = options.collective.routine();
  const BoundSchedule bound = generate(options, routine);
  if (bound.schedule.is_whole()) {
    const Verdict verdict = verify(bound.schedule);
    if (!verdict.correct) {
      fmt::print(stderr, "hycoll: not proved: {}\n", verdict.failure);
      return kNotProved;
    }
  }
  const ScheduleStatistics counts =
      statistics(bound.schedule, bound.partition, bound.element_bytes);
  std::optional<LineTransfers> transfers;
  if (bound.machine && bound.schedule.is_whole()) {
    transfers = bound.machine->transfers(bound.schedule, bound.partition, bound.element_bytes);
  }
  std::FILE* const human = options.output.human();
  auto facts = facts_of(bound, counts);
  if (transfers) std::ranges::move(transfer_facts(*transfers), std::back_inserter(facts));
  for (const auto& [label, text] : facts) fmt::print(human, "{:<18} {}\n", label, text);
  if (options.list) fmt::print(human, "\n{}", to_text(bound.schedule));
  if (!options.svg_path.empty()) {
    write_file("--svg", options.svg_path,
               to_svg(bound.schedule, bound.partition, bound.element_bytes));
  }
  Json record = record_of(options, routine, bound, counts);
  add_to(record, transfers);
  options.output.write(
      {.context = {{"command", "plan"}, {"type", options.type}}, .records = {std::move(record)}});
  return kSuccess;
}

class Plan final : public Subcommand {
 public:
  explicit Plan(CommandLine& line) : Subcommand(line.add_subcommand("plan", kPlanSummary)) {
    line_.add_explanation(kPlanExplanation);
    options_.collective.add_to(line_);
    options_.root.add_to(line_);
    add_shape_options();
    line_.add_flag("--list", options_.list, "List the schedule step by step");
    options_.output.add_file(line_, "--svg", options_.svg_path, "Draw the schedule as a timeline");
    options_.price.add_to(
        line_,
        "Instead of counting, price the chosen plan and every algorithm that serves: 'default', or "
        "what costs otherwise than the machine file says, or than " +
            price_keys());
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    if (!options_.price.price.empty()) return price_plans(options_);
    return run_plan(options_);
  }

 private:
  void add_shape_options() {
    line_
        .add_option("--algorithm", options_.algorithm,
                    "A name that hycoll algorithms lists, or auto: as hycoll chooses")
        .type_name("NAME")
        .show_default();
    line_.add_option("--nodes", options_.nodes, "Nodes")
        .check(between(1, kMaximumNodes))
        .show_default();
    line_
        .add_option("--of-node", options_.of_node,
                    "Only what this node does, in time and memory of its own steps")
        .type_name("NODE")
        .check(between(0, kMaximumNodes - 1));
    line_.add_option("--members", options_.members, "Members per node")
        .check(between(1, kMaximumMembers))
        .show_default();
    line_
        .add_option("--aggregators", options_.aggregators,
                    "Further nodes without members, for the algorithms that need them")
        .check(between(0, kMaximumNodes))
        .show_default();
    line_.add_option("--workers", options_.workers, "Workers per node (default: the members)")
        .check(between(1, kMaximumMembers));
    line_.add_option("--lanes", options_.lanes, "Lanes per node (default: as hycoll chooses)")
        .check(between(1, kMaximumLanes));
    line_
        .add_option("--segments", options_.segments,
                    "Parts into which messages are cut (default: as hycoll chooses)")
        .check(between(1, kMaximumSegments));
    line_.add_option("--bytes", options_.bytes, "Size of each member's input: 8, 64Ki, 16Mi")
        .type_name("SIZE")
        .show_default();
    line_
        .add_option("--visibility", options_.visibility,
                    "direct: workers reach all buffers of their node; staged: their own member's "
                    "and staging only")
        .type_name("NAME")
        .show_default();
    line_
        .add_option("--threads", options_.threads,
                    "With --visibility staged: so many neighbouring workers of a node share a "
                    "process, and reach each other's members' buffers")
        .type_name("COUNT")
        .show_default();
    line_
        .add_option("--topology", options_.topology,
                    "The machine of a node, whose cores the members fill: groups for the "
                    "algorithms that follow them, and counts of cache lines by distance. hwloc's "
                    "synthetic descriptions: \"pack:2 numa:4 l3:4 core:4\"")
        .type_name("TEXT");
    line_
        .add_option("--placement", options_.placement,
                    "With --topology: the workers that lead, compact, spread or one_per_package "
                    "(default: worker L drives lane L)")
        .type_name("NAME");
    add_type_option(line_, options_.type);
    add_reproducible_option(line_, options_.reproducible);
  }

  PlanOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_plan(CommandLine& line) { return std::make_unique<Plan>(line); }

}  // namespace hycoll::command
