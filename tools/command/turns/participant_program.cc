#include "tools/command/turns/participant_program.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/errors.h"
#include "tools/command/measuring/child.h"

namespace hycoll::command {
namespace {

constexpr std::size_t kShownOfErrors = 2000;

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

ParticipantProgram::ParticipantProgram(std::string command, int workers,
                                       std::chrono::milliseconds timeout)
    : command_(std::move(command)), workers_(workers), timeout_(timeout) {}

std::string ParticipantProgram::command_for(const BenchTask& task) const {
  const MeasurementOptions& measurement = task.measurement;
  const Problem& problem = measurement.problem;
  std::string command = command_;
  const std::pair<const char*, std::string> values[] = {
      {"{collective}", std::string(name_of(problem.routine))},
      {"{bytes}", std::to_string(task.size_bytes)},
      {"{type}", std::string(name_of(problem.type))},
      {"{op}", std::string(name_of(problem.op))},
      {"{root}", std::to_string(problem.root)},
      {"{inputs}", std::string(name_of(measurement.inputs))},
      {"{pace}", std::string(name_of(measurement.pace))},
      {"{seconds}", fmt::format("{}", measurement.seconds)},
      {"{workers}", std::to_string(workers_)}};
  for (const auto& [name, value] : values) replace_all(command, name, value);
  return command;
}

Answer ParticipantProgram::measure(const BenchTask& task) {
  const std::string command = command_for(task);
  const ChildResult result = run_child({"sh", "-c", command}, timeout_);
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::environment,
                fmt::format("--reference-program '{}' {}. Its messages:\n{}", command, what,
                            result.errors.substr(0, kShownOfErrors)));
  };
  if (result.end == ChildResult::End::timed_out) fail("did not end in time (--timeout)");
  // A wrong result still comes with a whole report.
  const bool wrong_result = result.end == ChildResult::End::exited && result.status == kNotProved;
  if (!result.succeeded() && !wrong_result) fail(fmt::format("ended with {}", result.status));
  try {
    const Json document = parse_json(result.output);
    mpi_ = document.at("context").at("mpi").get<std::string>();
    for (const Json& record : document.at("records")) {
      if (record.at("bytes") == task.size_bytes) return {.record = record, .refusal = ""};
    }
  } catch (const Json::exception& error) {
    fail(fmt::format("did not print the JSON of hycoll bench ({})", error.what()));
  }
  return {.record = {}, .refusal = "the program printed no record of this size"};
}

}  // namespace hycoll::command
