// How what the synchroniser has found becomes a schedule: the flags, and the steps with signals and
// waits between them.

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/staging/synchroniser.h"

namespace hycoll {

WatchedSchedule Synchroniser::finish() && {
  for (StrandId s = 0; some_are_shared_ && std::cmp_less(s, states_.size()); ++s) {
    knowledge_.keep({s, state(s).length});
  }
  for (const int member : builder_.members()) find_last_waits(member);
  writers_ = {};
  readings_ = {};
  knowledge_ = StrandKnowledge(0);
  add_arrivals();
  add_flags();
  for (StrandId s = 0; std::cmp_less(s, states_.size()); ++s) {
    if (state(s).is_wanted) {
      emit(s);
    } else {
      emit_tail(s);
    }
    state(s).records = {};
  }
  await_arrivals();
  Schedule schedule = std::move(builder_).finish();
  number_scratch(schedule);
  return {.schedule = std::move(schedule), .counts = std::move(counts_)};
}

/// As every main strand's first step, so that the executor need not announce it; where a node has
/// one worker, nobody waits for it.
void Synchroniser::add_arrivals() {
  const NumberRange workers = builder_.part().workers;
  if (workers.count == 1) return;
  for (const int worker : workers) {
    const StrandId strand = builder_.main_strand(worker);
    arrived_.push_back(builder_.add_flag(strand));
    builder_.signal(strand, arrived_.back());
    StrandCounts& counts = counts_.strands[at(strand)];
    counts.steps += at(workers.count);
    counts.watched_steps += 2;
  }
}

void Synchroniser::add_flags() {
  for (StrandId s = 0; std::cmp_less(s, states_.size()); ++s) {
    StrandState& strand = state(s);
    std::ranges::sort(strand.announced);
    const auto repeated = std::ranges::unique(strand.announced);
    strand.announced.erase(repeated.begin(), repeated.end());
    for (const Announcement& announcement : strand.announced) {
      set_awaited(s, announcement.position);
    }
    const int signals =
        std::accumulate(strand.awaited.begin(), strand.awaited.end(), 0,
                        [](int count, std::uint64_t bits) { return count + std::popcount(bits); });
    counts_.strands[at(s)].steps += at(signals);
    counts_.most_signals = std::max({counts_.most_signals, signals, arrived_.empty() ? 0 : 1});
    flags_.push_back(signals == 0 ? kNone : builder_.add_flag(s));
  }
}

/// By strand: in which order strands went on shall not be seen.
void Synchroniser::number_scratch(Schedule& schedule) const {
  std::vector<std::size_t> order(scratch_strands_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return scratch_strands_[i]; });
  std::vector<int> numbers(order.size());
  std::vector<Buffer> buffers;
  for (const std::size_t i : order) {
    numbers[i] = first_scratch_ + static_cast<int>(buffers.size());
    buffers.push_back(schedule.buffers[at(first_scratch_) + i]);
  }
  std::ranges::copy(buffers, schedule.buffers.begin() + first_scratch_);
  for (Span& span : schedule.spans) {
    if (span.buffer >= first_scratch_) span.buffer = numbers[at(span.buffer - first_scratch_)];
  }
}

void Synchroniser::emit(StrandId strand) {
  const StrandState& own = state(strand);
  int next_signal = 0;
  std::size_t next_announced = 0;
  for (const Record& record : own.records) {
    emit_signals(strand, next_signal, record.position + 1, next_announced);
    for (int o = 0; o < record.owner_count; ++o) {
      builder_.wait(strand, arrival_of(owners_[at(record.first_owner + o)]), 1);
    }
    emit_waits(strand, std::span(waits_).subspan(at(record.first_wait), at(record.wait_count)));
    emit_step(strand, record);
  }
  emit_signals(strand, next_signal, own.length + 1, next_announced);
  for (const int member : builder_.members()) {
    if (owner_strand(member) != strand) continue;
    emit_waits(strand, last_waits_[at(member - builder_.members().first)]);
  }
}

/// Of a strand that is not wanted what is watched, and how it ends: by a wait for somebody's entry
/// only if no signal comes behind that.
void Synchroniser::emit_tail(StrandId strand) {
  const StrandState& own = state(strand);
  const auto tail = own.tail == kNone ? own.records.size() : at(own.tail);
  const bool ends_so =
      tail < own.records.size() &&
      (flags_[at(strand)] == kNone ||
       own.awaited.size() * kBits <= at(own.records[tail].position) ||
       signals_until(strand, own.records[tail].position) ==
           signals_until(strand, static_cast<int>(own.awaited.size()) * kBits - 1));
  for (std::size_t r = 0; r < own.records.size(); ++r) {
    const Record& record = own.records[r];
    if (!record.is_watched && !ends_so) continue;
    if (r == tail && ends_so) {
      builder_.wait(strand, arrival_of(owners_[at(record.first_owner + record.owner_count - 1)]),
                    1);
    }
    emit_step(strand, record);
  }
}

void Synchroniser::emit_step(StrandId strand, const Record& record) {
  const Step& step = record.step;
  const auto spans = std::span(spans_).subspan(at(step.first_span),
                                               at(step.destination_count + step.source_count));
  builder_.repeat(strand, step, spans.first(at(step.destination_count)),
                  spans.subspan(at(step.destination_count)));
}

void Synchroniser::emit_waits(StrandId strand, std::span<const StrandMoment> waits) {
  for (const StrandMoment& wait : waits) {
    builder_.wait(strand, flags_[at(wait.strand)], signals_until(wait.strand, wait.position));
  }
}

/// The signals that are due before the strand's data step number `end`, from `next` on.
void Synchroniser::emit_signals(StrandId strand, int& next, int end, std::size_t& next_announced) {
  const StrandState& own = state(strand);
  const int known = std::min(end, static_cast<int>(own.awaited.size()) * kBits);
  for (; next < known; ++next) {
    const std::uint64_t bits = own.awaited[at(next / kBits)];
    if ((bits >> (next % kBits) & 1) == 0) continue;
    announced_.clear();
    for (; next_announced < own.announced.size() && own.announced[next_announced].position == next;
         ++next_announced) {
      const int asynchronous = own.announced[next_announced].asynchronous;
      const Step& step = own.records[at(asynchronous_[at(asynchronous)].step)].step;
      const auto spans = std::span(spans_).subspan(at(step.first_span),
                                                   at(step.destination_count + step.source_count));
      announced_.insert(announced_.end(), spans.begin(), spans.end());
    }
    builder_.signal(strand, flags_[at(strand)], announced_);
  }
}

void Synchroniser::await_arrivals() {
  const NumberRange workers = builder_.part().workers;
  if (workers.count == 1) return;
  for (const int worker : workers) {
    const StrandId strand = builder_.main_strand(worker);
    const int last = workers.first + workers.count - 1;
    // Of those who are not wanted only how they end is kept.
    const int last_other = worker == last ? last - 1 : last;
    const int first = state(strand).is_wanted ? workers.first : last_other;
    for (int other = first; other <= last_other; ++other) {
      if (other != worker) builder_.wait(strand, arrival_of(other), 1);
    }
  }
}

}  // namespace hycoll
