#include "core/staging/synchroniser.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/schedule/pairs.h"

namespace hycoll {
namespace {

constexpr int kNever = INT_MAX;

}  // namespace

Synchroniser::Synchroniser(ScheduleBuilder builder, const std::vector<bool>& is_rewritten,
                           NumberRange workers, StepWatch* watch)
    : builder_(std::move(builder)),
      watch_(watch),
      has_pairs_(has_pairs(builder_.schedule().collective)),
      knowledge_(builder_.strand_count()),
      states_(at(builder_.strand_count())),
      first_scratch_(static_cast<int>(builder_.schedule().buffers.size())),
      needed_of_(states_.size(), 0) {
  HYCOLL_ASSERT(builder_.nodes().count == 1, "the flags are those of one node");
  counts_.strands.resize(states_.size());
  for (StrandId s = 0; std::cmp_less(s, states_.size()); ++s) {
    state(s).is_wanted = watch_ == nullptr || workers.holds(builder_.worker_of(s));
  }
  place_cells(is_rewritten);
}

/// Memory that only one strand touches needs no cells, nor do lines and streams, whose readers wait
/// by reading.
void Synchroniser::place_cells(const std::vector<bool>& is_rewritten) {
  const Shape& shape = builder_.shape();
  const NumberRange workers = builder_.part().workers;
  std::vector<int> strands_of_worker(at(workers.count), 0);
  for (StrandId s = 0; s < builder_.strand_count(); ++s) {
    ++strands_of_worker[at(builder_.worker_of(s) - workers.first)];
  }
  std::map<int, int> strands_of_process;
  for (const int worker : workers) {
    strands_of_process[shape.process(worker)] += strands_of_worker[at(worker - workers.first)];
  }
  const std::vector<Buffer>& buffers = builder_.schedule().buffers;
  places_.resize(buffers.size());
  int cell_count = 0;
  int read_count = 0;
  const auto place = [&](std::size_t id, int first, int count, bool remembers_readers) {
    places_[id] = {.first = cell_count - first,
                   .first_read = read_count - first,
                   .is_tracked = true,
                   .remembers_readers = remembers_readers};
    cell_count += count;
    if (remembers_readers) read_count += count;
  };
  for (const int member : builder_.members()) {
    const int process = shape.process(shape.worker_of_member(member));
    is_shared_.push_back(strands_of_process[process] > 1);
    some_are_shared_ = some_are_shared_ || is_shared_.back();
    if (!is_shared_.back()) continue;
    const auto input = at(builder_.input(member));
    const auto output = at(builder_.output(member));
    if (has_pairs_) {
      place(input, 0, buffers[input].chunk_count, true);
      place(output, 0, buffers[output].chunk_count, true);
      continue;
    }
    // Over one another, in case that they are the same memory.
    const bool has_input = buffers[input].chunk_count > 0;
    const bool has_output = buffers[output].chunk_count > 0;
    const Buffer& one = has_input ? buffers[input] : buffers[output];
    const Buffer& other = has_output ? buffers[output] : buffers[input];
    const int first = std::min(one.first_chunk, other.first_chunk);
    const int end =
        std::max(one.first_chunk + one.chunk_count, other.first_chunk + other.chunk_count);
    place(input, first, end - first, true);
    places_[output] = places_[input];
  }
  for (std::size_t id = 0; id < buffers.size(); ++id) {
    const Buffer& buffer = buffers[id];
    // A shared place is used by one strand.
    const bool may_be_touched = buffer.role == BufferRole::scratch && buffer.shares_with < 0;
    const bool is_touched_by_several =
        may_be_touched && strands_of_worker[at(buffer.owner - workers.first)] > 1;
    if (buffer.role == BufferRole::staging) {
      place(id, buffer.first_chunk, buffer.chunk_count, is_rewritten[id]);
    } else if (is_touched_by_several) {
      place(id, buffer.first_chunk, buffer.chunk_count, true);
    }
  }
  writers_.resize(at(cell_count));
  first_readings_.assign(at(read_count), kNone);
}

int Synchroniser::add(StrandId strand, const Step& step, std::span<const Span> destinations,
                      std::span<const Span> sources) {
  StrandState& own = state(strand);
  int asynchronous = kNone;
  if (is_asynchronous(step.kind)) {
    asynchronous = static_cast<int>(asynchronous_.size());
    asynchronous_.push_back({.strand = strand, .step = own.length, .known_at = kNever});
  }
  find_conflicts({strand, asynchronous == kNone ? own.length : ~asynchronous}, destinations,
                 sources);
  new_owners_.clear();
  if (some_are_shared_) {
    find_unknown_owners(strand, sources);
    find_unknown_owners(strand, destinations);
  }
  for (const Earlier& earlier : earlier_) need(strand, earlier, false);
  add_waits(strand);
  note(strand, step, destinations, sources);
  ++own.length;
  if (touches_remembered_) knowledge_.keep({strand, own.length});
  return asynchronous;
}

void Synchroniser::complete(int asynchronous) {
  Asynchronous& step = asynchronous_[at(asynchronous)];
  if (step.known_at != kNever) return;
  step.known_at = state(step.strand).length;
  knowledge_.keep({step.strand, step.known_at});
}

BufferId Synchroniser::add_scratch(StrandId strand, ChunkRange chunks) {
  scratch_strands_.push_back(strand);
  places_.emplace_back();
  return builder_.add_scratch(builder_.worker_of(strand), chunks);
}

void Synchroniser::conflict_with(const Earlier& earlier, StrandId strand) {
  if (earlier.strand == kNone || earlier.strand == strand) return;
  // Neighbouring chunks most often have been written together.
  if (earlier_.empty() || earlier_.back() != earlier) earlier_.push_back(earlier);
}

template <class Visit>
void Synchroniser::for_each_reader(int cell, const Visit& visit) const {
  for (int reading = first_readings_[at(cell)]; reading != kNone;) {
    const Reading& here = readings_[at(reading)];
    visit(here.step);
    reading = here.next;
  }
}

int Synchroniser::place_of(const Span& span) const {
  if (!has_pairs_) return span.first_chunk;
  const Schedule& schedule = builder_.schedule();
  return schedule.buffer_of(span).first_chunk + cell_in(schedule, span);
}

void Synchroniser::find_conflicts(const Earlier& self, std::span<const Span> destinations,
                                  std::span<const Span> sources) {
  earlier_.clear();
  touches_remembered_ = false;
  for (const Span& span : sources) {
    const Cells& cells = places_[at(span.buffer)];
    if (!cells.is_tracked) continue;
    touches_remembered_ = touches_remembered_ || cells.remembers_readers;
    const int begin = place_of(span);
    for (int place = begin; place < begin + span.chunk_count; ++place) {
      conflict_with(writers_[at(cells.first + place)], self.strand);
      if (!cells.remembers_readers) continue;
      int& first = first_readings_[at(cells.first_read + place)];
      readings_.push_back({self, first});
      first = static_cast<int>(readings_.size()) - 1;
    }
  }
  for (const Span& span : destinations) {
    const Cells& cells = places_[at(span.buffer)];
    if (!cells.is_tracked) continue;
    touches_remembered_ = true;
    const int begin = place_of(span);
    for (int place = begin; place < begin + span.chunk_count; ++place) {
      conflict_with(std::exchange(writers_[at(cells.first + place)], self), self.strand);
      if (!cells.remembers_readers) continue;
      const int cell = cells.first_read + place;
      for_each_reader(cell, [&](const Earlier& reader) { conflict_with(reader, self.strand); });
      first_readings_[at(cell)] = kNone;
    }
  }
}

/// The others' workers whose members' buffers a step touches, unless its strand knows already that
/// they have entered.
void Synchroniser::find_unknown_owners(StrandId strand, std::span<const Span> spans) {
  const int own_worker = builder_.worker_of(strand);
  for (const Span& span : spans) {
    if (span.buffer >= 2 * builder_.members().count) continue;
    const int member = builder_.schedule().buffer_of(span).owner;
    const int worker = builder_.shape().worker_of_member(member);
    if (worker == own_worker || knowledge_.knows(strand, {owner_strand(member), 1})) continue;
    std::vector<bool>& entered = state(strand).entered;
    const NumberRange workers = builder_.part().workers;
    if (entered.empty()) entered.resize(at(workers.count), false);
    const auto index = at(worker - workers.first);
    if (!entered[index]) new_owners_.push_back(worker);
    entered[index] = true;
  }
}

/// `strand` needs to know that a step of another one has completed; at its end, if that is the
/// latest moment.
void Synchroniser::need(StrandId strand, const Earlier& earlier, bool ends) {
  int position = earlier.step + 1;
  if (earlier.step < 0) {
    const Asynchronous& step = asynchronous_[at(~earlier.step)];
    const int length = state(earlier.strand).length;
    position = ends ? std::min(step.known_at, length) : step.known_at;
    HYCOLL_ASSERT(position <= length, "a step on which others depend completes before them");
    state(earlier.strand).announced.push_back({position, ~earlier.step});
  }
  if (knowledge_.knows(strand, {earlier.strand, position})) return;
  int& number = needed_of_[at(earlier.strand)];
  if (number == 0) {
    needed_.push_back({earlier.strand, 0});
    number = static_cast<int>(needed_.size());
  }
  int& furthest = needed_[at(number) - 1].position;
  furthest = std::max(furthest, position);
}

/// For what is in needed_, which the strand knows then.
void Synchroniser::add_waits(StrandId strand) {
  new_waits_.clear();
  if (needed_.empty()) return;
  for (const StrandMoment& moment : needed_) needed_of_[at(moment.strand)] = 0;
  if (needed_.size() > 1) leave_out_implied();
  for (const StrandMoment& moment : needed_) {
    new_waits_.push_back(moment);
    set_awaited(moment.strand, moment.position);
    knowledge_.learn(strand, state(strand).length, moment);
  }
  needed_.clear();
}

/// From needed_ what is known by those who know what the others there know; sorts the rest.
void Synchroniser::leave_out_implied() {
  if (!std::ranges::is_sorted(needed_)) std::ranges::sort(needed_);
  implied_.assign(needed_.size(), 0);
  for (std::size_t by = 0; by < needed_.size(); ++by) {
    const std::span<const int> known = knowledge_.of(needed_[by]);
    for (std::size_t n = 0; !known.empty() && n < needed_.size(); ++n) {
      if (n == by) continue;
      implied_[n] = std::max(implied_[n], known[at(needed_[n].strand)]);
    }
  }
  std::size_t left = 0;
  for (std::size_t n = 0; n < needed_.size(); ++n) {
    if (implied_[n] < needed_[n].position) needed_[left++] = needed_[n];
  }
  needed_.resize(left);
}

void Synchroniser::set_awaited(StrandId strand, int position) {
  std::vector<std::uint64_t>& awaited = state(strand).awaited;
  const auto word = at(position / kBits);
  if (awaited.size() <= word) awaited.resize(word + 1, 0);
  awaited[word] |= std::uint64_t{1} << (position % kBits);
}

/// How often the strand has raised its flag when it has come so far.
int Synchroniser::signals_until(StrandId strand, int position) const {
  const std::vector<std::uint64_t>& awaited = states_[at(strand)].awaited;
  int count = 0;
  for (int word = 0; word < position / kBits; ++word) count += std::popcount(awaited[at(word)]);
  const int bits = position % kBits;
  return count + std::popcount(awaited[at(position / kBits)] << (kBits - 1 - bits));
}

void Synchroniser::note(StrandId strand, const Step& step, std::span<const Span> destinations,
                        std::span<const Span> sources) {
  StrandCounts& counts = counts_.strands[at(strand)];
  counts.steps += 1 + new_waits_.size() + new_owners_.size();
  counts.spans += destinations.size() + sources.size();
  if (is_asynchronous(step.kind)) ++counts.asynchronous;
  if (step.kind == StepKind::native) ++counts.natives;
  const Kept kept = watch_ == nullptr
                        ? Kept::nothing
                        : watch_->keeps(builder_.schedule(), builder_.worker_of(strand), step,
                                        destinations, sources);
  StrandState& own = state(strand);
  if (!is_main(strand) && watch_ != nullptr && (!new_owners_.empty() || !new_waits_.empty())) {
    begin_tail(own);
    ++counts.watched_steps;
  }
  const bool is_in_tail = own.tail != kNone;
  const std::span<const Span> kept_sources =
      kept == Kept::all || is_in_tail ? sources
                                      : sources.first(std::min<std::size_t>(sources.size(), 1));
  if (kept != Kept::nothing || is_in_tail) {
    ++counts.watched_steps;
    counts.watched_spans += destinations.size() + kept_sources.size();
  }
  if (own.is_wanted) {
    record(strand, step, destinations, sources, kept != Kept::nothing);
  } else if (kept != Kept::nothing || is_in_tail) {
    record(strand, step, destinations, kept_sources, kept != Kept::nothing);
  }
}

/// A strand that ends in waits for others' entry may run ahead, if what is behind them has nothing
/// to do. Main strands end by waiting for everybody.
void Synchroniser::begin_tail(StrandState& strand) {
  if (strand.tail != kNone && !strand.is_wanted) {
    const auto behind = std::remove_if(strand.records.begin() + strand.tail, strand.records.end(),
                                       [](const Record& record) { return !record.is_watched; });
    strand.records.erase(behind, strand.records.end());
  }
  strand.tail = new_waits_.empty() ? static_cast<int>(strand.records.size()) : kNone;
}

void Synchroniser::record(StrandId strand, const Step& step, std::span<const Span> destinations,
                          std::span<const Span> sources, bool is_watched) {
  state(strand).records.push_back({.step = step,
                                   .position = state(strand).length,
                                   .first_wait = static_cast<int>(waits_.size()),
                                   .wait_count = static_cast<int>(new_waits_.size()),
                                   .first_owner = static_cast<int>(owners_.size()),
                                   .owner_count = static_cast<int>(new_owners_.size()),
                                   .is_watched = is_watched});
  Step& recorded = state(strand).records.back().step;
  recorded.first_span = static_cast<int>(spans_.size());
  recorded.destination_count = static_cast<int>(destinations.size());
  recorded.source_count = static_cast<int>(sources.size());
  spans_.insert(spans_.end(), destinations.begin(), destinations.end());
  spans_.insert(spans_.end(), sources.begin(), sources.end());
  // Of the others' waits only those for somebody's entry are asked for.
  owners_.insert(owners_.end(), new_owners_.begin(), new_owners_.end());
  if (state(strand).is_wanted) {
    waits_.insert(waits_.end(), new_waits_.begin(), new_waits_.end());
  }
}

/// The owner leaves when all its strands have ended, and the others are done with its buffers.
void Synchroniser::find_last_waits(int member) {
  last_waits_.emplace_back();
  if (!is_shared_[at(member - builder_.members().first)]) return;
  const StrandId strand = owner_strand(member);
  const int owner = builder_.worker_of(strand);
  const auto conflict = [&](const Earlier& earlier) {
    if (earlier.strand == kNone || builder_.worker_of(earlier.strand) == owner) return;
    need(strand, earlier, true);
  };
  for (const BufferId buffer : {builder_.input(member), builder_.output(member)}) {
    const Buffer& whole = builder_.schedule().buffers[at(buffer)];
    const Cells& cells = places_[at(buffer)];
    for (int place = whole.first_chunk; place < whole.first_chunk + whole.chunk_count; ++place) {
      conflict(writers_[at(cells.first + place)]);
      for_each_reader(cells.first_read + place, conflict);
    }
  }
  add_waits(strand);
  last_waits_.back() = new_waits_;
  counts_.strands[at(strand)].steps += new_waits_.size();
}

}  // namespace hycoll
