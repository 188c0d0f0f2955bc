#include "tools/command/tracing/call_sites.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/measuring/child.h"

namespace hycoll::command {
namespace {

constexpr std::chrono::seconds kLookUpPatience{30};

struct Site {
  std::string module;
  std::string offset;
};

Site parts_of(const std::string& site) {
  const std::size_t plus = site.rfind('+');
  if (plus == std::string::npos) return {site, ""};
  return {site.substr(0, plus), site.substr(plus + 1)};
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Without what addr2line adds: "cg.f90:41 (discriminator 2)".
std::string without_remark(const std::string& line) { return line.substr(0, line.find(' ')); }

/// addr2line's two lines for each offset: function, and file and line; "" where it knows nothing.
std::vector<std::string> looked_up(const std::string& module,
                                   const std::vector<std::string>& offsets) {
  std::vector<std::string> command = {"addr2line", "-C", "-f", "-e", module};
  command.insert(command.end(), offsets.begin(), offsets.end());
  std::vector<std::string> names(offsets.size());
  try {
    const ChildResult result = run_child(command, kLookUpPatience);
    if (!result.succeeded()) return names;
    std::istringstream lines(result.output);
    std::string function;
    std::string place;
    for (std::string& name : names) {
      if (!std::getline(lines, function) || !std::getline(lines, place)) break;
      if (place.starts_with("??")) continue;
      name = fmt::format("{} ({})", function, without_remark(file_name(place)));
    }
  } catch (const Error&) {
    // It is not installed.
  }
  return names;
}

}  // namespace

void name_call_sites(Traces& traces) {
  std::map<std::string, std::vector<std::string>> offsets_of_module;
  std::map<std::string, std::string> names;  // by site
  for (const TraceRun& run : traces.runs) {
    if (run.site.empty()) continue;
    const auto [name, is_new] = names.try_emplace(run.site);
    if (!is_new) continue;
    const Site site = parts_of(run.site);
    name->second = run.function.empty() ? fmt::format("{}+{}", file_name(site.module), site.offset)
                                        : run.function;
    offsets_of_module[site.module].push_back(site.offset);
  }
  for (const auto& [module, offsets] : offsets_of_module) {
    const std::vector<std::string> found = looked_up(module, offsets);
    for (std::size_t o = 0; o < offsets.size(); ++o) {
      if (!found[o].empty()) names[fmt::format("{}+{}", module, offsets[o])] = found[o];
    }
  }
  for (TraceRun& run : traces.runs) {
    if (!run.site.empty()) run.site = names[run.site];
  }
}

}  // namespace hycoll::command
