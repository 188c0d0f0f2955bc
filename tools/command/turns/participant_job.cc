#include "tools/command/turns/participant_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kInterval = std::chrono::milliseconds(100);
/// How long a job may take to end when one of its processes has gone, or all have been told to.
constexpr auto kGracePeriod = std::chrono::seconds(10);
/// The end of a failed job's messages is what tells.
constexpr std::size_t kShownErrorBytes = 4000;

std::vector<std::string> with_socket(std::vector<std::string> command, const std::string& path) {
  command.insert(command.end(), {"--socket", path});
  return command;
}

}  // namespace

ParticipantJob::ParticipantJob(JobStart start)
    : start_(std::move(start)), child_(with_socket(start_.command, listener_->path())) {
  wait_until_all_sleep();
  listener_.reset();
}

ParticipantJob::~ParticipantJob() {
  processes_.clear();
  try {
    const Clock::time_point deadline = Clock::now() + kGracePeriod;
    while (!child_.ended() && Clock::now() < deadline) child_.wait({}, kInterval);
  } catch (const Interrupted&) {
    // The child is terminated with its object.
  }
}

Answer ParticipantJob::measure(const BenchTask& task) {
  answer_.reset();
  for (Process& process : processes_) {
    process.is_ready = false;
    process.channel.send(message_of(task));
  }
  wait_until_all_sleep();
  if (!answer_) fail("did not answer");
  return *std::exchange(answer_, std::nullopt);
}

std::optional<double> ParticipantJob::asleep_share() const {
  if (!(naps_.slept_s > 0)) return std::nullopt;
  return naps_.used_s / naps_.slept_s;
}

bool ParticipantJob::all_sleep() const {
  return processes_.size() == expected_processes_ &&
         std::all_of(processes_.begin(), processes_.end(),
                     [](const Process& process) { return process.is_ready; });
}

void ParticipantJob::wait_until_all_sleep() {
  const Clock::time_point deadline = Clock::now() + start_.timeout;
  while (!all_sleep()) {
    listen();
    check_alive(deadline);
  }
}

void ParticipantJob::listen() {
  std::vector<pollfd> waiting;
  for (const Process& process : processes_) {
    waiting.push_back({process.channel.descriptor(), POLLIN, 0});
  }
  waiting.push_back({listener_ ? listener_->descriptor() : -1, POLLIN, 0});
  child_.wait(waiting, kInterval);
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (waiting[i].revents != 0) take_messages(processes_[i]);
  }
  while (listener_) {
    std::optional<Channel> channel = listener_->accept();
    if (!channel) break;
    processes_.push_back({.channel = *std::move(channel)});
  }
}

void ParticipantJob::take_messages(Process& process) {
  const bool is_there = process.channel.take();
  while (const auto line = process.channel.next_line()) take_message(process, *line);
  if (is_there) return;
  const Clock::time_point deadline = Clock::now() + kGracePeriod;
  while (!child_.ended() && Clock::now() < deadline) child_.wait({}, kInterval);
  check_alive(Clock::time_point::max());
  fail("has lost one of its processes");
}

void ParticipantJob::take_message(Process& process, const std::string& line) {
  Message message;
  try {
    message = parse_message(line);
  } catch (const Error& error) {
    fail(fmt::format("was not understood: {}", error.what()));
  }
  if (message.kind == Message::Kind::hello) {
    process.has_said_hello = true;
    expected_processes_ = static_cast<std::size_t>(std::max(message.hello.ranks, 1));
    mpi_ = message.hello.mpi;
  } else if (message.kind == Message::Kind::ready && process.has_said_hello) {
    process.is_ready = true;
    naps_.slept_s += message.nap.slept_s;
    naps_.used_s += message.nap.used_s;
  } else if (message.kind == Message::Kind::answer && !answer_) {
    answer_ = std::move(message.answer);
  } else {
    fail(fmt::format("was not expected to say '{}'", line));
  }
}

void ParticipantJob::check_alive(Clock::time_point deadline) {
  if (const auto result = child_.ended()) {
    fail(result->end == ChildResult::End::killed_by_signal
             ? fmt::format("was killed by signal {}", result->status)
             : fmt::format("ended with status {}", result->status));
  }
  if (Clock::now() < deadline) return;
  fail(fmt::format("did not {} within {} s (--timeout)", listener_ ? "start" : "answer",
                   std::chrono::duration<double>(start_.timeout).count()));
}

void ParticipantJob::fail(const std::string& what) {
  const ChildResult result = child_.terminate();
  const std::size_t hidden =
      result.errors.size() - std::min(result.errors.size(), kShownErrorBytes);
  throw Error(ErrorKind::environment,
              fmt::format("the job of {} {}. Its messages:\n{}\nIt was started as: {}", start_.name,
                          what, result.errors.substr(hidden), fmt::join(start_.command, " ")));
}

}  // namespace hycoll::command
