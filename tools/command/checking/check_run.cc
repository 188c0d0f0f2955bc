#include "tools/command/checking/check_run.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <iterator>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "numa/topology/topology.h"
#include "tools/command/line/sizes.h"
#include "tools/command/measuring/agenda.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/simulating/simulation.h"

namespace hycoll::command {
namespace {

constexpr DataType kType = DataType::float32;

/// The largest size that is not above this one and has equal blocks.
std::size_t with_equal_blocks(std::size_t size_bytes, int members) {
  const std::size_t unit = static_cast<std::size_t>(members) * size_of(kType);
  if (size_bytes < unit) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("--bytes '{}': a block for each of {} processes needs {} at least. Give "
                    "larger sizes",
                    short_size(size_bytes), members, unit));
  }
  return size_bytes / unit * unit;
}

std::vector<std::size_t> sizes_of(const CheckQuestion& question, Routine routine, int members) {
  if (routine == Routine::barrier) return {0};
  std::vector<std::size_t> sizes = question.sizes_bytes;
  if (has_blocks(collective_of(routine))) {
    for (std::size_t& size_bytes : sizes) size_bytes = with_equal_blocks(size_bytes, members);
  }
  return sizes;
}

BenchSettings settings_of(const CheckQuestion& question, Routine routine, int members) {
  return {.layout = Layout::per_node,
          .algorithm = question.algorithm,
          .sizes_bytes = sizes_of(question, routine, members),
          // A call that follows others begins before they have ended everywhere.
          .measurement = {.problem = {.routine = routine, .type = kType, .root = question.root},
                          .seconds = question.seconds,
                          .inputs = InputUse::fresh},
          .workers = std::max(question.lanes, 1),
          .lanes = question.lanes,
          .native = NativeToo::no,
          .probing = Probing::no};
}

SimulationQuestion simulation_of(const BenchRow& row, const std::vector<int>& hosts) {
  const Problem& problem = row.task.measurement.problem;
  return {.collective = collective_of(problem.routine),
          .nodes = row.nodes,
          .members = row.members,
          .workers = row.workers,
          .root = problem.root,
          .size_bytes = problem.routine == Routine::barrier ? 1 : row.task.size_bytes,
          .hosts = hosts};
}

}  // namespace

std::vector<std::string> hosts_of_job(const MpiSession& session) {
  std::string name = host_name();
  name.resize(kHostNameBytes);
  std::vector<char> names(name.size() * static_cast<std::size_t>(session.size));
  MPI_Allgather(name.data(), kHostNameBytes, MPI_CHAR, names.data(), kHostNameBytes, MPI_CHAR,
                session.world);
  std::vector<std::string> hosts;
  for (std::size_t at = 0; at < names.size(); at += name.size()) hosts.emplace_back(&names[at]);
  return hosts;
}

BenchResult measure_calls(const MpiSession& session, const CheckQuestion& question,
                          const std::function<void(const BenchRow&)>& on_row) {
  if (session.size == 1) {
    throw Error(
        ErrorKind::invalid_argument,
        "--check: there is one process, which sends no messages. Start several, on one host "
        "each, under mpiexec or tools/hosts");
  }
  if (const std::string topology = Options::from_environment().topology; !topology.empty()) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("--check: nodes are simulated in the order of ranks, and HYCOLL_TOPOLOGY "
                    "is '{}'. Unset it",
                    topology));
  }
  const Topology machine = Topology::this_machine();
  BenchResult result;
  for (const Routine routine : question.routines) {
    const BenchSettings settings = settings_of(question, routine, session.size);
    SizesAgenda agenda(settings, session.speaks(), on_row);
    BenchResult one = run_bench(session, machine, settings, agenda);
    std::ranges::move(one.rows, std::back_inserter(result.rows));
    std::ranges::move(one.refusals, std::back_inserter(result.refusals));
  }
  return result;
}

CheckResult check_calls(const BenchResult& measured, const std::vector<int>& hosts,
                        const Platform& platform, FlowNetwork& network) {
  CheckResult result{.calls = {}, .left_out = measured.refusals};
  for (const BenchRow& row : measured.rows) {
    const SimulationQuestion question = simulation_of(row, hosts);
    const Algorithm& algorithm = find_algorithm(question.collective, row.algorithm);
    if (algorithm.exchange.help == ExchangeHelp::mpi_library) {
      result.left_out.push_back(
          fmt::format("{}, {} bytes: what the MPI library does in {} cannot be simulated",
                      name_of(question.collective), question.size_bytes, row.algorithm));
      continue;
    }
    const SimulatedPlan plan{.algorithm = &algorithm, .lanes = row.lanes, .segments = row.segments};
    const Timing& timing = row.fastest(Role::call)->timing;
    result.calls.push_back(
        {.routine = row.task.measurement.problem.routine,
         .algorithm = row.algorithm,
         .lanes = row.lanes,
         .segments = row.segments,
         .size_bytes = row.task.size_bytes,
         .simulated_us = simulate(question, plan, platform, network, Pictures::none).time_us,
         .measured_us = timing.call_us,
         .rounds = timing.rounds,
         .verified = row.verified()});
  }
  return result;
}

}  // namespace hycoll::command
