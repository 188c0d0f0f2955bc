// The protocol between hycoll compare and its participants: shells play the jobs.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "core/base/errors.h"
#include "tools/command/measuring/child.h"
#include "tools/command/turns/channel.h"
#include "tools/command/turns/messages.h"
#include "tools/command/turns/participant_job.h"
#include "tools/command/turns/participant_program.h"

namespace hycoll::command {
namespace {

using namespace std::chrono_literals;

const BenchTask kTask{.size_bytes = 24,
                      .measurement = {.problem = {.routine = Routine::reduce,
                                                  .type = DataType::int32,
                                                  .op = Operator::max,
                                                  .root = 1},
                                      .seconds = 0.5,
                                      .inputs = InputUse::fresh,
                                      .pace = Pace::separate,
                                      .verification = Verification::timed_calls}};

/// A job of one process: a program in Python, to which `channel` is a file of lines.
JobStart job(const std::string& body, std::chrono::milliseconds timeout = 60s) {
  const std::string program =
      "import socket, sys, time, os\n"
      "s = socket.socket(socket.AF_UNIX)\n"
      "s.connect(sys.argv[sys.argv.index('--socket') + 1])\n"
      "f = s.makefile('rw')\n"
      "def say(text):\n  f.write(text + '\\n')\n  f.flush()\n"
      "hello = '{\"hello\": {\"version\": 1, \"rank\": 0, \"ranks\": 1, \"mpi\": \"An MPI\"}}'\n"
      "ready = '{\"ready\": {\"slept_s\": 4, \"used_s\": 1}}'\n" +
      body;
  return {.name = "shell", .command = {"python3", "-c", program}, .timeout = timeout};
}

/// The message of the error that starting the job and one turn throw; "" if none is thrown.
std::string failure_of(const JobStart& start) {
  const InterruptGuard guard;
  try {
    ParticipantJob participant(start);
    participant.measure(kTask);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a task arrives as it was sent") {
  const BenchTask task = parse_message(message_of(kTask)).task;
  CHECK(task.size_bytes == kTask.size_bytes);
  CHECK(task.measurement.problem.routine == Routine::reduce);
  CHECK(task.measurement.problem.type == DataType::int32);
  CHECK(task.measurement.problem.op == Operator::max);
  CHECK(task.measurement.problem.root == 1);
  CHECK(task.measurement.seconds == 0.5);
  CHECK(task.measurement.inputs == InputUse::fresh);
  CHECK(task.measurement.pace == Pace::separate);
  CHECK(task.measurement.verification == Verification::timed_calls);
}

TEST_CASE("what is no message is refused") {
  for (const char* line :
       {"", "{}", "[1]", "mpiexec: not found", "{\"hello\": {}}", "{\"task\": {\"bytes\": 8}}",
        "{\"hello\": {\"version\": 7, \"rank\": 0, \"ranks\": 1, \"mpi\": \"\"}}"}) {
    CAPTURE(line);
    CHECK_THROWS_AS(parse_message(line), Error);
  }
}

TEST_CASE("lines come whole, whatever arrives together") {
  Listener listener;
  Channel one = Channel::connect(listener.path());
  Channel other = listener.accept().value();
  CHECK_FALSE(listener.accept().has_value());
  one.send("first");
  one.send(std::string(100'000, 'x'));
  CHECK(other.receive() == "first");
  CHECK(other.receive().value().size() == 100'000);
  CHECK_FALSE(other.next_line().has_value());
  CHECK(other.take());
  one = Channel(FileDescriptor());
  CHECK_FALSE(other.take());
  CHECK_FALSE(other.receive().has_value());
  CHECK_THROWS_AS(Channel::connect(listener.path() + "x"), Error);
}

TEST_CASE("a job answers turn by turn, and says what it used while it slept") {
  const InterruptGuard guard;
  ParticipantJob participant(
      job("say(hello); say(ready)\n"
          "for line in f:\n"
          "  assert '\"bytes\":24' in line, line\n"
          "  say('{\"record\": {\"median_us\": 5}}'); say(ready)\n"));
  CHECK(participant.mpi() == "An MPI");
  for (int turn = 0; turn < 3; ++turn)
    CHECK(participant.measure(kTask).record.at("median_us") == 5);
  CHECK(participant.asleep_share() == 0.25);
}

TEST_CASE("a refusal is an answer") {
  const InterruptGuard guard;
  ParticipantJob participant(
      job("say(hello); say(ready)\n"
          "for line in f: say('{\"refusal\": \"not this\"}'); say(ready)\n"));
  CHECK(participant.measure(kTask).refusal == "not this");
}

TEST_CASE("a job that dies is named, with its messages and its status") {
  const std::string message = failure_of(
      job("say(hello); say(ready); f.readline(); print('alas', file=sys.stderr); sys.exit(3)\n"));
  CHECK(contains(message, "the job of shell ended with status 3"));
  CHECK(contains(message, "alas"));
  CHECK(contains(message, "python3"));
  CHECK(contains(failure_of(job("say(hello); say(ready); f.readline(); os.kill(os.getpid(), 9)\n")),
                 "killed by signal 9"));
  CHECK(contains(failure_of({.name = "nobody", .command = {"true"}, .timeout = 60s}),
                 "the job of nobody ended with status 0"));
}

TEST_CASE("a job that hangs is ended and named, at its start and in its turn") {
  CHECK(contains(failure_of(job("time.sleep(600)\n", 1s)), "did not start within 1 s"));
  CHECK(contains(failure_of(job("say(hello); say(ready); time.sleep(600)\n", 2s)),
                 "did not answer within 2 s"));
}

TEST_CASE("nonsense is shown") {
  for (const char* line : {"not json", "{}", "{\"task\": {}}"}) {
    CAPTURE(line);
    const std::string message =
        failure_of(job("say(hello); say(ready); f.readline(); say('" + std::string(line) +
                       "'); say(ready); time.sleep(600)\n"));
    CHECK(contains(message, line));
    CHECK(contains(message, "same version"));
  }
  CHECK(contains(failure_of(job("say(hello); say(ready); f.readline(); say(ready)\n"
                                "time.sleep(600)\n")),
                 "did not answer"));
}

TEST_CASE("a job whose other process is missing is waited for, and one that loses one ends") {
  const std::string two =
      "hello = hello.replace('\"ranks\": 1', '\"ranks\": 2')\nsay(hello); say(ready)\n";
  CHECK(contains(failure_of(job(two + "time.sleep(600)\n", 1s)), "did not start"));
}

TEST_CASE("a program of the user's is told what to measure, and believed where it answers") {
  const std::string document =
      R"({"context": {"mpi": "Mine 1"}, "records": [{"bytes": {bytes}, "median_us": {seconds},)"
      R"( "what": "{collective} {type} {op} {root} {inputs} {pace} {workers}"}]})";
  ParticipantProgram program("echo '" + document + "'", 7, 60s);
  const Answer answer = program.measure(kTask);
  CHECK(answer.record.at("bytes") == 24);
  CHECK(answer.record.at("median_us") == 0.5);
  CHECK(answer.record.at("what") == "reduce int32 max 1 fresh separate 7");
  CHECK(program.mpi() == "Mine 1");
  CHECK_FALSE(program.asleep_share().has_value());
  ParticipantProgram other(R"(echo '{"context": {"mpi": "a"}, "records": [{"bytes": 1}]}')", 7,
                           60s);
  CHECK(contains(other.measure(kTask).refusal, "no record"));
}

TEST_CASE("a program of the user's that fails is named with its messages") {
  for (const auto& [command, part] :
       {std::pair("echo alas >&2; exit 4", "alas"), std::pair("echo nonsense", "JSON"),
        std::pair("echo '{}'", "JSON"), std::pair("sleep 600", "in time")}) {
    CAPTURE(command);
    ParticipantProgram program(command, 1, 2s);
    try {
      program.measure(kTask);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(contains(error.what(), part));
      CHECK(contains(error.what(), command));
    }
  }
}

}  // namespace
}  // namespace hycoll::command
