// An ordinary program, without a word of hycoll, for heap_preload_test.sh: what the C and C++
// libraries promise about memory. It is run with and without libhycoll_heap.so; "expect shared" as
// argument makes it fail if large blocks are not where neighbours can see them.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void check(bool condition, const char* what, int line) {
  if (condition) return;
  std::fprintf(stderr, "heap_preload_program.cc:%d: %s is false\n", line, what);
  ++failures;
}
#define CHECK(condition) check((condition), #condition, __LINE__)

// The optimiser knows malloc and free, and would leave pairs of them out.
void* volatile hidden;
template <typename T>
T* opaque(T* pointer) {
  hidden = pointer;
  return static_cast<T*>(hidden);
}

/// Whether the address lies in a mapping whose file is an arena.
bool is_shared(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && begin <= wanted &&
        wanted < end) {
      return line.find("hycoll-heap") != std::string::npos;
    }
  }
  return false;
}

bool is_filled(const unsigned char* bytes, std::size_t size_bytes, unsigned char value) {
  for (std::size_t i = 0; i < size_bytes; ++i) {
    if (bytes[i] != value) return false;
  }
  return true;
}

void check_sizes() {
  const std::size_t sizes[] = {0, 1, 1000, 65535, 65536, 65537, 200'000, 3'000'000};
  for (const std::size_t from : sizes) {
    for (const std::size_t to : sizes) {
      auto* block = opaque(static_cast<unsigned char*>(std::malloc(from)));
      CHECK(block != nullptr);
      CHECK(malloc_usable_size(block) >= from);
      std::memset(block, 0xa5, from);
      block = opaque(static_cast<unsigned char*>(std::realloc(block, to)));
      CHECK(to == 0 || block != nullptr);
      if (to != 0) CHECK(is_filled(block, std::min(from, to), 0xa5));
      if (block != nullptr) std::memset(block, 0xff, malloc_usable_size(block));
      std::free(block);
      auto* zero = opaque(static_cast<unsigned char*>(std::calloc(to, 1)));
      CHECK(is_filled(zero, to, 0));
      std::free(zero);
    }
  }
}

void check_alignment() {
  for (std::size_t alignment = 8; alignment <= 1 << 21; alignment *= 2) {
    for (const std::size_t size : {std::size_t{100}, std::size_t{500'000}}) {
      const auto is_aligned = [&](void* block) {
        const bool aligned = reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
        std::memset(block, 1, size);
        std::free(block);
        return aligned;
      };
      void* block = nullptr;
      CHECK(posix_memalign(&block, alignment, size) == 0);
      CHECK(is_aligned(block));
      CHECK(is_aligned(aligned_alloc(alignment, size)));
      CHECK(is_aligned(memalign(alignment, size)));
      auto* array = ::operator new(size, std::align_val_t(alignment));
      CHECK(reinterpret_cast<std::uintptr_t>(array) % alignment == 0);
      ::operator delete(array, std::align_val_t(alignment));
    }
  }
  void* block = nullptr;
  CHECK(posix_memalign(&block, 24, 500'000) == EINVAL);
  CHECK(posix_memalign(&block, 4, 500'000) == EINVAL);
  for (void* page : {valloc(500'000), pvalloc(500'000)}) {
    CHECK(reinterpret_cast<std::uintptr_t>(page) % 4096 == 0);
    std::free(page);
  }
}

void check_refusals() {
  // Not a constant, for the compiler refuses such requests too.
  volatile std::size_t largest = SIZE_MAX;
  const std::size_t huge = largest;
  errno = 0;
  CHECK(std::malloc(huge) == nullptr);
  CHECK(errno == ENOMEM);
  errno = 0;
  CHECK(std::calloc(huge / 4, 16) == nullptr);
  CHECK(errno == ENOMEM);
  void* block = std::malloc(100'000);
  const auto kept = reinterpret_cast<std::uintptr_t>(block);
  void* const moved = std::realloc(block, huge);
  CHECK(moved == nullptr);
  // A realloc that fails leaves the block.
  std::free(moved == nullptr ? reinterpret_cast<void*>(kept) : moved);
}

void churn(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> strings;
  for (int i = 0; i < 400; ++i) {
    const std::size_t size = random() % 300'000;
    strings.emplace_back(size, static_cast<char>('a' + i % 26));
    if (random() % 2 == 0 && !strings.empty()) {
      const std::size_t index = random() % strings.size();
      std::swap(strings[index], strings.back());
      const std::string& last = strings.back();
      CHECK(last.find_first_not_of(last.empty() ? 'a' : last[0]) == std::string::npos);
      strings.pop_back();
    }
  }
}

void check_threads_and_fork() {
  std::vector<unsigned char> shared(1'000'000, 1);
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(churn, seed);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const bool good = is_filled(shared.data(), shared.size(), 1);
      std::memset(shared.data(), 2, shared.size());
      std::vector<unsigned char> more(2'000'000, 3);
      _exit(good && is_filled(more.data(), more.size(), 3) ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(is_filled(shared.data(), shared.size(), 1));
  for (std::thread& thread : threads) thread.join();
}

void check_growth() {
  std::vector<int> values;
  for (int i = 0; i < 1'000'000; ++i) values.push_back(i);
  for (int i = 0; i < 1'000'000; ++i) {
    if (values[static_cast<std::size_t>(i)] != i) CHECK(false);
  }
  std::map<int, std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 50; ++i) {
    blocks[i] = std::make_unique<char[]>(100'000);
    blocks[i][99'999] = static_cast<char>(i);
  }
  for (int i = 0; i < 50; ++i) CHECK(blocks[i][99'999] == static_cast<char>(i));
  std::ostringstream text;
  for (int i = 0; i < 100'000; ++i) text << i;
  CHECK(text.str().size() == 488'890);
}

}  // namespace

int main(int argc, char**) {
  const bool expects_shared = argc > 1;
  auto* large = opaque(new double[100'000]);
  auto* small = opaque(new double[100]);
  CHECK(is_shared(large) == expects_shared);
  CHECK(!is_shared(small));
  check_sizes();
  check_alignment();
  check_refusals();
  check_threads_and_fork();
  check_growth();
  delete[] large;
  delete[] small;
  std::printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
