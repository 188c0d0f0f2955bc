#include "core/staging/staging_places.h"

#include <algorithm>
#include <span>

#include "core/base/at.h"
#include "core/base/errors.h"

namespace hycoll {
StagingPlaces::StagingPlaces(const ValueFlow& flow, ScheduleBuilder& builder)
    : flow_(flow),
      of_computed_(flow.computed().size(), kNone),
      is_rewritten_(builder.schedule().buffers.size(), true) {
  const std::vector<StagedValue> values = computed_values();
  auto next = values.begin();
  int member = builder.members().first;
  const int member_end = member + builder.members().count;
  for (const int worker : builder.part().workers) {
    if (member < member_end && builder.shape().worker_of_member(member) == worker) {
      place_inputs(builder, member++);
    }
    while (next != values.end() && next->worker == worker) {
      next = place_run(builder, next, values.end());
    }
  }
  first_run_.push_back(static_cast<int>(inputs_.size()));
  HYCOLL_ASSERT(member == member_end && next == values.end(), "members are in workers' order");
}

BufferId StagingPlaces::of(int value) const {
  if (!flow_.is_input(value)) return of_computed_[at(value - flow_.input_count())];
  return find(inputs_, value);
}

BufferId StagingPlaces::of_input(BufferId input, int value) const {
  const int first = first_run_[at(input)];
  return find(std::span(inputs_).subspan(at(first), at(first_run_[at(input) + 1] - first)), value);
}

BufferId StagingPlaces::find(std::span<const InputRun> runs, int value) {
  const auto behind = std::ranges::upper_bound(runs, value, {}, &InputRun::first_value);
  if (behind == runs.begin()) return kNone;
  const InputRun& run = *(behind - 1);
  return value - run.first_value < run.count ? run.buffer : kNone;
}

BufferId StagingPlaces::add_staging(ScheduleBuilder& builder, ChunkRange chunks) {
  const BufferId buffer = builder.add_staging(builder.nodes().first, chunks);
  is_rewritten_.resize(at(buffer) + 1, false);
  return buffer;
}

void StagingPlaces::place_inputs(ScheduleBuilder& builder, int member) {
  first_run_.push_back(static_cast<int>(inputs_.size()));
  const InputCells cells(builder.schedule(), builder.input(member));
  const int first_value = flow_.first_input_value(builder.input(member));
  const auto is_staged = [&](int cell) { return flow_.is_input_staged(first_value + cell); };
  for (int cell = 0; cell < cells.count();) {
    if (!is_staged(cell)) {
      ++cell;
      continue;
    }
    int count = 1;
    while (cells.continue_at(cell + count) && is_staged(cell + count)) ++count;
    inputs_.push_back({.first_value = first_value + cell,
                       .count = count,
                       .buffer = add_staging(builder, {cells.chunk(cell), count})});
    cell += count;
  }
}

StagingPlaces::Values StagingPlaces::place_run(ScheduleBuilder& builder, Values begin, Values end) {
  Values last = begin;
  bool is_rewritten = false;
  while (last + 1 != end && (last + 1)->is_beside(*last)) {
    is_rewritten = is_rewritten || (last + 1)->chunk == last->chunk;
    ++last;
  }
  const BufferId buffer = add_staging(builder, {begin->chunk, last->chunk - begin->chunk + 1});
  is_rewritten_[at(buffer)] = is_rewritten;
  for (; begin <= last; ++begin) of_computed_[at(begin->value - flow_.input_count())] = buffer;
  return begin;
}

std::vector<StagingPlaces::StagedValue> StagingPlaces::computed_values() const {
  const std::span<const ComputedValue> computed = flow_.computed();
  std::vector<StagedValue> values;
  values.reserve(at(static_cast<int>(std::ranges::count_if(computed, &ComputedValue::is_staged))));
  for (std::size_t v = 0; v < computed.size(); ++v) {
    if (!computed[v].is_staged) continue;
    values.push_back({.worker = computed[v].worker,
                      .home = computed[v].home,
                      .layer = 0,
                      .chunk = computed[v].chunk,
                      .value = flow_.input_count() + static_cast<int>(v)});
  }
  // With their places, and in the order of their making.
  std::ranges::sort(values);
  for (std::size_t v = 1; v < values.size(); ++v) {
    if (!values[v].has_place_of(values[v - 1])) continue;
    const bool has_further_places = flow_.computed(values[v - 1].value).place_count > 1;
    values[v].layer = values[v - 1].layer + (has_further_places ? 1 : 0);
  }
  std::ranges::sort(values);
  return values;
}

}  // namespace hycoll
