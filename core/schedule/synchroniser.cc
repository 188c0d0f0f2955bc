#include "core/schedule/synchroniser.h"

#include <algorithm>
#include <map>
#include <set>
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
};

class Synchroniser {
 public:
  Synchroniser(ScheduleBuilder builder, std::span<const DataStep> steps)
      : builder_(std::move(builder)),
        steps_(steps),
        // Input and output over one another, in case that they are the same memory.
        places_(place_cells(builder_.schedule(), Aliasing::in_place, Sets::one)),
        cells_(static_cast<std::size_t>(places_.count)) {
    index_strands();
  }

  Schedule run() {
    for (int at = 0; std::cmp_less(at, steps_.size()); ++at) find_waits(at);
    for (const int member : builder_.members()) find_last_waits(member);
    add_arrivals();
    for (const auto& signals : signals_) {
      flags_.push_back(signals.empty() ? kNone
                                       : builder_.add_flag(static_cast<StrandId>(flags_.size())));
    }
    next_signal_.resize(signals_.size());
    for (std::size_t s = 0; s < signals_.size(); ++s) next_signal_[s] = signals_[s].begin();
    emitted_.assign(signals_.size(), 0);
    for (std::size_t at = 0; at < steps_.size(); ++at) emit(at);
    for (std::size_t s = 0; s < signals_.size(); ++s) emit_signals(static_cast<StrandId>(s));
    for (const int member : builder_.members()) {
      emit_waits(owner_strand(member),
                 last_waits_[static_cast<std::size_t>(member - builder_.members().first)]);
    }
    await_arrivals();
    return std::move(builder_).finish();
  }

 private:
  struct Cell {
    int writer = kNone;  // steps
    std::vector<int> readers = {};
  };
  /// A signal: the asynchronous steps whose completion it announces, and its value.
  struct Signal {
    std::vector<int> announced = {};
  };
  using Signals = std::map<int, Signal>;  // by position

  void index_strands() {
    const int strand_count = builder_.strand_count();
    std::vector<int> width(static_cast<std::size_t>(builder_.nodes().count), 0);
    for (StrandId s = 0; s < strand_count; ++s) {
      node_.push_back(builder_.shape().node_of_worker(builder_.worker_of(s)) -
                      builder_.nodes().first);
      component_.push_back(width[static_cast<std::size_t>(node_.back())]++);
    }
    for (StrandId s = 0; s < strand_count; ++s) {
      clocks_.emplace_back(static_cast<std::size_t>(width[static_cast<std::size_t>(node_of(s))]),
                           0);
    }
    steps_of_.resize(static_cast<std::size_t>(strand_count));
    entered_.resize(static_cast<std::size_t>(strand_count));
    signals_.resize(static_cast<std::size_t>(strand_count));
  }

  int node_of(StrandId strand) const { return node_[static_cast<std::size_t>(strand)]; }
  int& known(StrandId by, StrandId strand) {
    return clocks_[static_cast<std::size_t>(by)]
                  [static_cast<std::size_t>(component_[static_cast<std::size_t>(strand)])];
  }
  const DataStep& step(int at) const { return steps_[static_cast<std::size_t>(at)]; }

  /// The cells of a span; none of lines and streams, whose readers wait by reading.
  std::span<Cell> cells_of(const Span& span) {
    const auto id = static_cast<std::size_t>(span.buffer);
    const Buffer& buffer = builder_.schedule().buffer_of(span);
    if (carries_signals(buffer.role)) return {};
    const int first = places_.first[id] + span.first_chunk - buffer.first_chunk;
    return std::span(cells_).subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(span.chunk_count));
  }

  StrandId owner_strand(int member) const {
    return builder_.main_strand(builder_.shape().worker_of_member(member));
  }

  /// The others' workers whose members' buffers a step touches, unless its strand knows already
  /// that they have entered.
  std::vector<int> unknown_owners(int at) {
    const StrandId strand = step(at).strand;
    std::vector<int> owners;
    for (const auto* spans : {&step(at).sources, &step(at).destinations}) {
      for (const Span& span : *spans) {
        const Buffer& buffer = builder_.schedule().buffer_of(span);
        if (!is_of_member(buffer.role)) continue;
        const StrandId owner = owner_strand(buffer.owner);
        const int worker = builder_.worker_of(owner);
        if (worker == builder_.worker_of(strand) || known(strand, owner) > 0) continue;
        if (!entered_[static_cast<std::size_t>(strand)].insert(worker).second) continue;
        owners.push_back(worker);
      }
    }
    return owners;
  }

  void find_waits(int at) {
    const StrandId strand = step(at).strand;
    owners_.push_back(unknown_owners(at));
    needed_.clear();
    for (const Span& span : step(at).sources) {
      for (Cell& cell : cells_of(span)) {
        need(strand, cell.writer);
        cell.readers.push_back(at);
      }
    }
    for (const Span& span : step(at).destinations) {
      for (Cell& cell : cells_of(span)) {
        need(strand, cell.writer);
        for (const int reader : cell.readers) need(strand, reader);
        cell = {.writer = at};
      }
    }
    auto& own_steps = steps_of_[static_cast<std::size_t>(strand)];
    waits_.push_back(waits_of(strand));
    position_.push_back(static_cast<int>(own_steps.size()));
    own_steps.push_back(at);
    known(strand, strand) = static_cast<int>(own_steps.size());
    snapshots_.push_back(clocks_[static_cast<std::size_t>(strand)]);
  }

  /// The owner of a member's buffers needs to know that the others are done with them. It leaves
  /// when all its strands have ended.
  void find_last_waits(int member) {
    const StrandId strand = owner_strand(member);
    needed_.clear();
    for (const BufferId buffer : {builder_.input(member), builder_.output(member)}) {
      const Buffer& whole = builder_.schedule().buffers[static_cast<std::size_t>(buffer)];
      for (const Cell& cell : cells_of({buffer, whole.first_chunk, whole.chunk_count})) {
        need_at_end(strand, cell.writer);
        for (const int reader : cell.readers) need_at_end(strand, reader);
      }
    }
    last_waits_.push_back(waits_of(strand));
  }

  void need_at_end(StrandId strand, int earlier) {
    if (earlier == kNone) return;
    const StrandId other = step(earlier).strand;
    if (builder_.worker_of(other) == builder_.worker_of(strand)) return;
    need(strand, earlier, static_cast<int>(steps_of_[static_cast<std::size_t>(other)].size()));
  }

  /// `strand` needs to know that a step has completed, which its strand waits for at position
  /// `latest` at the latest.
  void need(StrandId strand, int earlier, int latest = DataStep::kAtEnd) {
    if (earlier == kNone || step(earlier).strand == strand) return;
    const StrandId other = step(earlier).strand;
    const bool is_async = is_asynchronous(step(earlier).step.kind);
    const int position = is_async ? std::min(step(earlier).known_at, latest)
                                  : position_[static_cast<std::size_t>(earlier)] + 1;
    HYCOLL_ASSERT(std::cmp_less_equal(position, steps_of_[static_cast<std::size_t>(other)].size()),
                  "a step on which others depend completes before them");
    if (is_async) {
      auto& announced = signals_[static_cast<std::size_t>(other)][position].announced;
      if (std::ranges::find(announced, earlier) == announced.end()) announced.push_back(earlier);
    }
    if (known(strand, other) >= position && !is_async) return;
    int& furthest = needed_[other];
    furthest = std::max(furthest, position);
  }

  const std::vector<int>& snapshot(const Moment& moment) const {
    const auto& steps = steps_of_[static_cast<std::size_t>(moment.strand)];
    return snapshots_[static_cast<std::size_t>(
        steps[static_cast<std::size_t>(moment.position) - 1])];
  }

  /// For what is in needed_, which the strand knows then.
  std::vector<Moment> waits_of(StrandId strand) {
    std::vector<Moment> waits;
    for (const auto& [other, position] : needed_) {
      if (known(strand, other) >= position) continue;
      const auto component = static_cast<std::size_t>(component_[static_cast<std::size_t>(other)]);
      const bool is_implied = std::ranges::any_of(needed_, [&](const auto& third) {
        return third.first != other && known(strand, third.first) < third.second &&
               snapshot({third.first, third.second})[component] >= position;
      });
      if (!is_implied) waits.push_back({other, position});
    }
    auto& clock = clocks_[static_cast<std::size_t>(strand)];
    for (const Moment& wait : waits) {
      signals_[static_cast<std::size_t>(wait.strand)][wait.position];
      const std::vector<int>& theirs = snapshot(wait);
      for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], theirs[i]);
    }
    return waits;
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

  void emit(std::size_t at) {
    const DataStep& next = steps_[at];
    emit_signals(next.strand);
    for (const int owner : owners_[at]) {
      builder_.wait(next.strand, arrival_of(owner), 1);
    }
    emit_waits(next.strand, waits_[at]);
    builder_.repeat(next.strand, next.step, next.destinations, next.sources);
    ++emitted_[static_cast<std::size_t>(next.strand)];
  }

  void emit_waits(StrandId strand, const std::vector<Moment>& waits) {
    for (const Moment& wait : waits) {
      const Signals& signals = signals_[static_cast<std::size_t>(wait.strand)];
      const auto value = std::distance(signals.begin(), signals.find(wait.position)) + 1;
      builder_.wait(strand, flags_[static_cast<std::size_t>(wait.strand)], static_cast<int>(value));
    }
  }

  /// The signals that are due before the strand's next data step.
  void emit_signals(StrandId strand) {
    const auto s = static_cast<std::size_t>(strand);
    for (; next_signal_[s] != signals_[s].end() && next_signal_[s]->first <= emitted_[s];
         ++next_signal_[s]) {
      std::vector<Span> spans;
      for (const int announced : next_signal_[s]->second.announced) {
        std::ranges::copy(step(announced).destinations, std::back_inserter(spans));
        std::ranges::copy(step(announced).sources, std::back_inserter(spans));
      }
      builder_.signal(strand, flags_[s], spans);
    }
  }

  ScheduleBuilder builder_;
  std::span<const DataStep> steps_;
  Cells places_;
  std::vector<Cell> cells_;
  std::vector<int> node_;                   // per strand, from the first one of the part
  std::vector<int> component_;              // per strand: its place in the clocks of its node
  std::vector<std::vector<int>> clocks_;    // per strand: the positions that it knows to be reached
  std::vector<std::vector<int>> steps_of_;  // per strand, of those that have been seen
  std::vector<Signals> signals_;            // per strand
  std::map<StrandId, int> needed_;          // by the step at hand: positions
  std::vector<int> position_;               // per step, in its strand
  std::vector<std::vector<int>> snapshots_;           // per step: its strand's clock behind it
  std::vector<std::vector<Moment>> waits_;            // per step
  std::vector<std::vector<Moment>> last_waits_;       // per member
  std::vector<std::set<int>> entered_;                // per strand: workers that it has waited for
  std::vector<std::vector<int>> owners_;              // per step: workers whose entry it waits for
  std::vector<FlagId> flags_;                         // per strand
  std::vector<FlagId> arrived_;                       // per worker
  std::vector<Signals::const_iterator> next_signal_;  // per strand
  std::vector<int> emitted_;                          // per strand
};

}  // namespace

Schedule synchronise(ScheduleBuilder builder, std::span<const DataStep> steps) {
  return Synchroniser(std::move(builder), steps).run();
}

}  // namespace hycoll
