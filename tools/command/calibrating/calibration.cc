#include "tools/command/calibrating/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/price_text.h"
#include "tools/command/line/sizes.h"
#include "tools/measure/statistics.h"

namespace hycoll::command {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
/// From here on something is as fast as what it could be held up by.
constexpr double kAsFast = 0.9;

/// Collects prices and where they come from.
class Pricing {
 public:
  /// Sets it to the spread's median, if that is told. Returns whether it is.
  bool take(const char* key, double MachinePrices::*price, const Spread& spread, double factor,
            const std::string& of) {
    if (!spread.is_told()) {
      leave(key, to_text(spread));
      return false;
    }
    set(key, price, spread.median * factor, fmt::format("{}: {}", of, to_text(spread)));
    return true;
  }

  void set(const char* key, double MachinePrices::*price, double value, std::string origin) {
    result_.prices.*price = value;
    result_.all.push_back({.key = key, .is_measured = true, .origin = std::move(origin)});
  }

  void leave(const char* key, std::string why) {
    result_.all.push_back({.key = key, .origin = std::move(why)});
  }

  const MachinePrices& prices() const { return result_.prices; }

  CalibratedPrices in_order() {
    CalibratedPrices ordered{.prices = result_.prices, .all = {}};
    for (const PriceText& text : price_texts(ordered.prices)) {
      ordered.all.push_back(*std::ranges::find(result_.all, text.key, &CalibratedPrice::key));
    }
    return ordered;
  }

 private:
  CalibratedPrices result_;
};

/// The largest throughput of long messages, and of one pair.
void price_bandwidth(const MessageCosts& costs, Pricing& pricing) {
  const std::size_t size_bytes = costs.most_bytes();
  const StreamPoint& one = costs.at(size_bytes, 1);
  const StreamPoint* fastest = nullptr;
  for (const StreamPoint& point : costs.points) {
    if (point.size_bytes != size_bytes || !point.messages_per_s.is_told()) continue;
    if (fastest == nullptr || point.gb_per_s() > fastest->gb_per_s()) fastest = &point;
  }
  if (fastest == nullptr) {
    pricing.leave("bandwidth", to_text(one.messages_per_s));
    pricing.leave("endpoint", to_text(one.messages_per_s));
    return;
  }
  pricing.set("bandwidth", &MachinePrices::bandwidth_gb_per_s, fastest->gb_per_s(),
              fmt::format("messages of {} by {} pair{}", short_size(size_bytes), fastest->pairs,
                          fastest->pairs == 1 ? "" : "s"));
  if (!one.messages_per_s.is_told()) {
    pricing.leave("endpoint", to_text(one.messages_per_s));
  } else if (one.gb_per_s() >= kAsFast * fastest->gb_per_s()) {
    pricing.set("endpoint", &MachinePrices::endpoint_gb_per_s, kUnlimited,
                "one pair is as fast as several");
  } else {
    pricing.set("endpoint", &MachinePrices::endpoint_gb_per_s, one.gb_per_s(),
                fmt::format("messages of {} by one pair", short_size(size_bytes)));
  }
}

void price_messages(const MessageCosts* costs, Pricing& pricing) {
  if (costs == nullptr) {
    for (const char* key : {"alpha", "message", "bandwidth", "endpoint"}) {
      pricing.leave(key, "not measured: all processes are on one machine");
    }
    return;
  }
  pricing.take("alpha", &MachinePrices::alpha_us, costs->latency_us, 1, "8 bytes, one way, us");
  const Spread& message = costs->message_us;
  if (message.is_told()) {
    // Sender and receiver are busy with a message one after the other.
    const double most_us = pricing.prices().alpha_us / 2;
    pricing.set("message", &MachinePrices::message_us, std::clamp(message.median, 0.0, most_us),
                fmt::format("each further message of 8 bytes, us: {}", to_text(message)));
  } else {
    pricing.leave("message", to_text(message));
  }
  price_bandwidth(*costs, pricing);
}

/// What all workers do together where more of them would do no more.
void price_memory(const Calibration& calibration, Pricing& pricing) {
  const auto slower = [](const MemoryPoint& point) {
    return std::min(point.copy_gb_per_s.median, point.reduce_gb_per_s.median);
  };
  const MemoryPoint* fastest = nullptr;
  int most_workers = 0;
  for (const MemoryPoint& point : calibration.memory) {
    most_workers = std::max(most_workers, point.workers);
    if (!point.copy_gb_per_s.is_told() || !point.reduce_gb_per_s.is_told()) continue;
    if (fastest == nullptr || slower(point) > slower(*fastest)) fastest = &point;
  }
  if (most_workers < 2) {
    pricing.leave("memory", "not measured: one core has nobody beside it");
  } else if (fastest == nullptr || fastest->workers == 1) {
    const MemoryPoint& most = calibration.memory.back();
    pricing.leave("memory", to_text(most.copy_gb_per_s.is_told() ? most.reduce_gb_per_s
                                                                 : most.copy_gb_per_s));
  } else if (slower(*fastest) >= kAsFast * fastest->workers * slower(calibration.memory.front())) {
    pricing.set(
        "memory", &MachinePrices::memory_gb_per_s, kUnlimited,
        fmt::format("{} workers are {} times as fast as one", fastest->workers, fastest->workers));
  } else {
    pricing.set(
        "memory", &MachinePrices::memory_gb_per_s, slower(*fastest),
        fmt::format("{} workers together, of copies and reductions the slower", fastest->workers));
  }
}

void price_node(const Calibration& calibration, Pricing& pricing) {
  const MemoryPoint& one = calibration.memory.front();
  pricing.take("copy", &MachinePrices::copy_gb_per_s, one.copy_gb_per_s, 1, "one worker, GB/s");
  pricing.take("reduce", &MachinePrices::reduce_gb_per_s, one.reduce_gb_per_s, 1,
               "one worker, GB/s");
  price_memory(calibration, pricing);
  if (calibration.latencies.empty()) {
    pricing.leave("wait", "not measured: one core has nobody to wait for");
    pricing.leave("gap", "not measured: one core has nobody to wait for");
    return;
  }
  const LineLatency& farthest = calibration.latencies.back();
  pricing.take("wait", &MachinePrices::wait_us, farthest.ns, 1e-3,
               fmt::format("a line between cores, {}, ns", name_of(farthest.proximity)));
  pricing.take("gap", &MachinePrices::gap_us, calibration.gap_ns, 1e-3,
               "each of many lines of another core, ns");
}

}  // namespace

void Samples::add(double value, const measure::RunTime& time) {
  all_.push_back(value);
  running_.push_back(time.running);
  if (time.is_quiet()) quiet_.push_back(value);
}

Spread Samples::spread() const {
  if (all_.empty()) return {};
  const auto count = static_cast<int>(quiet_.size());
  const std::vector<double>& counted = count >= Spread::kFewest ? quiet_ : all_;
  return {.low = measure::percentile(counted, 0.25),
          .median = measure::median(counted),
          .high = measure::percentile(counted, 0.75),
          .samples = count,
          .running = measure::median(running_)};
}

const StreamPoint& MessageCosts::at(std::size_t size_bytes, int pairs) const {
  return *std::ranges::find_if(points, [&](const StreamPoint& point) {
    return point.size_bytes == size_bytes && point.pairs == pairs;
  });
}

double MessageCosts::relative(const StreamPoint& point) const {
  const double one = at(point.size_bytes, 1).messages_per_s.median;
  return one > 0 ? point.messages_per_s.median / one : 0;
}

const MessageCosts* Calibration::messages_of(measure::Reach reach) const {
  const auto found = std::ranges::find(messages, reach, &MessageCosts::reach);
  return found == messages.end() ? nullptr : &*found;
}

CalibratedPrices prices_of(const Calibration& calibration) {
  Pricing pricing;
  price_messages(calibration.messages_of(measure::Reach::between), pricing);
  price_node(calibration, pricing);
  return pricing.in_order();
}

std::string to_text(const Spread& spread) {
  if (spread.samples == 0 && spread.median == 0) {
    return "could not be told: other programs kept the cores";
  }
  if (!spread.is_told()) {
    return fmt::format("could not be told: threads had their cores for {:.0f} % of the time",
                       100 * spread.running);
  }
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", spread.median, spread.low, spread.high);
}

}  // namespace hycoll::command
