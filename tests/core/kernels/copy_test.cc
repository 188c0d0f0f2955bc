#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/kernels/kernels.h"
#include "tests/core/kernels/fixture.h"

namespace hycoll {
namespace {

struct Copy {
  std::size_t destination_count;
  std::size_t size_bytes;
  Stores stores;
  Placement placement;
};

std::string run_copy(const Copy& copy, std::size_t seed) {
  GuardedBuffer source(copy.size_bytes + kLineBytes);
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<void*> destinations;
  const auto place = [&](GuardedBuffer& buffer, std::size_t offset_bytes) {
    if (copy.placement == Placement::at_page_end) {
      buffer.place_at_end(copy.size_bytes);
    } else {
      buffer.place_at(offset_bytes % kLineBytes, copy.size_bytes);
    }
  };
  place(source, copy.placement == Placement::same_offset ? seed : seed * 5);
  for (std::size_t i = 0; i < copy.size_bytes; ++i) {
    source.data()[i] = static_cast<std::byte>(i * 167 + i / 256 + seed);
  }
  const std::vector<std::byte> expected(source.data(), source.data() + copy.size_bytes);
  for (std::size_t k = 0; k < copy.destination_count; ++k) {
    buffers.push_back(std::make_unique<GuardedBuffer>(copy.size_bytes + kLineBytes));
    place(*buffers[k], copy.placement == Placement::any_offsets ? seed + 11 * k : seed);
    destinations.push_back(buffers[k]->data());
    // The source itself among its destinations, where it must not be written.
    if (k == seed % copy.destination_count) destinations.push_back(source.data());
  }
  source.forbid_writes();
  copy_kernel(destinations, source.data(), copy.size_bytes, copy.stores);
  for (std::size_t k = 0; k < copy.destination_count; ++k) {
    if (!std::equal(expected.begin(), expected.end(), buffers[k]->data())) {
      return fmt::format("wrong copy in destination {}", k);
    }
    if (!buffers[k]->is_poison_intact()) return fmt::format("wrote outside destination {}", k);
  }
  return {};
}

TEST_CASE("copies reach every destination but the source, and nothing else") {
  std::vector<std::size_t> sizes_bytes = {16383, 16384, 16385, 16384 * 2 + 63, 70001};
  for (std::size_t size_bytes = 0; size_bytes < 300; size_bytes += 1 + size_bytes / 40) {
    sizes_bytes.push_back(size_bytes);
  }
  on_every_instruction_set([&] {
    std::minstd_rand random(3);
    for (const std::size_t size_bytes : sizes_bytes) {
      for (const std::size_t destinations : {1, 2, 3, 5, 16, 35}) {
        for (const Stores stores : {Stores::cached, Stores::streaming}) {
          const Copy copy{destinations, size_bytes, stores, random_placement(random)};
          const std::string problem = run_copy(copy, random());
          REQUIRE_MESSAGE(problem.empty(),
                          fmt::format("{}: {} bytes, {} destinations, stores {}, placement {}",
                                      problem, size_bytes, destinations, static_cast<int>(stores),
                                      static_cast<int>(copy.placement)));
        }
      }
    }
  });
}

TEST_CASE("copies without destinations, and to the source alone, do nothing") {
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    std::vector<char> source(40000, 'x');
    copy_kernel({}, source.data(), source.size(), stores);
    const std::array<void*, 2> destinations = {source.data(), source.data()};
    copy_kernel(destinations, source.data(), source.size(), stores);
    CHECK(source == std::vector<char>(40000, 'x'));
  }
}

}  // namespace
}  // namespace hycoll
