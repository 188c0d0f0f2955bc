// What hycoll calibrate makes of its measurements: prices, zones, and files of them.

#include "tools/command/calibrating/calibration.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/machine_file.h"
#include "core/base/price_text.h"
#include "tools/command/calibrating/calibration_report.h"
#include "tools/command/calibrating/throughput_zones.h"

namespace hycoll::command {
namespace calibration_test {

using measure::Reach;

Spread told(double median) {
  return {.low = 0.9 * median, .median = median, .high = 1.1 * median, .samples = 9};
}

constexpr Spread kBusy{.low = 1, .median = 1, .high = 1, .samples = 1, .running = 0.4};

/// `relative(size, pairs)` is the throughput of so many pairs, of one's million messages a second
/// or 2 GB/s.
template <class Relative>
MessageCosts costs_with(Reach reach, const Relative& relative) {
  MessageCosts costs{.reach = reach, .latency_us = told(2), .message_us = told(0.25), .points = {}};
  for (const std::size_t size_bytes : {8, 1024, 65536, 1048576}) {
    for (const int pairs : {1, 2, 4}) {
      const double one = std::min(1e6, 2e9 / static_cast<double>(size_bytes));
      costs.points.push_back({size_bytes, pairs, told(one * relative(size_bytes, pairs))});
    }
  }
  return costs;
}

/// As DPML saw Omni-Path.
double three_zones(std::size_t size_bytes, int pairs) {
  return size_bytes <= 1024 ? 0.9 * pairs : size_bytes >= 1048576 ? 1.05 : 1 + 0.3 * (pairs - 1);
}

Calibration quiet_machine() {
  return {.memory = {{1, told(9), told(8)}, {2, told(17), told(15)}, {4, told(20), told(18)}},
          .latencies = {{Proximity::cache, told(40)}, {Proximity::machine, told(200)}},
          .gap_ns = told(15),
          .messages = {costs_with(Reach::inside, [](std::size_t, int pairs) { return pairs; }),
                       costs_with(Reach::between, three_zones)}};
}

TEST_CASE("prices are the medians of what they are of") {
  Calibration machine = quiet_machine();
  const MachinePrices prices = prices_of(machine).prices;
  CHECK(prices.alpha_us == 2);
  CHECK(prices.message_us == 0.25);
  // Two pairs of the longest messages have no more than one; four neither.
  CHECK(prices.bandwidth_gb_per_s == doctest::Approx(2 * 1.05));
  CHECK(std::isinf(prices.endpoint_gb_per_s));
  CHECK(prices.copy_gb_per_s == 9);
  CHECK(prices.reduce_gb_per_s == 8);
  CHECK(prices.memory_gb_per_s == 18);
  CHECK(prices.wait_us == doctest::Approx(0.2));
  CHECK(prices.gap_us == doctest::Approx(0.015));
  // Endpoints that fill the card together, and memory that nobody fills.
  machine.messages[1] = costs_with(Reach::between, [](std::size_t, int pairs) { return pairs; });
  machine.memory.back() = {4, told(36), told(32)};
  const MachinePrices wide = prices_of(machine).prices;
  CHECK(wide.endpoint_gb_per_s == doctest::Approx(2));
  CHECK(wide.bandwidth_gb_per_s == doctest::Approx(8));
  CHECK(std::isinf(wide.memory_gb_per_s));
}

TEST_CASE("what has not been measured, or could not be told, keeps its default and says why") {
  Calibration machine = quiet_machine();
  machine.messages.pop_back();
  machine.memory = {{1, told(9), kBusy}};
  machine.latencies.clear();
  const CalibratedPrices calibrated = prices_of(machine);
  MachinePrices expected;
  expected.copy_gb_per_s = 9;
  CHECK(calibrated.prices == expected);
  const auto origin_of = [&](std::string_view key) {
    const auto price = std::ranges::find(calibrated.all, key, &CalibratedPrice::key);
    REQUIRE(price != calibrated.all.end());
    CHECK_FALSE(price->is_measured);
    return price->origin;
  };
  CHECK(origin_of("alpha") == "not measured: all processes are on one machine");
  CHECK(origin_of("memory") == "not measured: one core has nobody beside it");
  CHECK(origin_of("wait") == "not measured: one core has nobody to wait for");
  CHECK(origin_of("reduce") == "could not be told: threads had their cores for 40 % of the time");
}

TEST_CASE("prices are never absurd, whatever noise says") {
  Calibration machine = quiet_machine();
  machine.messages[1].message_us = told(-0.1);
  CHECK(prices_of(machine).prices.message_us == 0);
  machine.messages[1].message_us = told(50);
  CHECK(prices_of(machine).prices.message_us == 1);
}

TEST_CASE("disturbed samples do not count, unless there are hardly others") {
  Samples samples;
  for (const double value : {1.0, 2.0, 3.0}) samples.add(value);
  for (const double value : {70.0, 80.0, 90.0, 100.0}) samples.add(value, {1, 0.5});
  CHECK(samples.spread().median == 2);
  CHECK(samples.spread().is_told());
  Samples busy;
  busy.add(1);
  for (const double value : {70.0, 80.0, 90.0, 100.0}) busy.add(value, {1, 0.5});
  CHECK(busy.spread().median == 80);
  CHECK_FALSE(busy.spread().is_told());
  CHECK(busy.spread().running == 0.5);
  CHECK_FALSE(Samples{}.spread().is_told());
}

TEST_CASE("zones are found: where throughput grows with the pairs, and where it does not") {
  const auto zones_with = [](const auto& relative) {
    return find_zones(costs_with(Reach::between, relative));
  };
  const ThroughputZones three{.last_of_a = 1024, .first_of_c = 1048576};
  CHECK(zones_with(three_zones) == three);
  CHECK(three.zone_of(8) == 'A');
  CHECK(three.zone_of(65536) == 'B');
  CHECK(three.zone_of(4 << 20) == 'C');
  CHECK(to_text(three) == "zone A up to 1Ki, zone C from 1Mi");
  CHECK(to_text(*zones_with([](std::size_t, int pairs) { return pairs; })) ==
        "zone A up to 1Mi, no zone C");
  // A library that serialises its threads.
  CHECK(to_text(*zones_with([](std::size_t, int) { return 1; })) == "no zone A, zone C from 8");
  // One point amid zone A does not end zone C.
  const auto dip = [](std::size_t size_bytes, int pairs) {
    return size_bytes == 1024 ? 1.0 : three_zones(size_bytes, pairs);
  };
  CHECK(zones_with(dip) == ThroughputZones{.last_of_a = 8, .first_of_c = 1048576});
}

TEST_CASE("zones of a busy machine, or of one pair, are not told") {
  MessageCosts costs = costs_with(Reach::inside, three_zones);
  costs.points[5].messages_per_s = kBusy;
  CHECK_FALSE(find_zones(costs));
  std::erase_if(costs.points, [](const StreamPoint& point) { return point.pairs > 1; });
  CHECK_FALSE(find_zones(costs));
}

TEST_CASE("the file that is written has the prices that were measured, and is read") {
  Calibration machine = quiet_machine();
  const std::string text = machine_file_text(machine, {{"host", "n1"}});
  CHECK(to_text(read_machine_prices(text, "file")) == to_text(prices_of(machine).prices));
  CHECK(kept_zones(parse_json(text)).find("between nodes: zone A up to 1Ki") != std::string::npos);
  CHECK(kept_zones(Json::object()).empty());
  machine.messages.pop_back();
  const std::string without = machine_file_text(machine, {{"host", "n1"}});
  CHECK(without.find("\"alpha\": \"") == without.find("\"alpha\": \"not measured"));
  CHECK(read_machine_prices(without, "file").alpha_us == MachinePrices{}.alpha_us);
}

TEST_CASE("tables and pictures say what was measured, and what could not be told") {
  Calibration machine = quiet_machine();
  const std::string text = calibration_text(machine);
  for (const char* part : {"alpha", "2 (1.8 to 2.2)", "messages between nodes: zone A up to 1Ki",
                           "4 pairs", "each of many lines", "other package"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  }
  CHECK(throughput_picture(machine).find("2 pairs inside a node") != std::string::npos);
  machine.messages[1].points[2].messages_per_s = kBusy;
  CHECK(calibration_text(machine).find("zones could not be told: the machine is busy") !=
        std::string::npos);
  const Report report = calibration_report(machine, {{"host", "n1"}});
  CHECK(report.context.at("host") == "n1");
  CHECK(report.records.size() == 2 * 3 + 2 + 1 + 2 * (2 + 12));
}

TEST_CASE("processes are paired inside the first machine, and with those of the next one") {
  using measure::stream_role;
  using Side = measure::StreamRole::Side;
  const std::vector<int> machines = {0, 3, 0, 3, 0, 3, 6, 0};
  const auto inside = [&](int rank) { return stream_role(Reach::inside, machines, rank); };
  CHECK(inside(0).peer == 2);
  CHECK(inside(2).side == Side::receives);
  CHECK(inside(7).peer == 4);
  CHECK(inside(1).side == Side::none);
  CHECK(inside(1).process_pairs == 2);
  const auto between = [&](int rank) { return stream_role(Reach::between, machines, rank); };
  CHECK(between(0).peer == 1);
  CHECK(between(4).number == 2);
  CHECK(between(5).side == Side::receives);
  CHECK(between(7).side == Side::none);
  CHECK(between(6).process_pairs == 3);
  CHECK(stream_role(Reach::between, std::vector<int>{0, 0}, 1).process_pairs == 0);
  // Lanes are dealt to the processes in turn.
  CHECK(between(0).lanes_of(1) == 1);
  CHECK(between(4).lanes_of(1) == 0);
  CHECK(between(0).lanes_of(4) == 2);
  CHECK(between(4).lanes_of(4) == 1);
  CHECK(between(6).lanes_of(4) == 0);
}

}  // namespace calibration_test
}  // namespace hycoll::command
