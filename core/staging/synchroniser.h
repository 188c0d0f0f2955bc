#ifndef HYCOLL_CORE_STAGING_SYNCHRONISER_H_
#define HYCOLL_CORE_STAGING_SYNCHRONISER_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/at.h"
#include "core/schedule/builder.h"
#include "core/schedule/schedule.h"
#include "core/staging/strand_knowledge.h"

namespace hycoll {

/// What is kept of a step although its worker's are not asked for.
enum class Kept : std::uint8_t {
  nothing,
  destinations,  ///< And the first of its sources.
  all,
};

/// Is shown the steps of all workers of a node that move or combine data, and says what is kept of
/// them although their worker's are not asked for.
class StepWatch {
 public:
  virtual ~StepWatch() = default;
  virtual Kept keeps(const Schedule& frame, int worker, const Step& step,
                     std::span<const Span> destinations, std::span<const Span> sources) = 0;

 protected:
  StepWatch() = default;
  StepWatch(const StepWatch&) = default;
  StepWatch& operator=(const StepWatch&) = default;
};

/// How many steps a strand has, whether they are kept or not.
struct StrandCounts {
  std::size_t steps = 0;
  std::size_t spans = 0;
  std::size_t asynchronous = 0;  ///< Each of which one step at most depends on by name.
  std::size_t natives = 0;
  std::size_t watched_steps = 0;  ///< At most so many are kept if the worker's are not asked for.
  std::size_t watched_spans = 0;
};

/// What is known of all steps of a node where only those of some workers were asked for.
struct NodeCounts {
  std::vector<StrandCounts> strands;
  int most_signals = 0;  ///< On one flag.
};

/// A node's schedule with all steps of the workers that were asked for, and of the others' those
/// that the watch wanted, their first signal, and how their strands end.
struct WatchedSchedule {
  Schedule schedule;
  NodeCounts counts = {};
};

/// Puts steps that move or combine data into the strands of a builder, and adds the flags by which
/// the strands wait for each other: wherever two strands of the node touch the same memory, and one
/// of them writes it, the later step waits. A member's input and output count as the same memory.
/// Each strand has one flag at most, which it raises where others need it; waits that others imply
/// are left out. Nobody touches a member's buffers before its owner has entered, and the owner does
/// not leave before the others are done with them.
///
/// Steps are added in an order in which they could be executed one after the other, where messages
/// have completed at once. Executing them in this order is then possible with the flags, too, so
/// nothing can deadlock. The schedule does not depend on which order of these it is.
///
/// Every worker of a node waits until all others have entered, as its last steps: then no worker
/// is more than one run ahead of another one of its node, so that memory which alternates between
/// two sets from run to run is free again when it is written.
///
/// Whose waits others imply, and how often a flag is raised, depends on all workers of the node, so
/// all steps are added. What is remembered of those whose workers were not asked for are where they
/// wait and who has written what is staged: time goes with the node's steps, memory with its
/// staging and, squared, its strands.
class Synchroniser {
 public:
  static constexpr int kNone = -1;

  /// The builder's schedule has one node, all buffers but scratch and all strands, and no steps.
  /// `is_rewritten` says of buffers whether a chunk may be written more than once; of staging that
  /// is not, readers are not remembered. Without a watch all workers' steps are kept.
  Synchroniser(ScheduleBuilder builder, const std::vector<bool>& is_rewritten, NumberRange workers,
               StepWatch* watch);

  const ScheduleBuilder& builder() const noexcept { return builder_; }

  /// Returns the number of an asynchronous step, kNone of others. What else conflicts with an
  /// asynchronous one comes behind complete().
  int add(StrandId strand, const Step& step, std::span<const Span> destinations,
          std::span<const Span> sources);

  /// The strand of an asynchronous step may wait for its completion where it is now.
  void complete(int asynchronous);

  /// A buffer of the strand's worker that only steps of the strand touch.
  BufferId add_scratch(StrandId strand, ChunkRange chunks);

  WatchedSchedule finish() &&;

 private:
  /// An earlier step: its number in its strand, or ~number among all asynchronous ones.
  struct Earlier {
    StrandId strand = kNone;
    int step = 0;
    friend bool operator==(const Earlier&, const Earlier&) = default;
  };
  struct Asynchronous {
    StrandId strand;
    int step;      // in its strand
    int known_at;  // the number of the strand's steps before the first moment at which it may wait
  };
  struct Reading {
    Earlier step;
    int next;
  };
  /// Where the chunks of a buffer are among the cells, as if it began with place 0. kNone: nowhere.
  struct Cells {
    int first = kNone;
    int first_read = kNone;
    bool is_tracked = false;
    bool remembers_readers = false;
  };

  /// A step that is kept.
  struct Record {
    Step step;  // its spans are in spans_
    int position;
    int first_wait;
    int wait_count;
    int first_owner;
    int owner_count;
    bool is_watched;
  };
  struct Announcement {
    int position;
    int asynchronous;
    friend auto operator<=>(const Announcement&, const Announcement&) = default;
  };
  static constexpr int kBits = 64;  // of a word of positions
  struct StrandState {
    int length = 0;  // data steps
    bool is_wanted = true;
    std::vector<Record> records;
    std::vector<std::uint64_t> awaited;  // positions, by bits
    std::vector<Announcement> announced;
    std::vector<bool> entered;  // workers that it has waited for
    int tail = kNone;           // the record that begins how it ends, if it is not wanted
  };

  StrandState& state(StrandId strand) { return states_[at(strand)]; }
  StrandId owner_strand(int member) const {
    return builder_.main_strand(builder_.shape().worker_of_member(member));
  }
  bool is_main(StrandId strand) const { return strand < builder_.part().workers.count; }

  void place_cells(const std::vector<bool>& is_rewritten);
  /// Of the first chunk of a span: its number, or, in a row or column of pairs, its cell.
  int place_of(const Span& span) const;
  void find_conflicts(const Earlier& self, std::span<const Span> destinations,
                      std::span<const Span> sources);
  template <class Visit>
  void for_each_reader(int cell, const Visit& visit) const;
  void conflict_with(const Earlier& earlier, StrandId strand);
  void find_unknown_owners(StrandId strand, std::span<const Span> spans);
  void need(StrandId strand, const Earlier& earlier, bool ends);
  void add_waits(StrandId strand);
  void leave_out_implied();
  void note(StrandId strand, const Step& step, std::span<const Span> destinations,
            std::span<const Span> sources);
  void record(StrandId strand, const Step& step, std::span<const Span> destinations,
              std::span<const Span> sources, bool is_watched);
  void begin_tail(StrandState& strand);
  void set_awaited(StrandId strand, int position);
  int signals_until(StrandId strand, int position) const;

  void find_last_waits(int member);
  void add_arrivals();
  void add_flags();
  void number_scratch(Schedule& schedule) const;
  void emit(StrandId strand);
  void emit_tail(StrandId strand);
  void emit_step(StrandId strand, const Record& record);
  void emit_waits(StrandId strand, std::span<const StrandMoment> waits);
  void emit_signals(StrandId strand, int& next, int end, std::size_t& next_announced);
  void await_arrivals();
  FlagId arrival_of(int worker) const {
    return arrived_[at(worker - builder_.part().workers.first)];
  }

  ScheduleBuilder builder_;
  StepWatch* watch_;
  bool has_pairs_;
  NodeCounts counts_;
  std::vector<Cells> places_;        // per buffer
  std::vector<Earlier> writers_;     // per cell
  std::vector<int> first_readings_;  // per cell whose readers are remembered
  std::vector<Reading> readings_;
  std::vector<bool> is_shared_;  // per member: several strands touch its buffers
  bool some_are_shared_ = false;
  std::vector<Asynchronous> asynchronous_;
  StrandKnowledge knowledge_;
  std::vector<StrandState> states_;
  std::vector<Span> spans_;
  std::vector<StrandMoment> waits_;
  std::vector<int> owners_;
  std::vector<std::vector<StrandMoment>> last_waits_;  // per member
  std::vector<StrandId> scratch_strands_;              // of the buffers from first_scratch_ on
  int first_scratch_;
  std::vector<FlagId> arrived_;  // per worker
  std::vector<FlagId> flags_;    // per strand

  // Of the step at hand.
  std::vector<Earlier> earlier_;
  bool touches_remembered_ = false;
  std::vector<StrandMoment> needed_;
  std::vector<int> needed_of_;  // per strand: where it is in needed_, from 1 on; 0: nowhere
  std::vector<int> implied_;    // by what is needed
  std::vector<StrandMoment> new_waits_;
  std::vector<int> new_owners_;
  std::vector<Span> announced_;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_STAGING_SYNCHRONISER_H_
