#include "threading/latency/latency_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace hycoll {
namespace {

namespace fs = std::filesystem;

/// As the first line of the file.
constexpr std::string_view kTitle = "hycoll core latencies 1";
/// Nothing passes from core to core in less, and nothing in more that is not interrupted.
constexpr double kLeastNs = 0.1;
constexpr double kMostNs = 1e6;

/// As in the file: one word.
constexpr std::array<std::string_view, kProximityCount> kWords = {"core", "cache", "domain",
                                                                  "package", "machine"};

fs::path cache_directory() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg == '/') return xdg;  // relative ones are to be ignored
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache";
  return {};
}

}  // namespace

fs::path latency_file(std::uint64_t machine_fingerprint) {
  const fs::path directory = cache_directory();
  if (directory.empty()) return {};
  return directory / "hycoll" / fmt::format("core-latencies-{:016x}", machine_fingerprint);
}

MeasuredLatencies read_latencies(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line) || line != kTitle) return {};
  MeasuredLatencies latencies;
  while (std::getline(stream, line)) {
    std::istringstream words(line);
    std::string word;
    double ns = 0;
    if (!(words >> word >> ns) || !(ns >= kLeastNs && ns <= kMostNs)) return {};
    for (std::size_t p = 0; p < kProximityCount; ++p) {
      if (word == kWords[p]) latencies[p] = ns;
    }
  }
  return latencies;
}

bool write_latencies(const fs::path& file, const MeasuredLatencies& latencies) {
  if (file.empty()) return false;
  std::string text = fmt::format("{}\n", kTitle);
  for (std::size_t p = 0; p < kProximityCount; ++p) {
    if (latencies[p]) text += fmt::format("{} {:.1f}\n", kWords[p], *latencies[p]);
  }
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return false;
  const fs::path unfinished = fmt::format("{}.{}", file.string(), getpid());
  {
    std::ofstream stream(unfinished);
    stream << text << std::flush;
    if (!stream) {
      fs::remove(unfinished, error);
      return false;
    }
  }
  fs::rename(unfinished, file, error);
  if (!error) return true;
  fs::remove(unfinished, error);
  return false;
}

}  // namespace hycoll
