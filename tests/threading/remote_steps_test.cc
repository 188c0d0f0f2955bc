// Steps with operands in other processes' own memory, with an address space that copies inside this
// process.

#include "threading/execution/remote_steps.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace hycoll {
namespace remote_steps_test {

constexpr std::size_t kGuards = 8;
constexpr std::int32_t kGuard = -99;
constexpr std::int32_t kPoison = -1;
/// Skipped at the beginning of every buffer of another process.
constexpr std::size_t kSkipped = 5;

class Copies final : public AddressSpace {
 public:
  mutable int calls = 0;  // that the kernel would get

  std::uint64_t announce(const void* address) const noexcept override {
    return reinterpret_cast<std::uintptr_t>(address);
  }
  std::byte* resolve(int, std::uint64_t) const noexcept override { return nullptr; }
  void read(int worker, std::uint64_t announced, std::size_t offset_bytes, void* destination,
            std::size_t size_bytes) const override {
    REQUIRE(worker == 7);
    ++calls;
    std::memcpy(destination, reinterpret_cast<const std::byte*>(announced) + offset_bytes,
                size_bytes);
  }
  void write(int worker, std::uint64_t announced, std::size_t offset_bytes, const void* source,
             std::size_t size_bytes) const override {
    REQUIRE(worker == 7);
    ++calls;
    std::memcpy(reinterpret_cast<std::byte*>(announced) + offset_bytes, source, size_bytes);
  }
};

enum class Where { here, there };

struct Buffer {
  Buffer(std::size_t count, Where place)
      : where(place), elements(count + kSkipped + 2 * kGuards, kGuard) {}
  std::int32_t* data() { return elements.data() + kGuards + kSkipped; }
  OperandPlace place() {
    if (where == Where::here) return {.here = reinterpret_cast<std::byte*>(data())};
    return {.worker = 7,
            .announced = reinterpret_cast<std::uintptr_t>(data() - kSkipped),
            .offset_bytes = kSkipped * sizeof(std::int32_t)};
  }
  Where where;
  std::vector<std::int32_t> elements;
};

std::int32_t element(std::size_t source, std::size_t index) {
  return static_cast<std::int32_t>((source + 1) * 1'000'003 + index * 7);
}

void add(std::span<void* const> destinations, std::span<const void* const> sources,
         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t sum = 0;
    for (const void* source : sources) {
      sum = sum * 3 + static_cast<std::uint32_t>(static_cast<const std::int32_t*>(source)[i]);
    }
    for (void* destination : destinations) {
      static_cast<std::int32_t*>(destination)[i] = static_cast<std::int32_t>(sum);
    }
  }
}

std::int32_t sum_of(std::size_t sources, std::size_t index) {
  std::uint32_t sum = 0;
  for (std::size_t s = 0; s < sources; ++s) {
    sum = sum * 3 + static_cast<std::uint32_t>(element(s, index));
  }
  return static_cast<std::int32_t>(sum);
}

/// Bit b of the mixture says where operand b lies.
std::vector<Buffer> buffers_of(std::size_t number, std::size_t count, unsigned mixture) {
  std::vector<Buffer> buffers;
  for (std::size_t b = 0; b < number; ++b) {
    buffers.emplace_back(count, (mixture >> b & 1) != 0 ? Where::there : Where::here);
  }
  return buffers;
}

std::vector<OperandPlace> places_of(std::vector<Buffer>& buffers) {
  std::vector<OperandPlace> places;
  for (Buffer& buffer : buffers) places.push_back(buffer.place());
  return places;
}

void fill(std::vector<Buffer>& sources, std::size_t count) {
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (std::size_t i = 0; i < count; ++i) sources[s].data()[i] = element(s, i);
  }
}

template <class Expected>
void check(Buffer& buffer, std::size_t count, const Expected& expected) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += buffer.data()[i] != expected(i) ? 1 : 0;
  for (std::size_t i = 0; i < kGuards + kSkipped; ++i)
    wrong += buffer.elements[i] != kGuard ? 1 : 0;
  for (std::size_t i = 0; i < kGuards; ++i) wrong += buffer.data()[count + i] != kGuard ? 1 : 0;
  CHECK(wrong == 0);
}

constexpr std::size_t kCounts[] = {1, 1000, 8191, 8192, 8193, 65'537, 100'001};

TEST_CASE("reduce: sources and destinations here and there") {
  const Copies copies;
  RemoteSteps steps;
  for (const std::size_t count : kCounts) {
    for (unsigned mixture = 0; mixture < 32; ++mixture) {
      CAPTURE(count);
      CAPTURE(mixture);
      std::vector<Buffer> sources = buffers_of(3, count, mixture);
      std::vector<Buffer> destinations = buffers_of(2, count, mixture >> 3);
      fill(sources, count);
      for (Buffer& destination : destinations) {
        std::fill_n(destination.data(), count, kPoison);
      }
      steps.reduce(copies, places_of(destinations), places_of(sources), count, sizeof(std::int32_t),
                   add);
      for (Buffer& destination : destinations) {
        check(destination, count, [](std::size_t i) { return sum_of(3, i); });
      }
      for (std::size_t s = 0; s < sources.size(); ++s) {
        check(sources[s], count, [s](std::size_t i) { return element(s, i); });
      }
    }
  }
}

TEST_CASE("reduce in place: every destination is a source") {
  const Copies copies;
  RemoteSteps steps;
  for (const std::size_t count : kCounts) {
    for (unsigned mixture = 0; mixture < 8; ++mixture) {
      std::vector<Buffer> buffers = buffers_of(3, count, mixture);
      fill(buffers, count);
      const std::vector<OperandPlace> places = places_of(buffers);
      steps.reduce(copies, places, places, count, sizeof(std::int32_t), add);
      for (Buffer& buffer : buffers) {
        check(buffer, count, [](std::size_t i) { return sum_of(3, i); });
      }
    }
  }
}

TEST_CASE("copy: from here or there, to here and there") {
  const Copies copies;
  RemoteSteps steps;
  for (const std::size_t count : kCounts) {
    for (unsigned mixture = 0; mixture < 8; ++mixture) {
      CAPTURE(count);
      CAPTURE(mixture);
      std::vector<Buffer> source = buffers_of(1, count, mixture);
      std::vector<Buffer> destinations = buffers_of(2, count, mixture >> 1);
      fill(source, count);
      steps.copy(copies, places_of(destinations), source.front().place(),
                 count * sizeof(std::int32_t));
      for (Buffer& destination : destinations) {
        check(destination, count, [](std::size_t i) { return element(0, i); });
      }
      check(source.front(), count, [](std::size_t i) { return element(0, i); });
    }
  }
}

TEST_CASE("between here and one other process the kernel copies a long part at once") {
  constexpr std::size_t kCount = 100'001;
  const auto calls_for = [](Where from, unsigned far_destinations, std::size_t destination_count) {
    const Copies copies;
    RemoteSteps steps;
    std::vector<Buffer> source = buffers_of(1, kCount, from == Where::there ? 1 : 0);
    std::vector<Buffer> destinations = buffers_of(destination_count, kCount, far_destinations);
    steps.copy(copies, places_of(destinations), source.front().place(),
               kCount * sizeof(std::int32_t));
    return copies.calls;
  };
  CHECK(calls_for(Where::here, 0b1, 1) == 1);
  CHECK(calls_for(Where::there, 0b0, 1) == 1);
  CHECK(calls_for(Where::here, 0b10, 2) == 1);
  CHECK(calls_for(Where::here, 0b100, 3) == 1);
  // From a cache.
  CHECK(calls_for(Where::here, 0b11, 2) == 4);
  CHECK(calls_for(Where::there, 0b1, 1) == 4);
}

TEST_CASE("elements larger than a block") {
  const Copies copies;
  RemoteSteps steps;
  constexpr std::size_t kWords = 100'000;
  std::vector<Buffer> sources = buffers_of(2, 3 * kWords, 1);
  std::vector<Buffer> destination = buffers_of(1, 3 * kWords, 1);
  fill(sources, 3 * kWords);
  std::size_t combined = 0;
  steps.reduce(
      copies, places_of(destination), places_of(sources), 3, kWords * sizeof(std::int32_t),
      [&](std::span<void* const> to, std::span<const void* const> from, std::size_t count) {
        combined += count;
        add(to, from, count * kWords);
      });
  CHECK(combined == 3);
  check(destination.front(), 3 * kWords, [](std::size_t i) { return sum_of(2, i); });
}

}  // namespace remote_steps_test
}  // namespace hycoll
