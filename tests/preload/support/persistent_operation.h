#ifndef HYCOLL_TESTS_PRELOAD_SUPPORT_PERSISTENT_OPERATION_H_
#define HYCOLL_TESTS_PRELOAD_SUPPORT_PERSISTENT_OPERATION_H_

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/preload/support/nonblocking_operation.h"
#include "tests/preload/support/persistent_names.h"
#include "tests/preload/support/programs.h"

#if MPI_VERSION >= 4
// With counts of the type `Count`.
#define SET_UP(name, ...)                       \
  [&] {                                         \
    if constexpr (std::is_same_v<Count, int>) { \
      return MPI_##name##_init(__VA_ARGS__);    \
    } else {                                    \
      return MPI_##name##_init_c(__VA_ARGS__);  \
    }                                           \
  }()
#else
#define SET_UP(name, ...) PERSISTENT(name)(__VA_ARGS__)
#endif

namespace programs {

enum class Persistent {
  allreduce,
  reduce,
  scan,
  exscan,
  reduce_scatter_block,
  reduce_scatter,
  barrier,
  bcast,
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  alltoall,
  alltoallv,
  alltoallw
};
inline constexpr int kPersistentKinds = 17;

/// Of which type counts are: int, or MPI 4's MPI_Count.
enum class Counts { plain, large };
inline constexpr bool kHasLargeCounts = MPI_VERSION >= 4;

/// A persistent collective on numbers that differ from start to start, which it checks.
class PersistentOperation {
 public:
  /// Blocks have `count` numbers, or some more or less in forms that allow it. In those that move
  /// data the input may be `spaced`: of a datatype with gaps, freed when the call has been set up.
  PersistentOperation(MPI_Comm communicator, Persistent kind, int count, int root, bool spaced,
                      Counts counts = Counts::plain)
      : kind_(kind),
        count_(count),
        root_(root),
        rank_(rank_of(communicator)),
        size_(size_of(communicator)),
        stride_(spaced && moves() ? 2 : 1),
        communicator_(communicator) {
    for (int other = 0; other < size_; ++other) {
      add(sent_, length(rank_, sends_to_all() ? other : 0));
      add(received_, length(other, gets_from_all_apart() ? rank_ : 0));
    }
    const bool has_blocks = sends_to_all() || kind == Persistent::reduce_scatter_block ||
                            kind == Persistent::reduce_scatter;
    const int own = kind == Persistent::bcast ? count : length(rank_, 0);
    input_.resize(stride_ * static_cast<std::size_t>(has_blocks ? sent_.end : own));
    output_.resize(static_cast<std::size_t>(gets_all() ? received_.end : output_length()));
    if (!kHasLargeCounts || counts == Counts::plain) {
      set_up<int, int>();
    } else if constexpr (kHasLargeCounts) {
      set_up<MPI_Count, MPI_Aint>();
    }
  }
  ~PersistentOperation() { free(); }
  PersistentOperation(const PersistentOperation&) = delete;
  PersistentOperation& operator=(const PersistentOperation&) = delete;

  void free() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

  /// New numbers, before a start.
  void fill(std::uint64_t round) {
    round_ = round;
    for (std::size_t i = 0; i < input_.size(); ++i) {
      input_[i] = i % stride_ == 0 ? value_of(rank_, i / stride_, round) : kPoison;
    }
    std::ranges::fill(output_, kPoison);
    if (kind_ == Persistent::bcast && rank_ == root_) output_ = input_;
  }

  void start(std::uint64_t round) {
    fill(round);
    MPI_Start(&request_);
  }

  MPI_Request& request() { return request_; }

  /// Waits, by one of MPI's functions, after which the request must be there still.
  void finish(std::uint64_t way) {
    const MPI_Request before = request_;
    request_ = completed(request_, way);
    REQUIRE_HERE(request_ == before && request_ != MPI_REQUEST_NULL);
    check();
  }

  /// Whether the result of an allreduce is there, for those who have no request. Before it, what
  /// some processes have passed may be.
  bool has_result() const {
    for (std::size_t i = 0; i < output_.size(); ++i) {
      if (output_[i] != sum_of(0, size_, i)) return false;
    }
    return true;
  }

  void check() const {
    switch (kind_) {
      case Persistent::allreduce:
        return require_sum(0, size_, 0);
      case Persistent::reduce:
        return rank_ == root_ ? require_sum(0, size_, 0) : require_poison();
      case Persistent::scan:
        return require_sum(0, rank_ + 1, 0);
      case Persistent::exscan:
        return rank_ > 0 ? require_sum(0, rank_, 0) : require_poison();
      case Persistent::reduce_scatter_block:
      case Persistent::reduce_scatter:
        return require_sum(0, size_, static_cast<std::size_t>(count_ * rank_));
      case Persistent::barrier:
        return require_poison();
      case Persistent::bcast:
        return require_values(0, output_.size(), root_, 0);
      case Persistent::gather:
      case Persistent::gatherv:
        if (rank_ != root_) return require_poison();
        [[fallthrough]];
      case Persistent::allgather:
      case Persistent::allgatherv:
        for (int from = 0; from < size_; ++from) require_block(from, 0);
        return;
      case Persistent::scatter:
      case Persistent::scatterv:
        return require_values(0, output_.size(), root_, offset_at(root_, rank_));
      case Persistent::alltoall:
      case Persistent::alltoallv:
      case Persistent::alltoallw:
        for (int from = 0; from < size_; ++from) require_block(from, offset_at(from, rank_));
        return;
    }
  }

 private:
  static constexpr std::uint64_t kPoison = 42;

  /// All blocks of a process, by rank.
  struct Blocks {
    std::vector<int> lengths;
    std::vector<int> begins;
    int end = 0;
  };
  static void add(Blocks& blocks, int length) {
    blocks.lengths.push_back(length);
    blocks.begins.push_back(blocks.end);
    blocks.end += length;
  }

  bool moves() const { return kind_ >= Persistent::allgather; }
  bool is_alltoall() const { return kind_ >= Persistent::alltoall; }
  bool sends_to_all() const { return kind_ >= Persistent::scatter; }
  bool gets_all() const {
    return is_alltoall() || (kind_ >= Persistent::allgather && kind_ <= Persistent::gatherv);
  }
  bool gets_from_all_apart() const { return is_alltoall(); }
  bool is_unequal() const {
    return kind_ == Persistent::allgatherv || kind_ == Persistent::gatherv ||
           kind_ == Persistent::scatterv || kind_ == Persistent::alltoallv ||
           kind_ == Persistent::alltoallw;
  }
  /// What one process has for another; those of a scatter's root for all depend on the other only.
  int length(int from, int to) const {
    if (!is_unequal()) return count_;
    if (kind_ == Persistent::scatterv) return count_ + to;
    return is_alltoall() ? count_ + (2 * from + to) % 3 : count_ + from;
  }
  int output_length() const { return kind_ == Persistent::scatterv ? count_ + rank_ : count_; }
  /// Where, in all blocks of a process, the one for another begins.
  std::size_t offset_at(int from, int to) const {
    int offset = 0;
    for (int other = 0; other < to; ++other) offset += length(from, other);
    return static_cast<std::size_t>(offset);
  }

  template <class Count, class Displacement>
  void set_up() {
    const MPI_Comm on = communicator_;
    const MPI_Info none = MPI_INFO_NULL;
    MPI_Request* const made = &request_;
    const void* const from = input_.data();
    void* const to = output_.data();
    const Count n = count_;
    MPI_Datatype type = kType;
    if (stride_ > 1) {
      MPI_Type_create_resized(kType, 0, 16, &type);
      MPI_Type_commit(&type);
    }
    const auto ranks = static_cast<std::size_t>(size_);
    std::vector<MPI_Datatype> sent_types(ranks, type);
    std::vector<MPI_Datatype> received_types(ranks, kType);
    const std::vector<Count> sent_counts(sent_.lengths.begin(), sent_.lengths.end());
    const std::vector<Count> received_counts(received_.lengths.begin(), received_.lengths.end());
    const std::vector<Displacement> sent_offsets(sent_.begins.begin(), sent_.begins.end());
    const std::vector<Displacement> received_offsets(received_.begins.begin(),
                                                     received_.begins.end());
    // In bytes.
    std::vector<Displacement> sent_at;
    std::vector<Displacement> received_at;
    for (const int begin : sent_.begins) sent_at.push_back(8 * static_cast<int>(stride_) * begin);
    for (const int begin : received_.begins) received_at.push_back(8 * begin);
    const Count* const sent = sent_counts.data();
    const Displacement* const sent_begins = sent_offsets.data();
    const Count* const received = received_counts.data();
    const Displacement* const begins = received_offsets.data();
    const Count own = length(rank_, 0);
    const Count own_output = output_length();
    int code = MPI_SUCCESS;
    switch (kind_) {
      case Persistent::allreduce:
        code = SET_UP(Allreduce, from, to, n, kType, MPI_SUM, on, none, made);
        break;
      case Persistent::reduce:
        code = SET_UP(Reduce, from, to, n, kType, MPI_SUM, root_, on, none, made);
        break;
      case Persistent::scan:
        code = SET_UP(Scan, from, to, n, kType, MPI_SUM, on, none, made);
        break;
      case Persistent::exscan:
        code = SET_UP(Exscan, from, to, n, kType, MPI_SUM, on, none, made);
        break;
      case Persistent::reduce_scatter_block:
        code = SET_UP(Reduce_scatter_block, from, to, n, kType, MPI_SUM, on, none, made);
        break;
      case Persistent::reduce_scatter:
        code = SET_UP(Reduce_scatter, from, to, sent, kType, MPI_SUM, on, none, made);
        break;
      case Persistent::barrier:
        code = PERSISTENT(Barrier)(on, none, made);
        break;
      case Persistent::bcast:
        code = SET_UP(Bcast, to, n, kType, root_, on, none, made);
        break;
      case Persistent::allgather:
        code = SET_UP(Allgather, from, n, type, to, n, kType, on, none, made);
        break;
      case Persistent::allgatherv:
        code = SET_UP(Allgatherv, from, own, type, to, received, begins, kType, on, none, made);
        break;
      case Persistent::gather:
        code = SET_UP(Gather, from, n, type, to, n, kType, root_, on, none, made);
        break;
      case Persistent::gatherv:
        code = SET_UP(Gatherv, from, own, type, to, received, begins, kType, root_, on, none, made);
        break;
      case Persistent::scatter:
        code = SET_UP(Scatter, from, n, type, to, n, kType, root_, on, none, made);
        break;
      case Persistent::scatterv:
        code = SET_UP(Scatterv, from, sent, sent_begins, type, to, own_output, kType, root_, on,
                      none, made);
        break;
      case Persistent::alltoall:
        code = SET_UP(Alltoall, from, n, type, to, n, kType, on, none, made);
        break;
      case Persistent::alltoallv:
        code = SET_UP(Alltoallv, from, sent, sent_begins, type, to, received, begins, kType, on,
                      none, made);
        break;
      case Persistent::alltoallw:
        code = SET_UP(Alltoallw, from, sent, sent_at.data(), sent_types.data(), to, received,
                      received_at.data(), received_types.data(), on, none, made);
        break;
    }
    REQUIRE_HERE(code == MPI_SUCCESS);
    if (type != kType) MPI_Type_free(&type);
  }

  std::uint64_t sum_of(int first, int last, std::size_t index) const {
    std::uint64_t sum = 0;
    for (int rank = first; rank < last; ++rank) sum += value_of(rank, index, round_);
    return sum;
  }
  void require_sum(int first, int last, std::size_t offset) const {
    for (std::size_t i = 0; i < output_.size(); ++i) {
      REQUIRE_HERE(output_[i] == sum_of(first, last, offset + i));
    }
  }
  /// Numbers from `begin` on are a process's, from an offset on.
  void require_values(std::size_t begin, std::size_t length, int from, std::size_t offset) const {
    for (std::size_t i = 0; i < length; ++i) {
      REQUIRE_HERE(output_[begin + i] == value_of(from, offset + i, round_));
    }
  }
  void require_block(int from, std::size_t offset) const {
    const auto index = static_cast<std::size_t>(from);
    require_values(static_cast<std::size_t>(received_.begins[index]),
                   static_cast<std::size_t>(received_.lengths[index]), from, offset);
  }
  void require_poison() const {
    REQUIRE_HERE(std::ranges::all_of(output_, [](auto value) { return value == kPoison; }));
  }

  Persistent kind_;
  int count_;
  int root_;
  int rank_;
  int size_;
  std::size_t stride_;  // of the input's numbers
  MPI_Comm communicator_;
  std::uint64_t round_ = 0;
  Blocks sent_;
  Blocks received_;
  std::vector<std::uint64_t> input_;
  std::vector<std::uint64_t> output_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_SUPPORT_PERSISTENT_OPERATION_H_
