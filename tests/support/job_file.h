#ifndef HYCOLL_TESTS_SUPPORT_JOB_FILE_H_
#define HYCOLL_TESTS_SUPPORT_JOB_FILE_H_

#include <mpi.h>

#include <array>
#include <fstream>
#include <string>

#include "tests/support/temporary_directory.h"

namespace hycoll::tests {

/// A file that all processes know by the same path: that of the first one. Made and destroyed by
/// all of them together.
class JobFile {
 public:
  JobFile(const std::string& name, const std::string& text) : path_(directory_.file(name)) {
    std::ofstream(path_) << text;
    std::array<char, 512> first{};
    path_.copy(first.data(), first.size() - 1);
    MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = first.data();
  }
  /// Nobody needs it any more.
  ~JobFile() { MPI_Barrier(MPI_COMM_WORLD); }
  JobFile(const JobFile&) = delete;
  JobFile& operator=(const JobFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  TemporaryDirectory directory_;
  std::string path_;
};

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_JOB_FILE_H_
