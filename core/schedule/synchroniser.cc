#include "core/schedule/synchroniser.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/errors.h"
#include "core/schedule/cells.h"

namespace hycoll {
namespace {

constexpr int kNone = -1;

/// A moment in a strand: before its data step number `position`.
struct Moment {
  StrandId strand;
  int position;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// Lists of different lengths, one for each of some numbers, laid end to end in their order.
template <class Item>
class Lists {
 public:
  /// Items that are added from now on are in the list of the next number.
  void begin_next() { first_.push_back(static_cast<int>(items_.size())); }
  void add(const Item& item) { items_.push_back(item); }

  std::span<const Item> of(std::size_t number) const {
    const auto first = static_cast<std::size_t>(first_[number]);
    const bool is_last = number + 1 == first_.size();
    const std::size_t end = is_last ? items_.size() : static_cast<std::size_t>(first_[number + 1]);
    return std::span(items_).subspan(first, end - first);
  }
  /// The list that was begun last.
  std::span<const Item> last() const { return of(first_.size() - 1); }

 private:
  std::vector<Item> items_;
  std::vector<int> first_;
};

/// Which earlier steps of other strands every step conflicts with, and where in its strand each is.
class Conflicts {
 public:
  Conflicts(const ScheduleBuilder& builder, const DataSteps& steps)
      : builder_(builder),
        steps_(steps),
        // Input and output over one another, in case that they are the same memory.
        places_(place_cells(builder.schedule(), Aliasing::in_place, Sets::one)),
        cells_(static_cast<std::size_t>(places_.count)),
        steps_of_(static_cast<std::size_t>(builder.strand_count())) {
    position_.reserve(steps_.steps.size());
    for (int at = 0; std::cmp_less(at, steps_.steps.size()); ++at) find(at);
    for (const int member : builder_.members()) find_last(member);
    cells_ = {};
    readings_ = {};
  }

  std::span<const int> of_step(int at) const { return of_step_.of(static_cast<std::size_t>(at)); }
  /// What the owner of a member, counted from the first of the part, has to know at its end: that
  /// the others are done with its buffers.
  std::span<const int> of_member(std::size_t member) const { return of_member_.of(member); }

  /// The number of the strand's steps before this one.
  int position(int at) const { return position_[static_cast<std::size_t>(at)]; }
  const std::vector<int>& steps_of(StrandId strand) const {
    return steps_of_[static_cast<std::size_t>(strand)];
  }

 private:
  struct Cell {
    int writer = kNone;         // a step
    int first_reading = kNone;  // since then
  };
  struct Reading {
    int step;
    int next;
  };

  /// The cells of a span; none of lines and streams, whose readers wait by reading.
  std::span<Cell> cells_of(const Span& span) {
    const Buffer& buffer = builder_.schedule().buffer_of(span);
    if (carries_signals(buffer.role)) return {};
    const int first = places_.first[static_cast<std::size_t>(span.buffer)] + span.first_chunk -
                      buffer.first_chunk;
    return std::span(cells_).subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(span.chunk_count));
  }

  StrandId strand_of(int at) const { return steps_.steps[static_cast<std::size_t>(at)].strand; }

  void find(int at) {
    const DataStep& step = steps_.steps[static_cast<std::size_t>(at)];
    const auto conflict_with = [&](int earlier) {
      if (earlier == kNone || strand_of(earlier) == step.strand) return;
      // Neighbouring chunks most often have been written together.
      const std::span<const int> known = of_step_.last();
      if (known.empty() || known.back() != earlier) of_step_.add(earlier);
    };
    of_step_.begin_next();
    for (const Span& span : steps_.sources(step.step)) {
      for (Cell& cell : cells_of(span)) {
        conflict_with(cell.writer);
        readings_.push_back({at, cell.first_reading});
        cell.first_reading = static_cast<int>(readings_.size()) - 1;
      }
    }
    for (const Span& span : steps_.destinations(step.step)) {
      for (Cell& cell : cells_of(span)) {
        conflict_with(cell.writer);
        for_each_reader(cell, conflict_with);
        cell = {.writer = at};
      }
    }
    auto& own_steps = steps_of_[static_cast<std::size_t>(step.strand)];
    position_.push_back(static_cast<int>(own_steps.size()));
    own_steps.push_back(at);
  }

  /// The owner leaves when all its strands have ended.
  void find_last(int member) {
    const int owner = builder_.shape().worker_of_member(member);
    const auto conflict_with = [&](int earlier) {
      if (earlier == kNone || builder_.worker_of(strand_of(earlier)) == owner) return;
      of_member_.add(earlier);
    };
    of_member_.begin_next();
    for (const BufferId buffer : {builder_.input(member), builder_.output(member)}) {
      const Buffer& whole = builder_.schedule().buffers[static_cast<std::size_t>(buffer)];
      for (const Cell& cell : cells_of({buffer, whole.first_chunk, whole.chunk_count})) {
        conflict_with(cell.writer);
        for_each_reader(cell, conflict_with);
      }
    }
  }

  template <class Visit>
  void for_each_reader(const Cell& cell, const Visit& visit) const {
    for (int reading = cell.first_reading; reading != kNone;) {
      const Reading& here = readings_[static_cast<std::size_t>(reading)];
      visit(here.step);
      reading = here.next;
    }
  }

  const ScheduleBuilder& builder_;
  const DataSteps& steps_;
  Cells places_;
  std::vector<Cell> cells_;
  std::vector<Reading> readings_;
  Lists<int> of_step_;
  Lists<int> of_member_;
  std::vector<int> position_;               // per step
  std::vector<std::vector<int>> steps_of_;  // per strand
};

/// Which positions of the other strands each strand of a node knows to be reached, as it goes on.
/// What a strand knows of itself is where it is. Of what strands have known only that is kept which
/// others will learn by waiting for them.
class Knowledge {
 public:
  explicit Knowledge(const ScheduleBuilder& builder) {
    const int strand_count = builder.strand_count();
    std::vector<int> width(static_cast<std::size_t>(builder.nodes().count), 0);
    std::vector<int> nodes;
    for (StrandId s = 0; s < strand_count; ++s) {
      nodes.push_back(builder.shape().node_of_worker(builder.worker_of(s)) - builder.nodes().first);
      component_.push_back(width[static_cast<std::size_t>(nodes.back())]++);
    }
    for (const int node : nodes) {
      clocks_.emplace_back(static_cast<std::size_t>(width[static_cast<std::size_t>(node)]), 0);
    }
    kept_.assign(clocks_.size(), kNothing);
    kept_at_.resize(clocks_.size());
  }

  int known(StrandId by, StrandId strand) const {
    return clocks_[static_cast<std::size_t>(by)][component(strand)];
  }

  /// The strand has come so far.
  void go_on(StrandId strand, int position) {
    clocks_[static_cast<std::size_t>(strand)][component(strand)] = position;
  }

  /// Remembers what the strand knows now, before its step number `position`. In ascending order.
  void keep(StrandId strand, int position) {
    const auto s = static_cast<std::size_t>(strand);
    if (kept_[s] == kStale) {
      kept_[s] = static_cast<int>(rows_.size());
      rows_.push_back(clocks_[s]);
    }
    kept_at_[s].push_back({.position = position, .row = kept_[s]});
  }

  /// What the strand of a moment that has been kept knew then; empty if that was nothing.
  std::span<const int> at(const Moment& moment) const {
    const auto& kept = kept_at_[static_cast<std::size_t>(moment.strand)];
    const auto found = std::ranges::lower_bound(kept, moment.position, {}, &Kept::position);
    HYCOLL_ASSERT(found != kept.end() && found->position == moment.position,
                  "a step on which others depend completes before them");
    if (found->row == kNothing) return {};
    return rows_[static_cast<std::size_t>(found->row)];
  }

  std::size_t component(StrandId strand) const {
    return static_cast<std::size_t>(component_[static_cast<std::size_t>(strand)]);
  }

  /// By waiting the strand learns what the other one knew.
  void learn(StrandId strand, const Moment& moment) {
    const auto s = static_cast<std::size_t>(strand);
    std::vector<int>& clock = clocks_[s];
    const std::span<const int> theirs = at(moment);
    for (std::size_t i = 0; i < theirs.size(); ++i) clock[i] = std::max(clock[i], theirs[i]);
    int& position = clock[component(moment.strand)];
    position = std::max(position, moment.position);
    kept_[s] = kStale;
  }

 private:
  static constexpr int kNothing = -1;
  static constexpr int kStale = -2;

  struct Kept {
    int position;
    int row;
  };

  std::vector<int> component_;            // per strand: its place in the clocks of its node
  std::vector<std::vector<int>> clocks_;  // per strand
  std::vector<std::vector<int>> rows_;
  std::vector<int> kept_;  // per strand: the row of what it knows now
  std::vector<std::vector<Kept>> kept_at_;
};

class Synchroniser {
 public:
  Synchroniser(ScheduleBuilder builder, const DataSteps& steps)
      : builder_(std::move(builder)),
        steps_(steps),
        conflicts_(builder_, steps),
        knowledge_(builder_),
        needed_of_(static_cast<std::size_t>(builder_.strand_count()), 0),
        signals_(static_cast<std::size_t>(builder_.strand_count())),
        keeps_(steps.steps.size(), false) {}

  Schedule run() {
    find_what_is_awaited();
    for (int at = 0; std::cmp_less(at, steps_.steps.size()); ++at) find_waits(at);
    for (const int member : builder_.members()) find_last_waits(member);
    add_arrivals();
    for (auto& signals : signals_) {
      std::ranges::sort(signals);
      flags_.push_back(signals.empty() ? kNone
                                       : builder_.add_flag(static_cast<StrandId>(flags_.size())));
    }
    number_signals();
    emit_all();
    await_arrivals();
    return std::move(builder_).finish();
  }

 private:
  /// A signal at a position; an asynchronous step whose completion it announces, or kNone.
  struct Signal {
    int position;
    int announced;
    friend auto operator<=>(const Signal&, const Signal&) = default;
  };

  const DataStep& step(int at) const { return steps_.steps[static_cast<std::size_t>(at)]; }
  std::size_t own(int member) const {
    return static_cast<std::size_t>(member - builder_.members().first);
  }
  StrandId owner_strand(int member) const {
    return builder_.main_strand(builder_.shape().worker_of_member(member));
  }
  int length_of(StrandId strand) const {
    return static_cast<int>(conflicts_.steps_of(strand).size());
  }

  /// The position of its strand at which a step is known to have completed; at the end of its
  /// strand, if that is the latest moment.
  int known_position(int at, bool ends) const {
    if (!is_asynchronous(step(at).step.kind)) return conflicts_.position(at) + 1;
    return ends ? std::min(step(at).known_at, length_of(step(at).strand)) : step(at).known_at;
  }

  /// What strands know where others may wait for them has to be kept.
  void find_what_is_awaited() {
    const auto keep = [&](int earlier, bool ends) {
      const int position = known_position(earlier, ends);
      const StrandId strand = step(earlier).strand;
      HYCOLL_ASSERT(position <= length_of(strand),
                    "a step on which others depend completes before them");
      const auto last = static_cast<std::size_t>(position) - 1;
      keeps_[static_cast<std::size_t>(conflicts_.steps_of(strand)[last])] = true;
    };
    for (int at = 0; std::cmp_less(at, steps_.steps.size()); ++at) {
      for (const int earlier : conflicts_.of_step(at)) keep(earlier, false);
    }
    for (const int member : builder_.members()) {
      for (const int earlier : conflicts_.of_member(own(member))) keep(earlier, true);
    }
  }

  /// The others' workers whose members' buffers a step touches, unless its strand knows already
  /// that they have entered.
  void find_unknown_owners(int at) {
    const StrandId strand = step(at).strand;
    owners_.begin_next();
    const auto find = [&](std::span<const Span> spans) {
      for (const Span& span : spans) {
        const Buffer& buffer = builder_.schedule().buffer_of(span);
        if (!is_of_member(buffer.role)) continue;
        const StrandId owner = owner_strand(buffer.owner);
        const int worker = builder_.worker_of(owner);
        if (worker == builder_.worker_of(strand) || knowledge_.known(strand, owner) > 0) continue;
        if (has_awaited_entry(strand, worker)) continue;
        owners_.add(worker);
      }
    };
    find(steps_.sources(step(at).step));
    find(steps_.destinations(step(at).step));
  }

  /// Whether the strand has waited for a worker to enter; it will have, then.
  bool has_awaited_entry(StrandId strand, int worker) {
    if (entered_.empty()) entered_.resize(static_cast<std::size_t>(builder_.strand_count()));
    std::vector<bool>& entered = entered_[static_cast<std::size_t>(strand)];
    const NumberRange workers = builder_.part().workers;
    if (entered.empty()) entered.resize(static_cast<std::size_t>(workers.count), false);
    const auto index = static_cast<std::size_t>(worker - workers.first);
    const bool has = entered[index];
    entered[index] = true;
    return has;
  }

  void find_waits(int at) {
    const StrandId strand = step(at).strand;
    find_unknown_owners(at);
    for (const int earlier : conflicts_.of_step(at)) need(strand, earlier, false);
    waits_.begin_next();
    add_waits(strand, waits_);
    const int position = conflicts_.position(at) + 1;
    knowledge_.go_on(strand, position);
    if (keeps_[static_cast<std::size_t>(at)]) knowledge_.keep(strand, position);
  }

  void find_last_waits(int member) {
    const StrandId strand = owner_strand(member);
    for (const int earlier : conflicts_.of_member(own(member))) need(strand, earlier, true);
    last_waits_.begin_next();
    add_waits(strand, last_waits_);
  }

  /// `strand` needs to know that a step of another one has completed.
  void need(StrandId strand, int earlier, bool ends) {
    const StrandId other = step(earlier).strand;
    const int position = known_position(earlier, ends);
    if (is_asynchronous(step(earlier).step.kind)) {
      signals_[static_cast<std::size_t>(other)].push_back({position, earlier});
    }
    if (knowledge_.known(strand, other) >= position) return;
    int& number = needed_of_[static_cast<std::size_t>(other)];
    if (number == 0) {
      needed_.push_back({other, 0});
      number = static_cast<int>(needed_.size());
    }
    int& furthest = needed_[static_cast<std::size_t>(number) - 1].position;
    furthest = std::max(furthest, position);
  }

  /// For what is in needed_, which the strand knows then.
  void add_waits(StrandId strand, Lists<Moment>& waits) {
    for (const Moment& moment : needed_) needed_of_[static_cast<std::size_t>(moment.strand)] = 0;
    std::ranges::sort(needed_);
    find_implied();
    for (std::size_t n = 0; n < needed_.size(); ++n) {
      const Moment& moment = needed_[n];
      if (implied_[n] >= moment.position) continue;
      waits.add(moment);
      signals_[static_cast<std::size_t>(moment.strand)].push_back({moment.position, kNone});
      knowledge_.learn(strand, moment);
    }
    needed_.clear();
  }

  /// How far each strand in needed_ is known to be by those who know what the others there know.
  void find_implied() {
    implied_.assign(needed_.size(), 0);
    if (needed_.size() < 2) return;
    for (std::size_t by = 0; by < needed_.size(); ++by) {
      const std::span<const int> known = knowledge_.at(needed_[by]);
      for (std::size_t n = 0; !known.empty() && n < needed_.size(); ++n) {
        if (n == by) continue;
        implied_[n] = std::max(implied_[n], known[knowledge_.component(needed_[n].strand)]);
      }
    }
  }

  /// As every main strand's first step, so that the executor need not announce it.
  void add_arrivals() {
    const Shape& shape = builder_.shape();
    for (const int worker : builder_.part().workers) {
      const bool is_alone = shape.node(shape.node_of_worker(worker)).workers == 1;
      arrived_.push_back(is_alone ? kNone : builder_.add_flag(builder_.main_strand(worker)));
      if (!is_alone) builder_.signal(builder_.main_strand(worker), arrived_.back());
    }
  }

  FlagId arrival_of(int worker) const {
    return arrived_[static_cast<std::size_t>(worker - builder_.part().workers.first)];
  }

  void await_arrivals() {
    const Shape& shape = builder_.shape();
    for (const int worker : builder_.part().workers) {
      const int node = shape.node_of_worker(worker);
      for (int i = 0; i < shape.node(node).workers; ++i) {
        const int other = shape.first_worker(node) + i;
        if (other == worker) continue;
        builder_.wait(builder_.main_strand(worker), arrival_of(other), 1);
      }
    }
  }

  void number_signals() {
    for (const auto& signals : signals_) {
      signal_positions_.begin_next();
      for (std::size_t i = 0; i < signals.size(); ++i) {
        const bool is_new = i == 0 || signals[i].position != signals[i - 1].position;
        if (is_new) signal_positions_.add(signals[i].position);
      }
    }
    next_signal_.assign(signals_.size(), 0);
    emitted_.assign(signals_.size(), 0);
  }

  void emit_all() {
    for (std::size_t at = 0; at < steps_.steps.size(); ++at) emit(at);
    for (std::size_t s = 0; s < signals_.size(); ++s) emit_signals(static_cast<StrandId>(s));
    for (const int member : builder_.members()) {
      emit_waits(owner_strand(member), last_waits_.of(own(member)));
    }
  }

  void emit(std::size_t at) {
    const DataStep& next = steps_.steps[at];
    emit_signals(next.strand);
    for (const int owner : owners_.of(at)) builder_.wait(next.strand, arrival_of(owner), 1);
    emit_waits(next.strand, waits_.of(at));
    builder_.repeat(next.strand, next.step, steps_.destinations(next.step),
                    steps_.sources(next.step));
    ++emitted_[static_cast<std::size_t>(next.strand)];
  }

  void emit_waits(StrandId strand, std::span<const Moment> waits) {
    for (const Moment& wait : waits) {
      const auto other = static_cast<std::size_t>(wait.strand);
      const std::span<const int> positions = signal_positions_.of(other);
      const auto found = std::ranges::lower_bound(positions, wait.position);
      builder_.wait(strand, flags_[other], static_cast<int>(found - positions.begin()) + 1);
    }
  }

  /// The signals that are due before the strand's next data step.
  void emit_signals(StrandId strand) {
    const auto s = static_cast<std::size_t>(strand);
    const std::vector<Signal>& signals = signals_[s];
    std::size_t& next = next_signal_[s];
    while (next < signals.size() && signals[next].position <= emitted_[s]) {
      const int position = signals[next].position;
      announced_.clear();
      for (; next < signals.size() && signals[next].position == position; ++next) {
        if (signals[next].announced == kNone) continue;
        const Step& announced = step(signals[next].announced).step;
        std::ranges::copy(steps_.destinations(announced), std::back_inserter(announced_));
        std::ranges::copy(steps_.sources(announced), std::back_inserter(announced_));
      }
      builder_.signal(strand, flags_[s], announced_);
    }
  }

  ScheduleBuilder builder_;
  const DataSteps& steps_;
  Conflicts conflicts_;
  Knowledge knowledge_;
  std::vector<Moment> needed_;  // by the step at hand
  std::vector<int> needed_of_;  // per strand: where it is in needed_, from 1 on; 0: nowhere
  std::vector<int> implied_;    // by what is needed
  std::vector<std::vector<Signal>> signals_;  // per strand
  std::vector<bool> keeps_;   // per step: whether what its strand knows behind it is kept
  Lists<Moment> waits_;       // per step
  Lists<Moment> last_waits_;  // per member
  Lists<int> owners_;         // per step: workers whose entry it waits for
  std::vector<std::vector<bool>> entered_;  // per strand: workers that it has waited for
  std::vector<FlagId> flags_;               // per strand
  std::vector<FlagId> arrived_;             // per worker
  Lists<int> signal_positions_;             // per strand
  std::vector<std::size_t> next_signal_;    // per strand
  std::vector<int> emitted_;                // per strand
  std::vector<Span> announced_;             // by the signal at hand
};

}  // namespace

Schedule synchronise(ScheduleBuilder builder, const DataSteps& steps) {
  return Synchroniser(std::move(builder), steps).run();
}

}  // namespace hycoll
