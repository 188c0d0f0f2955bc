#include "tools/command/comparing/compare_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "tools/command/line/progress.h"
#include "tools/command/line/sizes.h"
#include "tools/command/measuring/launch.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/turns/participant_job.h"
#include "tools/command/turns/participant_program.h"

namespace hycoll::command {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string inputs_name(const BenchTask& task) {
  const MeasurementOptions& measurement = task.measurement;
  return measurement.problem.routine == Routine::barrier ? "no"
                                                         : std::string(name_of(measurement.inputs));
}

}  // namespace

CompareRun::CompareRun(const CompareSettings& settings, const Topology& machine)
    : settings_(settings), machine_(machine) {
  for (const Problem& problem : settings.problems) add_tasks(problem);
  add_job("MPI", true, Layout::native, own_path(), "");
  for (const std::string& binary : settings.references) {
    add_job(binary, true, Layout::native, binary, "");
  }
  for (const std::string& command : settings.programs) {
    auto program = std::make_unique<ParticipantProgram>(command, settings.workers,
                                                        std::chrono::seconds(settings.timeout_s));
    add(Contender{.name = command, .is_reference = true}, std::move(program));
  }
  for (const Layout layout : settings.layouts) {
    add_job(std::string(name_of(layout)), false, layout, own_path(), "");
  }
  if (!settings.preload.empty()) {
    add_job("preloaded", false, Layout::native, own_path(), settings.preload);
  }
  verified_.assign(entries_.size(), std::vector<bool>(tasks_.size()));
}

void CompareRun::add_tasks(const Problem& problem) {
  const bool barrier = problem.routine == Routine::barrier;
  const std::vector<std::size_t> no_size = {0};
  const std::vector<InputUse> no_inputs = {InputUse::reused};
  for (const InputUse inputs : barrier ? no_inputs : settings_.inputs) {
    for (const std::size_t size_bytes : barrier ? no_size : settings_.sizes_bytes) {
      tasks_.push_back({.size_bytes = size_bytes,
                        .measurement = {.problem = problem,
                                        .seconds = settings_.seconds,
                                        .inputs = inputs,
                                        .pace = settings_.pace}});
    }
  }
}

void CompareRun::add_job(std::string name, bool is_reference, Layout layout,
                         const std::string& binary, const std::string& preload) {
  auto participant = std::make_unique<ParticipantJob>(
      JobStart{.name = name,
               .command = command_of(layout, binary, preload),
               .timeout = std::chrono::seconds(settings_.timeout_s)});
  if (is_reference) {
    const bool used = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.contender.name == participant->mpi();
    });
    // Two references may be of the same library.
    name = used ? fmt::format("{} ({})", participant->mpi(), binary) : participant->mpi();
  }
  add(Contender{.name = std::move(name), .is_reference = is_reference}, std::move(participant));
}

void CompareRun::add(Contender contender, std::unique_ptr<Participant> participant) {
  Entry& entry = entries_.emplace_back();
  entry.contender = std::move(contender);
  entry.participant = std::move(participant);
}

std::vector<std::string> CompareRun::command_of(Layout layout, const std::string& binary,
                                                const std::string& preload) const {
  const bool threads = layout == Layout::threads;
  std::vector<std::string> command = {binary,
                                      "bench",
                                      "serve",
                                      "--layout",
                                      std::string(name_of(layout)),
                                      "--ranks",
                                      std::to_string(threads ? 1 : settings_.workers),
                                      "--workers",
                                      std::to_string(threads ? settings_.workers : 1)};
  // Threads of one process must not share the core of its rank.
  if (!threads) command.insert(command.end(), {"--bind-to", settings_.binding});
  if (layout != Layout::native) {
    command.insert(command.end(), {"--algorithm", settings_.algorithm, "--aggregators",
                                   std::to_string(settings_.aggregators)});
    if (settings_.reproducible) command.emplace_back("--reproducible");
  }
  if (!preload.empty()) command.insert(command.end(), {"--preload", preload});
  return command;
}

void CompareRun::run() {
  ProgressBar progress(1);
  const TurnsWorld world{
      .probe = [this] { return measure::measure_latency_ns(machine_, machine_.cores()); },
      .measure =
          [&](std::size_t participant, std::size_t task) {
            const BenchTask& what = tasks_[task];
            progress.set_label(fmt::format("{} {}, {} inputs: {}",
                                           name_of(what.measurement.problem.routine),
                                           short_size(what.size_bytes), inputs_name(what),
                                           entries_[participant].contender.name));
            return measure(participant, task);
          },
      .now = now_seconds,
      .sleep =
          [](double seconds) {
            InterruptGuard::check();
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
          },
      .on_progress =
          [&](std::size_t done, std::size_t wanted) {
            progress.set(done, std::max<std::size_t>(wanted, 1));
          }};
  result_ = take_turns({.participants = entries_.size(),
                        .tasks = tasks_.size(),
                        .rounds = settings_.rounds,
                        .seconds = settings_.at_most_seconds},
                       world);
}

Answer CompareRun::measure(std::size_t participant, std::size_t task) {
  BenchTask what = tasks_[task];
  // Once is enough for what a block of calls does not show anyway.
  what.measurement.verification =
      verified_[participant][task] ? Verification::timed_calls : Verification::pipelined;
  verified_[participant][task] = true;
  return entries_[participant].participant->measure(what);
}

std::vector<Contender> CompareRun::contenders() const {
  std::vector<Contender> contenders;
  for (const Entry& entry : entries_) contenders.push_back(entry.contender);
  return contenders;
}

std::vector<ComparedTask> CompareRun::compared_tasks() const {
  std::vector<ComparedTask> tasks;
  for (const BenchTask& task : tasks_) {
    tasks.push_back({.collective = std::string(name_of(task.measurement.problem.routine)),
                     .inputs = inputs_name(task),
                     .size_bytes = task.size_bytes});
  }
  return tasks;
}

Comparison CompareRun::comparison() const {
  std::vector<ComparedBlock> blocks;
  for (const Block& block : result_.blocks) {
    if (!block.answer.refusal.empty()) continue;
    blocks.push_back({.contender = block.participant,
                      .task = block.task,
                      .latency = block.latency,
                      .sample = sample_from(block.answer.record)});
  }
  return compare_blocks(contenders(), compared_tasks(), blocks, result_.latencies_ns);
}

Json CompareRun::blocks_json() const {
  const measure::MachineStates states(result_.latencies_ns);
  const std::vector<ComparedTask> tasks = compared_tasks();
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json blocks = Json::array();
  for (const Block& block : result_.blocks) {
    const ComparedTask& task = tasks[block.task];
    const std::optional<std::size_t> state = states.state_of(block.latency);
    Json json = {{"contender", entries_[block.participant].contender.name},
                 {"collective", task.collective},
                 {"inputs", task.inputs},
                 {"bytes", task.size_bytes},
                 {"before_ns", number(block.latency.before_ns)},
                 {"after_ns", number(block.latency.after_ns)},
                 {"state", state ? Json(states.all()[*state].name) : Json()}};
    if (block.answer.refusal.empty()) {
      json["median_us"] = block.answer.record.value("median_us", Json());
    } else {
      json["refusal"] = block.answer.refusal;
    }
    blocks.push_back(std::move(json));
  }
  return blocks;
}

double CompareRun::asleep_share() const {
  double most = 0;
  for (const Entry& entry : entries_) {
    most = std::max(most, entry.participant->asleep_share().value_or(0));
  }
  return most;
}

}  // namespace hycoll::command
