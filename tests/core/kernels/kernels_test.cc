// Every operator and type on every instruction set: sweeps over what decides which loop runs. What
// a sweep does not enumerate it draws with a fixed seed, and a failing call is described in full.

#include "core/kernels/kernels.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/core/kernels/expected.h"
#include "tests/core/kernels/fixture.h"

namespace hycoll {
namespace {

enum class Aliasing { none, one, last_source, many };
constexpr int kAliasingCount = 4;

struct Call {
  std::size_t source_count;
  std::size_t destination_count;
  std::size_t count;
  Stores stores;
  Placement placement;
  Aliasing aliasing;
  std::size_t offset_elements;  ///< of what shares an offset
};

std::string describe(const ReductionData& data, const Call& call) {
  return fmt::format(
      "{} {}: {} sources, {} destinations, {} elements, stores {}, placement {}, aliasing {}, "
      "offset {}",
      name_of(data.op), name_of(data.type), call.source_count, call.destination_count, call.count,
      static_cast<int>(call.stores), static_cast<int>(call.placement),
      static_cast<int>(call.aliasing), call.offset_elements);
}

class CallRunner {
 public:
  CallRunner(std::size_t source_count, std::size_t destination_count, std::size_t capacity_bytes)
      : sources_(source_count), destinations_(destination_count) {
    for (auto& buffer : sources_) buffer = std::make_unique<GuardedBuffer>(capacity_bytes);
    for (auto& buffer : destinations_) buffer = std::make_unique<GuardedBuffer>(capacity_bytes);
  }

  /// Runs the call; returns what went wrong, or nothing.
  std::string run(ReduceKernel kernel, const ReductionData& data, const Call& call) {
    arrange(data, call);
    kernel(destination_addresses_, source_addresses_, call.count, call.stores);
    const std::string problem = check(data, call);
    return problem.empty() ? problem : problem + ": " + describe(data, call);
  }

 private:
  void arrange(const ReductionData& data, const Call& call) {
    const std::size_t element_bytes = size_of(data.type);
    const std::size_t size_bytes = call.count * element_bytes;
    const std::size_t same = call.offset_elements * element_bytes % kLineBytes;
    const auto any = [&] { return random_() % (kLineBytes / element_bytes) * element_bytes; };
    source_addresses_.clear();
    destination_addresses_.clear();
    for (std::size_t k = 0; k < call.source_count; ++k) {
      place(*sources_[k], call.placement, call.placement == Placement::same_offset ? same : any(),
            size_bytes);
      if (size_bytes != 0) std::memcpy(sources_[k]->data(), data.sources[k].data(), size_bytes);
      source_addresses_.push_back(sources_[k]->data());
    }
    for (std::size_t k = 0; k < call.destination_count; ++k) {
      place(*destinations_[k], call.placement,
            call.placement == Placement::any_offsets ? any() : same, size_bytes);
      const std::size_t alias = aliased_source(call, k);
      destination_addresses_.push_back(
          (alias < call.source_count ? sources_[alias] : destinations_[k])->data());
    }
  }

  static void place(GuardedBuffer& buffer, Placement placement, std::size_t offset_bytes,
                    std::size_t size_bytes) {
    if (placement == Placement::at_page_end) {
      buffer.place_at_end(size_bytes);
    } else {
      buffer.place_at(offset_bytes, size_bytes);
    }
  }

  /// Which source the destination is, or source_count.
  static std::size_t aliased_source(const Call& call, std::size_t destination) {
    switch (call.aliasing) {
      case Aliasing::none:
        return call.source_count;
      case Aliasing::one:
        return destination == 0 ? call.count % call.source_count : call.source_count;
      case Aliasing::last_source:
        return destination + 1 == call.destination_count ? call.source_count - 1
                                                         : call.source_count;
      case Aliasing::many:
        return std::min(destination, call.source_count);
    }
    return call.source_count;
  }

  std::string check(const ReductionData& data, const Call& call) const {
    const std::size_t size_bytes = call.count * size_of(data.type);
    for (std::size_t k = 0; k < call.destination_count; ++k) {
      const auto* const actual = static_cast<const std::byte*>(destination_addresses_[k]);
      if (!is_result(data, actual, data.results[call.source_count - 1].data(), size_bytes)) {
        return fmt::format("wrong result in destination {}", k);
      }
      if (!destinations_[k]->is_poison_intact())
        return fmt::format("wrote outside destination {}", k);
    }
    for (std::size_t k = 0; k < call.source_count; ++k) {
      if (!sources_[k]->is_poison_intact()) return fmt::format("wrote outside source {}", k);
      const bool is_destination =
          std::find(destination_addresses_.begin(), destination_addresses_.end(),
                    source_addresses_[k]) != destination_addresses_.end();
      if (is_destination || size_bytes == 0) continue;
      if (std::memcmp(source_addresses_[k], data.sources[k].data(), size_bytes) != 0) {
        return fmt::format("changed source {}", k);
      }
    }
    return {};
  }

  std::vector<std::unique_ptr<GuardedBuffer>> sources_;
  std::vector<std::unique_ptr<GuardedBuffer>> destinations_;
  std::vector<const void*> source_addresses_;
  std::vector<void*> destination_addresses_;
  std::minstd_rand random_{7};
};

/// Every length up to 130, and those around the unrolled loops' lengths.
std::vector<std::size_t> short_counts() {
  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 130; ++count) counts.push_back(count);
  for (const std::size_t count : {255, 256, 257, 319, 320, 321, 511, 513, 600})
    counts.push_back(count);
  return counts;
}

constexpr std::size_t kMaxSources = 9;
constexpr std::size_t kMaxDestinations = 5;

Aliasing random_aliasing(std::minstd_rand& random) {
  return static_cast<Aliasing>(random() / 16 % kAliasingCount);
}

std::string sweep_short(ReduceKernel kernel, const ReductionData& data, CallRunner& runner) {
  std::minstd_rand random(1);
  for (const std::size_t count : short_counts()) {
    for (std::size_t sources = 1; sources <= kMaxSources; ++sources) {
      for (std::size_t destinations = 1; destinations <= kMaxDestinations; ++destinations) {
        for (const Stores stores : {Stores::cached, Stores::streaming}) {
          const Call call{sources,
                          destinations,
                          count,
                          stores,
                          random_placement(random),
                          random_aliasing(random),
                          random()};
          if (const std::string problem = runner.run(kernel, data, call); !problem.empty())
            return problem;
        }
      }
    }
  }
  return {};
}

TEST_CASE(
    "reduce kernels: every operator, type, number of sources and destinations, short lengths") {
  CallRunner runner(kMaxSources, kMaxDestinations, short_counts().back() * sizeof(double));
  on_every_operator_and_type([&](Operator op, DataType type) {
    const ReductionData data = make_data(op, type, kMaxSources, short_counts().back());
    on_every_instruction_set([&] {
      const std::string problem = sweep_short(reduce_kernel(op, type), data, runner);
      CHECK_MESSAGE(problem.empty(), problem);
    });
  });
}

TEST_CASE("reduce kernels: every offset in a cache line") {
  CallRunner runner(3, 3, 2200 * sizeof(double));
  on_every_operator_and_type([&](Operator op, DataType type) {
    const std::size_t line_elements = kLineBytes / size_of(type);
    const ReductionData data = make_data(op, type, 3, 2200);
    on_every_instruction_set([&] {
      for (std::size_t offset = 0; offset < line_elements; ++offset) {
        for (const std::size_t count :
             {std::size_t{5}, line_elements, 5 * line_elements - 1, std::size_t{2200}}) {
          for (int way = 0; way < 4; ++way) {
            const Call call{2 + offset % 2,
                            1 + count % 3,
                            count,
                            way % 2 == 0 ? Stores::streaming : Stores::cached,
                            way < 2 ? Placement::same_offset : Placement::same_destination_offset,
                            Aliasing::none,
                            offset};
            const std::string problem = runner.run(reduce_kernel(op, type), data, call);
            REQUIRE_MESSAGE(problem.empty(), problem);
          }
        }
      }
    });
  });
}

TEST_CASE("reduce kernels: more streams than the direct loops take, several blocks") {
  constexpr std::size_t kBytes = 3 * 16384 + 200;
  constexpr std::array<std::size_t, 5> kSourceCounts = {1, 2, 16, 17, 33};
  constexpr std::array<std::size_t, 4> kDestinationCounts = {1, 3, 15, 18};
  CallRunner runner(kSourceCounts.back(), kDestinationCounts.back(), kBytes);
  std::minstd_rand random(2);
  on_every_operator_and_type([&](Operator op, DataType type) {
    const ReductionData data = make_data(op, type, kSourceCounts.back(), kBytes / size_of(type));
    on_every_instruction_set([&] {
      for (const std::size_t sources : kSourceCounts) {
        for (const Stores stores : {Stores::cached, Stores::streaming}) {
          const std::array<std::size_t, 3> sizes_bytes = {16384 - 8, 16384 + 8, kBytes};
          const Call call{sources,
                          kDestinationCounts[random() / 16 % kDestinationCounts.size()],
                          sizes_bytes[random() / 16 % sizes_bytes.size()] / size_of(type),
                          stores,
                          random_placement(random),
                          random_aliasing(random),
                          random()};
          const std::string problem = runner.run(reduce_kernel(op, type), data, call);
          REQUIRE_MESSAGE(problem.empty(), problem);
        }
      }
    });
  });
}

}  // namespace
}  // namespace hycoll
