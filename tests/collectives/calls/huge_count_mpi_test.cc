// Calls of more elements than 32 bits count.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/support/call_sweeps.h"
#include "tests/support/sanitized.h"

namespace hycoll::tests {
namespace {

constexpr std::size_t kCount = (std::size_t{1} << 31) + 65'537;
constexpr std::size_t kNeededBytes = std::size_t{8} << 30;

// What is under test does not depend on the library, and takes much memory.
#ifdef MPICH_VERSION
constexpr bool kIsMpich = true;
#else
constexpr bool kIsMpich = false;
#endif

std::size_t available_bytes() {
  std::ifstream info("/proc/meminfo");
  std::string name;
  std::size_t kib = 0;
  for (std::string unit; info >> name >> kib; std::getline(info, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

/// A prime, so that shifts by powers of two show.
constexpr std::size_t kPeriod = 65'521;

std::int8_t element(int member, std::size_t index) {
  const std::size_t place = index % kPeriod;
  return static_cast<std::int8_t>(place * 7 + (place >> 8) * 3 +
                                  static_cast<std::size_t>(member) * 5);
}

void fill(std::span<std::int8_t> vector, int member) {
  std::vector<std::int8_t> period(kPeriod);
  for (std::size_t i = 0; i < kPeriod; ++i) period[i] = element(member, i);
  for (std::size_t begin = 0; begin < vector.size(); begin += kPeriod) {
    std::copy_n(period.begin(), std::min(kPeriod, vector.size() - begin), &vector[begin]);
  }
}

/// The ends, the surroundings of the middle, of 2^30 and 2^31, and samples.
std::vector<std::size_t> positions(std::size_t size) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < 100; ++i) {
    for (const std::size_t centre :
         {std::size_t{100}, kCount / 2, std::size_t{1} << 30, std::size_t{1} << 31, size - 100}) {
      const std::size_t index = centre + i - 50;
      if (centre >= 50 && index < size) all.push_back(index);
    }
  }
  for (std::size_t i = 0; i < 50; ++i) all.push_back(i);
  for (std::size_t index = 0; index < size; index += 1'000'003) all.push_back(index);
  return all;
}

TEST_CASE("more than 2^31 elements in place" * doctest::skip(kIsSanitized || !kIsMpich)) {
  const std::size_t available = available_bytes();
  if (available < kNeededBytes) {
    MESSAGE(fmt::format("skipped: {} MiB of memory are available, {} MiB needed", available >> 20,
                        kNeededBytes >> 20));
    return;
  }
  Team team(MPI_COMM_SELF, 2);
  CHECK(in_every_thread(team, [](Member& member) {
          const auto memory = std::make_unique_for_overwrite<std::int8_t[]>(kCount);
          const std::span vector(memory.get(), kCount);
          fill(vector, member.rank());
          member.broadcast(vector, 1);
          std::string first;
          for (const std::size_t i : positions(kCount)) {
            if (vector[i] == element(1, i)) continue;
            note(first, fmt::format("broadcast: element {} is wrong", i));
          }
          if (member.rank() == 0) fill(vector, 0);
          member.allreduce(vector);
          for (const std::size_t i : positions(kCount)) {
            const auto sum = static_cast<std::int8_t>(element(0, i) + element(1, i));
            if (vector[i] != sum) note(first, fmt::format("allreduce: element {} is wrong", i));
          }
          return first;
        }) == "");
}

}  // namespace
}  // namespace hycoll::tests
