#include "preload/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

namespace hycoll::preload {
namespace {

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kKibi = 1024;
  if (bytes < kKibi) return fmt::format("{} B", bytes);
  if (bytes < kKibi * kKibi) return fmt::format("{} KiB", bytes / kKibi);
  if (bytes < kKibi * kKibi * kKibi) return fmt::format("{} MiB", bytes / kKibi / kKibi);
  return fmt::format("{} GiB", bytes / kKibi / kKibi / kKibi);
}

std::string way_text(const ReportKey& key) {
  return key.server == Server::hycoll ? "hycoll: " + key.way : "MPI library: " + key.way;
}

}  // namespace

void ReportTotals::add(const ReportTotals& other) {
  calls += other.calls;
  bytes += other.bytes;
  seconds += other.seconds;
  longest_seconds = std::max(longest_seconds, other.longest_seconds);
}

void Report::record(Routine routine, std::size_t size_bytes, Server server, std::string way,
                    double seconds) {
  const ReportKey key{.routine = routine,
                      .size_class_bytes = size_bytes == 0 ? 0 : std::bit_ceil(size_bytes),
                      .server = server,
                      .way = std::move(way)};
  const std::lock_guard lock(mutex_);
  ReportTotals& line = lines_[key];
  ++line.calls;
  line.bytes += size_bytes;
  line.seconds += seconds;
  line.longest_seconds = line.seconds;
}

std::string Report::serialise() const {
  const std::lock_guard lock(mutex_);
  nlohmann::json lines = nlohmann::json::array();
  for (const auto& [key, totals] : lines_) {
    lines.push_back({static_cast<int>(key.routine), key.size_class_bytes,
                     static_cast<int>(key.server), key.way, totals.calls, totals.bytes,
                     totals.seconds, totals.longest_seconds});
  }
  return lines.dump();
}

void Report::merge(const std::string& serialised) {
  const std::lock_guard lock(mutex_);
  for (const auto& line : nlohmann::json::parse(serialised)) {
    const ReportKey key{.routine = static_cast<Routine>(line.at(0).get<int>()),
                        .size_class_bytes = line.at(1).get<std::size_t>(),
                        .server = static_cast<Server>(line.at(2).get<int>()),
                        .way = line.at(3).get<std::string>()};
    lines_[key].add({.calls = line.at(4).get<std::uint64_t>(),
                     .bytes = line.at(5).get<std::uint64_t>(),
                     .seconds = line.at(6).get<double>(),
                     .longest_seconds = line.at(7).get<double>()});
  }
}

std::string Report::text(int process_count) const {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format(
      "hycoll: collectives of {} process(es); calls and bytes of all of them, the time of the "
      "slowest\n",
      process_count);
  text += fmt::format("  {:<21} {:>9} {:>12} {:>16} {:>12} {:>12}  {}\n", "collective", "up to",
                      "calls", "bytes", "time s", "us/call", "served by");
  for (const auto& [key, totals] : lines_) {
    text += fmt::format("  {:<21} {:>9} {:>12} {:>16} {:>12.6f} {:>12.3f}  {}\n",
                        name_of(key.routine), size_text(key.size_class_bytes), totals.calls,
                        totals.bytes, totals.longest_seconds,
                        1e6 * totals.seconds / static_cast<double>(totals.calls), way_text(key));
  }
  if (lines_.empty()) text += "  none\n";
  return text;
}

std::string Report::json(int process_count) const {
  const std::lock_guard lock(mutex_);
  nlohmann::json lines = nlohmann::json::array();
  for (const auto& [key, totals] : lines_) {
    const bool served = key.server == Server::hycoll;
    lines.push_back({{"collective", name_of(key.routine)},
                     {"size_class_bytes", key.size_class_bytes},
                     {"served_by", served ? "hycoll" : "mpi"},
                     {served ? "algorithm" : "reason", key.way},
                     {"calls", totals.calls},
                     {"bytes", totals.bytes},
                     {"seconds_total", totals.seconds},
                     {"seconds_longest", totals.longest_seconds}});
  }
  const nlohmann::json all = {{"processes", process_count}, {"collectives", std::move(lines)}};
  return all.dump(2) + "\n";
}

}  // namespace hycoll::preload
