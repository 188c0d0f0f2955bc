#ifndef HYCOLL_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_
#define HYCOLL_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hycoll {

/// A directory that vanishes with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hycoll-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace hycoll

#endif  // HYCOLL_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_
