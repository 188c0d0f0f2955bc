#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "core/base/errors.h"
#include "numa/placement/memory.h"

namespace hycoll {
namespace numa_memory_test {

bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [&](std::byte byte) { return byte == value; });
}

/// Writes every byte and reads it back.
void check_usable(const NumaBuffer& buffer, std::size_t size_bytes, std::size_t alignment) {
  REQUIRE(buffer.size_bytes() == size_bytes);
  REQUIRE(buffer.bytes().size() == size_bytes);
  CHECK(is_aligned(buffer.data(), alignment));
  CHECK(all_are(buffer.bytes(), std::byte{0}));
  std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{0xa5});
  CHECK(all_are(buffer.bytes(), std::byte{0xa5}));
}

TEST_CASE("sizes, alignments and huge pages: zeroed, aligned, and usable to the last byte") {
  const Topology topology = Topology::this_machine();
  const std::size_t huge = std::size_t{2} << 20;
  for (std::size_t size_bytes :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{4095}, std::size_t{4096},
        std::size_t{4097}, std::size_t{1000003}, huge - 1, huge, huge + 1, 3 * huge + 17}) {
    for (std::size_t alignment : {std::size_t{64}, std::size_t{128}, std::size_t{4096},
                                  std::size_t{8192}, std::size_t{1} << 16, huge, 2 * huge}) {
      for (HugePages huge_pages : {HugePages::no, HugePages::advise}) {
        CAPTURE(size_bytes);
        CAPTURE(alignment);
        const NumaBuffer buffer(topology, size_bytes, 0, alignment, huge_pages);
        CHECK(buffer.numa_domain() == 0);
        check_usable(buffer, size_bytes, alignment);
      }
    }
  }
}

TEST_CASE("pages lie in the domain asked for, where the system permits binding") {
  const Topology topology = Topology::this_machine();
  const std::size_t size_bytes = 1 << 20;
  for (const NumaDomain& domain : topology.numa_domains()) {
    const NumaBuffer buffer(topology, size_bytes, domain.index);
    CHECK(buffer.numa_domain() == domain.index);
    // No page is there before it is written.
    CHECK(domain_of(topology, buffer.data()) == std::nullopt);
    std::memset(buffer.data(), 1, size_bytes);
    if (!buffer.bound()) {
      MESSAGE("binding is not permitted here: pages lie where they were first touched");
      continue;
    }
    for (std::size_t offset = 0; offset < size_bytes; offset += 4096) {
      const std::optional<int> found = domain_of(topology, buffer.data() + offset);
      // The system may refuse to tell (seccomp), but may not tell another domain.
      if (found) CHECK(*found == domain.index);
    }
  }
}

TEST_CASE("the domain of ordinary memory is one of this machine's, or not told") {
  const Topology topology = Topology::this_machine();
  int local = 7;
  const std::optional<int> found = domain_of(topology, &local);
  if (found) {
    CHECK(*found >= 0);
    CHECK(*found < static_cast<int>(topology.numa_domains().size()));
  }
}

TEST_CASE("zero bytes are legal and take no memory") {
  const Topology topology = Topology::this_machine();
  for (HugePages huge_pages : {HugePages::no, HugePages::advise}) {
    const NumaBuffer buffer(topology, 0, 0, 64, huge_pages);
    CHECK(buffer.data() == nullptr);
    CHECK(buffer.bytes().empty());
    CHECK(buffer.numa_domain() == 0);
    CHECK_FALSE(buffer.bound());
  }
  const NumaBuffer none;
  CHECK(none.data() == nullptr);
  CHECK(none.size_bytes() == 0);
  CHECK(none.numa_domain() == -1);
}

TEST_CASE("a buffer moves with its content and leaves nothing behind") {
  const Topology topology = Topology::this_machine();
  NumaBuffer source(topology, 5000, 0);
  const bool bound = source.bound();
  std::byte* const data = source.data();
  std::memset(data, 3, 5000);
  NumaBuffer moved(std::move(source));
  CHECK(moved.data() == data);
  CHECK(moved.bound() == bound);
  CHECK(all_are(moved.bytes(), std::byte{3}));
  NumaBuffer target(topology, 100, 0);
  target = std::move(moved);
  CHECK(target.data() == data);
  CHECK(target.size_bytes() == 5000);
  CHECK(all_are(target.bytes(), std::byte{3}));
  NumaBuffer& same = target;
  target = std::move(same);
  CHECK(target.data() == data);
  CHECK(all_are(target.bytes(), std::byte{3}));
  target = NumaBuffer();
  CHECK(target.data() == nullptr);
  CHECK(target.size_bytes() == 0);
}

/// Address space that this process has mapped. The sum of its mappings, for an emulator of another
/// processor has memory of its own, which counts in statm.
std::size_t mapped_bytes() {
  std::ifstream maps("/proc/self/maps");
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    std::size_t begin = 0;
    std::size_t end = 0;
    REQUIRE(std::sscanf(line.c_str(), "%zx-%zx", &begin, &end) == 2);
    bytes += end - begin;
  }
  REQUIRE(bytes > 0);
  return bytes;
}

TEST_CASE("buffers give their memory back, also those assigned over") {
  const Topology topology = Topology::this_machine();
  const std::size_t size_bytes = std::size_t{64} << 20;
  const std::size_t before = mapped_bytes();
  for (HugePages huge_pages : {HugePages::no, HugePages::advise}) {
    for (int i = 0; i < 100; ++i) {
      NumaBuffer buffer(topology, size_bytes, 0, 64, huge_pages);
      buffer.data()[12345] = std::byte{1};
      buffer = NumaBuffer(topology, size_bytes, 0, 4096, huge_pages);
      buffer.data()[54321] = std::byte{1};
    }
  }
  // Far less than one lost buffer.
  CHECK(mapped_bytes() < before + (std::size_t{8} << 20));
}

TEST_CASE("on another machine's topology a buffer is ordinary memory") {
  const Topology topology = Topology::synthetic("pack:2 numa:2 core:2");
  for (int domain = 0; domain < 4; ++domain) {
    const NumaBuffer buffer(topology, 10000, domain, 256);
    CHECK_FALSE(buffer.bound());
    CHECK(buffer.numa_domain() == domain);
    check_usable(buffer, 10000, 256);
    CHECK_THROWS_AS(domain_of(topology, buffer.data()), Error);
  }
}

ErrorKind kind_of_error(const Topology& topology, std::size_t size_bytes, int domain,
                        std::size_t alignment) {
  try {
    const NumaBuffer buffer(topology, size_bytes, domain, alignment);
  } catch (const Error& error) {
    return error.kind();
  }
  FAIL("no error");
  return ErrorKind::timeout;
}

TEST_CASE("misuse and exhaustion are told apart") {
  const Topology topology = Topology::this_machine();
  const int domain_count = static_cast<int>(topology.numa_domains().size());
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  for (int domain : {-1, domain_count, domain_count + 5}) {
    CHECK(kind_of_error(topology, 10, domain, 64) == ErrorKind::invalid_argument);
    CHECK(kind_of_error(topology, 0, domain, 64) == ErrorKind::invalid_argument);
  }
  for (std::size_t alignment : {std::size_t{0}, std::size_t{1}, std::size_t{32}, std::size_t{63},
                                std::size_t{65}, std::size_t{96}, most}) {
    CHECK(kind_of_error(topology, 10, 0, alignment) == ErrorKind::invalid_argument);
  }
  CHECK(kind_of_error(topology, most, 0, 64) == ErrorKind::invalid_argument);
  CHECK(kind_of_error(topology, most / 2, 0, 64) == ErrorKind::invalid_argument);
  CHECK(kind_of_error(topology, std::size_t{1} << 60, 0, 64) == ErrorKind::environment);
}

}  // namespace numa_memory_test
}  // namespace hycoll
