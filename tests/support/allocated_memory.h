#ifndef HYCOLL_TESTS_SUPPORT_ALLOCATED_MEMORY_H_
#define HYCOLL_TESTS_SUPPORT_ALLOCATED_MEMORY_H_

#include <cstddef>
#include <string>

namespace hycoll::tests {

/// The most memory that operator new has taken in this process since. A program that uses this has
/// an operator new that counts. At most one at a time.
class PeakSince {
 public:
  PeakSince();
  /// Nothing, if it was no more than that.
  std::string complaint(std::size_t most_bytes) const;

 private:
  std::size_t before_;
};

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_ALLOCATED_MEMORY_H_
