#ifndef HYCOLL_COLLECTIVES_JOB_RANK_MAP_H_
#define HYCOLL_COLLECTIVES_JOB_RANK_MAP_H_

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace hycoll {

/// Neighbouring ranks with the same value.
struct RankStretch {
  int first_rank = 0;
  int count = 0;
  int value = 0;
};

/// Ranks first_rank + i * stride + k, for i < count and k < width.
struct RankPattern {
  int first_rank = 0;
  int width = 1;
  int stride = 0;
  int count = 1;

  int rank_count() const noexcept { return width * count; }
  friend bool operator==(const RankPattern&, const RankPattern&) = default;
};

/// Adds `width` ranks from first_rank on, which come after those of the runs, to runs that are as
/// long as possible.
void append(std::vector<RankPattern>& runs, int first_rank, int width);

/// A number for each rank of a communicator, in memory that goes with the runs in which the numbers
/// follow one another: of machines whose processes have neighbouring ranks, or to which ranks were
/// dealt in turn, it takes one run where all machines have as many. Irregular numbers cost what
/// their runs cost. A value.
class RankMap {
 public:
  class Builder;

  /// Of no ranks.
  RankMap() = default;
  /// The same number for so many ranks.
  static RankMap constant(int size, int value);
  static RankMap of(std::span<const int> values);

  int size() const noexcept { return size_; }
  /// Takes a binary search among the runs. Requires 0 <= rank < size().
  int at(int rank) const;
  /// How many numbers there are that differ.
  int distinct_count() const;

  /// In the order of the ranks; neighbouring stretches have different numbers.
  void for_each_stretch(const std::function<void(const RankStretch&)>& visit) const;
  /// The numbers of the ranks from `begin` to before `end` are the same. Requires begin < end.
  bool is_constant(int begin, int end) const;

  /// As numbers that a message can hold, and back.
  std::vector<int> packed() const;
  static RankMap unpacked(std::span<const int> packed);

  std::size_t run_count() const noexcept { return runs_.size(); }

  /// Whether all numbers are the same. (The runs follow from the numbers.)
  friend bool operator==(const RankMap&, const RankMap&) = default;

 private:
  /// `repeats` times the numbers value, value + step, ..., `values` of them, each for `width`
  /// neighbouring ranks.
  struct Run {
    int first_rank;
    int value;
    int step;
    int values;
    int width;
    int repeats;

    bool is_like(const Run& other) const noexcept {
      return value == other.value && step == other.step && values == other.values &&
             width == other.width;
    }
    friend bool operator==(const Run&, const Run&) = default;
  };
  static constexpr std::size_t kPackedInts = 6;

  const Run& run_of(int rank) const;

  int size_ = 0;
  std::vector<Run> runs_;
};

/// Makes a map from the numbers of rank 0, 1, ..., one after the other, without keeping them.
class RankMap::Builder {
 public:
  /// Of the next `count` ranks.
  void add(int value, int count = 1);
  RankMap build();

 private:
  void end_stretch();
  void end_row();

  RankMap made_;
  RankStretch stretch_;
  Run row_{};  // without values: none
};

/// What the first process of a machine tells those of the others of its processes' numbers:
/// `values[i]` is that of the one with the rank ranks[i], which ascend.
std::vector<int> describe_ranks(std::span<const int> ranks, std::span<const int> values);

/// From what all machines tell, each rank's number. Every rank is in one description.
RankMap merge_descriptions(std::span<const std::vector<int>> descriptions);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_RANK_MAP_H_
