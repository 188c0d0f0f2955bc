#include "tools/command/tracing/call_sites.h"

#include <fmt/format.h>
#include <link.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>
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

void look_up_names(std::map<std::string, std::string>& names) {
  std::map<std::string, std::vector<std::string>> offsets_of_module;
  for (auto& [place, name] : names) {
    const Site site = parts_of(place);
    name = fmt::format("{}+{}", file_name(site.module), site.offset);
    offsets_of_module[site.module].push_back(site.offset);
  }
  for (const auto& [module, offsets] : offsets_of_module) {
    const std::vector<std::string> found = looked_up(module, offsets);
    for (std::size_t o = 0; o < offsets.size(); ++o) {
      if (!found[o].empty()) names[fmt::format("{}+{}", module, offsets[o])] = found[o];
    }
  }
}

std::string call_site_in(pid_t process, std::uint64_t address) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::string line;
  std::string last_file;
  std::uint64_t file_begin = 0;
  while (std::getline(maps, line)) {
    std::istringstream words(line);
    std::string range;
    std::string rights;
    std::string offset;
    std::string device;
    std::string node;
    std::string file;
    words >> range >> rights >> offset >> device >> node >> file;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    if (std::sscanf(range.c_str(), "%" SCNx64 "-%" SCNx64, &begin, &end) != 2) continue;
    if (file != last_file) file_begin = begin;  // a file's parts lie one after the other
    last_file = file;
    if (address < begin || address >= end || !file.starts_with('/')) continue;
    ElfW(Ehdr) header{};
    std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
    // The call is before where it returns to.
    const std::uint64_t place = (header.e_type == ET_EXEC ? address : address - file_begin) - 1;
    return fmt::format("{}+{:#x}", file, place);
  }
  return "";
}

void name_call_sites(Traces& traces) {
  std::map<std::string, std::string> names;
  for (const TraceRun& run : traces.runs) {
    if (!run.site.empty()) names.try_emplace(run.site);
  }
  look_up_names(names);
  for (TraceRun& run : traces.runs) {
    if (run.site.empty()) continue;
    const std::string& name = names[run.site];
    const bool is_known = name.ends_with(')');
    run.site = is_known || run.function.empty() ? name : run.function;
  }
}

}  // namespace hycoll::command
