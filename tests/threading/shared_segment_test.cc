// Segments that several mappings share: reached from other processes, refused with the reason, and
// gone afterwards.

#include "threading/memory/shared_segment.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>

#include "core/base/errors.h"
#include "core/base/pages.h"
#include "tests/support/segment_names.h"

namespace hycoll {
namespace shared_segment_test {

constexpr std::size_t kSizeBytes = 100'000;
constexpr SharedSegment::Kind kKinds[] = {SharedSegment::Kind::anonymous,
                                          SharedSegment::Kind::named};

bool is_named_in_shm(const SharedSegment::Handle& handle) {
  return handle.name[0] != 0 &&
         std::filesystem::exists("/dev/shm" + std::string(handle.name.data()));
}

struct EndedChild {
  pid_t process;
  int status;  // its exit status; -signal if one ended it
};

/// A child that ran the body.
template <class Body>
EndedChild in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return {child, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)};
}

TEST_CASE("what one mapping writes the others read, in this process and another") {
  for (const SharedSegment::Kind kind : kKinds) {
    SharedSegment created(kind, kSizeBytes);
    created.reserve(0, kSizeBytes);
    SharedSegment attached(created.handle());
    REQUIRE(created.bytes().size() == kSizeBytes);
    REQUIRE(attached.bytes().size() == kSizeBytes);
    CHECK(created.bytes().data() != attached.bytes().data());
    CHECK(reinterpret_cast<std::uintptr_t>(attached.bytes().data()) % page_bytes() == 0);
    CHECK(std::ranges::all_of(attached.bytes(), [](std::byte b) { return b == std::byte{0}; }));
    attached.bytes().back() = std::byte{17};
    CHECK(created.bytes().back() == std::byte{17});

    const EndedChild child = in_child([&] {
      SharedSegment in_other_process(created.handle());
      in_other_process.reserve(0, kSizeBytes);
      in_other_process.bytes()[1] = std::byte{5};
      return static_cast<int>(in_other_process.bytes().back());
    });
    CHECK(child.status == 17);
    CHECK(created.bytes()[1] == std::byte{5});
  }
}

TEST_CASE("memory comes and goes by way of the mapping, after the segment has been closed") {
  if (!SharedSegment::can_reserve_mapped()) return;
  for (const SharedSegment::Kind kind : kKinds) {
    const std::size_t page = page_bytes();
    SharedSegment created(kind, 24 * page);
    SharedSegment attached(created.handle());
    created.close();
    attached.close();
    // From within a page to within another one.
    const std::size_t begin = page + page / 4;
    const std::size_t size = 12 * page;
    created.reserve_mapped(begin, size);
    std::ranges::fill(created.bytes().subspan(begin, size), std::byte{7});
    CHECK(attached.bytes()[begin + size - 1] == std::byte{7});
    // Pages that others share stay.
    attached.release_mapped(begin, size);
    CHECK(created.bytes()[2 * page - 1] == std::byte{7});
    CHECK(created.bytes()[2 * page] == std::byte{0});
    CHECK(created.bytes()[13 * page - 1] == std::byte{0});
    CHECK(created.bytes()[13 * page] == std::byte{7});
    created.reserve_mapped(begin, size);
    CHECK_THROWS_AS(created.reserve_mapped(0, std::size_t{1} << 40), Error);
  }
}

/// A mount namespace of the child's own, with little room in /dev/shm.
bool make_shm_small() {
  if (unshare(CLONE_NEWNS) != 0) return false;
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("hycoll", "/dev/shm", "tmpfs", 0, "size=256k") == 0;
}

TEST_CASE("what does not fit into /dev/shm is refused, and touches nothing") {
  if (!SharedSegment::can_reserve_mapped()) return;
  constexpr int kNotAllowed = 99;
  const EndedChild child = in_child([&] {
    if (!make_shm_small()) return kNotAllowed;
    SharedSegment created(SharedSegment::Kind::named, std::size_t{1} << 20);
    created.close();
    created.reserve_mapped(0, 100'000);
    try {
      created.reserve_mapped(100'000, 900'000);
      return 1;
    } catch (const Error& error) {
      if (std::string(error.what()).find("No space left") == std::string::npos) return 2;
    }
    created.release_mapped(100'000, 900'000);
    created.reserve_mapped(100'000, 50'000);
    created.bytes()[149'999] = std::byte{1};
    return 0;
  });
  CHECK((child.status == 0 || child.status == kNotAllowed));
  if (child.status == kNotAllowed) MESSAGE("not tested: no right to make a mount namespace");
}

TEST_CASE("after it has been closed nothing is left but the mappings") {
  for (const SharedSegment::Kind kind : kKinds) {
    SharedSegment created(kind, kSizeBytes);
    SharedSegment attached(created.handle());
    CHECK(is_named_in_shm(created.handle()) == (kind == SharedSegment::Kind::named));
    attached.close();
    CHECK(is_named_in_shm(created.handle()) == (kind == SharedSegment::Kind::named));
    created.close();
    CHECK_FALSE(is_named_in_shm(created.handle()));
    CHECK_THROWS_AS(SharedSegment(created.handle()), Error);
    attached.bytes()[3] = std::byte{9};
    CHECK(created.bytes()[3] == std::byte{9});
  }
}

TEST_CASE(
    "a process that is killed leaves nothing behind: an anonymous segment at any time, a "
    "named one once it has been closed") {
  for (const SharedSegment::Kind kind : kKinds) {
    const EndedChild child = in_child([&] {
      SharedSegment created(kind, kSizeBytes);
      if (kind == SharedSegment::Kind::named) created.close();
      raise(SIGKILL);
      return 0;
    });
    CHECK(child.status == -SIGKILL);
    CHECK(segment_names_of(child.process) == 0);
  }
}

TEST_CASE("more memory than there is fails when it is reserved, not when it is touched") {
  for (const SharedSegment::Kind kind : kKinds) {
    // A limit on files stands for a full /dev/shm.
    const EndedChild child = in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{.rlim_cur = 64 * 1024, .rlim_max = 64 * 1024};
      setrlimit(RLIMIT_FSIZE, &limit);
      try {
        SharedSegment created(kind, kSizeBytes);
        created.reserve(0, kSizeBytes);
      } catch (const Error& error) {
        const std::string text = error.what();
        return error.kind() == ErrorKind::environment &&
                       text.find("shared memory of 97 KiB") != std::string::npos
                   ? 42
                   : 1;
      }
      return 2;
    });
    CHECK(child.status == 42);
  }
}

TEST_CASE("a handle that leads to something else is refused") {
  for (const SharedSegment::Kind kind : kKinds) {
    SharedSegment created(kind, kSizeBytes);
    SharedSegment::Handle handle = created.handle();
    handle.token[1] ^= 1;
    CHECK_THROWS_WITH_AS(SharedSegment{handle}, doctest::Contains("another container"), Error);
    handle = created.handle();
    handle.size_bytes += 4096;
    CHECK_THROWS_AS(SharedSegment{handle}, Error);
  }
}

}  // namespace shared_segment_test
}  // namespace hycoll
