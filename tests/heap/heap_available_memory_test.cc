#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "heap/available_memory.h"
#include "tests/support/temporary_directory.h"

namespace hycoll {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A directory that stands for the root of a system.
class System {
 public:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  /// What a machine with 64 GiB says, of which 1000 MiB are available.
  void write_memory() const {
    write("proc/self/mountinfo",
          "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
          "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    write(
        "proc/meminfo",
        "MemTotal:       67108864 kB\nMemFree:          204800 kB\nMemAvailable:    1024000 kB\n");
  }

  std::size_t available() const { return AvailableMemory(root()).bytes(); }
  std::size_t total() const { return total_memory_bytes(root()); }

 private:
  std::filesystem::path root() const { return directory_.path(); }

  TemporaryDirectory directory_;
};

TEST_CASE("a system that says nothing limits nothing") {
  const System system;
  CHECK(system.available() == SIZE_MAX);
  CHECK(system.total() == SIZE_MAX);
}

TEST_CASE("the machine's memory is what meminfo says") {
  const System system;
  system.write_memory();
  CHECK(system.available() == 1000 * kMiB);
  CHECK(system.total() == std::size_t{64} << 30);
}

TEST_CASE("version 2: the group with the least room counts, and droppable caches are room") {
  const System system;
  system.write_memory();
  system.write("proc/self/cgroup", "0::/jobs/one\n");
  const std::string jobs = "sys/fs/cgroup/jobs";
  system.write(jobs + "/one/memory.max", "max\n");
  system.write(jobs + "/one/memory.current", "1048576\n");
  CHECK(system.available() == 1000 * kMiB);
  system.write(jobs + "/memory.max", std::to_string(512 * kMiB) + "\n");
  system.write(jobs + "/memory.current", std::to_string(300 * kMiB) + "\n");
  CHECK(system.available() == 212 * kMiB);
  system.write(jobs + "/memory.stat",
               "anon 1\nfile 2\ninactive_file " + std::to_string(100 * kMiB) + "\nactive_file 7\n");
  CHECK(system.available() == 312 * kMiB);
  system.write(jobs + "/one/memory.max", std::to_string(2 * kMiB) + "\n");
  CHECK(system.available() == kMiB);
}

TEST_CASE("a group beyond its limit has no room") {
  const System system;
  system.write_memory();
  system.write("proc/self/cgroup", "0::/jobs\n");
  system.write("sys/fs/cgroup/jobs/memory.max", "1048576\n");
  system.write("sys/fs/cgroup/jobs/memory.current", "2097152\n");
  CHECK(system.available() == 0);
}

TEST_CASE("a container sees its own group as the top") {
  const System system;
  system.write_memory();
  system.write("proc/self/cgroup", "0::/a/path/of/the/host\n");
  system.write("sys/fs/cgroup/memory.max", std::to_string(64 * kMiB) + "\n");
  system.write("sys/fs/cgroup/memory.current", std::to_string(4 * kMiB) + "\n");
  CHECK(system.available() == 60 * kMiB);
}

TEST_CASE("version 1 has a hierarchy of its own for memory") {
  const System system;
  system.write_memory();
  system.write("proc/self/cgroup", "5:cpu,cpuacct:/elsewhere\n4:memory:/batch\n0::/init\n");
  const std::string batch = "sys/fs/cgroup/memory/batch";
  system.write(batch + "/memory.limit_in_bytes", std::to_string(32 * kMiB) + "\n");
  system.write(batch + "/memory.usage_in_bytes", std::to_string(30 * kMiB) + "\n");
  system.write(batch + "/memory.stat",
               "inactive_file 12345\ntotal_inactive_file " + std::to_string(5 * kMiB) + "\n");
  CHECK(system.available() == 7 * kMiB);
  // What cannot be limited says so with a number beyond any memory.
  system.write(batch + "/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(system.available() == 1000 * kMiB);
}

}  // namespace
}  // namespace hycoll
