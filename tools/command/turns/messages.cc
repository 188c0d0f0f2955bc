#include "tools/command/turns/messages.h"

#include <fmt/format.h>

#include "core/base/errors.h"
#include "tools/command/line/arguments.h"

namespace hycoll::command {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kShownOfLine = 200;

Json to_json(const BenchTask& task) {
  const MeasurementOptions& measurement = task.measurement;
  const Problem& problem = measurement.problem;
  return {{"collective", name_of(problem.routine)},
          {"type", name_of(problem.type)},
          {"op", name_of(problem.op)},
          {"root", problem.root},
          {"bytes", task.size_bytes},
          {"seconds", measurement.seconds},
          {"inputs", name_of(measurement.inputs)},
          {"pace", name_of(measurement.pace)},
          {"verify", measurement.verification == Verification::pipelined}};
}

BenchTask task_from(const Json& json) {
  const std::string name = json.at("collective").get<std::string>();
  const std::optional<Routine> routine = parse_routine(name);
  if (!routine) {
    throw Error(ErrorKind::environment, fmt::format("there is no collective '{}'", name));
  }
  BenchTask task{.size_bytes = json.at("bytes").get<std::size_t>(), .measurement = {}};
  MeasurementOptions& measurement = task.measurement;
  measurement.problem = {.routine = *routine,
                         .type = data_type_argument("type", json.at("type").get<std::string>()),
                         .op = operator_argument("op", json.at("op").get<std::string>()),
                         .root = json.at("root").get<int>()};
  measurement.seconds = json.at("seconds").get<double>();
  measurement.inputs = parse_input_use("inputs", json.at("inputs").get<std::string>());
  measurement.pace = parse_pace("pace", json.at("pace").get<std::string>());
  measurement.verification =
      json.at("verify").get<bool>() ? Verification::pipelined : Verification::timed_calls;
  return task;
}

Hello hello_from(const Json& json) {
  if (json.at("version").get<int>() != kVersion) {
    throw Error(ErrorKind::environment, "the other side is of another version");
  }
  return {.rank = json.at("rank").get<int>(),
          .ranks = json.at("ranks").get<int>(),
          .mpi = json.at("mpi").get<std::string>()};
}

Message message_from(const Json& json) {
  Message message;
  if (json.contains("hello")) {
    message.hello = hello_from(json.at("hello"));
  } else if (json.contains("ready")) {
    message.kind = Message::Kind::ready;
    message.nap = {.slept_s = json.at("ready").at("slept_s").get<double>(),
                   .used_s = json.at("ready").at("used_s").get<double>()};
  } else if (json.contains("task")) {
    message.kind = Message::Kind::task;
    message.task = task_from(json.at("task"));
  } else if (json.contains("refusal")) {
    message.kind = Message::Kind::answer;
    message.answer.refusal = json.at("refusal").get<std::string>();
  } else {
    message.kind = Message::Kind::answer;
    message.answer.record = json.at("record");
  }
  return message;
}

}  // namespace

std::string message_of(const Hello& hello) {
  return json_text({{"hello",
                     {{"version", kVersion},
                      {"rank", hello.rank},
                      {"ranks", hello.ranks},
                      {"mpi", hello.mpi}}}});
}

std::string message_of(const Nap& nap) {
  return json_text({{"ready", {{"slept_s", nap.slept_s}, {"used_s", nap.used_s}}}});
}

std::string message_of(const BenchTask& task) { return json_text({{"task", to_json(task)}}); }

std::string message_of(const Answer& answer) {
  if (!answer.refusal.empty()) return json_text({{"refusal", answer.refusal}});
  return json_text({{"record", answer.record}});
}

Message parse_message(const std::string& line) {
  std::string reason;
  try {
    return message_from(parse_json(line));
  } catch (const Json::exception& error) {
    reason = error.what();
  } catch (const Error& error) {
    reason = error.what();
  }
  throw Error(ErrorKind::environment,
              fmt::format("'{}' is no message of a comparison: {}. Is the other binary of the same "
                          "version?",
                          line.substr(0, kShownOfLine), reason));
}

}  // namespace hycoll::command
