// hycoll simulate: a collective on a described network whose links are shared.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "core/base/price_text.h"
#include "core/drawing/chrome_trace.h"
#include "core/drawing/schedule_svg.h"
#include "core/simulation/simgrid_network.h"
#include "core/simulation/simgrid_xml.h"
#include "threading/program/program.h"
#include "tools/command/checking/check_report.h"
#include "tools/command/checking/check_run.h"
#include "tools/command/checking/job_places.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/progress.h"
#include "tools/command/line/sizes.h"
#include "tools/command/measuring/mpi_session.h"
#include "tools/command/pricing/price_options.h"
#include "tools/command/simulating/platform_text.h"
#include "tools/command/simulating/simulation.h"
#include "tools/command/simulating/simulation_report.h"

namespace hycoll::command {
namespace {

constexpr const char* kSimulateSummary = "Simulate a collective on a described network";
constexpr const char* kSimulateExplanation =
    "Walks through the schedules of all nodes with a clock for every worker, while SimGrid says "
    "how messages share the network's links and the memories of hosts are shared, too. Tells the "
    "time, what the end waits for, and the hottest links. Nothing is sent, and no such machine is "
    "needed.\n"
    "A platform is a file or a description, parts with a semicolon between them: a network and "
    "what a node is. docs/simulation.md lists the parts, docs/platforms has files to start from. "
    "SimGrid's XML (*.xml) is understood, and the files of hycoll ring.\n"
    "  hycoll simulate allreduce --platform 'fat-tree:hosts=64,ports=16,oversubscription=2' "
    "--members 16 --lanes 4 --bytes 1Mi\n"
    "  hycoll simulate broadcast --platform 'torus:4x4x4;node:bandwidth=2.5GB/s' --algorithm all\n"
    "  hycoll simulate --platform docs/platforms/dpml-b.platform --nodes 64 --members 28 --lanes "
    "16 --bytes 512Ki --trace trace.json\n"
    "Members that know nothing of nodes are nodes of one member, several on a host: --per-host.\n"
    "--check measures calls on the job that this process belongs to, a node for each process, and "
    "simulates the same ones. Processes are simulated on the platform's hosts of their hosts' "
    "names, or on its hosts in their order.\n"
    "  tools/hosts --topology FILE --rate 100mbit -- hycoll simulate --check --platform "
    "topology:FILE,link=12MB/s --machine machine.json\n"
    "Exit status: 0; 1 if --check finds a time that is not within 20 % of the measured one, or a "
    "wrong result; 2 for bad arguments.";

struct SimulateOptions {
  CollectiveOption collective;
  RootOption root;
  std::string platform;
  PriceOptions prices;
  std::string algorithm = "auto";
  int nodes = 0;  // 0: as many as hosts
  int members = 1;
  int lanes = 0;
  int segments = 0;
  int per_host = 1;
  std::optional<int> random_hosts;
  std::string bytes;
  std::string visibility = "direct";
  std::string xml_path;
  std::string svg_path;
  std::string trace_path;
  bool check = false;
  double seconds = 1;
  OutputOptions output;
};

constexpr const char* kUsualCollective = "allreduce";
constexpr const char* kUsualBytes = "1Mi";
constexpr const char* kCheckedBytes = "64Ki,512Ki,4Mi";

/// A barrier is an allreduce of one byte.
std::size_t size_bytes_of(const SimulateOptions& options, Routine routine) {
  if (routine == Routine::barrier) return 1;
  return parse_size("--bytes", options.bytes.empty() ? kUsualBytes : options.bytes);
}

/// But for the number of nodes, where the platform says it.
SimulationQuestion question_of(const SimulateOptions& options) {
  CollectiveOption collective = options.collective;
  if (collective.name.empty()) collective.name = kUsualCollective;
  const Routine routine = collective.routine();
  options.root.check(routine);
  return {.collective = collective_of(routine),
          .nodes = options.nodes,
          .members = options.members,
          .lanes = options.lanes,
          .segments = options.segments,
          .root = options.root.root,
          .size_bytes = size_bytes_of(options, routine),
          .visibility = visibility_argument("--visibility", options.visibility),
          .nodes_per_host = options.per_host,
          .seed = options.random_hosts,
          .prices = options.prices.prices()};
}

/// Of --check, which measures what the job is.
void check_no_others(const SimulateOptions& options) {
  const std::pair<const char*, bool> given[] = {
      {"--nodes", options.nodes != 0},         {"--members", options.members != 1},
      {"--per-host", options.per_host != 1},   {"--random-hosts", options.random_hosts.has_value()},
      {"--segments", options.segments != 0},   {"--visibility", options.visibility != "direct"},
      {"--xml", !options.xml_path.empty()},    {"--svg", !options.svg_path.empty()},
      {"--trace", !options.trace_path.empty()}};
  for (const auto& [name, is_given] : given) {
    if (!is_given) continue;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} with --check, which compares the times of calls as the job makes "
                            "them. Leave one of them away",
                            name));
  }
}

std::vector<std::string> names_of_hosts(const FlowNetwork& network) {
  std::vector<std::string> names;
  for (int host = 0; host < network.host_count(); ++host) names.push_back(network.host_name(host));
  return names;
}

CheckQuestion check_question_of(const SimulateOptions& options) {
  check_no_others(options);
  CheckQuestion question{
      .routines = {Routine::allreduce, Routine::broadcast, Routine::alltoall},
      .sizes_bytes = parse_sizes("--bytes", options.bytes.empty() ? kCheckedBytes : options.bytes),
      .algorithm = options.algorithm,
      .lanes = options.lanes,
      .root = options.root.root,
      .seconds = options.seconds};
  if (!options.collective.name.empty()) question.routines = {options.collective.routine()};
  for (const Routine routine : question.routines) {
    options.root.check(routine);
    if (question.algorithm != "auto" && question.algorithm != "all") {
      find_algorithm(collective_of(routine), question.algorithm);
    }
  }
  for (const std::size_t size_bytes : question.sizes_bytes) {
    check_size_fits(size_bytes, "--bytes", DataType::float32);
  }
  return question;
}

class Simulate final : public Subcommand {
 public:
  explicit Simulate(CommandLine& line)
      : Subcommand(line.add_subcommand("simulate", kSimulateSummary)) {
    line_.add_explanation(kSimulateExplanation);
    options_.collective.name.clear();
    options_.collective.add_to(line_, fmt::format(" (default: {}; of --check: allreduce, broadcast "
                                                  "and alltoall)",
                                                  kUsualCollective));
    options_.root.add_to(line_);
    line_
        .add_option("--platform", options_.platform,
                    "The network and its hosts: a file, or a description such as "
                    "'star;node:packages=2,cores=14'")
        .type_name("PLATFORM")
        .required();
    options_.prices.add_machine_to(line_);
    add_call_options();
    options_.output.add_file(line_, "--xml", options_.xml_path,
                             "Write the network as SimGrid reads it, and simulate nothing");
    options_.output.add_file(line_, "--svg", options_.svg_path,
                             "Draw the call of one algorithm as a timeline");
    options_.output.add_file(line_, "--trace", options_.trace_path,
                             "Write the call of one algorithm in Chrome's trace format");
    line_.add_flag("--check", options_.check,
                   "Measure the calls on this job as well, and compare the times");
    line_.add_option("--seconds", options_.seconds, "With --check: for the timed calls of a size")
        .check_positive()
        .show_default();
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    if (options_.check) {
      const CheckQuestion question = check_question_of(options_);
      return run_with_mpi(ThreadLevel::multiple,
                          [&](const MpiSession& session) { return check(session, question); });
    }
    SimulationQuestion question = question_of(options_);
    const int wanted_hosts = (options_.nodes + options_.per_host - 1) / options_.per_host;
    const Platform platform =
        platform_argument("--platform", options_.platform, wanted_hosts, question.prices);
    if (!options_.xml_path.empty()) return write_xml(platform);
    check_pictures();
    const std::unique_ptr<FlowNetwork> network = make_simgrid_network("--platform", platform);
    question.prices = platform.prices;
    if (question.nodes == 0) question.nodes = network->host_count() * options_.per_host;
    check_root(question.root, question.nodes * question.members);
    const std::vector<SimulatedCall> calls = simulate_all(question, platform, *network);
    std::FILE* const human = options_.output.human();
    fmt::print(human, "{}{}", question_text(question, platform, network->host_count()),
               calls_text(calls));
    if (calls.size() == 1) fmt::print(human, "{}", details_text(calls.front()));
    write_pictures(calls.front(), question.size_bytes);
    options_.output.write(simulation_report(question, platform, network->host_count(), calls));
    return kSuccess;
  }

 private:
  void add_call_options();
  bool wants_pictures() const { return !options_.svg_path.empty() || !options_.trace_path.empty(); }
  void check_pictures() const;
  ExitStatus write_xml(const Platform& platform) const;
  std::vector<SimulatedCall> simulate_all(const SimulationQuestion& question,
                                          const Platform& platform, FlowNetwork& network) const;
  void write_pictures(const SimulatedCall& call, std::size_t size_bytes) const;
  ExitStatus check(const MpiSession& session, const CheckQuestion& question) const;

  SimulateOptions options_;
};

void Simulate::add_call_options() {
  line_
      .add_option("--algorithm", options_.algorithm,
                  "A name that hycoll algorithms lists, auto: as hycoll chooses, or all that serve")
      .type_name("NAME")
      .show_default();
  line_.add_option("--nodes", options_.nodes, "Nodes (default: all hosts)")
      .check(between(1, kMaximumNodes));
  line_
      .add_option("--per-host", options_.per_host,
                  "Nodes that share a host: messages between them pass through its memory")
      .check(between(1, kMaximumMembers))
      .show_default();
  line_
      .add_option("--random-hosts", options_.random_hosts,
                  "Deal the nodes to the hosts at random, by this seed (default: in their order)")
      .type_name("SEED")
      .check(between(0, 1'000'000'000));
  line_.add_option("--members", options_.members, "Members per node")
      .check(between(1, kMaximumMembers))
      .show_default();
  line_.add_option("--lanes", options_.lanes, "Lanes per node (default: as hycoll chooses)")
      .check(between(1, kMaximumLanes));
  line_
      .add_option("--segments", options_.segments,
                  "Parts into which messages are cut (default: as hycoll chooses)")
      .check(between(1, kMaximumSegments));
  line_
      .add_option("--bytes", options_.bytes,
                  "Size of each member's input: 8, 64Ki, 16Mi; with --check, a list or range")
      .type_name("SIZE")
      .show_default(fmt::format("{}; of --check: {}", kUsualBytes, kCheckedBytes));
  line_
      .add_option("--visibility", options_.visibility,
                  "direct: workers reach all buffers of their node; staged: their own member's and "
                  "staging only")
      .type_name("NAME")
      .show_default();
}

void Simulate::check_pictures() const {
  if (!wants_pictures()) return;
  if (options_.algorithm == "all") {
    throw Error(ErrorKind::invalid_argument,
                "--svg and --trace show one algorithm, and --algorithm is 'all'. Name one");
  }
}

ExitStatus Simulate::write_xml(const Platform& platform) const {
  if (std::holds_alternative<SimGridFile>(platform.network)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--xml with --platform '{}', which is SimGrid's XML. Leave one of them "
                            "away",
                            options_.platform));
  }
  write_file("--xml", options_.xml_path, to_simgrid_xml(platform));
  return kSuccess;
}

std::vector<SimulatedCall> Simulate::simulate_all(const SimulationQuestion& question,
                                                  const Platform& platform,
                                                  FlowNetwork& network) const {
  const std::vector<SimulatedPlan> plans =
      options_.algorithm == "all" ? plans_that_serve(question)
                                  : std::vector{plan_named(question, options_.algorithm)};
  ProgressBar progress(std::max<std::size_t>(plans.size(), 1));
  std::vector<SimulatedCall> calls;
  for (const SimulatedPlan& plan : plans) {
    progress.set_label(std::string(plan.algorithm->name));
    calls.push_back(simulate(question, plan, platform, network,
                             wants_pictures() ? Pictures::wanted : Pictures::none));
    progress.advance(1);
  }
  if (calls.empty()) {
    throw Error(ErrorKind::unsupported,
                fmt::format("no algorithm serves {} nodes of {} members with {} lanes. Give other "
                            "ones",
                            question.nodes, question.members, question.lanes));
  }
  std::ranges::stable_sort(calls, {}, &SimulatedCall::time_us);
  return calls;
}

void Simulate::write_pictures(const SimulatedCall& call, std::size_t size_bytes) const {
  if (!options_.svg_path.empty()) {
    const Schedule& schedule = call.schedule;
    const auto members = static_cast<std::size_t>(schedule.shape.member_count());
    const bool has_blocks = hycoll::has_blocks(schedule.collective);
    const Partition partition =
        partition_for(schedule, {.count = has_blocks ? size_bytes / members : size_bytes}, 1);
    write_file("--svg", options_.svg_path,
               to_svg(schedule, partition, 1, *call.priced, call.record));
  }
  if (!options_.trace_path.empty()) {
    write_file("--trace", options_.trace_path, chrome_trace(*call.priced, call.record));
  }
}

ExitStatus Simulate::check(const MpiSession& session, const CheckQuestion& question) const {
  const std::vector<std::string> job = hosts_of_job(session);
  const Platform platform = platform_argument("--platform", options_.platform, distinct_count(job),
                                              options_.prices.prices());
  // On all processes, so that all say alike what is wrong.
  const std::unique_ptr<FlowNetwork> network = make_simgrid_network("--platform", platform);
  const JobPlaces places = places_on(names_of_hosts(*network), job);
  std::optional<ProgressBar> progress;
  if (session.speaks()) progress.emplace(question.routines.size() * question.sizes_bytes.size());
  const BenchResult measured = measure_calls(session, question, [&](const BenchRow& row) {
    progress->set_label(row.algorithm);
    progress->advance(1);
  });
  progress.reset();
  ExitStatus status = kSuccess;
  if (session.speaks()) {
    const CheckResult result = check_calls(measured, places.hosts, platform, *network);
    fmt::print(options_.output.human(), "{}job:       {}\n\n{}",
               platform_lines(platform, network->host_count()), job_text(job, places),
               check_text(result));
    Report report = check_report(result);
    report.context.update({{"command", "simulate --check"},
                           {"simulator", simgrid_version()},
                           {"platform", platform.name},
                           {"prices", to_text(platform.prices)},
                           {"mpi", mpi_library_name()},
                           {"hosts_of_ranks", job}});
    options_.output.write(report);
    if (!result.agrees()) status = kNotProved;
  }
  session.wait_idly();
  return status;
}

}  // namespace

std::unique_ptr<Subcommand> add_simulate(CommandLine& line) {
  return std::make_unique<Simulate>(line);
}

}  // namespace hycoll::command
