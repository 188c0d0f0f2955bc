#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "numa/topology/cpu_quota.h"
#include "tests/support/temporary_directory.h"

namespace hycoll {
namespace topology_cpu_quota_test {

namespace fs = std::filesystem;

/// A root directory with the files of proc and cgroup.
class FakeRoot {
 public:
  void write(const std::string& path, const std::string& content) {
    fs::create_directories((directory_.path() / path).parent_path());
    std::ofstream(directory_.path() / path) << content;
  }
  std::optional<double> quota() const { return cpu_quota_cores(directory_.path()); }

 private:
  TemporaryDirectory directory_;
};

constexpr const char* kMountV2 =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kMountV1 =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

TEST_CASE("no files, no quota") {
  FakeRoot root;
  CHECK(root.quota() == std::nullopt);
  root.write("proc/self/mountinfo", kMountV2);
  CHECK(root.quota() == std::nullopt);
  root.write("proc/self/cgroup", "0::/\n");
  CHECK(root.quota() == std::nullopt);
}

TEST_CASE("version 2: the tightest limit from the own group to the root counts") {
  FakeRoot root;
  root.write("proc/self/mountinfo", kMountV2);
  root.write("proc/self/cgroup", "0::/batch/job/step\n");
  root.write("sys/fs/cgroup/batch/job/step/cpu.max", "max 100000\n");
  CHECK(root.quota() == std::nullopt);
  root.write("sys/fs/cgroup/batch/cpu.max", "800000 100000\n");
  CHECK(root.quota() == 8.0);
  root.write("sys/fs/cgroup/batch/job/cpu.max", "150000 100000\n");
  CHECK(root.quota() == 1.5);
  root.write("sys/fs/cgroup/batch/job/step/cpu.max", "400000 200000\n");
  CHECK(root.quota() == 1.5);
  // A sibling's limit is none of this process's.
  root.write("sys/fs/cgroup/batch/other/cpu.max", "1000 100000\n");
  CHECK(root.quota() == 1.5);
}

TEST_CASE("version 2 inside a container: the mount shows the own group at its top") {
  FakeRoot root;
  root.write("proc/self/mountinfo",
             "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  root.write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  for (const char* group : {"0::/docker/abc\n", "0::/\n", "0::/../elsewhere\n"}) {
    root.write("proc/self/cgroup", group);
    CHECK(root.quota() == 2.5);
  }
  root.write("proc/self/cgroup", "0::/docker/abc/inner\n");
  root.write("sys/fs/cgroup/inner/cpu.max", "50000 100000\n");
  CHECK(root.quota() == 0.5);
}

TEST_CASE("version 1: quota and period of the cpu controller, and no other") {
  FakeRoot root;
  root.write("proc/self/mountinfo", kMountV1);
  root.write("proc/self/cgroup", "5:cpuset:/a\n4:cpu,cpuacct:/job\n1:name=systemd:/b\n0::/\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  CHECK(root.quota() == std::nullopt);
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  CHECK(root.quota() == std::nullopt);
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "350000\n");
  CHECK(root.quota() == 3.5);
  root.write("sys/fs/cgroup/cpuset/job/cpu.cfs_quota_us", "1000\n");
  root.write("sys/fs/cgroup/cpuset/job/cpu.cfs_period_us", "100000\n");
  CHECK(root.quota() == 3.5);
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  CHECK(root.quota() == 3.5);
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  CHECK(root.quota() == 2.0);
}

TEST_CASE("both versions mounted: the tighter one counts") {
  FakeRoot root;
  std::string mounts = kMountV1;
  mounts += "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  root.write("proc/self/mountinfo", mounts);
  root.write("proc/self/cgroup", "4:cpu,cpuacct:/job\n0::/job\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/unified/job/cpu.max", "200000 100000\n");
  CHECK(root.quota() == 2.0);
  root.write("sys/fs/cgroup/unified/job/cpu.max", "700000 100000\n");
  CHECK(root.quota() == 3.0);
}

TEST_CASE("escaped mount points and malformed lines") {
  FakeRoot root;
  root.write("proc/self/mountinfo",
             "nonsense\n1 2 3\n\n- - - -\n"
             "30 23 0:26 / /mnt/control\\040groups rw - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "nonsense\n\n0:\n0::/job\n");
  root.write("mnt/control groups/job/cpu.max", "120000 100000\n");
  CHECK(root.quota() == 1.2);
  for (const std::string content :
       {"", "max", "100000", "abc def", "0 100000", "100000 0", "-5 100000"}) {
    CAPTURE(content);
    root.write("mnt/control groups/job/cpu.max", content);
    CHECK(root.quota() == std::nullopt);
  }
}

TEST_CASE("on this machine a quota is positive, if there is one") {
  const std::optional<double> quota = cpu_quota_cores();
  if (quota) CHECK(*quota > 0);
}

}  // namespace topology_cpu_quota_test
}  // namespace hycoll
