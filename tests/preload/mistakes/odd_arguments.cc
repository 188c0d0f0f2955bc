#include "tests/preload/mistakes/odd_arguments.h"

#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/preload/support/programs.h"

namespace programs {
namespace {

/// Blocks anywhere in a buffer, which may share bytes, between guards.
class Scattered {
 public:
  static constexpr std::uint8_t kGuard = 0xee;

  Scattered(std::size_t blocks, std::mt19937& random) : counts_(blocks), begins_(blocks) {
    const int spread = 1 << std::uniform_int_distribution(2, 12)(random);
    for (std::size_t b = 0; b < blocks; ++b) {
      counts_[b] = std::uniform_int_distribution(0, spread)(random);
      begins_[b] = std::uniform_int_distribution(0, 2 * spread)(random);
    }
    bytes_.assign(static_cast<std::size_t>(4 * spread), kGuard);
  }
  /// The lengths are others' business.
  void set_counts(const std::vector<int>& counts) {
    counts_ = counts;
    const int most = *std::ranges::max_element(counts);
    bytes_.assign(bytes_.size() + static_cast<std::size_t>(most), kGuard);
  }

  std::uint8_t* data() { return bytes_.data() + kMargin; }
  const std::vector<int>& counts() const { return counts_; }
  const std::vector<int>& begins() const { return begins_; }

  /// Every byte is one that a block has there, `value(block)`, or a guard where there is none.
  template <class Value>
  void check(const Value& value) const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      bool is_in_a_block = false;
      bool is_right = false;
      for (std::size_t b = 0; b < counts_.size(); ++b) {
        const int at = static_cast<int>(i) - static_cast<int>(kMargin) - begins_[b];
        if (at < 0 || at >= counts_[b]) continue;
        is_in_a_block = true;
        is_right = is_right || bytes_[i] == value(b);
      }
      REQUIRE_HERE(is_in_a_block ? is_right : bytes_[i] == kGuard);
    }
  }

 private:
  static constexpr std::size_t kMargin = 2;
  std::vector<int> counts_;
  std::vector<int> begins_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

void overlaps(MPI_Comm communicator) {
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const int rank = rank_of(communicator);
  const std::vector<MPI_Datatype> types(size, MPI_BYTE);
  // All processes draw alike what all must know, and each its own places.
  std::mt19937 common(7);
  std::mt19937 own_random(static_cast<unsigned>(rank) + 70);
  for (int round = 0; round < 60; ++round) {
    const std::vector<int> counts = Scattered(size, common).counts();
    const int own_count = counts[static_cast<std::size_t>(rank)];
    const std::vector<std::uint8_t> own(static_cast<std::size_t>(own_count) + 1,
                                        static_cast<std::uint8_t>(rank + 1));
    const auto of_rank = [](std::size_t r) { return static_cast<std::uint8_t>(r + 1); };
    Scattered all(size, own_random);
    all.set_counts(counts);
    MPI_Request request = MPI_REQUEST_NULL;
    switch (round % 4) {
      case 0:
        MPI_Allgatherv(own.data(), own_count, MPI_BYTE, all.data(), counts.data(),
                       all.begins().data(), MPI_BYTE, communicator);
        break;
      case 1:
        MPI_Iallgatherv(own.data(), own_count, MPI_BYTE, all.data(), counts.data(),
                        all.begins().data(), MPI_BYTE, communicator, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
      case 2:
        MPI_Gatherv(own.data(), own_count, MPI_BYTE, all.data(), counts.data(), all.begins().data(),
                    MPI_BYTE, 0, communicator);
        break;
      default:
        MPI_Igatherv(own.data(), own_count, MPI_BYTE, all.data(), counts.data(),
                     all.begins().data(), MPI_BYTE, 0, communicator, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (round % 4 < 2 || rank == 0) all.check(of_rank);
    // Each sends as many to everybody as it has said.
    Scattered result(size, own_random);
    result.set_counts(counts);
    const std::vector<int> sent(size, own_count);
    const std::vector<int> from(size, 0);
    if (round % 2 == 0) {
      MPI_Alltoallv(own.data(), sent.data(), from.data(), MPI_BYTE, result.data(), counts.data(),
                    result.begins().data(), MPI_BYTE, communicator);
    } else {
      MPI_Alltoallw(own.data(), sent.data(), from.data(), types.data(), result.data(),
                    counts.data(), result.begins().data(), types.data(), communicator);
    }
    result.check(of_rank);
  }
}

void partial_overlap(MPI_Comm communicator) {
  const int size = size_of(communicator);
  for (const std::size_t count : {4u, 3000u}) {
    std::vector<int> values(count + 2);
    std::iota(values.begin(), values.end(), 0);
    MPI_Allreduce(values.data(), values.data() + 2, static_cast<int>(count), MPI_INT, MPI_SUM,
                  communicator);
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE_HERE(values[i + 2] == size * static_cast<int>(i));
    }
  }
}

void absolute_addresses(MPI_Comm communicator) {
  const int size = size_of(communicator);
  const int rank = rank_of(communicator);
  // Where the system puts it unless something is there: an address that fits into an int.
  void* const wanted = reinterpret_cast<void*>(std::uintptr_t{0x20000000});
  void* const low = mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE_HERE(low == wanted);
  auto* const bytes = static_cast<std::uint8_t*>(low);
  const auto place = static_cast<int>(reinterpret_cast<std::uintptr_t>(low));
  std::vector<int> counts(static_cast<std::size_t>(size), 4);
  std::vector<int> begins(counts.size());
  for (int r = 0; r < size; ++r) begins[static_cast<std::size_t>(r)] = place + 16 * r;
  const std::vector<std::uint8_t> own(4, static_cast<std::uint8_t>(rank + 1));
  const auto require_gathered = [&] {
    for (int r = 0; r < size; ++r) {
      REQUIRE_HERE(std::count(bytes + 16 * r, bytes + 16 * r + 4, r + 1) == 4);
      REQUIRE_HERE(std::count(bytes + 16 * r + 4, bytes + 16 * r + 16, 0) == 12);
    }
    std::memset(bytes, 0, 4096);
  };
  const auto wait = [](MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); };
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allgatherv(own.data(), 4, MPI_BYTE, MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE,
                 communicator);
  require_gathered();
  MPI_Iallgatherv(own.data(), 4, MPI_BYTE, MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE,
                  communicator, &request);
  wait(request);
  require_gathered();
  for (int root = 0; root < size; ++root) {
    MPI_Gatherv(own.data(), 4, MPI_BYTE, MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE, root,
                communicator);
    if (rank == root) require_gathered();
    MPI_Igatherv(own.data(), 4, MPI_BYTE, MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE, root,
                 communicator, &request);
    wait(request);
    if (rank == root) require_gathered();
    for (int r = 0; r < size; ++r) std::memset(bytes + 16 * r, r + 1, 4);
    std::vector<std::uint8_t> got(4, 0);
    MPI_Scatterv(MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE, got.data(), 4, MPI_BYTE, root,
                 communicator);
    REQUIRE_HERE(got == own);
    got.assign(4, 0);
    MPI_Iscatterv(MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE, got.data(), 4, MPI_BYTE, root,
                  communicator, &request);
    wait(request);
    REQUIRE_HERE(got == own);
    std::memset(bytes, 0, 4096);
  }
#if MPI_VERSION >= 4
  std::vector<std::uint8_t> anywhere(static_cast<std::size_t>(16 * size), 0);
  const std::vector<MPI_Count> long_counts(counts.begin(), counts.end());
  std::vector<MPI_Aint> addresses(counts.size());
  for (std::size_t r = 0; r < addresses.size(); ++r) {
    MPI_Get_address(anywhere.data() + 16 * r, &addresses[r]);
  }
  MPI_Allgatherv_c(own.data(), 4, MPI_BYTE, MPI_BOTTOM, long_counts.data(), addresses.data(),
                   MPI_BYTE, communicator);
  for (std::size_t r = 0; r < addresses.size(); ++r) REQUIRE_HERE(anywhere[16 * r] == r + 1);
#endif
  munmap(low, 4096);
}

}  // namespace programs
