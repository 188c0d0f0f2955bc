#include "preload/session/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "threading/observing/code_place.h"

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

/// A number of HeapUsage, in reports.
struct HeapNumber {
  const char* name;     ///< In JSON.
  const char* heading;  ///< In text.
  std::size_t HeapUsage::*value;
};

constexpr HeapNumber kHeapNumbers[] = {
    {"blocks", "blocks", &HeapUsage::block_count},
    {"block_bytes", "bytes", &HeapUsage::block_bytes},
    {"peak_block_bytes", "peak bytes", &HeapUsage::peak_block_bytes},
    {"kept_bytes", "kept bytes", &HeapUsage::kept_bytes},
    {"capacity_bytes", "capacity", &HeapUsage::capacity_bytes},
    {"private_fallbacks", "private", &HeapUsage::private_fallbacks},
    {"mapped_arenas", "mapped heaps", &HeapUsage::mapped_arenas},
    {"mapped_bytes", "mapped bytes", &HeapUsage::mapped_bytes},
    {"mappings_made", "mappings made", &HeapUsage::mappings_made},
    {"mapping_hits", "mapping hits", &HeapUsage::mapping_hits},
};

bool is_used(const std::vector<HeapUsage>& heaps) {
  return std::ranges::any_of(heaps, [](const HeapUsage& heap) {
    return heap.peak_block_bytes > 0 || heap.private_fallbacks > 0;
  });
}

std::string heaps_text(const std::vector<HeapUsage>& heaps) {
  std::string text = "hycoll: the shared heaps, by process\n  process";
  for (const HeapNumber& number : kHeapNumbers) text += fmt::format("  {:>13}", number.heading);
  for (std::size_t rank = 0; rank < heaps.size(); ++rank) {
    text += fmt::format("\n  {:>7}", rank);
    for (const HeapNumber& number : kHeapNumbers) {
      text += fmt::format("  {:>13}", heaps[rank].*number.value);
    }
  }
  return text + "\n";
}

nlohmann::json heaps_json(const std::vector<HeapUsage>& heaps) {
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t rank = 0; rank < heaps.size(); ++rank) {
    nlohmann::json line = {{"process", rank}};
    for (const HeapNumber& number : kHeapNumbers) line[number.name] = heaps[rank].*number.value;
    all.push_back(std::move(line));
  }
  return all;
}

nlohmann::json places_json(const std::vector<ProcessPlace>& places) {
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    all.push_back(
        {{"process", rank}, {"host", places[rank].host}, {"cpus", places[rank].cpus.to_string()}});
  }
  return all;
}

/// One of many processes' plans.
nlohmann::json plans_json(const std::vector<PlanStatistics>& plans) {
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    all.push_back({{"process", rank},
                   {"made", plans[rank].made},
                   {"found", plans[rank].found},
                   {"evicted", plans[rank].evicted},
                   {"peak_bytes", plans[rank].peak_bytes},
                   {"seconds", plans[rank].seconds}});
  }
  return all;
}

/// Sums, and the most of one process.
std::string plans_text(const std::vector<PlanStatistics>& plans) {
  PlanStatistics all;
  for (const PlanStatistics& one : plans) {
    all.made += one.made;
    all.found += one.found;
    all.evicted += one.evicted;
    all.peak_bytes = std::max(all.peak_bytes, one.peak_bytes);
    all.seconds = std::max(all.seconds, one.seconds);
  }
  return fmt::format(
      "hycoll made {} plans, found one {} times for another length, root or type, and gave up {}; "
      "those of one process took {} bytes and {:.6f} s at most\n",
      all.made, all.found, all.evicted, all.peak_bytes, all.seconds);
}

using Sites = std::map<ReportSite, ReportTotals>;

nlohmann::json sites_json(const Sites& sites) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [site, totals] : sites) {
    all.push_back({{"collective", name_of(site.routine)},
                   {"site", site.place},
                   {"function", site.function},
                   {"calls", totals.calls},
                   {"bytes", totals.bytes},
                   {"seconds_total", totals.seconds},
                   {"seconds_longest", totals.longest_seconds}});
  }
  return all;
}

/// Those that took longest.
std::string sites_text(const Sites& sites) {
  constexpr std::size_t kMostSites = 10;
  std::vector<const Sites::value_type*> longest;
  for (const auto& site : sites) longest.push_back(&site);
  std::ranges::stable_sort(longest, std::greater(), [](const Sites::value_type* site) {
    return site->second.longest_seconds;
  });
  if (longest.empty()) return "";
  std::string text = fmt::format(
      "hycoll: blocking calls by where the program makes them, {}the longest first (addr2line -e "
      "FILE 0xOFFSET tells the line)\n",
      longest.size() > kMostSites ? fmt::format("{} of {} places, ", kMostSites, longest.size())
                                  : "");
  longest.resize(std::min(longest.size(), kMostSites));
  for (const Sites::value_type* const site : longest) {
    const auto& [key, totals] = *site;
    const std::string file = key.place.substr(key.place.rfind('/') + 1);
    text +=
        fmt::format("  {:<21} {:>9} {:>12} {:>16} {:>12.6f} {:>12.3f}  {}\n", name_of(key.routine),
                    "", totals.calls, totals.bytes, totals.longest_seconds,
                    1e6 * totals.seconds / static_cast<double>(totals.calls),
                    key.function.empty() ? file : fmt::format("{} ({})", key.function, file));
  }
  return text;
}

}  // namespace

void ReportTotals::add(const ReportTotals& other) {
  calls += other.calls;
  bytes += other.bytes;
  seconds += other.seconds;
  longest_seconds = std::max(longest_seconds, other.longest_seconds);
}

void Report::record(Routine routine, std::size_t size_bytes, Server server, std::string way,
                    double seconds, const void* site) {
  const ReportKey key{.routine = routine,
                      .size_class_bytes = size_bytes == 0 ? 0 : std::bit_ceil(size_bytes),
                      .server = server,
                      .way = std::move(way)};
  const ReportTotals call{
      .calls = 1, .bytes = size_bytes, .seconds = seconds, .longest_seconds = 0};
  const auto count = [&](ReportTotals& totals) {
    totals.add(call);
    totals.longest_seconds = totals.seconds;  // those of this process
  };
  const std::lock_guard lock(mutex_);
  count(lines_[key]);
  if (site == nullptr) return;
  ReportTotals*& its = sites_of_addresses_[{routine, site}];
  if (its == nullptr) {
    const CodePlace place = place_of_call(site);
    its = &sites_[{.routine = routine, .place = place.text(), .function = place.function}];
  }
  count(*its);
}

std::string Report::serialise() const {
  const std::lock_guard lock(mutex_);
  nlohmann::json lines = nlohmann::json::array();
  for (const auto& [key, totals] : lines_) {
    lines.push_back({static_cast<int>(key.routine), key.size_class_bytes,
                     static_cast<int>(key.server), key.way, totals.calls, totals.bytes,
                     totals.seconds, totals.longest_seconds});
  }
  nlohmann::json sites = nlohmann::json::array();
  for (const auto& [site, totals] : sites_) {
    sites.push_back({static_cast<int>(site.routine), site.place, site.function, totals.calls,
                     totals.bytes, totals.seconds, totals.longest_seconds});
  }
  nlohmann::json heaps = nlohmann::json::array();
  for (const HeapUsage& heap : heaps_) {
    nlohmann::json numbers = nlohmann::json::array();
    for (const HeapNumber& number : kHeapNumbers) numbers.push_back(heap.*number.value);
    heaps.push_back(std::move(numbers));
  }
  nlohmann::json places = nlohmann::json::array();
  for (const ProcessPlace& place : places_) places.push_back({place.host, place.cpus.words()});
  return nlohmann::json{
      {"lines", std::move(lines)},
      {"sites", std::move(sites)},
      {"preparations", {preparations_.calls, preparations_.seconds, preparations_.longest_seconds}},
      {"transports", transports_},
      {"shared_bytes", shared_bytes_},
      {"heaps", std::move(heaps)},
      {"places", std::move(places)},
      {"plans", plans_json(plans_)}}
      .dump();
}

void Report::add_preparation(double seconds, const std::string& transport) {
  const std::lock_guard lock(mutex_);
  ++preparations_.calls;
  preparations_.seconds += seconds;
  preparations_.longest_seconds = preparations_.seconds;
  if (!transport.empty()) ++transports_[transport];
}

void Report::set_heap_usage(const HeapUsage& usage) {
  const std::lock_guard lock(mutex_);
  heaps_.assign(1, usage);
}

void Report::set_plans(const PlanStatistics& plans) {
  const std::lock_guard lock(mutex_);
  plans_.assign(1, plans);
}

void Report::set_place(const ProcessPlace& place) {
  const std::lock_guard lock(mutex_);
  places_.assign(1, place);
}

void Report::set_shared_bytes(std::size_t peak_bytes) {
  const std::lock_guard lock(mutex_);
  shared_bytes_.assign(1, peak_bytes);
}

void Report::merge(const std::string& serialised) {
  const std::lock_guard lock(mutex_);
  const auto all = nlohmann::json::parse(serialised);
  for (const auto& line : all.at("lines")) {
    const ReportKey key{.routine = static_cast<Routine>(line.at(0).get<int>()),
                        .size_class_bytes = line.at(1).get<std::size_t>(),
                        .server = static_cast<Server>(line.at(2).get<int>()),
                        .way = line.at(3).get<std::string>()};
    lines_[key].add({.calls = line.at(4).get<std::uint64_t>(),
                     .bytes = line.at(5).get<std::uint64_t>(),
                     .seconds = line.at(6).get<double>(),
                     .longest_seconds = line.at(7).get<double>()});
  }
  for (const auto& line : all.at("sites")) {
    const ReportSite site{.routine = static_cast<Routine>(line.at(0).get<int>()),
                          .place = line.at(1).get<std::string>(),
                          .function = line.at(2).get<std::string>()};
    sites_[site].add({.calls = line.at(3).get<std::uint64_t>(),
                      .bytes = line.at(4).get<std::uint64_t>(),
                      .seconds = line.at(5).get<double>(),
                      .longest_seconds = line.at(6).get<double>()});
  }
  const auto& preparations = all.at("preparations");
  preparations_.add({.calls = preparations.at(0).get<std::uint64_t>(),
                     .seconds = preparations.at(1).get<double>(),
                     .longest_seconds = preparations.at(2).get<double>()});
  for (const auto& [transport, preparations_over] : all.at("transports").items()) {
    transports_[transport] += preparations_over.get<std::uint64_t>();
  }
  for (const auto& bytes : all.at("shared_bytes")) {
    shared_bytes_.push_back(bytes.get<std::size_t>());
  }
  for (const auto& place : all.at("places")) {
    places_.push_back(
        {.host = place.at(0).get<std::string>(),
         .cpus = AffinityMask::from_words(place.at(1).get<std::vector<std::uint64_t>>())});
  }
  for (const auto& plans : all.at("plans")) {
    plans_.push_back({.made = plans.at("made").get<std::uint64_t>(),
                      .found = plans.at("found").get<std::uint64_t>(),
                      .evicted = plans.at("evicted").get<std::uint64_t>(),
                      .peak_bytes = plans.at("peak_bytes").get<std::size_t>(),
                      .seconds = plans.at("seconds").get<double>()});
  }
  for (const auto& numbers : all.at("heaps")) {
    HeapUsage& heap = heaps_.emplace_back();
    std::size_t i = 0;
    for (const HeapNumber& number : kHeapNumbers) {
      heap.*number.value = numbers.at(i++).get<std::size_t>();
    }
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
  text += sites_text(sites_);
  if (!places_.empty()) {
    text += "hycoll: the CPUs that each process may use\n" + describe_places(places_);
  }
  text += fmt::format(
      "hycoll prepared itself for communicators {} times, counted on each of their processes, in "
      "{:.6f} s of the slowest\n",
      preparations_.calls, preparations_.longest_seconds);
  for (const auto& [transport, count] : transports_) {
    text += fmt::format("hycoll: for {} of these, messages between nodes went over {}\n", count,
                        transport);
  }
  if (!plans_.empty()) text += plans_text(plans_);
  if (std::ranges::any_of(shared_bytes_, [](std::size_t bytes) { return bytes > 0; })) {
    text += fmt::format(
        "hycoll: for communicators the processes shared {} bytes of memory at most, one of them "
        "{}\n",
        std::accumulate(shared_bytes_.begin(), shared_bytes_.end(), std::size_t{0}),
        std::ranges::max(shared_bytes_));
  }
  if (is_used(heaps_)) text += heaps_text(heaps_);
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
  nlohmann::json transports = nlohmann::json::array();
  for (const auto& [transport, count] : transports_) {
    transports.push_back({{"transport", transport}, {"preparations", count}});
  }
  nlohmann::json all = {{"processes", process_count},
                        {"collectives", std::move(lines)},
                        {"preparations",
                         {{"calls", preparations_.calls},
                          {"seconds_total", preparations_.seconds},
                          {"seconds_longest", preparations_.longest_seconds}}},
                        {"call_sites", sites_json(sites_)},
                        {"transports", std::move(transports)},
                        {"places", places_json(places_)},
                        {"plans", plans_json(plans_)},
                        {"shared_memory_bytes", shared_bytes_}};
  if (is_used(heaps_)) all["shared_heap"] = heaps_json(heaps_);
  return all.dump(2) + "\n";
}

}  // namespace hycoll::preload
