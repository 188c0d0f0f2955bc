// hycoll bench endpoints: the messages of leaders, over MPI, over UCX, and over UCX with puts.

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/job/lane_transport.h"
#include "numa/placement/placement.h"
#include "numa/topology/topology.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/measuring/leader_lanes.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/measuring/mpi_session.h"
#include "tools/measure/leader_concurrency.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {
namespace {

constexpr const char* kBenchEndpointsSummary =
    "Measure the messages of leaders over MPI and over UCX";
constexpr const char* kBenchEndpointsExplanation =
    "Measures how many messages leaders exchange, over each transport that there is (MPI, UCX, and "
    "UCX whose long messages are put where they are expected): one leader alone, and all together, "
    "each bound to a core of its own with its own lane. Under mpiexec "
    "neighbouring processes 0-1, 2-3, ... exchange with one another; a process that is alone, or "
    "of an odd number, with itself.\n"
    "  hycoll bench endpoints --leaders 2 --sizes 8,4Ki,1Mi\n"
    "  mpiexec -n 2 hycoll bench endpoints --leaders 1 --json -\n"
    "messages/s: that a process sends, of all leaders together, in the best of 7 alternating runs. "
    "latency: from one exchange of a leader, both ways at once, to its next one. times one: how "
    "many times as many messages as one leader alone.\n"
    "Exit status: 0; 2 for bad arguments.";

struct EndpointsOptions {
  int leaders = 0;  // 0: one per core
  std::string sizes = "8,512,4Ki,64Ki,1Mi";
  OutputOptions output;
};

/// One leader, or all of them.
struct LeadersRate {
  int leaders;
  double messages_per_s;

  double latency_us() const { return 1e6 * leaders / messages_per_s; }
};

std::vector<LeadersRate> rates_of(const measure::LeaderConcurrency& measured) {
  std::vector<LeadersRate> rates = {{.leaders = 1, .messages_per_s = measured.one_messages_per_s}};
  if (measured.leaders > 1) {
    rates.push_back({.leaders = measured.leaders, .messages_per_s = measured.all_messages_per_s});
  }
  return rates;
}

void print_header(std::FILE* human) {
  fmt::print(human, "{:>7} {:<22} {:>7} {:>12} {:>10} {:>9}\n", "bytes", "transport", "leaders",
             "messages/s", "latency us", "times one");
}

void print_rate(std::FILE* human, std::size_t size_bytes, const TransportRate& its) {
  for (const LeadersRate& rate : rates_of(its.leaders)) {
    fmt::print(human, "{:>7} {:<22} {:>7} {:>12.0f} {:>10} {:>9}\n", short_size(size_bytes),
               its.transport, rate.leaders, rate.messages_per_s, time_text(rate.latency_us()),
               ratio_text(rate.messages_per_s / its.leaders.one_messages_per_s));
  }
}

void add_records(std::vector<Json>& records, std::size_t size_bytes, const TransportRate& its) {
  for (const LeadersRate& rate : rates_of(its.leaders)) {
    records.push_back({{"transport", its.transport},
                       {"leaders", rate.leaders},
                       {"bytes", size_bytes},
                       {"messages_per_s", rate.messages_per_s},
                       {"latency_us", rate.latency_us()}});
  }
}

ExitStatus run_endpoints(const MpiSession& session, const EndpointsOptions& options,
                         std::span<const std::size_t> sizes) {
  const Topology machine = Topology::this_machine();
  const Topology share =
      machine.share(session.local_rank, session.local_size, LauncherBinding::none);
  int leaders = options.leaders > 0 ? options.leaders : share.usable_core_count();
  MPI_Allreduce(MPI_IN_PLACE, &leaders, 1, MPI_INT, MPI_MIN, session.world);
  const std::vector<Core> cores = place_workers(share, leaders, Placement::spread);
  std::FILE* const human = session.speaks() ? options.output.human() : nullptr;
  const UcxPresence ucx = ucx_presence();
  Report report{.context = {{"command", "bench endpoints"},
                            {"processor", processor_name(machine)},
                            {"machine", machine.summary()},
                            {"mpi", mpi_library_name()},
                            {"ucx", ucx.version.empty() ? Json() : Json(ucx.version)},
                            {"ranks", session.size}},
                .records = {}};
  session.wait_idly();
  if (human != nullptr) {
    const measure::MachineState state = measure::measure_machine_state(machine, machine.cores());
    report.context["state"] = to_json(state);
    fmt::print(human, "{}; {}\n", mpi_library_name(), to_text(state));
    if (ucx.version.empty()) fmt::print(human, "UCX cannot be used: {}\n", ucx.why_not);
    print_header(human);
  }
  session.wait_idly();
  for (const std::size_t size_bytes : sizes) {
    for (const TransportRate& its : measure_transports(session.world, share, cores, size_bytes)) {
      if (human == nullptr) continue;
      print_rate(human, size_bytes, its);
      add_records(report.records, size_bytes, its);
    }
  }
  if (human != nullptr) options.output.write(report);
  return kSuccess;
}

class BenchEndpoints final : public Subcommand {
 public:
  explicit BenchEndpoints(CommandLine& bench)
      : Subcommand(bench.add_subcommand("endpoints", kBenchEndpointsSummary)) {
    line_.add_explanation(kBenchEndpointsExplanation);
    line_.add_option("--leaders", options_.leaders, "Leaders of a process (default: one per core)")
        .check(between(1, kMaximumLanes));
    line_.add_option("--sizes", options_.sizes, "Bytes of a message")
        .type_name("LIST")
        .show_default();
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    const std::vector<std::size_t> sizes = parse_sizes("--sizes", options_.sizes);
    return run_with_mpi(ThreadLevel::multiple, [&](const MpiSession& session) {
      return run_endpoints(session, options_, sizes);
    });
  }

 private:
  EndpointsOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench_endpoints(CommandLine& bench) {
  return std::make_unique<BenchEndpoints>(bench);
}

}  // namespace hycoll::command
