// A program with many communicators, on all of which it makes calls, short ones or, on half of
// them, long ones: what hycoll shares between the processes stays below 90 MiB.
//
// usage: communicators (single | multiple) COUNT [short]

#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;
using programs::value_of;

using Vector = std::vector<std::uint64_t>;

constexpr std::size_t kLongCount = 20'000;
constexpr std::uint64_t kLimitBytes = 90u << 20;

/// The same processes, in another order, or some of them.
MPI_Comm make_communicator(int number) {
  MPI_Comm made = MPI_COMM_NULL;
  const int rank = rank_of(MPI_COMM_WORLD);
  switch (number % 8) {
    case 1:
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
      break;
    case 2:
      MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
      break;
    case 3:
      MPI_Comm_split(MPI_COMM_WORLD, rank * 2 / size_of(MPI_COMM_WORLD), rank, &made);
      break;
    default:
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
  }
  return made;
}

std::uint64_t sum_of(MPI_Comm communicator, std::uint64_t index, std::uint64_t round) {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < size_of(communicator); ++rank) sum += value_of(rank, index, round);
  return sum;
}

Vector contribution(MPI_Comm communicator, std::size_t count, std::uint64_t round) {
  Vector values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank_of(communicator), i, round);
  return values;
}

bool is_sum(const Vector& values, MPI_Comm communicator, std::uint64_t round) {
  for (std::size_t i = 0; i < values.size(); i += 1 + values.size() / 50) {
    if (values[i] != sum_of(communicator, i, round)) return false;
  }
  return true;
}

void check_allreduce(MPI_Comm communicator, std::size_t count, std::uint64_t round) {
  Vector values = contribution(communicator, count, round);
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), MPI_UINT64_T, MPI_SUM,
                communicator);
  REQUIRE_HERE(is_sum(values, communicator, round));
}

/// Calls that some processes leave before others enter them, on one communicator after the other.
void check_reduce_and_broadcast(MPI_Comm communicator, std::size_t count, std::uint64_t round) {
  const int root = static_cast<int>(round) % size_of(communicator);
  const bool is_root = rank_of(communicator) == root;
  for (int repetition = 0; repetition < 3; ++repetition) {
    const Vector own = contribution(communicator, count, round + 1);
    Vector sums(count);
    MPI_Reduce(own.data(), sums.data(), static_cast<int>(count), MPI_UINT64_T, MPI_SUM, root,
               communicator);
    REQUIRE_HERE(!is_root || is_sum(sums, communicator, round + 1));
    Vector values(count, round);
    if (is_root) values = own;
    MPI_Bcast(values.data(), static_cast<int>(count), MPI_UINT64_T, root, communicator);
    REQUIRE_HERE(values.back() == value_of(root, count - 1, round + 1));
  }
}

/// Started in an order of its own on every process.
void check_nonblocking(const std::vector<MPI_Comm>& communicators, std::size_t count) {
  const std::size_t all = communicators.size();
  std::vector<Vector> values;
  for (std::size_t c = 0; c < all; ++c) values.push_back(contribution(communicators[c], count, c));
  std::vector<MPI_Request> requests(all, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t c = (i + 3 * static_cast<std::size_t>(rank_of(MPI_COMM_WORLD))) % all;
    MPI_Iallreduce(MPI_IN_PLACE, values[c].data(), static_cast<int>(count), MPI_UINT64_T, MPI_SUM,
                   communicators[c], &requests[c]);
  }
  // A blocking call on one that is not under way, meanwhile.
  check_allreduce(MPI_COMM_WORLD, count, all);
  MPI_Waitall(static_cast<int>(all), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t c = 0; c < all; ++c) REQUIRE_HERE(is_sum(values[c], communicators[c], c));
}

struct Segment {
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
};

/// The memory that there is for a mapping of a file, whichever process has touched it.
std::uint64_t present_bytes(std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kPageBytes = 4096;
  std::vector<unsigned char> pages((end - begin) / kPageBytes);
  REQUIRE_HERE(mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()) == 0);
  return kPageBytes * static_cast<std::uint64_t>(std::ranges::count_if(
                          pages, [](unsigned char page) { return (page & 1) != 0; }));
}

/// What this process has mapped of hycoll's shared memory.
std::vector<Segment> segments_here() {
  std::map<std::uint64_t, std::uint64_t> sizes;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:hycoll ") == std::string::npos &&
        line.find("/dev/shm/hycoll-") == std::string::npos) {
      continue;
    }
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t inode = 0;
    std::string permissions;
    std::string offset;
    std::string device;
    std::istringstream fields(line);
    char dash = 0;
    fields >> std::hex >> begin >> dash >> end >> std::dec >> permissions >> offset >> device >>
        inode;
    REQUIRE_HERE(static_cast<bool>(fields));
    sizes[inode] += present_bytes(begin, end);
  }
  std::vector<Segment> segments;
  for (const auto& [inode, size_bytes] : sizes) segments.push_back({inode, size_bytes});
  return segments;
}

/// Of all processes together, on rank 0.
std::uint64_t shared_bytes() {
  constexpr std::size_t kMaximum = 1024;
  std::vector<Segment> own = segments_here();
  REQUIRE_HERE(own.size() <= kMaximum);
  own.resize(kMaximum);
  constexpr int kBytes = kMaximum * sizeof(Segment);
  std::vector<Segment> all(kMaximum * static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  MPI_Gather(own.data(), kBytes, MPI_BYTE, all.data(), kBytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  std::map<std::uint64_t, std::uint64_t> sizes;
  for (const Segment& segment : all) sizes[segment.inode] = segment.size_bytes;
  std::uint64_t sum = 0;
  for (const auto& [inode, size_bytes] : sizes) sum += size_bytes;
  return sum;
}

/// The resident memory of the process that has most, in bytes; on rank 0.
std::uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kib = 0;
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") status >> kib;
  }
  std::uint64_t most = 0;
  MPI_Reduce(&kib, &most, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  return 1024 * most;
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE_HERE(argc == 3 || argc == 4);
  const bool is_short = argc == 4;
  const bool is_multiple = std::strcmp(argv[1], "multiple") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, is_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  const int count = std::atoi(argv[2]);
  const std::uint64_t resident_before = resident_bytes();
  std::vector<MPI_Comm> communicators;
  for (int number = 0; number < count; ++number) {
    communicators.push_back(make_communicator(number));
    const bool is_long = number % 16 < 8 && !is_short;
    check_allreduce(communicators.back(), is_long ? kLongCount : 1,
                    static_cast<std::uint64_t>(number));
  }
  for (std::size_t c = 0; c < 10; ++c) {
    check_reduce_and_broadcast(communicators[c], c % 3 == 0 && !is_short ? 2000 : 3, c);
    check_allreduce(communicators[c / 2], c % 5 == 0 && !is_short ? kLongCount : 2, c);
  }
  check_nonblocking({communicators.begin(), communicators.begin() + 10}, is_short ? 5 : 500);
  const std::uint64_t bytes = shared_bytes();
  const std::uint64_t resident = resident_bytes() - resident_before;
  if (rank_of(MPI_COMM_WORLD) == 0) {
    constexpr double kMib = 1 << 20;
    std::printf("hycoll's segments: %.1f MiB; %.1f MiB more in a process\n",
                static_cast<double>(bytes) / kMib, static_cast<double>(resident) / kMib);
    REQUIRE_HERE(bytes < kLimitBytes);
  }
  // Those that are left use what they share with those that are gone, and new ones join them.
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    if (c % 3 != 0) MPI_Comm_free(&communicators[c]);
  }
  MPI_Comm later = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &later);
  for (std::size_t c = 0; c < 10; c += 3) {
    check_allreduce(later, kLongCount, c);
    check_reduce_and_broadcast(communicators[c], 700, c);
  }
  MPI_Comm_free(&later);
  for (MPI_Comm& communicator : communicators) {
    if (communicator != MPI_COMM_NULL) MPI_Comm_free(&communicator);
  }
  MPI_Finalize();
  return 0;
}
