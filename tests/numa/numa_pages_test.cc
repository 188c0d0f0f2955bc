#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "numa/placement/memory.h"
#include "numa/placement/pages.h"

namespace hycoll {
namespace numa_pages_test {

const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// Pages of this process's own that nobody has touched.
class Mapping {
 public:
  explicit Mapping(std::size_t pages) : bytes_(pages * kPage) {
    address_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(address_ != MAP_FAILED);
    // A page that is touched must not bring neighbours along.
    REQUIRE(madvise(address_, bytes_, MADV_NOHUGEPAGE) == 0);
  }
  ~Mapping() { munmap(address_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(address_), bytes_}; }
  std::span<std::byte> pages(std::size_t first, std::size_t count) const {
    return bytes().subspan(first * kPage, count * kPage);
  }
  void write(std::size_t page) const { bytes()[page * kPage + 17] = std::byte{1}; }

 private:
  void* address_ = nullptr;
  std::size_t bytes_;
};

bool this_machine_tells() {
  if (found_numa().library != nullptr) return true;
  MESSAGE("nothing to be told here: ", found_numa().why_not);
  return false;
}

TEST_CASE("pages are counted where they lie, and those that were never written apart") {
  if (!this_machine_tells()) return;
  const Mapping mapping(10000);  // more than are asked about at once
  CHECK(count_pages(mapping.bytes()).absent == 10000);
  std::size_t written = 0;
  for (std::size_t page = 0; page < 10000; page += 7, ++written) mapping.write(page);
  PageCounts counts = count_pages(mapping.bytes());
  CHECK(counts.present() == written);
  CHECK(counts.absent == 10000 - written);
  CHECK(counts.untold == 0);
  CHECK(counts.total() == 10000);
  // What has only been read takes no memory: some kernels (6.18) say where the page of zeros lies.
  volatile std::byte sink = mapping.bytes()[kPage];
  (void)sink;
  const PageCounts read = count_pages(mapping.pages(1, 1));
  CHECK(read.total() == 1);
  CHECK(read.untold == 0);
  // What was given back has none any more.
  REQUIRE(madvise(mapping.pages(0, 8).data(), 8 * kPage, MADV_DONTNEED) == 0);
  counts = count_pages(mapping.bytes());
  CHECK(counts.present() == written - 2);
}

TEST_CASE("a domain is one of this machine's, and the one that hwloc names") {
  if (!this_machine_tells()) return;
  const Topology topology = Topology::this_machine();
  const Mapping mapping(1);
  mapping.write(0);
  const PageCounts counts = count_pages(mapping.bytes());
  REQUIRE(counts.present() == 1);
  const std::optional<int> index = domain_of(topology, mapping.bytes().data());
  if (!index) return;  // it may lie beside the domains of this process's cores
  CHECK(counts.in_domain.begin()->first ==
        topology.numa_domains()[static_cast<std::size_t>(*index)].os_index);
}

TEST_CASE("a range has the pages that it has a byte of") {
  if (!this_machine_tells()) return;
  const Mapping mapping(4);
  mapping.write(1);
  mapping.write(2);
  CHECK(count_pages(mapping.bytes().subspan(10, 0)).total() == 0);
  CHECK(count_pages(mapping.bytes().subspan(2 * kPage - 1, 1)).present() == 1);
  CHECK(count_pages(mapping.bytes().subspan(2 * kPage - 1, 2)).present() == 2);
  const PageCounts all = count_pages(mapping.bytes().subspan(kPage - 1, 2 * kPage + 2));
  CHECK(all.present() == 2);
  CHECK(all.absent == 2);
}

TEST_CASE("pages of this machine settle in each of its domains, with what they hold") {
  if (!this_machine_tells()) return;
  const Topology topology = Topology::this_machine();
  std::vector<int> domains;
  for (const NumaDomain& domain : topology.numa_domains()) domains.push_back(domain.os_index);
  std::vector<std::vector<int>> wishes = {domains};
  for (const int domain : domains) wishes.push_back({domain});
  for (const std::vector<int>& wish : wishes) {
    const Mapping mapping(64);
    for (std::size_t page = 0; page < 32; ++page) {
      std::memset(mapping.pages(page, 1).data(), static_cast<int>(page + 1), kPage);
    }
    CHECK(settle_pages(mapping.bytes(), wish));
    for (std::size_t page = 32; page < 64; ++page) mapping.write(page);
    for (std::size_t page = 0; page < 32; ++page) {
      CHECK(std::ranges::all_of(mapping.pages(page, 1), [&](std::byte byte) {
        return byte == static_cast<std::byte>(page + 1);
      }));
    }
    const PageCounts counts = count_pages(mapping.bytes());
    CHECK(counts.present() == 64);
    for (const auto& [domain, pages] : counts.in_domain) {
      CHECK(std::ranges::find(wish, domain) != wish.end());
      // Those that came later are dealt by the kernel, from a page of its choice on.
      CHECK(pages + 2 >= 64 / wish.size());
    }
  }
}

TEST_CASE("a domain that this machine does not have is refused, and nothing moves") {
  if (!this_machine_tells()) return;
  const Mapping mapping(4);
  mapping.write(0);
  const PageCounts before = count_pages(mapping.bytes());
  for (const int domain : {-1, 1023, 1024, 100000}) {
    CHECK_FALSE(settle_pages(mapping.bytes(), std::vector<int>{domain}));
  }
  CHECK(count_pages(mapping.bytes()) == before);
}

TEST_CASE("without libnuma nothing is told, nothing moves, and why is said") {
  NumaLibrary library;
  const FoundNuma missing = look_for_numa("libnuma-that-is-not-there.so.1", library);
  CHECK(missing.library == nullptr);
  CHECK(missing.why_not.find("libnuma-that-is-not-there.so.1") != std::string::npos);
  const FoundNuma other = look_for_numa("libm.so.6", library);
  CHECK(other.library == nullptr);
  CHECK(other.why_not.find("too old") != std::string::npos);
  const Mapping mapping(3);
  mapping.write(0);
  for (const FoundNuma& numa : {missing, other}) {
    CHECK(count_pages(mapping.bytes(), numa) ==
          PageCounts{.in_domain = {}, .absent = 0, .untold = 3});
    CHECK_FALSE(settle_pages(mapping.bytes(), std::vector<int>{0}, numa));
  }
}

TEST_CASE("memory that processes share is given where it was settled before") {
  if (!this_machine_tells()) return;
  const int file = memfd_create("hycoll-test", MFD_CLOEXEC);
  REQUIRE(file >= 0);
  REQUIRE(ftruncate(file, static_cast<off_t>(8 * kPage)) == 0);
  void* const address = mmap(nullptr, 8 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(address != MAP_FAILED);
  const std::span<std::byte> bytes(static_cast<std::byte*>(address), 8 * kPage);
  const int domain = Topology::this_machine().numa_domains().back().os_index;
  CHECK(settle_pages(bytes, std::vector<int>{domain}));
  REQUIRE(posix_fallocate(file, 0, static_cast<off_t>(8 * kPage)) == 0);
  // Of what only the file has this process has not touched anything.
  CHECK(count_pages(bytes).absent == 8);
  std::ranges::fill(bytes, std::byte{1});
  CHECK(count_pages(bytes) == PageCounts{.in_domain = {{domain, 8}}});
  munmap(address, 8 * kPage);
  close(file);
}

/// A machine of several domains: where its pages lie, and what the kernel was told of those to
/// come.
struct Machine {
  std::map<const void*, int> place;
  std::set<const void*> stuck;  ///< Pages that do not move.
  std::size_t moved = 0;
  std::size_t asked_at_once = 0;
  int policy = -1;
  unsigned long mask = 0;
  std::uintptr_t begin = 0;
  unsigned long size = 0;
  bool refuses = false;
};
Machine* machine = nullptr;  // what the functions below are of

int move_pages_there(int, unsigned long count, void** pages, const int* nodes, int* status, int) {
  if (machine->refuses) return -1;
  machine->asked_at_once = std::max<std::size_t>(machine->asked_at_once, count);
  for (unsigned long i = 0; i < count; ++i) {
    const auto found = machine->place.find(pages[i]);
    if (found == machine->place.end()) {
      status[i] = -ENOENT;
    } else if (nodes != nullptr && machine->stuck.contains(pages[i])) {
      status[i] = -EBUSY;
    } else {
      if (nodes != nullptr) {
        found->second = nodes[i];
        ++machine->moved;
      }
      status[i] = found->second;
    }
  }
  return 0;
}

long bind_there(void* start, unsigned long size, int mode, const unsigned long* mask, unsigned long,
                unsigned) {
  machine->begin = reinterpret_cast<std::uintptr_t>(start);
  machine->size = size;
  machine->policy = mode;
  machine->mask = mask[0];
  return 0;
}

struct WithMachine {
  Machine here;
  NumaLibrary library{.move_pages = move_pages_there, .bind = bind_there};
  FoundNuma numa{.library = &library, .why_not = ""};
  std::byte* const base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);

  WithMachine() { machine = &here; }
  ~WithMachine() { machine = nullptr; }
  void put(std::size_t page, int domain) { here.place[base + page * kPage] = domain; }
  std::span<std::byte> pages(std::size_t count) const { return {base, count * kPage}; }
};

TEST_CASE("on a machine of several domains only pages that lie elsewhere move") {
  WithMachine there;
  for (std::size_t page = 0; page < 9000; ++page) {
    if (page % 3 != 2) there.put(page, page % 3 == 0 ? 5 : 2);
  }
  CHECK(count_pages(there.pages(9000), there.numa) ==
        PageCounts{.in_domain = {{2, 3000}, {5, 3000}}, .absent = 3000});
  CHECK(settle_pages(there.pages(9000), std::vector<int>{5}, there.numa));
  CHECK(there.here.moved == 3000);
  CHECK(there.here.policy == MPOL_PREFERRED);
  CHECK(there.here.mask == 1ul << 5);
  CHECK(there.here.asked_at_once <= 4096);
  CHECK(count_pages(there.pages(9000), there.numa) ==
        PageCounts{.in_domain = {{5, 6000}}, .absent = 3000});
}

TEST_CASE("pages are dealt to several domains, and stay once they are") {
  WithMachine there;
  for (std::size_t page = 0; page < 100; ++page) there.put(page, 1);
  const std::vector<int> domains = {0, 1, 6};
  CHECK(settle_pages(there.pages(100), domains, there.numa));
  CHECK(there.here.policy == MPOL_INTERLEAVE);
  CHECK(there.here.mask == (1ul << 0 | 1ul << 1 | 1ul << 6));
  CHECK(count_pages(there.pages(100), there.numa).in_domain ==
        std::map<int, std::size_t>{{0, 33}, {1, 34}, {6, 33}});
  CHECK(there.here.moved == 66);
  CHECK(settle_pages(there.pages(100), domains, there.numa));
  CHECK(there.here.moved == 66);
}

TEST_CASE("pages that do not move, and systems that refuse, are told") {
  WithMachine there;
  for (std::size_t page = 0; page < 4; ++page) there.put(page, 1);
  there.here.stuck = {there.base + kPage};
  CHECK_FALSE(settle_pages(there.pages(4), std::vector<int>{0}, there.numa));
  CHECK(count_pages(there.pages(4), there.numa).in_domain ==
        std::map<int, std::size_t>{{0, 3}, {1, 1}});
  there.here.refuses = true;
  CHECK(count_pages(there.pages(4), there.numa).untold == 4);
  CHECK_FALSE(settle_pages(there.pages(4), std::vector<int>{0}, there.numa));
}

TEST_CASE("a page between two ranges settles with the one in which it begins") {
  WithMachine there;
  const std::span<std::byte> all = there.pages(8);
  for (std::size_t page = 0; page < 8; ++page) there.put(page, 3);
  const std::size_t middle = 4 * kPage + 100;
  CHECK(settle_pages(all.first(middle), std::vector<int>{0}, there.numa));
  CHECK(settle_pages(all.subspan(middle), std::vector<int>{1}, there.numa));
  CHECK(there.here.begin == reinterpret_cast<std::uintptr_t>(there.base) + 5 * kPage);
  CHECK(there.here.size == 3 * kPage);
  CHECK(count_pages(all, there.numa).in_domain == std::map<int, std::size_t>{{0, 5}, {1, 3}});
  // A range inside one page has none that begins in it.
  CHECK(settle_pages(all.subspan(10, 20), std::vector<int>{2}, there.numa));
  CHECK(count_pages(all, there.numa).in_domain == std::map<int, std::size_t>{{0, 5}, {1, 3}});
}

TEST_CASE("as few pages move as equal shares allow") {
  for (std::size_t domain_count = 1; domain_count <= 4; ++domain_count) {
    std::vector<int> domains;
    for (std::size_t d = 0; d < domain_count; ++d) domains.push_back(static_cast<int>(3 * d));
    for (std::size_t page_count = 0; page_count <= 40; ++page_count) {
      std::vector<int> places;
      for (std::size_t page = 0; page < page_count; ++page) {
        places.push_back(static_cast<int>(page * page % 11) - 1);  // some absent, some elsewhere
      }
      const std::vector<int> moves = page_moves(places, domains);
      REQUIRE(moves.size() == places.size());
      std::map<int, std::size_t> before;
      std::map<int, std::size_t> after;
      std::size_t moved = 0;
      std::size_t present = 0;
      for (std::size_t page = 0; page < page_count; ++page) {
        if (places[page] < 0) {
          CHECK(moves[page] == -1);
          continue;
        }
        ++present;
        ++before[places[page]];
        ++after[moves[page] < 0 ? places[page] : moves[page]];
        if (moves[page] >= 0) {
          ++moved;
          CHECK(moves[page] != places[page]);
        }
      }
      std::size_t may_stay = 0;
      std::vector<std::size_t> held;
      for (const int domain : domains) held.push_back(before[domain]);
      std::ranges::sort(held, std::greater<>());
      for (std::size_t d = 0; d < domain_count; ++d) {
        const std::size_t share = present / domain_count + (d < present % domain_count ? 1 : 0);
        may_stay += std::min(held[d], share);
        CHECK(after[domains[d]] >= present / domain_count);
        CHECK(after[domains[d]] <= present / domain_count + 1);
      }
      CHECK(moved == present - may_stay);
    }
  }
}

}  // namespace numa_pages_test
}  // namespace hycoll
