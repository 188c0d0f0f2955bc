// The public interface of the shared heap, and neighbours that map each other's arenas: processes
// made by fork and exec of this program.
#include "hycoll/heap.h"

#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "heap/mapping_cache.h"
#include "heap/process_heap.h"

using hycoll::ArenaDescription;
using hycoll::MappingCache;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr const char* kOwnerRole = "HYCOLL_HEAP_TEST_OWNER";

unsigned char byte_of(unsigned seed, std::size_t index) {
  return static_cast<unsigned char>((seed * 2654435761u + index * 40503u) >> 8);
}

void fill(std::byte* bytes, std::size_t size_bytes, unsigned seed) {
  for (std::size_t i = 0; i < size_bytes; ++i) bytes[i] = std::byte{byte_of(seed, i)};
}

bool holds(const std::byte* bytes, std::size_t size_bytes, unsigned seed) {
  for (std::size_t i = 0; i < size_bytes; ++i) {
    if (bytes[i] != std::byte{byte_of(seed, i)}) return false;
  }
  return true;
}

// What an owner says about its block, and what it is told to do.
struct Offer {
  ArenaDescription arena;
  hycoll::HeapAddress place;
  std::uint64_t address;
};

/// A process with an arena and one block of `kMiB` bytes, filled with seed 1; it obeys commands.
class Owner {
 public:
  Owner() {
    std::array<int, 2> commands{};
    std::array<int, 2> answers{};
    REQUIRE(pipe(commands.data()) == 0);
    REQUIRE(pipe(answers.data()) == 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(commands[0], STDIN_FILENO);
      dup2(answers[1], 9);
      for (const int end : {commands[0], commands[1], answers[0], answers[1]}) close(end);
      setenv(kOwnerRole, "1", 1);
      execl("/proc/self/exe", "heap_test", static_cast<char*>(nullptr));
      _exit(126);
    }
    close(commands[0]);
    close(answers[1]);
    commands_ = commands[1];
    answers_ = answers[0];
    REQUIRE(read(answers_, &offer_, sizeof offer_) == sizeof offer_);
  }
  ~Owner() {
    close(commands_);
    close(answers_);
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }

  const Offer& offer() const { return offer_; }
  char command(char what) {
    REQUIRE(write(commands_, &what, 1) == 1);
    char answer = 0;
    REQUIRE(read(answers_, &answer, 1) == 1);
    return answer;
  }
  void end(int signal) {
    kill(process_, signal);
    int status = 0;
    REQUIRE(waitpid(process_, &status, 0) == process_);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  int commands_ = -1;
  int answers_ = -1;
  Offer offer_{};
};

// The owner's side, in place of the tests; answers 'y' or 'n'.
void run_owner() {
  auto* block = static_cast<std::byte*>(hycoll::allocate(kMiB));
  fill(block, kMiB, 1);
  const Offer offer{hycoll::process_heap().describe(), hycoll::announce(block).value(),
                    reinterpret_cast<std::uint64_t>(block)};
  if (write(9, &offer, sizeof offer) != sizeof offer) _exit(1);
  char what = 0;
  while (read(STDIN_FILENO, &what, 1) == 1) {
    bool good = true;
    switch (what) {
      case '2':  // Has the neighbour written seed 2?
        good = holds(block, kMiB, 2);
        break;
      case 'f':  // Free everything, and give the pages back.
        hycoll::deallocate(block);
        for (int i = 0; i < 2; ++i) {
          auto* large = static_cast<std::byte*>(hycoll::allocate(100 * kMiB));
          std::memset(large, 1, kMiB);
          hycoll::deallocate(large);
        }
        break;
      case 'a':  // A new block, in the same place.
        block = static_cast<std::byte*>(hycoll::allocate(kMiB));
        good = reinterpret_cast<std::uint64_t>(block) == offer.address;
        fill(block, kMiB, 3);
        break;
      default:
        good = false;
    }
    const char answer = good ? 'y' : 'n';
    if (write(9, &answer, 1) != 1) _exit(1);
  }
  _exit(0);
}

const bool is_owner = [] {
  if (std::getenv(kOwnerRole) != nullptr) run_owner();
  return false;
}();

int files_in_shared_memory_directory() {
  int count = 0;
  DIR* directory = opendir("/dev/shm");
  if (directory == nullptr) return 0;
  while (const dirent* entry = readdir(directory)) {
    count += std::string(entry->d_name).find("hycoll") != std::string::npos;
  }
  closedir(directory);
  return count;
}

int status_of_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("the functions in C behave as the C library's") {
  const std::size_t before = hycoll::heap_usage().block_bytes;
  for (const std::size_t size : {0, 1, 63, 64, 65, 32767, 32768, 100'000, 5'000'000}) {
    CAPTURE(size);
    auto* block = static_cast<std::byte*>(hycoll_malloc(size));
    REQUIRE(block != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    fill(block, size, 5);
    for (const std::size_t next : {2 * size + 1, size / 2 + 1, 3 * size + 100'000}) {
      block = static_cast<std::byte*>(hycoll_realloc(block, next));
      REQUIRE(block != nullptr);
      REQUIRE(holds(block, std::min(size / 2, next), 5));
    }
    hycoll_free(block);
    auto* zeroed = static_cast<unsigned char*>(hycoll_calloc(size, 3));
    REQUIRE(zeroed != nullptr);
    CHECK(std::all_of(zeroed, zeroed + 3 * size, [](unsigned char byte) { return byte == 0; }));
    hycoll_free(zeroed);
  }
  for (std::size_t alignment = 1; alignment <= kMiB; alignment *= 2) {
    void* block = hycoll_aligned_alloc(alignment, 100);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % std::max<std::size_t>(alignment, 64) == 0);
    hycoll_free(block);
  }
  CHECK(hycoll_aligned_alloc(48, 100) == nullptr);
  CHECK(errno == EINVAL);
  errno = 0;
  CHECK(hycoll_calloc(SIZE_MAX / 2, 3) == nullptr);
  CHECK(errno == ENOMEM);
  hycoll_free(nullptr);
  void* fresh = hycoll_realloc(nullptr, 10);
  CHECK(fresh != nullptr);
  hycoll_free(fresh);
  CHECK(hycoll::heap_usage().block_bytes == before);
}

TEST_CASE("containers take the allocator") {
  const std::size_t before = hycoll::heap_usage().block_count;
  {
    std::vector<double, hycoll::Allocator<double>> values;
    for (int i = 0; i < 100'000; ++i) values.push_back(i);
    CHECK(values[99'999] == 99'999);
    CHECK(hycoll::announce(values.data()));
    CHECK(hycoll::announce(&values.back())->offset - hycoll::announce(values.data())->offset ==
          99'999 * sizeof(double));
    CHECK(hycoll::heap_usage().block_count == before + 1);
    auto copy = values;
    CHECK(copy == values);
    using Other = hycoll::Allocator<char>;
    CHECK(Other(values.get_allocator()) == values.get_allocator());
    CHECK_THROWS_AS(hycoll::Allocator<double>().allocate(SIZE_MAX / 4), std::bad_alloc);
  }
  CHECK(hycoll::heap_usage().block_count == before);
}

TEST_CASE("only addresses of the heap are announced") {
  int local = 0;
  static int global = 0;
  const std::vector<int> ordinary(100'000);
  CHECK_FALSE(hycoll::announce(&local));
  CHECK_FALSE(hycoll::announce(&global));
  CHECK_FALSE(hycoll::announce(ordinary.data()));
  CHECK_FALSE(hycoll::announce(nullptr));
  CHECK_FALSE(hycoll::announce(reinterpret_cast<void*>(UINTPTR_MAX)));
}

TEST_CASE("a neighbour's block is read and written in place") {
  Owner owner;
  const std::vector<ArenaDescription> arenas{hycoll::process_heap().describe(), owner.offer().arena,
                                             ArenaDescription{}};
  MappingCache cache(arenas);
  CHECK(cache.mapped_bytes() == 0);
  std::byte* block = cache.resolve(1, owner.offer().place.offset, kMiB);
  REQUIRE(block != nullptr);
  CHECK(holds(block, kMiB, 1));
  CHECK(cache.resolve_address(1, owner.offer().address, kMiB) == block);
  CHECK(cache.resolve(1, owner.offer().place.offset + 5, 1) == block + 5);
  CHECK(cache.mapped_bytes() == owner.offer().arena.capacity_bytes);
  fill(block, kMiB, 2);
  CHECK(owner.command('2') == 'y');

  SUBCASE("after the block is freed, and its place has a new one") {
    CHECK(owner.command('f') == 'y');
    CHECK(std::all_of(block, block + kMiB, [](std::byte byte) { return byte == std::byte{0}; }));
    CHECK(owner.command('a') == 'y');
    CHECK(cache.resolve(1, owner.offer().place.offset, kMiB) == block);
    CHECK(holds(block, kMiB, 3));
  }
  SUBCASE("after the owner was killed, what is mapped stays, and nothing is left elsewhere") {
    const int before = files_in_shared_memory_directory();
    owner.end(SIGKILL);
    CHECK(holds(block, kMiB, 2));
    CHECK(files_in_shared_memory_directory() == before);
    // Mappings are shared while somebody has them; without one it is too late.
    MappingCache sharing(arenas);
    CHECK(sharing.resolve(1, owner.offer().place.offset, kMiB) == block);
    Owner unmapped;
    const ArenaDescription arena = unmapped.offer().arena;
    unmapped.end(SIGKILL);
    MappingCache late(std::span(&arena, 1));
    CHECK(late.resolve(0, unmapped.offer().place.offset, kMiB) == nullptr);
  }
  SUBCASE("what lies outside, or belongs to nobody, is refused") {
    const std::uint64_t capacity = owner.offer().arena.capacity_bytes;
    CHECK(cache.resolve(1, capacity, 1) == nullptr);
    CHECK(cache.resolve(1, capacity - 1, 2) == nullptr);
    CHECK(cache.resolve(1, UINT64_MAX, 2) == nullptr);
    CHECK(cache.resolve(1, 0, SIZE_MAX) == nullptr);
    CHECK(cache.resolve_address(1, owner.offer().arena.begin - 1, 1) == nullptr);
    CHECK(cache.resolve(2, 0, 1) == nullptr);
  }
}

TEST_CASE("a process's own blocks resolve to themselves") {
  auto* block = static_cast<std::byte*>(hycoll::allocate(1000));
  const std::vector<ArenaDescription> arenas{hycoll::process_heap().describe()};
  MappingCache cache(arenas);
  CHECK(cache.resolve(0, hycoll::announce(block)->offset, 1000) == block);
  CHECK(cache.mapped_bytes() == 0);
  hycoll::deallocate(block);
}

TEST_CASE("mappings and their use are counted") {
  Owner owner;
  auto* own = static_cast<std::byte*>(hycoll::allocate(1000));
  const std::vector<ArenaDescription> arenas{hycoll::process_heap().describe(),
                                             owner.offer().arena};
  const hycoll::HeapUsage before = hycoll::heap_usage();
  CHECK(before.mapped_arenas == 0);
  CHECK(before.mapped_bytes == 0);
  {
    MappingCache cache(arenas);
    CHECK(hycoll::heap_usage().mappings_made == before.mappings_made);
    for (int access = 0; access < 5; ++access) {
      CHECK(cache.resolve(1, 0, 1) != nullptr);
      CHECK(cache.resolve(0, hycoll::announce(own)->offset, 1) == own);  // Needs no mapping.
      CHECK(hycoll::heap_usage().mapping_hits - before.mapping_hits ==
            static_cast<std::size_t>(access));
    }
    // The second cache shares the mapping, but has not used it before.
    MappingCache sharing(arenas);
    CHECK(sharing.resolve(1, 0, 1) != nullptr);
    hycoll_heap_usage usage;
    hycoll_get_heap_usage(&usage);
    CHECK(usage.mappings_made == before.mappings_made + 1);
    CHECK(usage.mapping_hits == before.mapping_hits + 4);
    CHECK(usage.mapped_arenas == 1);
    CHECK(usage.mapped_bytes == owner.offer().arena.capacity_bytes);
  }
  CHECK(hycoll::heap_usage().mapped_arenas == 0);
  CHECK(hycoll::heap_usage().mapped_bytes == 0);
  CHECK(hycoll::heap_usage().mappings_made == before.mappings_made + 1);
  hycoll::deallocate(own);
}

TEST_CASE("another file under the same number is not taken for an arena") {
  Owner owner;
  const auto refused = [](const ArenaDescription& description) {
    MappingCache cache(std::span(&description, 1));
    return cache.resolve(0, 0, 1) == nullptr;
  };
  ArenaDescription description = owner.offer().arena;
  CHECK_FALSE(refused(description));
  description.id ^= 1;
  CHECK(refused(description));
  description = owner.offer().arena;
  description.capacity_bytes -= 4096;
  CHECK(refused(description));
  description = owner.offer().arena;
  description.file_descriptor = 0;  // A pipe.
  CHECK(refused(description));
  description.process_id = getpid();
  description.file_descriptor = open("/proc/self/exe", O_RDONLY);
  CHECK(refused(description));
  close(description.file_descriptor);
}

TEST_CASE("threads resolve a neighbour at once") {
  Owner owner;
  const ArenaDescription arena = owner.offer().arena;
  MappingCache cache(std::span(&arena, 1));
  std::vector<std::byte*> seen(4);
  std::vector<std::thread> threads;
  for (std::byte*& address : seen) {
    threads.emplace_back([&] { address = cache.resolve(0, owner.offer().place.offset, kMiB); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen[0] != nullptr);
  for (std::byte* address : seen) CHECK(address == seen[0]);
}

TEST_CASE("fork gives the child its own copy") {
  auto* block = static_cast<std::byte*>(hycoll::allocate(kMiB));
  fill(block, kMiB, 1);
  const int status = status_of_child([&] {
    bool good = holds(block, kMiB, 1) && !hycoll::announce(block);
    std::memset(block, 0, kMiB);
    good = good && hycoll::process_heap().describe().id == 0;
    auto* fresh = static_cast<std::byte*>(hycoll_malloc(kMiB));
    fill(fresh, kMiB, 2);
    block = static_cast<std::byte*>(hycoll_realloc(block, 2 * kMiB));
    good = good && holds(fresh, kMiB, 2) && !hycoll::announce(fresh);
    hycoll_free(fresh);
    hycoll_free(block);
    return good;
  });
  CHECK(status == 0);
  CHECK(holds(block, kMiB, 1));
  CHECK(hycoll::announce(block));
  hycoll::deallocate(block);
}

TEST_CASE("without shared memory, and when the heap is full, memory is private") {
  const auto with = [](const char* limit, rlim_t file_size) {
    return status_of_child([&] {
      std::array<int, 2> lines{};
      if (pipe(lines.data()) != 0) return false;
      dup2(lines[1], STDERR_FILENO);
      const rlimit bound{file_size, file_size};
      setrlimit(RLIMIT_FSIZE, &bound);
      setenv("HYCOLL_SHARED_HEAP_LIMIT", limit, 1);
      // A heap of its own: this process's may exist already.
      hycoll::ProcessHeap heap;
      bool good = heap.allocate(2 * kMiB, 64, hycoll::Arena::Content::any) == nullptr;
      good = good && heap.allocate(2 * kMiB, 64, hycoll::Arena::Content::any) == nullptr;
      good = good && heap.private_fallbacks() == 2;
      std::array<char, 1000> text{};
      const ssize_t length = read(lines[0], text.data(), text.size() - 1);
      return good && length > 0 && std::count(text.begin(), text.end(), '\n') == 1;
    });
  };
  CHECK(with("1M", RLIM_INFINITY) == 0);
  CHECK(with("0", RLIM_INFINITY) == 0);
  CHECK(with("16M", 4096) == 0);
}

TEST_CASE("sizes in bytes") {
  using hycoll::parse_bytes;
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("65536") == 65536);
  CHECK(parse_bytes("64K") == 65536);
  CHECK(parse_bytes("2M") == 2 * kMiB);
  CHECK(parse_bytes("3G") == 3 * 1024 * kMiB);
  CHECK(parse_bytes("1T") == 1024 * 1024 * kMiB);
  for (const char* wrong :
       {"", "K", "-1", " 1", "1KB", "1.5M", "1k", "99999999999999999999", "99999999999T", "0x10"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_bytes(wrong));
  }
}
