#ifndef HYCOLL_CORE_STAGING_STAGING_PLACES_H_
#define HYCOLL_CORE_STAGING_STAGING_PLACES_H_

#include <compare>
#include <span>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/pairs.h"
#include "core/staging/value_flow.h"

namespace hycoll {

/// The chunks of a member's input, by their cells.
class InputCells {
 public:
  InputCells(const Schedule& schedule, BufferId input)
      : schedule_(schedule), buffer_(schedule.buffers[static_cast<std::size_t>(input)]) {}

  int count() const { return buffer_.chunk_count; }
  int chunk(int cell) const { return chunk_in(schedule_, buffer_, cell); }
  /// Whether a cell is there, and its chunk the next one behind that of the cell before.
  bool continue_at(int cell) const { return cell < count() && chunk(cell) == chunk(cell - 1) + 1; }

 private:
  const Schedule& schedule_;
  const Buffer buffer_;
};

/// Where the values that have to be staged lie: where their first place was, in the staging of the
/// worker that produces them, in a buffer for each run of neighbouring chunks. A value may replace
/// an earlier one of the same place unless this has got further places.
class StagingPlaces {
 public:
  static constexpr BufferId kNone = -1;

  /// Adds the buffers, worker by worker.
  StagingPlaces(const ValueFlow& flow, ScheduleBuilder& builder);

  /// The buffer of a value; kNone if it is not staged.
  BufferId of(int value) const;

  /// The same of a value of this input.
  BufferId of_input(BufferId input, int value) const;

  /// By buffer, whether several values lie in a chunk one after the other.
  const std::vector<bool>& is_rewritten() const noexcept { return is_rewritten_; }

 private:
  struct InputRun {
    int first_value;
    int count;
    BufferId buffer;
  };
  /// `layer`: how many of the same worker, home and chunk it cannot replace.
  struct StagedValue {
    int worker;
    int home;
    int layer;
    int chunk;
    int value;
    friend auto operator<=>(const StagedValue&, const StagedValue&) = default;

    bool has_place_of(const StagedValue& other) const {
      return worker == other.worker && home == other.home && chunk == other.chunk;
    }
    bool is_beside(const StagedValue& other) const {
      return worker == other.worker && home == other.home && layer == other.layer &&
             (chunk == other.chunk || chunk == other.chunk + 1);
    }
  };
  using Values = std::vector<StagedValue>::const_iterator;

  BufferId add_staging(ScheduleBuilder& builder, ChunkRange chunks);
  void place_inputs(ScheduleBuilder& builder, int member);
  Values place_run(ScheduleBuilder& builder, Values begin, Values end);
  std::vector<StagedValue> computed_values() const;

  /// Among the runs of some inputs.
  static BufferId find(std::span<const InputRun> runs, int value);

  const ValueFlow& flow_;
  std::vector<InputRun> inputs_;
  std::vector<int> first_run_;  // of each input, and behind them where they end
  std::vector<BufferId> of_computed_;
  std::vector<bool> is_rewritten_;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_STAGING_STAGING_PLACES_H_
