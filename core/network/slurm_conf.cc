#include "core/network/slurm_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/network/host_list.h"
#include "core/network/input_place.h"
#include "core/network/slurm_switches.h"
#include "core/network/text_lines.h"

namespace hycoll {
namespace {

constexpr std::string_view kExpectedSwitch =
    "expected SwitchName=NAME, then Switches=LIST or Nodes=LIST";

struct Assignment {
  std::string_view written;  ///< The key as it stands there.
  std::string key;           ///< In lower case.
  std::string value;
};

std::string lower_case(std::string_view text) {
  std::string lower;
  std::ranges::transform(text, std::back_inserter(lower), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

/// "KEY=VALUE KEY="VALUE" ...", with blanks around '=' or without.
class Assignments {
 public:
  Assignments(std::string_view text, const InputPlace& place) : rest_(text), place_(place) {}

  bool is_at_end() {
    skip_blanks();
    return rest_.empty();
  }

  /// Requires that something is left.
  Assignment next() {
    const std::string_view key = take(rest_.find_first_of(" \t\r="));
    skip_blanks();
    if (key.empty() || rest_.empty() || rest_.front() != '=') {
      place_.fail(fmt::format("'{}' has no value; {}", key.empty() ? rest_ : key, kExpectedSwitch));
    }
    rest_.remove_prefix(1);
    skip_blanks();
    const bool is_quoted = !rest_.empty() && rest_.front() == '"';
    if (is_quoted) rest_.remove_prefix(1);
    const std::size_t end = is_quoted ? rest_.find('"') : rest_.find_first_of(kBlanks);
    if (is_quoted && end == std::string_view::npos) {
      place_.fail(fmt::format("the quote of {} is not closed; {}", key, kExpectedSwitch));
    }
    const std::string_view value = take(end);
    if (is_quoted) rest_.remove_prefix(1);
    if (value.empty()) place_.fail(fmt::format("{} has no value; {}", key, kExpectedSwitch));
    return {.written = key, .key = lower_case(key), .value = std::string(value)};
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
  }

  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  const InputPlace& place_;
};

void read_into(std::vector<std::string>& names, const Assignment& assignment,
               const InputPlace& place) {
  if (!names.empty())
    place.fail(fmt::format("{} stands there twice; {}", assignment.written, kExpectedSwitch));
  names = expand_host_list(assignment.value, place.title());
}

SlurmSwitch read_switch(std::string_view text, const InputPlace& place) {
  Assignments assignments(text, place);
  SlurmSwitch one{.name = {}, .switches = {}, .nodes = {}, .line = place.line};
  while (!assignments.is_at_end()) {
    const Assignment assignment = assignments.next();
    if (assignment.key.starts_with("block")) {
      place.fail(fmt::format("{} is of topology/block, whose network is no tree; {}",
                             assignment.written, kExpectedSwitch));
    }
    if ((assignment.key == "switchname") != one.name.empty()) {
      place.fail(fmt::format("'{}' is {}; {}", assignment.written,
                             one.name.empty() ? "not SwitchName" : "there twice", kExpectedSwitch));
    }
    if (assignment.key == "switchname") {
      if (!is_network_name(assignment.value)) {
        place.fail(
            fmt::format("SwitchName '{}' is no name; {}", assignment.value, kExpectedSwitch));
      }
      one.name = assignment.value;
    } else if (assignment.key == "switches") {
      read_into(one.switches, assignment, place);
    } else if (assignment.key == "nodes") {
      read_into(one.nodes, assignment, place);
    } else if (assignment.key != "linkspeed") {
      place.fail(fmt::format("'{}' is not known; {}", assignment.written, kExpectedSwitch));
    }
  }
  return one;
}

}  // namespace

NetworkTree read_slurm_conf(std::string_view text, const std::string& file) {
  std::vector<SlurmSwitch> switches;
  std::string joined;
  int first_line = 0;
  const std::vector<TextLine> lines = lines_of(text);
  for (const TextLine& line : lines) {
    std::string_view content = without_comment(line.text);
    if (joined.empty()) first_line = line.number;
    const bool goes_on = content.ends_with('\\') && &line != &lines.back();
    if (goes_on) content.remove_suffix(1);
    joined += content;
    if (goes_on) {
      joined += ' ';
      continue;
    }
    const InputPlace place{.file = file, .line = first_line};
    if (!Assignments(joined, place).is_at_end()) switches.push_back(read_switch(joined, place));
    joined.clear();
  }
  if (switches.empty()) {
    InputPlace{.file = file, .line = 1}.fail(
        fmt::format("there is no switch; {}", kExpectedSwitch));
  }
  return tree_of_switches(switches, file);
}

}  // namespace hycoll
