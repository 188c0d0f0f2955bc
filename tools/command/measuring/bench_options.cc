#include "tools/command/measuring/bench_options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/sizes.h"
#include "tools/command/measuring/agenda.h"
#include "tools/command/measuring/launch.h"
#include "tools/command/measuring/machine_context.h"

namespace hycoll::command {
namespace {

constexpr int kMaximumWorkers = 4096;

void check_sizes(const std::vector<std::size_t>& sizes_bytes, DataType type) {
  for (const std::size_t size_bytes : sizes_bytes) {
    check_size_fits(size_bytes, "--sizes", type);
    if (size_bytes / size_of(type) > std::numeric_limits<int>::max()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--sizes '{}': MPI's collectives count at most 2^31 - 1 elements. "
                              "Give smaller sizes",
                              short_size(size_bytes)));
    }
  }
}

}  // namespace

void BenchOptions::add_problem(CommandLine& line) {
  collective.add_to(line);
  root.add_to(line);
  line.add_option(
          "--sizes",
          [this](const std::string& text) {
            sizes = text;
            sizes_given_ = true;
          },
          "Bytes of each member's input: powers of two from 8 to 16 Mi are 8:16Mi; a list is "
          "8,24,1Ki")
      .type_name("SIZES")
      .show_default(sizes);
  add_type_option(line, type);
  add_operator_option(line, op);
}

void BenchOptions::add_workers(CommandLine& line) {
  line.add_option("--workers", workers,
                  "Workers per process (default: the cores of its share of the machine)")
      .check(between(1, kMaximumWorkers));
}

void BenchOptions::add_choices(CommandLine& line, Algorithms algorithms) {
  line.add_option("--algorithm", algorithm,
                  algorithms == Algorithms::all
                      ? "A name (see hycoll algorithms), auto, or all that serve the shape"
                      : "A name (see hycoll algorithms), or auto")
      .type_name("NAME")
      .show_default();
  add_reproducible_option(line, reproducible);
  add_workers(line);
  line.add_option("--lanes", lanes, "Lanes per node (default: as hycoll chooses)")
      .check(between(1, kMaximumLanes));
}

void BenchOptions::add_aggregators(CommandLine& line) {
  line.add_option("--aggregators", aggregators,
                  "The last so many processes have no members and serve the algorithms that "
                  "need them; with --ranks they are started besides the ranks")
      .check(between(0, kMaximumNodes))
      .show_default();
}

void BenchOptions::add_preload(CommandLine& line) {
  line.add_option("--preload", preload,
                  "With --ranks: libraries that the ranks preload, separated by colons, e.g. "
                  "libhycoll_pmpi.so to measure the layout native through it")
      .type_name("FILES");
}

void BenchOptions::add_ranks(CommandLine& line) {
  line.add_option("--ranks", ranks, "Starts this many ranks under mpiexec")
      .check(between(1, kMaximumNodes));
  line.add_option("--bind-to", binding,
                  "With --ranks: core, a core for each rank, as launchers bind by default, or none")
      .type_name("CORES")
      .show_default();
}

void BenchOptions::add_measurement(CommandLine& line) {
  add_ranks(line);
  line.add_option("--rounds", rounds,
                  "Blocks of calls of each contestant (default: as many as fit --seconds)")
      .check(between(1, 1'000'000));
  line.add_option("--seconds", seconds, "For the timed blocks of a size")
      .check_positive()
      .show_default();
}

BenchSettings BenchOptions::settings(Subject subject) const {
  const Routine routine = collective.routine();
  root.check(routine);
  output.check();
  parse_binding("--bind-to", binding);
  BenchSettings settings;
  settings.subject = subject;
  settings.layout = parse_layout("--layout", layout);
  settings.algorithm = algorithm;
  if (algorithm != "auto" && algorithm != "all") {
    find_algorithm(collective_of(routine), algorithm);
  }
  const DataType data_type = data_type_argument("--type", type);
  settings.measurement = {.problem = {.routine = routine,
                                      .type = data_type,
                                      .op = operator_argument("--op", op),
                                      .root = root.root},
                          .rounds = rounds,
                          .seconds = seconds,
                          .inputs = fresh_inputs ? InputUse::fresh : InputUse::reused,
                          .pace = parse_pace("--pace", pace)};
  check_operator(settings.measurement.problem.op, data_type);
  if (routine != Routine::barrier) {
    settings.sizes_bytes = parse_sizes("--sizes", sizes);
    check_sizes(settings.sizes_bytes, data_type);
  } else if (sizes_given_) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--sizes '{}': a barrier moves nothing. Leave the option out", sizes));
  } else {
    settings.sizes_bytes = {0};
  }
  settings.bits = reproducible ? Bits::reproducible : Bits::same_on_all_members;
  settings.workers = workers;
  settings.lanes = lanes;
  settings.aggregators = aggregators;
  if (shares_nodes(settings.layout)) settings.emulated_nodes = emulated_nodes;
  settings.measurement.memory =
      settings.layout == Layout::processes_heap ? BufferMemory::shared_heap : BufferMemory::own;
  if (aggregators > 0 && settings.layout == Layout::native) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--aggregators {}: the layout native leaves everything to the MPI "
                            "library. Give --layout threads or per_node",
                            aggregators));
  }
  if (!preload.empty() && ranks == 0 && std::getenv("LD_PRELOAD") == nullptr) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--preload '{}': the ranks have been started without it. Let them be "
                            "started (--ranks)",
                            preload));
  }
  settings.native = native ? NativeToo::yes : NativeToo::no;
  settings.limit = limit ? LimitToo::yes : LimitToo::no;
  return settings;
}

BenchJob::BenchJob(const MpiSession& session, const BenchOptions& options,
                   const BenchSettings& settings)
    : session_(session),
      options_(options),
      settings_(settings),
      human_(options.output.human()),
      machine_(Topology::this_machine()) {
  check_emulated_nodes();
  warn_if_confined();
  interval_.before = measure_quietly();
}

void BenchJob::check_emulated_nodes() const {
  const int node_count = session_.local_size - settings_.aggregators;
  if (options_.emulated_nodes == 0 || shares_nodes(settings_.layout)) return;
  if (options_.emulated_nodes == node_count) return;
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("--emulate-nodes {}: each process counts as a node, and {} of them run on this "
                  "machine. Start {} processes (--ranks {}), or leave the option out",
                  options_.emulated_nodes, node_count, options_.emulated_nodes,
                  options_.emulated_nodes));
}

void BenchJob::warn_if_confined() const {
  if (settings_.layout == Layout::native || !session_.speaks()) return;
  const int threads = settings_.workers > 0 ? settings_.workers : machine_.usable_core_count();
  if (const auto warning = confinement_warning(machine_, threads)) {
    fmt::print(stderr, "hycoll: warning: {}\n", *warning);
  }
}

measure::MachineState BenchJob::measure_quietly() const {
  measure::MachineState state;
  session_.wait_idly();
  if (session_.speaks()) {
    const Topology whole = unbound_machine();
    state = measure::measure_machine_state(whole, whole.cores());
  }
  session_.wait_idly();
  return state;
}

BenchResult BenchJob::measure(const std::function<void(const BenchRow&)>& on_row) const {
  SizesAgenda agenda(settings_, session_.speaks(), on_row);
  BenchResult result = run_bench(session_, machine_, settings_, agenda);
  require_rows(result);  // all processes have the same rows and refusals
  return result;
}

void BenchJob::require_rows(const BenchResult& result) const {
  if (!result.rows.empty() || result.refusals.empty()) return;
  throw Error(ErrorKind::unsupported,
              fmt::format("--algorithm '{}' serves none of --sizes '{}' here. {}",
                          options_.algorithm, options_.sizes, result.refusals.front()));
}

Json BenchJob::finish(std::string_view command) {
  interval_.after = measure_quietly();
  if (session_.speaks()) {
    fmt::print(human_, "{}{}\n", to_text(interval_),
               measure::state_changed(interval_.latency())
                   ? ", so the times belong to no one state. Run again"
                   : "");
  }
  Json context = {{"command", command},
                  {"mpi", mpi_library_name()},
                  {"mpi_thread_level", session_.thread_level},
                  {"ranks", session_.size},
                  {"emulated_nodes_per_machine", session_.local_size}};
  add_machine(context, machine_, interval_);
  return context;
}

void start_ranks(const BenchOptions& options) {
  if (options.ranks == 0) return;
  std::vector<std::string> program = program_of_ranks();
  if (!options.preload.empty()) {
    program = with_preloaded("--preload", options.preload, std::move(program));
  }
  replace_process(mpiexec_command(options.ranks + options.aggregators,
                                  parse_binding("--bind-to", options.binding), program));
}

ExitStatus run_bench_job(const BenchOptions& options, const BenchSettings& settings,
                         const std::function<ExitStatus(BenchJob&)>& body) {
  start_ranks(options);
  return run_with_mpi(
      settings.layout == Layout::native ? ThreadLevel::single : ThreadLevel::multiple,
      [&](const MpiSession& session) {
        BenchJob job(session, options, settings);
        return body(job);
      });
}

}  // namespace hycoll::command
