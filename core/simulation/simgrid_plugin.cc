#include "core/simulation/simgrid_plugin.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>
// What the next two use is in the one above.
#include <simgrid/version.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xbt/log.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <set>
#include <unordered_map>

#include "core/base/at.h"
#include "core/base/errors.h"
#include "core/network/host_list.h"

namespace hycoll {
namespace {

namespace s4u = simgrid::s4u;

constexpr double kBytesPerUs = 1000;  // of 1 GB/s

// A second of SimGrid's is a microsecond here: it compares times to within 10 of its microseconds.
constexpr double kUsPerSecond = 1e6;

std::vector<s4u::Link*> links_between(const s4u::Host& from, const s4u::Host& to) {
  std::vector<s4u::Link*> links;
  double latency = 0;
  from.route_to(&to, links, &latency);
  return links;
}

void configure() {
  xbt_log_control_set("xbt_cfg.thresh:error");
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/TCP-gamma:0");
}

/// Some mistakes in a file end the process: a child reads it first. Throws Error with what SimGrid
/// has to say of it.
void check_file(const std::string& argument, const std::string& path) {
  int ends[2];
  HYCOLL_ASSERT(pipe(ends) == 0, "there are no file descriptors left");
  const pid_t child = fork();
  HYCOLL_ASSERT(child >= 0, "there are no processes left");
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    int status = 0;
    try {
      s4u::Engine engine("hycoll");
      configure();
      engine.load_platform(path);
      engine.seal_platform();
      status = engine.get_host_count() > 0 ? 0 : 1;
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      std::fflush(stderr);
      status = 1;
    }
    _exit(status);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}': SimGrid does not accept this platform: {}", argument, path,
                          said.empty() ? "it has no hosts" : said.substr(0, said.find('\n'))));
}

class SimGridNetwork final : public FlowNetwork {
 public:
  explicit SimGridNetwork(const std::string& path) : engine_("hycoll") {
    configure();
    engine_.load_platform(path);
    hosts_ = engine_.get_all_hosts();
    std::ranges::sort(hosts_, is_before_as_host,
                      [](const s4u::Host* host) { return std::string(host->get_cname()); });
    for (s4u::Link* link : engine_.get_all_links()) {
      latencies_us_.emplace(link, link->get_latency() * kUsPerSecond);
      link->set_latency(0);
      link->set_bandwidth(link->get_bandwidth() / kUsPerSecond);
    }
    engine_.seal_platform();
    engine_.track_vetoed_activities(&stop_);
    s4u::Comm::on_completion_cb([this](const s4u::Activity& activity) { complete(activity); });
  }

  int host_count() const override { return static_cast<int>(hosts_.size()); }
  std::string host_name(int host) const override { return hosts_[at(host)]->get_cname(); }

  double latency_us(int from_host, int to_host) override {
    return way(from_host, to_host).latency_us;
  }

  void reset() override {
    HYCOLL_ASSERT(flows_.empty(), "there are flows under way");
    begin_s_ = s4u::Engine::get_clock();
    for (auto& [pair, way] : ways_) way.size_bytes = 0;
  }

  void begin(const Flow& flow, double time_us) override {
    advance(time_us);
    way(flow.from_host, flow.to_host).size_bytes += flow.size_bytes;
    const s4u::CommPtr comm = s4u::Comm::sendto_init();
    comm->set_payload_size(static_cast<std::uint64_t>(std::max(1.0, std::round(flow.size_bytes))));
    flows_.emplace(comm.get(), Running{comm, flow.id});
    comm->set_source(hosts_[at(flow.from_host)]);
    comm->set_destination(hosts_[at(flow.to_host)]);
    // With some releases it begins when both ends are known.
    if (comm->get_state() != s4u::Activity::State::STARTED) comm->start();
  }

  std::optional<FlowEnd> next(double until_us) override {
    if (ended_.empty()) advance(until_us);
    if (ended_.empty()) return {};
    const FlowEnd end = ended_.front();
    ended_.pop_front();
    return end;
  }

  std::vector<LinkUse> link_uses() override {
    std::unordered_map<const s4u::Link*, double> bytes;
    for (const auto& [pair, way] : ways_) {
      if (way.size_bytes == 0) continue;
      const auto from = static_cast<int>(pair / hosts_.size());
      const auto to = static_cast<int>(pair % hosts_.size());
      for (const s4u::Link* link : links_between(*hosts_[at(from)], *hosts_[at(to)])) {
        bytes[link] += way.size_bytes;
      }
    }
    std::vector<LinkUse> uses;
    for (const auto& [link, size_bytes] : bytes) {
      uses.push_back({link->get_name(), size_bytes, link->get_bandwidth() / kBytesPerUs});
    }
    return uses;
  }

 private:
  struct Running {
    s4u::CommPtr comm;
    int id;
  };
  struct Way {
    double latency_us = 0;
    double size_bytes = 0;  // that have passed
  };

  Way& way(int from, int to) {
    const std::size_t pair = at(from) * hosts_.size() + at(to);
    const auto [found, is_new] = ways_.try_emplace(pair);
    if (is_new) {
      for (const s4u::Link* link : links_between(*hosts_[at(from)], *hosts_[at(to)])) {
        found->second.latency_us += latencies_us_.at(link);
      }
    }
    return found->second;
  }

  /// To this time, or to the first end of a flow before it.
  void advance(double time_us) {
    const double until_s = begin_s_ + time_us;
    if (std::isinf(until_s)) {
      engine_.run();
    } else if (until_s > s4u::Engine::get_clock()) {
      engine_.run_until(until_s);
    }
    stop_.clear();
    finished_.clear();
  }

  void complete(const s4u::Activity& activity) {
    const auto found = flows_.find(&activity);
    if (found == flows_.end()) return;
    ended_.push_back({found->second.id, s4u::Engine::get_clock() - begin_s_});
    // The run ends when an activity has been vetoed; this one makes it end now.
    stop_.insert(found->second.comm.get());
    finished_.push_back(std::move(found->second.comm));
    flows_.erase(found);
  }

  s4u::Engine engine_;
  std::vector<s4u::Host*> hosts_;
  std::unordered_map<const s4u::Link*, double> latencies_us_;
  std::unordered_map<std::size_t, Way> ways_;  // by pair of hosts
  std::unordered_map<const s4u::Activity*, Running> flows_;
  std::vector<s4u::CommPtr> finished_;  // SimGrid still uses them when it tells of them
  std::deque<FlowEnd> ended_;
  std::set<s4u::Activity*> stop_;
  double begin_s_ = 0;  // what SimGrid's clock was at time 0
};

}  // namespace

const char* hycoll_simgrid_version() { return SIMGRID_VERSION_STRING; }

FlowNetwork* hycoll_open_simgrid(const char* argument, const char* path, bool is_users) {
  if (is_users) check_file(argument, path);
  return new SimGridNetwork(path);
}

}  // namespace hycoll
