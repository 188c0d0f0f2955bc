#include "tools/command/checking/job_places.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

/// Numbers in the order in which the names first come.
std::vector<int> numbers_of_names(std::span<const std::string> names) {
  std::map<std::string_view, int> number_of;
  std::vector<int> numbers;
  for (const std::string& name : names) {
    numbers.push_back(
        number_of.try_emplace(name, static_cast<int>(number_of.size())).first->second);
  }
  return numbers;
}

}  // namespace

int distinct_count(std::span<const std::string> names) {
  return static_cast<int>(std::set<std::string_view>(names.begin(), names.end()).size());
}

JobPlaces places_on(std::span<const std::string> platform, std::span<const std::string> job) {
  const int wanted = distinct_count(job);
  if (static_cast<std::size_t>(wanted) > platform.size()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--platform has {} hosts, and the job's processes run on {}. Give a "
                            "platform of as many hosts",
                            platform.size(), wanted));
  }
  std::map<std::string_view, int> number_of;
  for (const std::string& name : platform) {
    number_of.try_emplace(name, static_cast<int>(number_of.size()));
  }
  JobPlaces places;
  for (const std::string& name : job) {
    auto found = number_of.find(name);
    if (found == number_of.end()) found = number_of.find(name.substr(0, name.find('.')));
    if (found == number_of.end()) return {.hosts = numbers_of_names(job), .unknown = name};
    places.hosts.push_back(found->second);
  }
  return places;
}

std::string job_text(std::span<const std::string> job, const JobPlaces& places) {
  return fmt::format("{} processes on {} hosts, simulated on the platform's hosts {}", job.size(),
                     distinct_count(job),
                     places.unknown.empty()
                         ? "of their names"
                         : fmt::format("in their order, of which none is '{}'", places.unknown));
}

}  // namespace hycoll::command
