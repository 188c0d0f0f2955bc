#include "threading/latency/latency_file.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/temporary_directory.h"

namespace hycoll {
namespace latency_file_test {

namespace fs = std::filesystem;

constexpr std::uint64_t kMachine = 0x1234abcd;
const MeasuredLatencies kSome = {std::nullopt, 25.5, std::nullopt, 110.0, 201.3};

TEST_CASE("what is written is read") {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "deep" / "down" / "latencies";
  CHECK(read_latencies(file) == MeasuredLatencies{});
  CHECK(write_latencies(file, kSome));
  CHECK(read_latencies(file) == kSome);
  CHECK(write_latencies(file, {}));
  CHECK(read_latencies(file) == MeasuredLatencies{});
  CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("what hycoll has not written counts as nothing") {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "latencies";
  const std::string title = "hycoll core latencies 1\n";
  for (const std::string& text :
       {std::string(), std::string("core 10\n"), std::string("hycoll core latencies 2\ncore 10\n"),
        title + "cache\n", title + "cache fast\n", title + "cache 25\ncore -1\n",
        title + "cache 1e9\n", title + "cache nan\n"}) {
    CAPTURE(text);
    std::ofstream(file) << text;
    CHECK(read_latencies(file) == MeasuredLatencies{});
  }
  std::ofstream(file) << title << "cache 25\nelsewhere 70\n";
  CHECK(read_latencies(file)[index_of(Proximity::cache)] == 25.0);
}

TEST_CASE("where nothing can be written nothing is left") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "occupied") << "no directory";
  CHECK_FALSE(write_latencies(directory.path() / "occupied" / "latencies", kSome));
  fs::create_directories(directory.path() / "latencies" / "in the way");
  CHECK_FALSE(write_latencies(directory.path() / "latencies", kSome));
  CHECK(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()) == 2);
  CHECK_FALSE(write_latencies({}, kSome));
}

TEST_CASE("the file lies in the user's cache directory, one for each kind of machine") {
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  setenv("HOME", "/home/somebody", 1);
  CHECK(latency_file(kMachine) == "/somewhere/hycoll/core-latencies-000000001234abcd");
  CHECK(latency_file(kMachine) != latency_file(kMachine + 1));
  setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(latency_file(kMachine).parent_path() == "/home/somebody/.cache/hycoll");
  unsetenv("XDG_CACHE_HOME");
  CHECK(latency_file(kMachine).parent_path() == "/home/somebody/.cache/hycoll");
  unsetenv("HOME");
  CHECK(latency_file(kMachine).empty());
}

}  // namespace latency_file_test
}  // namespace hycoll
