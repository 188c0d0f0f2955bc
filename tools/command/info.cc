// hycoll info: the machine and the MPI library as hycoll sees them.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/errors.h"
#include "core/base/price_text.h"
#include "core/base/transfer_times.h"
#include "numa/drawing/drawing.h"
#include "numa/placement/binding.h"
#include "numa/placement/placement.h"
#include "numa/topology/topology.h"
#include "threading/latency/core_latencies.h"
#include "tools/command/calibrating/calibration_report.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/measuring/leader_lanes.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/measuring/mpi_session.h"
#include "tools/command/memory_pages.h"
#include "tools/command/pricing/price_options.h"
#include "tools/command/settings_list.h"
#include "tools/measure/leader_concurrency.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {
namespace {

constexpr const char* kInfoSummary = "Describe the machine and the MPI library as hycoll sees them";
constexpr const char* kInfoExplanation =
    "Describes the machine and the MPI library as hycoll sees them: the cores that this process "
    "may use, their distance, the copy bandwidth, how many leaders really run at once, the prices "
    "by "
    "which hycoll chooses (HYCOLL_MACHINE), and where the leaders are placed. Under mpiexec, rank "
    "0 "
    "speaks for its machine.\n"
    "  hycoll info --settings\n"
    "prints what the environment can set instead (docs/settings.md).";

/// More leaders tell no more about the library, and take longer to measure.
constexpr int kMaximumMeasuredLeaders = 16;

struct InfoOptions {
  int workers = 0;  // 0: one per core
  int lanes = 0;    // 0: one per worker
  std::string placement = std::string(placement_name(Placement::spread));
  std::string svg_path;
  bool memory = false;
  bool settings = false;
  OutputOptions output;
};

/// Who works where.
struct WorkerPlacement {
  std::vector<Core> workers;
  std::vector<int> worker_of_lane;

  std::vector<int> lanes_of(int worker) const {
    std::vector<int> lanes;
    for (std::size_t lane = 0; lane < worker_of_lane.size(); ++lane) {
      if (worker_of_lane[lane] == worker) lanes.push_back(static_cast<int>(lane));
    }
    return lanes;
  }
};

WorkerPlacement place(const Topology& share, const InfoOptions& options) {
  const Placement placement = parse_placement(options.placement);
  const int workers = options.workers > 0 ? options.workers
                      : placement == Placement::one_per_package
                          ? static_cast<int>(share.packages().size())
                          : share.usable_core_count();
  WorkerPlacement placed{.workers = place_workers(share, workers, placement), .worker_of_lane = {}};
  placed.worker_of_lane =
      lane_workers(placed.workers, options.lanes > 0 ? options.lanes : workers, placement);
  return placed;
}

/// The prices by which hycoll chooses here, and what their file says of zones of message sizes.
struct KeptPrices {
  std::string file;  ///< "": there is none.
  std::string prices;
  std::string zones;
};

KeptPrices kept_prices() {
  KeptPrices kept{
      .file = kept_machine_file(), .prices = to_text(PriceOptions().prices()), .zones = ""};
  if (!kept.file.empty()) {
    kept.zones = kept_zones(parse_json(read_file("HYCOLL_MACHINE", kept.file)));
  }
  return kept;
}

/// What rank 0 finds out about its machine.
struct Findings {
  Topology machine;
  WorkerPlacement placed;
  measure::MachineState state;
  CoreLatencies latencies;
  std::vector<TransportRate> transports;
  std::string transport;  ///< That `auto` takes between these processes, and why.
  KeptPrices prices;
  std::optional<MemoryPages> memory;  ///< If asked for.
  std::optional<std::string> warning;
  std::string thread_level;
  int ranks;
};

std::string meaning_of(const measure::LeaderConcurrency& measured) {
  switch (measured.verdict()) {
    using enum measure::LeaderConcurrency::Verdict;
    case at_once:
      return "leaders run at once";
    case serialised:
      return "it serialises its threads: leaders queue for it, and several lanes share the work on "
             "the data, not the message rate";
    case unknown:
      return fmt::format(
          "whether it serialises its threads cannot be told: the machine is busy, {} threads that "
          "only count ran as if they were {:.2f}",
          measured.leaders, measured.threads_at_once);
  }
  return "";
}

std::string leaders_text(const measure::LeaderConcurrency& measured) {
  if (measured.leaders == 1) {
    return fmt::format(
        "{:.2f} million messages/s; one leader to a process here, so nothing runs at once",
        measured.one_messages_per_s / 1e6);
  }
  return fmt::format(
      "{} leaders together exchange {:.2f} times as many messages as one ({:.2f} "
      "and {:.2f} million/s): {}",
      measured.leaders, measured.concurrent_leaders(), measured.all_messages_per_s / 1e6,
      measured.one_messages_per_s / 1e6, meaning_of(measured));
}

std::string caches_text(const Topology& machine) {
  std::string text;
  for (const Cache& cache : machine.caches()) {
    const bool first_of_level =
        std::find_if(machine.caches().begin(), machine.caches().end(), [&](const Cache& other) {
          return other.level == cache.level;
        })->index == cache.index;
    if (!first_of_level) continue;
    text += fmt::format("{}L{} {} for {} core{}", text.empty() ? "" : ", ", cache.level,
                        cache.size_bytes == 0 ? "of unknown size" : size_text(cache.size_bytes),
                        cache.cores.size(), cache.cores.size() == 1 ? "" : "s");
  }
  return text.empty() ? "unknown" : text;
}

std::string usable_text(const Topology& machine) {
  const CoreLimits& limits = machine.limits();
  std::string text = fmt::format("{} of {}", machine.usable_core_count(), limits.machine_cores);
  if (limits.quota_cores) text += fmt::format(" (CPU quota {:.2f} cores)", *limits.quota_cores);
  return text;
}

std::string_view origin_name(CoreLatencies::Origin origin) {
  switch (origin) {
    case CoreLatencies::Origin::published:
      return "published";
    case CoreLatencies::Origin::measured:
      return "measured";
    case CoreLatencies::Origin::given:
      return "given";
  }
  return "";
}

/// What choices between the ways inside a node are made by.
std::string latencies_text(const CoreLatencies& latencies) {
  std::string text;
  for (std::size_t p = 0; p < kProximityCount; ++p) {
    text +=
        fmt::format("{}{} {:.0f} ns ({})", p == 0 ? "" : ", ", name_of(static_cast<Proximity>(p)),
                    latencies.times.latency[p], origin_name(latencies.origins[p]));
  }
  if (!latencies.file.empty()) text += fmt::format("; kept in {}", latencies.file.string());
  return text;
}

Json latencies_json(const CoreLatencies& latencies) {
  Json json = {{"file", latencies.file.empty() ? Json() : Json(latencies.file.string())}};
  for (std::size_t p = 0; p < kProximityCount; ++p) {
    json[std::string(name_of(static_cast<Proximity>(p)))] = {
        {"ns", latencies.times.latency[p]}, {"origin", origin_name(latencies.origins[p])}};
  }
  return json;
}

/// Null where that could not be told.
Json serialises_json(const measure::LeaderConcurrency& measured) {
  using Verdict = measure::LeaderConcurrency::Verdict;
  if (measured.verdict() == Verdict::unknown) return {};
  return measured.verdict() == Verdict::serialised;
}

Json transports_json(const std::vector<TransportRate>& transports) {
  Json all = Json::array();
  for (const TransportRate& one : transports) {
    all.push_back({{"transport", one.transport},
                   {"leaders", one.leaders.leaders},
                   {"one_leader_messages_per_s", one.leaders.one_messages_per_s},
                   {"all_leaders_messages_per_s", one.leaders.all_messages_per_s},
                   {"concurrent_leaders", one.leaders.concurrent_leaders()},
                   {"threads_at_once", one.leaders.threads_at_once},
                   {"serialises", serialises_json(one.leaders)}});
  }
  return all;
}

void print(std::FILE* human, const Findings& found) {
  const auto line = [human](const char* label, const std::string& text) {
    fmt::print(human, "{:<15} {}\n", label, text);
  };
  line("processor", processor_name(found.machine));
  line("machine", found.machine.summary());
  line("caches", caches_text(found.machine));
  line("usable cores", usable_text(found.machine));
  line("MPI library", fmt::format("{}, {}, {} rank{}", mpi_library_name(), found.thread_level,
                                  found.ranks, found.ranks == 1 ? "" : "s"));
  line("latency", found.state.latency_ns
                      ? fmt::format("{:.0f} ns from core to core, one way", *found.state.latency_ns)
                      : std::string("not measurable on a single core"));
  line("core to core", latencies_text(found.latencies));
  line("copy bandwidth", fmt::format("{:.1f} GB/s by one core", found.state.copy_gb_per_s));
  for (const TransportRate& one : found.transports) {
    line(&one == &found.transports.front() ? "leaders" : "",
         fmt::format("over {}: {}", one.transport, leaders_text(one.leaders)));
  }
  line("transport",
       found.transport +
           (found.ranks == 1 ? "; of messages to itself: a job's own, with its ranks" : ""));
  line("prices", found.prices.prices);
  line("", found.prices.file.empty() ? "defaults; hycoll calibrate measures this machine's"
                                     : fmt::format("of {}", found.prices.file));
  if (!found.prices.zones.empty()) line("message sizes", found.prices.zones);
  for (std::size_t i = 0; i < found.placed.workers.size(); ++i) {
    const Core& core = found.placed.workers[i];
    const std::vector<int> lanes = found.placed.lanes_of(static_cast<int>(i));
    line(i == 0 ? "placement" : "",
         fmt::format("worker {} on processing unit {}, package {}, NUMA domain {}{}", i,
                     core.os_index, core.package, core.numa_domain,
                     lanes.empty() ? std::string(", no leader")
                                   : fmt::format(", leads lane {}", fmt::join(lanes, ", "))));
  }
  if (found.memory) fmt::print(human, "\n{}", memory_pages_text(*found.memory));
  if (found.warning) line("WARNING", *found.warning);
}

Report report_of(const Findings& found) {
  const CoreLimits& limits = found.machine.limits();
  Report report;
  report.context = {{"command", "info"},
                    {"processor", processor_name(found.machine)},
                    {"machine", found.machine.summary()},
                    {"packages", found.machine.packages().size()},
                    {"numa_domains", found.machine.numa_domains().size()},
                    {"cores", found.machine.core_count()},
                    {"usable_cores", found.machine.usable_core_count()},
                    {"machine_cores", limits.machine_cores},
                    {"quota_cores", limits.quota_cores ? Json(*limits.quota_cores) : Json()},
                    {"caches", caches_text(found.machine)},
                    {"mpi", mpi_library_name()},
                    {"mpi_thread_level", found.thread_level},
                    {"ranks", found.ranks},
                    {"state", to_json(found.state)},
                    {"core_latencies", latencies_json(found.latencies)},
                    {"transports", transports_json(found.transports)},
                    {"transport", found.transport},
                    {"prices", found.prices.prices},
                    {"machine_file", found.prices.file},
                    {"zones", found.prices.zones},
                    {"warning", found.warning ? Json(*found.warning) : Json()}};
  if (found.memory) report.context["memory"] = to_json(*found.memory);
  for (std::size_t i = 0; i < found.placed.workers.size(); ++i) {
    const Core& core = found.placed.workers[i];
    report.records.push_back({{"worker", i},
                              {"core", core.index},
                              {"processing_unit", core.os_index},
                              {"package", core.package},
                              {"numa_domain", core.numa_domain},
                              {"lanes", found.placed.lanes_of(static_cast<int>(i))}});
  }
  return report;
}

/// The cores on which leaders are measured: equally many on every process.
std::vector<Core> measured_cores(const MpiSession& session, const Topology& share) {
  int count = std::min(share.usable_core_count(), kMaximumMeasuredLeaders);
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MIN, session.world);
  return place_workers(share, count, Placement::spread);
}

LatencyRequest asked_latencies() {
  const char* text = std::getenv("HYCOLL_LATENCIES");
  return parse_latency_request(text == nullptr ? "" : text);
}

ExitStatus run_info(const MpiSession& session, const InfoOptions& options,
                    const KeptPrices& prices) {
  const Topology machine = Topology::this_machine();
  const Topology share =
      machine.share(session.local_rank, session.local_size, LauncherBinding::none);
  const WorkerPlacement placed = place(share, options);
  measure::MachineState state;
  session.wait_idly();
  CoreLatencies latencies;
  if (session.speaks()) {
    state = measure::measure_machine_state(machine, machine.cores());
    latencies = core_latencies(machine, false, asked_latencies());
  }
  session.wait_idly();
  const std::vector<TransportRate> transports =
      measure_transports(session.world, share, measured_cores(session, share), 8);
  const std::string transport =
      LeaderLanes::make(session.world, Options::Transport::automatic, Options::Puts::automatic, 1)
          ->description();
  std::optional<MemoryPages> memory;
  if (options.memory) memory = used_memory_pages(session);
  if (!session.speaks()) return kSuccess;

  // A process alone on a machine of several cores is expected to use them all.
  const int threads = std::max(static_cast<int>(placed.workers.size()),
                               std::min(2, machine.limits().machine_cores / session.local_size));
  const Findings found{.machine = machine,
                       .placed = placed,
                       .state = state,
                       .latencies = latencies,
                       .transports = transports,
                       .transport = transport,
                       .prices = prices,
                       .memory = memory,
                       .warning = confinement_warning(machine, std::max(threads, 1)),
                       .thread_level = session.thread_level,
                       .ranks = session.size};
  print(options.output.human(), found);
  if (!options.svg_path.empty()) {
    write_file("--svg", options.svg_path,
               topology_svg(machine, placed.workers, placed.worker_of_lane));
  }
  options.output.write(report_of(found));
  return kSuccess;
}

class Info final : public Subcommand {
 public:
  explicit Info(CommandLine& line) : Subcommand(line.add_subcommand("info", kInfoSummary)) {
    line_.add_explanation(kInfoExplanation);
    line_.add_option("--workers", options_.workers, "Workers to place (default: one per core)")
        .check(between(1, kMaximumMembers));
    line_.add_option("--lanes", options_.lanes, "Lanes to place (default: one per worker)")
        .check(between(1, kMaximumLanes));
    line_.add_option("--placement", options_.placement, "compact, spread or one_per_package")
        .type_name("RULE")
        .show_default();
    options_.output.add_file(line_, "--svg", options_.svg_path,
                             "Draw the machine with its leaders");
    line_.add_flag(
        "--memory", options_.memory,
        "Make two all-to-alls, and tell in which NUMA domains the pages of staging, heap "
        "and exchange buffers lie");
    line_.add_flag("--settings", options_.settings,
                   "Only print all settings, their values and what they do");
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    if (options_.settings) {
      fmt::print(options_.output.human(), "{}", settings_text());
      options_.output.write(settings_report());
      return kSuccess;
    }
    parse_placement(options_.placement);
    asked_latencies();
    const KeptPrices prices = kept_prices();
    return run_with_mpi(ThreadLevel::multiple, [&](const MpiSession& session) {
      return run_info(session, options_, prices);
    });
  }

 private:
  InfoOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_info(CommandLine& line) { return std::make_unique<Info>(line); }

}  // namespace hycoll::command
