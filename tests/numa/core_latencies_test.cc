#include "threading/latency/core_latencies.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/errors.h"
#include "tests/support/temporary_directory.h"
#include "threading/latency/latency_file.h"

namespace hycoll {
namespace core_latencies_test {

using Origin = CoreLatencies::Origin;

int count_of(const CoreLatencies& latencies, Origin origin) {
  return static_cast<int>(std::count(latencies.origins.begin(), latencies.origins.end(), origin));
}

/// Measured ones are kept here as long as it lives.
class OwnCache {
 public:
  OwnCache() { setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1); }
  ~OwnCache() { unsetenv("XDG_CACHE_HOME"); }

 private:
  TemporaryDirectory directory_;
};

TEST_CASE("another machine has published latencies, or given ones") {
  const OwnCache cache;
  const Topology topology = Topology::synthetic("pack:2 l3:2 core:2 pu:2");
  const CoreLatencies published = core_latencies(topology, false, {});
  CHECK(published.times == kPublishedTimes);
  CHECK(count_of(published, Origin::published) == kProximityCount);
  CHECK_FALSE(std::filesystem::exists(published.file));
  const CoreLatencies given = core_latencies(topology, false, parse_latency_request("1,2,3,4,5.5"));
  CHECK(given.times.latency == std::array{1.0, 2.0, 3.0, 4.0, 5.5});
  CHECK(given.times.gap[4] == doctest::Approx(0.55));
  CHECK(count_of(given, Origin::given) == kProximityCount);
}

TEST_CASE("this machine is measured once") {
  const OwnCache cache;
  const Topology topology = Topology::this_machine();
  const CoreLatencies found = core_latencies(topology, false, {});
  if (count_of(found, Origin::measured) == 0) return;  // a single core, or no bound threads
  const MeasuredLatencies kept = read_latencies(found.file);
  for (std::size_t p = 0; p < kProximityCount; ++p) {
    CAPTURE(p);
    CHECK(kept[p].has_value() == (found.origins[p] == Origin::measured));
    if (kept[p]) CHECK(*kept[p] == doctest::Approx(found.times.latency[p]).epsilon(0.1));
  }
  CHECK(core_latencies(topology, false, {}).times == found.times);
}

TEST_CASE("what is kept is taken, also where nothing may be measured") {
  const OwnCache cache;
  const Topology topology = Topology::this_machine();
  MeasuredLatencies kept;
  kept.fill(77.0);
  REQUIRE(write_latencies(latency_file(topology.machine_fingerprint()), kept));
  for (const bool cores_are_shared : {true, false}) {
    const CoreLatencies found = core_latencies(topology, cores_are_shared, {});
    CHECK(found.times == TransferTimes::of({77, 77, 77, 77, 77}));
    CHECK(count_of(found, Origin::measured) == kProximityCount);
  }
  CHECK(core_latencies(topology, true, parse_latency_request("published")).times ==
        kPublishedTimes);
  const CoreLatencies anew = core_latencies(topology, false, parse_latency_request("measure"));
  CHECK(anew.times != TransferTimes::of({77, 77, 77, 77, 77}));
}

TEST_CASE("where cores are needed by others nothing is measured") {
  const OwnCache cache;
  const CoreLatencies found = core_latencies(Topology::this_machine(), true, {});
  CHECK(found.times == kPublishedTimes);
}

TEST_CASE("requests") {
  using Source = LatencyRequest::Source;
  CHECK(parse_latency_request("").source == Source::kept);
  CHECK(parse_latency_request("measure").source == Source::measured);
  CHECK(parse_latency_request("published").source == Source::published);
  for (const char* text : {"fast", "1,2,3,4", "1,2,3,4,5,6", "1,2,3,4,", "1,2,,4,5", "1,2,3,4,0",
                           "1,2,-3,4,5", "1,2,3,4,1e9", "1 2 3 4 5", "1,2,3,4,nan"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parse_latency_request(text), doctest::Contains("HYCOLL_LATENCIES"), Error);
    CHECK_THROWS_WITH_AS(parse_latency_request(text), doctest::Contains(text), Error);
  }
}

}  // namespace core_latencies_test
}  // namespace hycoll
