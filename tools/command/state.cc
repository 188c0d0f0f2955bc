// hycoll state: in which calls the processes of this machine are.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/errors.h"
#include "threading/recording/flight_reader.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/tracing/call_sites.h"

namespace hycoll::command {
namespace {

constexpr const char* kStateSummary = "Say in which calls the processes of this machine are";
constexpr const char* kStateExplanation =
    "Reads what processes that use hycoll show of their latest calls. Those that hang, too: they "
    "need do nothing for it. Of a job on several machines run it on each:\n"
    "  hycoll state\n"
    "  mpiexec -hosts a,b -ppn 1 hycoll state --csv -\n"
    "Processes of other users are left out. Members of one communicator are told together by its "
    "name and size, by how many communicators their processes had made before, and by who has "
    "started them.";

struct StateOptions {
  std::vector<std::string> processes;
  int calls = 1;
  OutputOptions output;
};

struct FoundMember {
  pid_t process;
  pid_t parent;
  MemberState state;
  std::string site;  ///< Of the call that it is in; "" if it is in none, or that is not known.
};

pid_t process_argument(const std::string& text) {
  pid_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && number > 0) {
    return number;
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("'{}' is no process: expected its number, as ps shows it", text));
}

/// 0 if it is not known.
pid_t parent_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  std::string word;
  pid_t parent = 0;
  while (status >> word) {
    if (word != "PPid:") continue;
    status >> parent;
    break;
  }
  return parent;
}

/// By communicator, and by rank.
std::vector<FoundMember> members_of(const std::vector<pid_t>& processes) {
  std::vector<FoundMember> members;
  for (const pid_t process : processes) {
    const pid_t parent = parent_of(process);
    for (MemberState& state : read_members(process)) {
      const std::uint64_t site = state.is_inside ? state.calls.back().site : 0;
      members.push_back(
          {process, parent, std::move(state), site == 0 ? "" : call_site_in(process, site)});
    }
  }
  std::map<std::string, std::string> names;
  for (const FoundMember& member : members) {
    if (!member.site.empty()) names.try_emplace(member.site);
  }
  look_up_names(names);
  for (FoundMember& member : members) {
    if (!member.site.empty()) member.site = names[member.site];
  }
  std::ranges::stable_sort(members, {}, [](const FoundMember& member) {
    return std::tuple(member.state.communicator, member.state.name, member.state.size,
                      member.state.rank);
  });
  return members;
}

/// Its last calls, of which the last one may be under way.
std::string calls_text(const FoundMember& member, int count) {
  const MemberState& state = member.state;
  std::string text = state.describe();
  if (!member.site.empty()) text += fmt::format(", called in {}", member.site);
  if (state.late_s > 0 && state.is_inside) text += fmt::format(", for {:.1f} s", state.late_s);
  for (std::size_t c = 1;
       c < std::min<std::size_t>(static_cast<std::size_t>(count), state.calls.size()); ++c) {
    const RecordedCall& call = state.calls[state.calls.size() - 1 - c];
    text += fmt::format("\n      before: {} (call {})", call.signature.describe(), call.call);
  }
  return text;
}

Json record_of(const FoundMember& member) {
  const MemberState& state = member.state;
  const bool has_calls = !state.calls.empty();
  return {{"host", host_name()},
          {"pid", member.process},
          {"communicator", state.name},
          {"number", state.communicator},
          {"size", state.size},
          {"rank", state.rank},
          {"calls", state.entered},
          {"inside", state.is_inside},
          {"late_s", state.late_s},
          {"call", has_calls ? Json(state.calls.back().call) : Json()},
          {"site", member.site},
          {"what", has_calls ? Json(state.calls.back().signature.describe()) : Json()}};
}

/// Who has not come to the call in which others are.
std::string missing_text(const std::vector<FoundMember>& members) {
  using Key = std::tuple<std::uint64_t, std::string, int, pid_t>;
  const auto key_with = [](const FoundMember& member, pid_t parent) {
    return Key(member.state.communicator, member.state.name, member.state.size, parent);
  };
  // A launcher starts the processes of a job; where each has a parent of its own, that tells
  // nothing.
  std::map<Key, int> of_one_parent;
  for (const FoundMember& member : members) ++of_one_parent[key_with(member, member.parent)];
  std::map<Key, std::vector<const FoundMember*>> groups;
  for (const FoundMember& member : members) {
    const bool has_siblings = of_one_parent[key_with(member, member.parent)] > 1;
    groups[key_with(member, has_siblings ? member.parent : 0)].push_back(&member);
  }
  std::string text;
  for (const auto& [key, group] : groups) {
    std::uint64_t furthest = 0;
    for (const FoundMember* member : group) {
      if (member->state.is_inside) furthest = std::max(furthest, member->state.calls.back().call);
    }
    std::string missing;
    for (const FoundMember* member : group) {
      const std::uint64_t last = member->state.calls.empty() ? 0 : member->state.calls.back().call;
      if (last < furthest)
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", member->state.rank);
    }
    if (missing.empty()) continue;
    text +=
        fmt::format("call {} on {} is waited for by others, and not entered by rank {}\n", furthest,
                    std::get<1>(key).empty() ? "a communicator" : std::get<1>(key), missing);
  }
  return text;
}

class State final : public Subcommand {
 public:
  explicit State(CommandLine& line) : Subcommand(line.add_subcommand("state", kStateSummary)) {
    line_.add_explanation(kStateExplanation);
    line_.add_option("processes", options_.processes,
                     "Processes (default: all of this machine that use hycoll)");
    line_.add_option("--calls", options_.calls, "How many of each member's latest calls to tell")
        .check_range(1, 64)
        .show_default();
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    std::vector<pid_t> processes;
    for (const std::string& text : options_.processes) processes.push_back(process_argument(text));
    if (processes.empty()) {
      processes = recorded_processes();
      std::erase(processes, getpid());
    }
    const std::vector<FoundMember> members = members_of(processes);
    if (members.empty() && !options_.processes.empty()) {
      throw Error(
          ErrorKind::environment,
          fmt::format("process {} shows no calls: it does not use hycoll, has no communicator "
                      "yet, or is another user's. `hycoll state` without a number lists those "
                      "that do",
                      fmt::join(options_.processes, ", ")));
    }
    print(members);
    Report report{.context = {{"command", "state"}, {"host", host_name()}}, .records = {}};
    for (const FoundMember& member : members) report.records.push_back(record_of(member));
    options_.output.write(report);
    return kSuccess;
  }

 private:
  void print(const std::vector<FoundMember>& members) const {
    std::FILE* const human = options_.output.human();
    if (members.empty()) fmt::print(human, "No process of yours on {} uses hycoll\n", host_name());
    for (const FoundMember& member : members) {
      fmt::print(human, "process {} on {}: rank {} of {} {}\n", member.process, host_name(),
                 member.state.rank, member.state.size, calls_text(member, options_.calls));
    }
    fmt::print(human, "{}", missing_text(members));
  }

  StateOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_state(CommandLine& line) { return std::make_unique<State>(line); }

}  // namespace hycoll::command
