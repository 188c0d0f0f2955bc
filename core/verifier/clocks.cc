#include "core/verifier/clocks.h"

#include <algorithm>

namespace hycoll::verifier {

Clocks::Clocks(const Index& index) : index_(index) {
  index_strands();
  index_completions();
  index_releases();
}

void Clocks::index_strands() {
  const Schedule& schedule = index_.schedule;
  first_strand_.assign(static_cast<std::size_t>(schedule.shape.worker_count()), -1);
  width_.assign(static_cast<std::size_t>(schedule.shape.node_count()), 0);
  for (std::size_t strand = 0; strand < schedule.strands.size(); ++strand) {
    int& first = first_strand_[static_cast<std::size_t>(schedule.strands[strand].worker)];
    if (first < 0) first = static_cast<int>(strand);
    component_.push_back(width_[static_cast<std::size_t>(index_.strand_node[strand])]++);
  }
  int offset = 0;
  for (const int node : index_.strand_node) {
    clock_offset_.push_back(offset);
    offset += width_[static_cast<std::size_t>(node)];
  }
  strand_clocks_.assign(static_cast<std::size_t>(offset), 0);
  worker_clocks_.assign(static_cast<std::size_t>(offset), 0);
}

void Clocks::index_completions() {
  const Schedule& schedule = index_.schedule;
  completion_.resize(static_cast<std::size_t>(index_.step_count()));
  for (std::size_t s = 0; s < schedule.strands.size(); ++s) {
    const int strand = static_cast<int>(s);
    int at = 0;
    for (const Step& step : schedule.strands[s].steps) {
      const int id = index_.number(strand, at);
      completion_[static_cast<std::size_t>(id)] =
          is_asynchronous(step.kind) ? end_position(strand) : complete_position(at);
      for (const int dependency : schedule.dependencies_of(step)) {
        int& known = completion_[static_cast<std::size_t>(index_.number(strand, dependency))];
        known = std::min(known, issue_position(at));
      }
      ++at;
    }
  }
}

void Clocks::index_releases() {
  release_offset_.assign(static_cast<std::size_t>(index_.step_count()), -1);
  int offset = 0;
  const auto add_release = [&](int id) {
    int& release = release_offset_[static_cast<std::size_t>(id)];
    if (release >= 0) return;
    release = offset;
    const int strand = index_.place[static_cast<std::size_t>(id)].strand;
    offset += static_cast<int>(of_strand(strand).size());
  };
  for (const int signal : index_.signal_step) add_release(signal);
  for (const int writer : index_.awaited_writer) {
    if (writer >= 0) add_release(writer);
  }
  released_.assign(static_cast<std::size_t>(offset), 0);
}

int Clocks::end_position(int strand) const {
  return issue_position(index_.number(strand + 1, 0) - index_.number(strand, 0));
}

std::span<const int> Clocks::of(const std::vector<int>& clocks, int strand) const {
  const int node = index_.strand_node[static_cast<std::size_t>(strand)];
  return std::span(clocks).subspan(
      static_cast<std::size_t>(clock_offset_[static_cast<std::size_t>(strand)]),
      static_cast<std::size_t>(width_[static_cast<std::size_t>(node)]));
}

std::span<int> Clocks::of(std::vector<int>& clocks, int strand) {
  const int node = index_.strand_node[static_cast<std::size_t>(strand)];
  return std::span(clocks).subspan(
      static_cast<std::size_t>(clock_offset_[static_cast<std::size_t>(strand)]),
      static_cast<std::size_t>(width_[static_cast<std::size_t>(node)]));
}

std::span<int> Clocks::released(int id) {
  const int strand = index_.place[static_cast<std::size_t>(id)].strand;
  return std::span(released_).subspan(
      static_cast<std::size_t>(release_offset_[static_cast<std::size_t>(id)]),
      of_strand(strand).size());
}

void Clocks::start_run() {
  const int strand_count = static_cast<int>(index_.schedule.strands.size());
  if (base_.empty()) {
    base_.assign(static_cast<std::size_t>(strand_count), 0);
  } else {
    for (int s = 0; s < strand_count; ++s) base_[static_cast<std::size_t>(s)] += end_position(s);
  }
  // A worker starts all of its strands at once, so each knows of the others' start.
  for (int s = 0; s < strand_count; ++s) {
    const int worker = index_.schedule.strands[static_cast<std::size_t>(s)].worker;
    of(worker_clocks_, first_strand(worker))[static_cast<std::size_t>(component(s))] = start(s);
  }
  for (int s = 0; s < strand_count; ++s) {
    const int worker = index_.schedule.strands[static_cast<std::size_t>(s)].worker;
    std::ranges::copy(of_worker(worker), of(strand_clocks_, s).begin());
  }
}

void Clocks::end_run() {
  const int strand_count = static_cast<int>(index_.schedule.strands.size());
  for (int s = 0; s < strand_count; ++s) {
    const std::span<int> ended = of(strand_clocks_, s);
    ended[static_cast<std::size_t>(component(s))] =
        base_[static_cast<std::size_t>(s)] + end_position(s);
    const int worker = index_.schedule.strands[static_cast<std::size_t>(s)].worker;
    const std::span<int> known = of(worker_clocks_, first_strand(worker));
    for (std::size_t i = 0; i < known.size(); ++i) known[i] = std::max(known[i], ended[i]);
  }
}

void Clocks::issue(int id) {
  const StepPlace& at = index_.place[static_cast<std::size_t>(id)];
  const Step& step = index_.step(id);
  if (step.kind == StepKind::wait) join(at.strand, index_.awaited_signal(step));
  of(strand_clocks_, at.strand)[static_cast<std::size_t>(component(at.strand))] =
      base_[static_cast<std::size_t>(at.strand)] + issue_position(at.step);
}

void Clocks::complete(int id) {
  const StepPlace& at = index_.place[static_cast<std::size_t>(id)];
  const Step& step = index_.step(id);
  for (const Span& source : index_.schedule.sources(step)) {
    if (index_.is_awaited(source)) join_lines(at.strand, source);
  }
  const std::span<int> clock = of(strand_clocks_, at.strand);
  if (release_offset_[static_cast<std::size_t>(id)] >= 0) {
    std::ranges::copy(clock, released(id).begin());
  }
  if (!is_asynchronous(step.kind)) {
    clock[static_cast<std::size_t>(component(at.strand))] =
        base_[static_cast<std::size_t>(at.strand)] + complete_position(at.step);
  }
}

void Clocks::join_lines(int strand, const Span& lines) {
  const int first = index_.cell(lines);
  int joined = -1;
  for (int cell = first; cell < first + lines.chunk_count; ++cell) {
    const int writer = index_.awaited_writer[static_cast<std::size_t>(cell)];
    if (writer == joined) continue;
    joined = writer;
    join(strand, writer);
    // The writer itself is known to have completed only if all that it wrote was read.
    const Step& write = index_.step(writer);
    const Span& written = index_.schedule.destinations(write).front();
    if (write.destination_count > 1 || written.first_chunk < lines.first_chunk ||
        written.first_chunk + written.chunk_count > lines.first_chunk + lines.chunk_count) {
      continue;
    }
    const int writing_strand = index_.place[static_cast<std::size_t>(writer)].strand;
    int& known = of(strand_clocks_, strand)[static_cast<std::size_t>(component(writing_strand))];
    known = std::max(known, completion(writer));
  }
}

void Clocks::join(int strand, int released_id) {
  const std::span<int> clock = of(strand_clocks_, strand);
  const std::span<const int> other = released(released_id);
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

}  // namespace hycoll::verifier
