#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/errors.h"
#include "numa/topology/topology.h"
#include "tools/measure/copy_bandwidth.h"
#include "tools/measure/core_latency.h"
#include "tools/measure/line_gap.h"
#include "tools/measure/machine_state.h"
#include "tools/measure/memory_limit.h"
#include "tools/measure/memory_rates.h"
#include "tools/measure/statistics.h"

namespace hycoll::measure {
namespace {

TEST_CASE("the median lies in the middle, in any order of the samples") {
  CHECK(median(std::vector<double>{7}) == 7);
  CHECK(median(std::vector<double>{9, 1, 4}) == 4);
  CHECK(median(std::vector<double>{8, 2, 1, 4}) == 3);
}

TEST_CASE("percentiles of 0..n are the fractions of n") {
  for (const int n : {1, 2, 3, 7, 20, 100}) {
    std::vector<double> samples(static_cast<std::size_t>(n) + 1);
    std::iota(samples.rbegin(), samples.rend(), 0.0);
    for (const double fraction : {0.0, 0.05, 0.5, 0.95, 1.0}) {
      CHECK(percentile(samples, fraction) == doctest::Approx(fraction * n));
    }
  }
}

TEST_CASE("a summary agrees with the functions that it summarises") {
  const std::vector<double> samples = {5, 3, 11, 2, 8, 8, 1};
  const Summary summary = summarize(samples);
  CHECK(summary.minimum == 1);
  CHECK(summary.median == median(samples));
  CHECK(summary.p95 == percentile(samples, 0.95));
  CHECK(summary.maximum == 11);
}

TEST_CASE("the geometric mean of a ratio and its inverse is 1") {
  CHECK(geometric_mean(std::vector<double>{4, 0.25}) == doctest::Approx(1));
  CHECK(geometric_mean(std::vector<double>{2, 8}) == doctest::Approx(4));
  CHECK(geometric_mean(std::vector<double>{3}) == doctest::Approx(3));
}

TEST_CASE("statistics refuse what they cannot compute") {
  const std::vector<double> none;
  CHECK_THROWS_AS(median(none), Error);
  CHECK_THROWS_AS(summarize(none), Error);
  CHECK_THROWS_AS(geometric_mean(none), Error);
  CHECK_THROWS_AS(geometric_mean(std::vector<double>{1, 0}), Error);
  CHECK_THROWS_AS(geometric_mean(std::vector<double>{-1}), Error);
  CHECK_THROWS_AS(percentile(std::vector<double>{1}, 1.5), Error);
  CHECK_THROWS_AS(percentile(std::vector<double>{1}, std::numeric_limits<double>::quiet_NaN()),
                  Error);
}

TEST_CASE("a state has changed when the latency differs by more than the factor, in any order") {
  CHECK_FALSE(state_changed({28, 28}));
  CHECK_FALSE(state_changed({28, 42}));
  CHECK(state_changed({28, 43}));
  CHECK(state_changed({170, 28}));
  CHECK_FALSE(state_changed({std::nullopt, 28}));
}

TEST_CASE("states begin where the gap is exceeded, and are named by their latencies") {
  const MachineStates states(std::vector<double>{170, 28, 30, 165, 29, 168, 400, 410});
  REQUIRE(states.all().size() == 3);
  CHECK(states.all()[0].name == "near");
  CHECK(states.all()[0].latency_ns == doctest::Approx(29));
  CHECK(states.all()[0].lowest_ns == 28);
  CHECK(states.all()[0].highest_ns == 30);
  CHECK(states.all()[1].name == "far");
  CHECK(states.all()[2].name == "far 2");
  // Neighbours count, not the ends: a slow drift is one state.
  CHECK(MachineStates(std::vector<double>{20, 28, 38, 52}).all().size() == 1);
  CHECK(MachineStates(std::vector<double>{20, 30.1}).all().size() == 2);
}

TEST_CASE("something belongs to the state on which the latencies before and after agree") {
  const MachineStates states(std::vector<double>{28, 30, 165, 170});
  CHECK(states.state_of({28, 30}) == 0);
  CHECK(states.state_of({170, 165}) == 1);
  CHECK_FALSE(states.state_of({28, 165}).has_value());
  CHECK_FALSE(states.state_of({28, 80}).has_value());
  CHECK_FALSE(states.state_of(80.0).has_value());
  CHECK(states.state_of(32.0) == 0);
  CHECK_FALSE(states.state_of(std::nullopt).has_value());
}

TEST_CASE("few latencies in between neither bridge two states nor make one") {
  std::vector<double> latencies;
  for (int i = 0; i < 60; ++i) latencies.insert(latencies.end(), {28.0 + i % 5, 165.0 + i % 7});
  latencies.insert(latencies.end(), {45, 66, 92, 130});
  const MachineStates states(latencies);
  REQUIRE(states.all().size() == 2);
  CHECK(states.all()[0].highest_ns == 32);
  CHECK(states.all()[1].lowest_ns == 165);
  CHECK_FALSE(states.state_of(92.0).has_value());
}

TEST_CASE("without latencies there is one state") {
  const MachineStates states({});
  REQUIRE(states.all().size() == 1);
  CHECK(states.all()[0].name == "single core");
  CHECK(states.state_of(LatencyInterval{}) == 0);
  CHECK_FALSE(states.state_of(28.0).has_value());
}
TEST_CASE("the copied vector exceeds the last-level cache, within limits") {
  const auto size_for = [](const char* description) {
    const Topology topology = Topology::synthetic(description);
    return copy_size_bytes(topology, topology.cores().front());
  };
  constexpr std::size_t kMiB = 1 << 20;
  CHECK(size_for("pack:1 l3:1(size=24MiB) core:2") == 48 * kMiB);
  CHECK(size_for("pack:1 l2:2(size=512KiB) core:1") == 16 * kMiB);
  CHECK(size_for("pack:1 l3:1(size=512MiB) core:2") == 64 * kMiB);
}

TEST_CASE("this machine has a latency and a bandwidth, and measuring binds nobody") {
  const Topology topology = Topology::this_machine();
  const MachineState state = measure_machine_state(topology, topology.cores());
  CHECK(std::isfinite(state.copy_gb_per_s));
  CHECK(state.copy_gb_per_s > 0);
  CHECK(state.latency_ns.has_value() == (topology.core_count() > 1));
  if (state.latency_ns) {
    CHECK(std::isfinite(*state.latency_ns));
    CHECK(*state.latency_ns > 0);
  }
  CHECK(Topology::this_machine().affinity() == topology.affinity());
}

TEST_CASE("one core has no latency") {
  const Topology topology = Topology::this_machine();
  const Core core = topology.cores().front();
  CHECK_THROWS_AS(core_latency_ns(topology, core, core), Error);
  const std::vector<Core> twice = {core, core};
  CHECK_FALSE(measure_machine_state(topology, twice).latency_ns.has_value());
}

TEST_CASE("another machine's cores cannot be measured") {
  const Topology topology = Topology::synthetic("pack:1 core:2");
  CHECK_THROWS_AS(core_latency_ns(topology, topology.cores()[0], topology.cores()[1]), Error);
  CHECK_THROWS_AS(copy_bandwidth_gb_per_s(topology, topology.cores()[0]), Error);
}

TEST_CASE("workers copy and reduce at some rate, and flags of another core are read") {
  const Topology topology = Topology::this_machine();
  const MemoryWorkers workers(topology, topology.cores().first(1), std::size_t{1} << 20);
  for (const auto action : {MemoryWorkers::Action::copies, MemoryWorkers::Action::reduces}) {
    CHECK(workers.measure(action, 1).gb_per_s > 0);
  }
  CHECK(memory_vector_bytes(topology, 1) >= std::size_t{16} << 20);
  CHECK(memory_vector_bytes(topology, 1 << 20) == std::size_t{1} << 20);
  if (topology.cores().size() < 2) return;
  // Empty where other work keeps the cores for so long.
  for (const double gap_ns : line_gap_ns(topology, topology.cores()[0], topology.cores()[1], 5,
                                         std::chrono::seconds(1))) {
    CHECK(gap_ns > 0);
  }
}

/// The vectors of all threads of a limit kernel, with elements that differ between threads and
/// indices, some elements apart from one another and poisoned there.
template <class T>
class LimitVectors {
 public:
  LimitVectors(int threads, std::size_t count, std::size_t misalignment)
      : count_(count), offset_(misalignment) {
    for (int thread = 0; thread < threads; ++thread) {
      inputs_.emplace_back(count + kMargin, kPoison);
      outputs_.emplace_back(count + kMargin, kPoison);
      for (std::size_t i = 0; i < count; ++i) inputs_.back()[offset_ + i] = value(thread, i);
      input_addresses_.push_back(inputs_.back().data() + offset_);
      output_addresses_.push_back(outputs_.back().data() + offset_);
    }
  }

  static T value(int thread, std::size_t i) {
    return static_cast<T>((static_cast<std::size_t>(thread) * 5 + i * 3) % 11);
  }

  LimitCall call(Collective collective, DataType type, int root) const {
    return {.collective = collective,
            .root = root,
            .type = type,
            .count = count_,
            .inputs = input_addresses_,
            .outputs = output_addresses_};
  }

  /// Whether the output holds elements [first, first + count) of the sum of threads 0..ranks-1, and
  /// nothing else was written.
  bool holds(int thread, std::size_t first, std::size_t count, int ranks) const {
    std::vector<T> expected(count_ + kMargin, kPoison);
    for (std::size_t i = 0; i < count; ++i) {
      T sum = 0;
      for (int rank = 0; rank < ranks; ++rank) sum = static_cast<T>(sum + value(rank, first + i));
      expected[offset_ + i] = sum;
    }
    return expected == outputs_[static_cast<std::size_t>(thread)];
  }

  /// The same of elements [first, first + count) of one thread's input.
  bool holds_copy(int thread, std::size_t first, std::size_t count, int source) const {
    std::vector<T> expected(count_ + kMargin, kPoison);
    for (std::size_t i = 0; i < count; ++i) expected[offset_ + i] = value(source, first + i);
    return expected == outputs_[static_cast<std::size_t>(thread)];
  }

  /// The same of `size` elements of all inputs from one on, one after the other.
  bool holds_blocks(int thread, std::size_t size, std::size_t first) const {
    std::vector<T> expected(count_ + kMargin, kPoison);
    for (std::size_t source = 0; source < inputs_.size(); ++source) {
      for (std::size_t i = 0; i < size; ++i) {
        expected[offset_ + source * size + i] = value(static_cast<int>(source), first + i);
      }
    }
    return expected == outputs_[static_cast<std::size_t>(thread)];
  }

 private:
  static constexpr std::size_t kMargin = 64;
  static constexpr T kPoison = 99;

  std::size_t count_;
  std::size_t offset_;
  std::vector<std::vector<T>> inputs_;
  std::vector<std::vector<T>> outputs_;
  std::vector<const void*> input_addresses_;
  std::vector<void*> output_addresses_;
};

/// All kernels and thread counts on one type and collective.
template <class T>
void check_limit_kernels(Collective collective, DataType type, std::size_t misalignment) {
  for (int kernel = 0; kernel < kLimitKernelCount; ++kernel) {
    for (const int threads : {1, 2, 3, 5}) {
      for (const std::size_t blocks : {0, 1, 7, 64, 1031}) {
        const std::size_t count = blocks * static_cast<std::size_t>(threads);
        CAPTURE(name_of(static_cast<LimitKernel>(kernel)));
        CAPTURE(threads);
        CAPTURE(count);
        const int root = threads / 2;
        const LimitVectors<T> vectors(threads, count, misalignment);
        for (int thread = 0; thread < threads; ++thread) {
          run_limit_kernel(static_cast<LimitKernel>(kernel),
                           limit_share(vectors.call(collective, type, root), thread), type);
        }
        for (int thread = 0; thread < threads; ++thread) {
          CAPTURE(thread);
          const auto rank = static_cast<std::size_t>(thread);
          if (collective == Collective::allreduce) {
            CHECK(vectors.holds(thread, 0, count, threads));
          } else if (collective == Collective::reduce) {
            CHECK(vectors.holds(thread, 0, thread == root ? count : 0, threads));
          } else if (collective == Collective::reduce_scatter) {
            CHECK(vectors.holds(thread, rank * blocks, blocks, threads));
          } else if (collective == Collective::scan) {
            CHECK(vectors.holds(thread, 0, count, thread + 1));
          } else if (collective == Collective::broadcast) {
            CHECK(vectors.holds_copy(thread, 0, thread == root ? 0 : count, root));
          } else if (collective == Collective::allgather) {
            CHECK(vectors.holds_blocks(thread, blocks, 0));
          } else if (collective == Collective::gather) {
            CHECK(vectors.holds_blocks(thread, thread == root ? blocks : 0, 0));
          } else if (collective == Collective::scatter) {
            CHECK(vectors.holds_copy(thread, rank * blocks, blocks, root));
          } else if (collective == Collective::alltoall) {
            CHECK(vectors.holds_blocks(thread, blocks, rank * blocks));
          } else {
            CHECK(vectors.holds(thread, 0, thread == 0 ? 0 : count, thread));
          }
        }
      }
    }
  }
}

TEST_CASE("limit kernels write what their collective writes, in every type") {
  for (int value = 0; value < kCollectiveCount; ++value) {
    const auto collective = static_cast<Collective>(value);
    CAPTURE(hycoll::name_of(collective));
    for (const std::size_t misalignment : {0, 3}) {
      check_limit_kernels<std::int8_t>(collective, DataType::int8, misalignment);
      check_limit_kernels<std::uint16_t>(collective, DataType::uint16, misalignment);
      check_limit_kernels<std::int32_t>(collective, DataType::int32, misalignment);
      check_limit_kernels<std::uint64_t>(collective, DataType::uint64, misalignment);
      check_limit_kernels<float>(collective, DataType::float32, misalignment);
      check_limit_kernels<double>(collective, DataType::float64, misalignment);
    }
  }
}

TEST_CASE("the traffic of a limit is what its shares read and write") {
  for (int value = 0; value < kCollectiveCount; ++value) {
    const auto collective = static_cast<Collective>(value);
    CAPTURE(hycoll::name_of(collective));
    for (const int threads : {1, 2, 3, 5}) {
      const std::size_t count = 30 * 16;
      const LimitVectors<float> vectors(threads, count, 0);
      std::size_t bytes = 0;
      for (int thread = 0; thread < threads; ++thread) {
        const LimitShare share =
            limit_share(vectors.call(collective, DataType::float32, 0), thread);
        bytes += share.count * sizeof(float) * (share.inputs.size() + share.outputs.size());
      }
      CHECK(limit_traffic_bytes(collective, threads, count * sizeof(float)) == bytes);
    }
  }
}

}  // namespace
}  // namespace hycoll::measure
