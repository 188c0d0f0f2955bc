// hycoll bench serve: a participant of hycoll compare, which starts it.

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/errors.h"
#include "numa/topology/topology.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/measuring/agenda.h"
#include "tools/command/measuring/bench_options.h"
#include "tools/command/measuring/bench_records.h"
#include "tools/command/turns/channel.h"
#include "tools/command/turns/messages.h"

namespace hycoll::command {
namespace {

constexpr const char* kBenchServeSummary = "Measure what hycoll compare asks for";
constexpr const char* kBenchServeExplanation =
    "A participant of hycoll compare, which starts it: every process connects to a socket, sleeps "
    "there without using a core, and measures what it is told to. It ends when its socket is "
    "closed. Not to be started by hand.\n"
    "Exit status: 0; 2 for bad arguments, or when nobody listens.";

double seconds_of(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The tasks that hycoll compare sends.
class ServedAgenda final : public Agenda {
 public:
  ServedAgenda(const MpiSession& session, const BenchSettings& settings, const std::string& path)
      : session_(session), settings_(settings), channel_(Channel::connect(path)) {
    channel_.send(message_of(Hello{.rank = session.rank,
                                   .ranks = session.size - settings.aggregators,
                                   .mpi = mpi_library_name()}));
  }

  std::optional<BenchTask> next() override {
    channel_.send(message_of(nap_));
    const double asleep = seconds_of(CLOCK_MONOTONIC);
    const double used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const std::optional<std::string> line = channel_.receive();
    nap_ = {.slept_s = seconds_of(CLOCK_MONOTONIC) - asleep,
            .used_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used};
    if (!line) return std::nullopt;
    BenchTask task = parse_message(*line).task;
    task.measurement.memory = settings_.measurement.memory;
    return task;
  }

  void measured(const BenchRow& row) override {
    answer({.record = record_of(settings_, row, measure::MachineStates({})), .refusal = ""});
  }

  void refused(const std::string& reason) override { answer({.record = {}, .refusal = reason}); }

 private:
  void answer(const Answer& answer) {
    if (session_.speaks()) channel_.send(message_of(answer));
  }

  const MpiSession& session_;
  const BenchSettings& settings_;
  Channel channel_;
  Nap nap_;
};

class BenchServe final : public Subcommand {
 public:
  explicit BenchServe(CommandLine& bench)
      : Subcommand(bench.add_subcommand("serve", kBenchServeSummary)) {
    line_.add_explanation(kBenchServeExplanation);
    line_.hide();  // people do not start it
    line_
        .add_option("--layout", options_.layout,
                    "threads, per_node, processes, processes_heap or native")
        .type_name("LAYOUT")
        .show_default();
    options_.add_choices(line_, BenchOptions::Algorithms::one);
    options_.add_aggregators(line_);
    options_.add_ranks(line_);
    options_.add_preload(line_);
    line_.add_option("--socket", socket_, "Where hycoll compare listens")
        .type_name("PATH")
        .required();
  }

  ExitStatus run() override {
    start_ranks(options_);
    // Which collectives the algorithm must serve, only the tasks say.
    const std::string algorithm = std::exchange(options_.algorithm, "auto");
    BenchSettings settings = options_.settings(Subject::call);
    settings.algorithm = algorithm;
    settings.native = NativeToo::no;
    settings.probing = Probing::no;  // by hycoll compare, while all participants sleep
    return run_with_mpi(
        settings.layout == Layout::native ? ThreadLevel::single : ThreadLevel::multiple,
        [&](const MpiSession& session) {
          const bool measures = session.rank < session.size - settings.aggregators;
          std::unique_ptr<Agenda> agenda;
          if (measures) agenda = std::make_unique<ServedAgenda>(session, settings, socket_);
          NoTasks nothing;
          run_bench(session, Topology::this_machine(), settings, measures ? *agenda : nothing);
          return kSuccess;
        });
  }

 private:
  /// Of aggregators, which serve the others.
  class NoTasks final : public Agenda {
   public:
    std::optional<BenchTask> next() override { return std::nullopt; }
    void measured(const BenchRow&) override {}
    void refused(const std::string&) override {}
  };

  BenchOptions options_;
  std::string socket_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench_serve(CommandLine& bench) {
  return std::make_unique<BenchServe>(bench);
}

}  // namespace hycoll::command
