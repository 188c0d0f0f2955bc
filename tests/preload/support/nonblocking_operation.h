#ifndef HYCOLL_TESTS_PRELOAD_SUPPORT_NONBLOCKING_OPERATION_H_
#define HYCOLL_TESTS_PRELOAD_SUPPORT_NONBLOCKING_OPERATION_H_

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/preload/support/programs.h"

namespace programs {

inline const MPI_Datatype kType = MPI_UINT64_T;
inline constexpr int kKinds = 11;
inline constexpr int kOwnOperator = 6;  ///< This kind goes to the MPI library.

inline void add_numbers(void* from, void* to, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) {
    static_cast<std::uint64_t*>(to)[i] += static_cast<const std::uint64_t*>(from)[i];
  }
}

/// The program's own operator, with which calls go to the MPI library.
inline MPI_Op own_sum = MPI_OP_NULL;

/// Counts how often a communicator's error handler is called, while it lives; then errors are
/// returned.
class HandledErrors {
 public:
  explicit HandledErrors(MPI_Comm communicator) : communicator_(communicator) {
    count_ = 0;
    MPI_Comm_create_errhandler(&add, &handler_);
    MPI_Comm_set_errhandler(communicator, handler_);
  }
  ~HandledErrors() {
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler_);
  }
  HandledErrors(const HandledErrors&) = delete;
  HandledErrors& operator=(const HandledErrors&) = delete;

  int count() const { return count_; }

 private:
  static void add(MPI_Comm* /*communicator*/, int* /*code*/, ...) { ++count_; }

  static inline int count_ = 0;
  MPI_Comm communicator_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// A collective of random numbers, which it checks.
class Operation {
 public:
  Operation(MPI_Comm communicator, int kind, std::uint64_t count, int root, std::uint64_t round)
      : communicator_(communicator),
        kind_(kind),
        rank_(rank_of(communicator)),
        size_(size_of(communicator)),
        root_(root),
        round_(round) {
    const bool has_blocks = kind == 4 || kind == 5 || kind == 10;
    counts_.assign(static_cast<std::size_t>(size_), static_cast<int>(count));
    input_.resize(has_blocks ? count * static_cast<std::uint64_t>(size_) : count);
    for (std::uint64_t i = 0; i < input_.size(); ++i) input_[i] = value_of(rank_, i, round);
    output_.assign(gathers() ? count * static_cast<std::uint64_t>(size_) : count, kPoison);
  }

  void start() {
    const auto n = static_cast<int>(gathers() ? input_.size() : output_.size());
    void* const to = output_.data();
    const void* const from = input_.data();
    switch (kind_) {
      case 0:
        MPI_Iallreduce(from, to, n, kType, MPI_SUM, communicator_, &request_);
        break;
      case 1:
        MPI_Ireduce(from, to, n, kType, MPI_SUM, root_, communicator_, &request_);
        break;
      case 2:
        MPI_Iscan(from, to, n, kType, MPI_SUM, communicator_, &request_);
        break;
      case 3:
        MPI_Iexscan(from, to, n, kType, MPI_SUM, communicator_, &request_);
        break;
      case 4:
        MPI_Ireduce_scatter_block(from, to, n, kType, MPI_SUM, communicator_, &request_);
        break;
      case 5:
        MPI_Ireduce_scatter(from, to, counts_.data(), kType, MPI_SUM, communicator_, &request_);
        break;
      case kOwnOperator:
        MPI_Iallreduce(from, to, n, kType, own_sum, communicator_, &request_);
        break;
      case 7:
        MPI_Ibarrier(communicator_, &request_);
        break;
      case 8:
        MPI_Iallgather(from, n, kType, to, n, kType, communicator_, &request_);
        break;
      case 9:
        MPI_Igather(from, n, kType, to, n, kType, root_, communicator_, &request_);
        break;
      default:
        MPI_Iscatter(from, n, kType, to, n, kType, root_, communicator_, &request_);
    }
    std::ranges::fill(counts_, n);
  }

  MPI_Request& request() { return request_; }

  void check() const {
    switch (kind_) {
      case 0:
      case kOwnOperator:
        return require_sum(0, size_, 0);
      case 1:
        return rank_ == root_ ? require_sum(0, size_, 0) : require_poison();
      case 2:
        return require_sum(0, rank_ + 1, 0);
      case 3:
        return rank_ > 0 ? require_sum(0, rank_, 0) : require_poison();
      case 4:
      case 5:
        return require_sum(0, size_, output_.size() * static_cast<std::uint64_t>(rank_));
      case 7:
        return require_poison();
      case 8:
        return require_blocks();
      case 9:
        return rank_ == root_ ? require_blocks() : require_poison();
      default:
        return require_block_of_root();
    }
  }

 private:
  static constexpr std::uint64_t kPoison = 42;

  bool gathers() const { return kind_ == 8 || kind_ == 9; }

  void require_sum(int first, int last, std::uint64_t offset) const {
    for (std::uint64_t i = 0; i < output_.size(); ++i) {
      std::uint64_t sum = 0;
      for (int rank = first; rank < last; ++rank) sum += value_of(rank, offset + i, round_);
      REQUIRE_HERE(output_[i] == sum);
    }
  }
  void require_blocks() const {
    for (std::uint64_t i = 0; i < output_.size(); ++i) {
      const auto rank = static_cast<int>(i / input_.size());
      REQUIRE_HERE(output_[i] == value_of(rank, i % input_.size(), round_));
    }
  }
  void require_block_of_root() const {
    const std::uint64_t first = output_.size() * static_cast<std::uint64_t>(rank_);
    for (std::uint64_t i = 0; i < output_.size(); ++i) {
      REQUIRE_HERE(output_[i] == value_of(root_, first + i, round_));
    }
  }
  void require_poison() const {
    REQUIRE_HERE(std::ranges::all_of(output_, [](auto value) { return value == kPoison; }));
  }

  MPI_Comm communicator_;
  int kind_;
  int rank_;
  int size_;
  int root_;
  std::uint64_t round_;
  std::vector<std::uint64_t> input_;
  std::vector<std::uint64_t> output_;
  std::vector<int> counts_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Waits until the request has completed, by one of MPI's functions. Returns what that makes of it.
inline MPI_Request completed(MPI_Request request, std::uint64_t way) {
  std::array<MPI_Request, 2> two = {MPI_REQUEST_NULL, request};
  std::array<MPI_Status, 2> statuses{};
  std::array<int, 2> indices = {-1, -1};
  int is_over = 0;
  int index = -1;
  switch (way % 9) {
    case 0:
      MPI_Wait(&two[1], &statuses[1]);
      break;
    case 1:
      while (is_over == 0) MPI_Test(&two[1], &is_over, &statuses[1]);
      break;
    case 2:
      while (is_over == 0) MPI_Testall(2, two.data(), &is_over, statuses.data());
      break;
    case 3:
      while (is_over == 0) MPI_Testany(2, two.data(), &index, &is_over, &statuses[1]);
      REQUIRE_HERE(index == 1);
      break;
    case 4:
      while (is_over == 0) {
        MPI_Testsome(2, two.data(), &is_over, indices.data(), statuses.data());
      }
      REQUIRE_HERE(is_over == 1 && indices[0] == 1);
      statuses[1] = statuses[0];
      break;
    case 5:
      MPI_Waitany(2, two.data(), &index, &statuses[1]);
      REQUIRE_HERE(index == 1);
      break;
    case 6:
      MPI_Waitsome(2, two.data(), &is_over, indices.data(), statuses.data());
      REQUIRE_HERE(is_over == 1 && indices[0] == 1);
      statuses[1] = statuses[0];
      break;
    case 7:
      MPI_Waitall(2, two.data(), statuses.data());
      break;
    default:
      while (is_over == 0) MPI_Request_get_status(two[1], &is_over, &statuses[1]);
      REQUIRE_HERE(two[1] != MPI_REQUEST_NULL);
      MPI_Wait(&two[1], &statuses[1]);
  }
  int is_cancelled = 1;
  MPI_Test_cancelled(&statuses[1], &is_cancelled);
  REQUIRE_HERE(is_cancelled == 0);
  return two[1];
}

/// The same of a request that must be gone then.
inline void complete(MPI_Request& request, std::uint64_t way) {
  request = completed(request, way);
  REQUIRE_HERE(request == MPI_REQUEST_NULL);
}

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_SUPPORT_NONBLOCKING_OPERATION_H_
