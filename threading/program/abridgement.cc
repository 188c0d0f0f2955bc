#include "threading/program/abridgement.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/without_steps.h"
#include "core/staging/staging.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace {

/// Of the steps that move or combine data of a node those on which programs of other workers
/// depend.
class TellingSteps {
 public:
  /// What such programs have to know of a step. Of each strand the steps are asked for in their
  /// order.
  Kept keeps(const Schedule& frame, int worker, const Step& step,
             std::span<const Span> destinations, std::span<const Span> sources) {
    if (owners_.empty()) learn(frame);
    const bool is_first = writes_staging_first(frame, destinations);
    const bool makes_first = makes_output_first(step, destinations);
    if (touches_others(worker, destinations) || touches_others(worker, sources)) return Kept::all;
    return is_first || makes_first ? Kept::destinations : Kept::nothing;
  }

 private:
  void learn(const Schedule& frame) {
    for (const int member : frame.part.members) {
      owners_.push_back(frame.shape.worker_of_member(member));
    }
    first_output_buffer_ = frame.part.members.count;
    owners_.insert(owners_.end(), owners_.begin(), owners_.end());
    is_one_node_ = frame.shape.node_count() == 1;
    has_blocks_ = has_blocks(frame.collective);
    has_pairs_ = has_pairs(frame.collective);
  }

  bool is_of_member(const Span& span) const { return std::cmp_less(span.buffer, owners_.size()); }

  /// Whose staging a buffer lies in (staging_workers()).
  bool writes_staging_first(const Schedule& frame, std::span<const Span> destinations) {
    bool is_first = false;
    for (const Span& span : destinations) {
      if (is_of_member(span)) continue;
      const auto id = static_cast<std::size_t>(span.buffer);
      if (frame.buffers[id].role != BufferRole::staging) continue;
      if (is_written_.size() <= id) is_written_.resize(frame.buffers.size(), false);
      is_first = is_first || !is_written_[id];
      is_written_[id] = true;
    }
    return is_first;
  }

  bool touches_others(int worker, std::span<const Span> spans) const {
    return std::ranges::any_of(spans, [&](const Span& span) {
      return is_of_member(span) && owners_[static_cast<std::size_t>(span.buffer)] != worker;
    });
  }

  /// One instruction that makes outputs, which nobody reads before the call is over, tells of all.
  /// Of a vector's chunks the last are empty first; which blocks are empty nobody knows; the blocks
  /// of pairs are all alike.
  bool makes_output_first(const Step& step, std::span<const Span> destinations) {
    const bool is_final = is_one_node_ || step.kind == StepKind::copy;
    const bool makes_outputs = is_final && !destinations.empty() &&
                               std::ranges::all_of(destinations, [&](const Span& span) {
                                 return span.buffer >= first_output_buffer_ && is_of_member(span);
                               });
    if (!makes_outputs) return false;
    const int chunk = destinations.front().first_chunk;
    const bool is_known =
        has_pairs_ ? first_output_ != INT_MAX : chunk >= first_output_ && !has_blocks_;
    first_output_ = std::min(first_output_, chunk);
    return !is_known;
  }

  std::vector<int> owners_;  // by member's buffer
  int first_output_buffer_ = 0;
  bool is_one_node_ = false;
  bool has_blocks_ = false;
  bool has_pairs_ = false;
  std::vector<bool> is_written_;  // by staging buffer
  int first_output_ = INT_MAX;    // of outputs that are made
};

class Abridgement {
 public:
  Abridgement(const Schedule& schedule, WorkerRange workers)
      : schedule_(schedule), workers_(workers), abridged_(without_steps(schedule)) {}

  Schedule make() && {
    abridged_.strands.reserve(schedule_.strands.size());
    for (const Strand& strand : schedule_.strands) {
      strand_ = &abridged_.strands.emplace_back(Strand{strand.worker, {}});
      if (is_wanted(strand.worker)) {
        copy(strand);
      } else {
        abridge(strand);
      }
    }
    return std::move(abridged_);
  }

 private:
  bool is_wanted(int worker) const {
    const int index = worker - schedule_.part.workers.first;
    return index >= workers_.first && index - workers_.first < workers_.count;
  }

  void copy(const Strand& strand) {
    strand_->steps.reserve(strand.steps.size());
    for (const Step& step : strand.steps) {
      // What is kept of the others does not depend on whose steps are wanted.
      keeps(strand.worker, step);
      add(step, schedule_.dependencies_of(step), step.source_count);
    }
  }

  void abridge(const Strand& strand) {
    const std::vector<Step>& steps = strand.steps;
    const auto end = static_cast<std::size_t>(std::distance(steps.begin(), end_of_waits(steps)));
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const Step& step = steps[s];
      const bool is_awaited_last = s >= end;
      const Kept kept = keeps(strand.worker, step);
      const bool is_kept = kept != Kept::nothing || tells_of_entry(strand, s);
      const bool is_whole = kept == Kept::all || is_awaited_last;
      if (is_awaited_last || is_kept) {
        add(step, {}, is_whole ? step.source_count : std::min(step.source_count, 1));
      }
    }
    strand_->steps.shrink_to_fit();
  }

  /// Whether a strand ends in a wait for somebody's entry says whether its member may run ahead:
  /// its last wait, and what comes behind it, which may have nothing to do in a short vector.
  /// Returns where that begins; the end if another flag step comes behind it.
  static std::vector<Step>::const_iterator end_of_waits(const std::vector<Step>& steps) {
    const auto is_flag_step = [](const Step& step) {
      return step.kind == StepKind::signal || step.kind == StepKind::wait;
    };
    const auto last = std::find_if(steps.rbegin(), steps.rend(), is_flag_step);
    if (last == steps.rend() || last->kind == StepKind::signal) return steps.end();
    return std::prev(last.base());
  }

  Kept keeps(int worker, const Step& step) {
    if (step.kind == StepKind::signal || step.kind == StepKind::wait) return Kept::nothing;
    return telling_.keeps(schedule_, worker, step, schedule_.destinations(step),
                          schedule_.sources(step));
  }

  /// A flag that is raised once, first of all, is not a flag (arrival_flags()); one that is raised
  /// again is.
  static bool tells_of_entry(const Strand& strand, std::size_t s) {
    const Step& first = strand.steps.front();
    if (strand.steps[s].kind != StepKind::signal) return false;
    if (s == 0) return true;
    return first.kind == StepKind::signal && first.flag == strand.steps[s].flag &&
           strand.steps[s].value == 2;
  }

  void add(const Step& step, std::span<const int> dependencies, int source_count) {
    Step& added = strand_->steps.emplace_back(step);
    added.first_span = static_cast<int>(abridged_.spans.size());
    added.source_count = source_count;
    const auto spans =
        std::span(schedule_.spans)
            .subspan(static_cast<std::size_t>(step.first_span),
                     static_cast<std::size_t>(step.destination_count + source_count));
    abridged_.spans.insert(abridged_.spans.end(), spans.begin(), spans.end());
    added.first_dependency = static_cast<int>(abridged_.dependencies.size());
    added.dependency_count = static_cast<int>(dependencies.size());
    abridged_.dependencies.insert(abridged_.dependencies.end(), dependencies.begin(),
                                  dependencies.end());
  }

  const Schedule& schedule_;
  WorkerRange workers_;
  Schedule abridged_;
  Strand* strand_ = nullptr;  // the one at hand
  TellingSteps telling_;
};

/// Watches the steps of a node whose schedule nobody makes whole.
class NodeWatch : public StepWatch {
 public:
  Kept keeps(const Schedule& frame, int worker, const Step& step,
             std::span<const Span> destinations, std::span<const Span> sources) override {
    count_step(frame, step, destinations, sources, needs_);
    return telling_.keeps(frame, worker, step, destinations, sources);
  }

  const ProgramNeeds& needs() const noexcept { return needs_; }

 private:
  ProgramNeeds needs_;  // of the steps, each by itself
  TellingSteps telling_;
};

/// A schedule without its steps.
std::size_t frame_bytes(const Schedule& frame) {
  return sizeof(Schedule) + frame.buffers.size() * sizeof(Buffer) +
         frame.flags.size() * sizeof(Flag) + frame.strands.size() * sizeof(Strand) +
         frame.packed.size() * sizeof(PackedChunks);
}

std::size_t step_bytes(const StrandCounts& strand) {
  return strand.steps * sizeof(Step) + strand.spans * sizeof(Span) +
         strand.asynchronous * sizeof(int);
}

/// Beside the steps of its own workers a process keeps the frame and what is watched.
std::size_t most_bytes(const Schedule& frame, std::span<const StrandCounts> strands,
                       const Processes& processes) {
  std::map<int, std::size_t> own_bytes;  // by process
  std::size_t bytes = frame_bytes(frame);
  for (std::size_t s = 0; s < strands.size(); ++s) {
    const StrandCounts& strand = strands[s];
    bytes +=
        strand.watched_steps * (sizeof(Step) + sizeof(int)) + strand.watched_spans * sizeof(Span);
    own_bytes[processes.of(frame.strands[s].worker)] += step_bytes(strand);
  }
  if (own_bytes.empty()) return bytes;
  return bytes + std::ranges::max(std::views::values(own_bytes));
}

/// The same of a node that is one process.
std::size_t most_bytes(const Schedule& frame, std::span<const StrandCounts> strands) {
  return std::accumulate(
      strands.begin(), strands.end(), frame_bytes(frame),
      [](std::size_t bytes, const StrandCounts& strand) { return bytes + step_bytes(strand); });
}

/// Counts a part whose steps it is shown and whose workers are several processes, with what
/// abridged_for() keeps of the others' steps.
class PartReader final : public StepReader {
 public:
  explicit PartReader(const Processes& processes)
      : StepReader(Dependencies::ignored), processes_(processes) {}

  void read(const Schedule& frame, int strand, const Step& step, std::span<const Span> destinations,
            std::span<const Span> sources, std::span<const int> dependencies) override {
    needs_.read(frame, strand, step, destinations, sources, dependencies);
    const auto at = static_cast<std::size_t>(strand);
    if (watched_.size() <= at) watched_.resize(at + 1);
    watched_[at].read(frame, frame.strands[at].worker, step, destinations, sources);
  }

  PartNeeds found(const Schedule& frame) const {
    std::vector<StrandCounts> strands = needs_.strands();
    for (std::size_t s = 0; s < strands.size(); ++s) watched_[s].count(strands[s]);
    return {.needs = needs_.needs(frame), .most_bytes = most_bytes(frame, strands, processes_)};
  }

 private:
  /// What is kept of a strand for programs of others: at most this, for what other strands tell
  /// already is counted, too.
  class Watched {
   public:
    void read(const Schedule& frame, int worker, const Step& step,
              std::span<const Span> destinations, std::span<const Span> sources) {
      const std::size_t spans = destinations.size() + sources.size();
      const bool is_wait = step.kind == StepKind::wait;
      if (is_wait || step.kind == StepKind::signal) {
        tail_ = is_wait ? Counts{.steps = 1} : Counts{};
        return;
      }
      if (tail_.steps > 0) tail_.add(spans);
      if (telling_.keeps(frame, worker, step, destinations, sources) != Kept::nothing) {
        telling_counts_.add(spans);
      }
    }

    /// With the signals that tell of its member's entry.
    void count(StrandCounts& strand) const {
      strand.watched_steps = telling_counts_.steps + tail_.steps + kEntrySignals;
      strand.watched_spans = telling_counts_.spans + tail_.spans;
    }

   private:
    static constexpr std::size_t kEntrySignals = 2;

    struct Counts {
      std::size_t steps = 0;
      std::size_t spans = 0;
      void add(std::size_t span_count) {
        ++steps;
        spans += span_count;
      }
    };

    TellingSteps telling_;
    Counts telling_counts_;
    Counts tail_;  // from the last wait on, if no signal comes behind it
  };

  const Processes& processes_;
  NeedsReader needs_;
  std::vector<Watched> watched_;  // by strand
};

/// What is found of a part whose steps `show` shows a reader, and whose frame it returns.
template <class Show>
PartNeeds shown_needs(const Show& show, const Processes* processes) {
  if (processes != nullptr) {
    PartReader reader(*processes);
    return reader.found(show(reader));
  }
  NeedsReader reader;
  const Schedule& frame = show(reader);
  return {.needs = reader.needs(frame), .most_bytes = most_bytes(frame, reader.strands())};
}

}  // namespace

Schedule abridged_for(Schedule schedule, WorkerRange workers) {
  if (workers.first == 0 && workers.count >= schedule.part.workers.count) return schedule;
  HYCOLL_ASSERT(schedule.part.nodes.count == 1, "the workers are those of one node");
  Schedule abridged = Abridgement(schedule, workers).make();
  abridged.spans.shrink_to_fit();
  abridged.dependencies.shrink_to_fit();
  return abridged;
}

std::optional<AbridgedPart> abridged_staging(const StepReplay& direct, const Processes& processes,
                                             WorkerRange workers) {
  NodeWatch watch;
  auto staged =
      staged_for(direct, processes, {.first = workers.first, .count = workers.count}, watch);
  if (!staged) return {};
  const NodeCounts& counts = staged->made.counts;
  AbridgedPart part{.schedule = std::move(staged->made.schedule),
                    .crosses_processes = staged->crosses_processes};
  part.needs = needs_of(part.schedule);
  part.needs.add(watch.needs());
  part.needs.signals = counts.most_signals;
  part.needs.has_natives_that_must_not_block = !natives_may_block(part.schedule, counts.strands);
  part.most_bytes = most_bytes(part.schedule, counts.strands, processes);
  for (const StrandCounts& strand : counts.strands) {
    part.step_count += strand.steps;
    part.has_natives = part.has_natives || strand.natives > 0;
  }
  return part;
}

void PartNeeds::add(const PartNeeds& other) {
  needs.add(other.needs);
  most_bytes = std::max(most_bytes, other.most_bytes);
}

PartNeeds part_needs(const StepReplay& part, const Processes* processes) {
  return shown_needs(part, processes);
}

PartNeeds part_needs(const Schedule& part, const Processes* processes) {
  const auto show = [&](StepReader& reader) -> const Schedule& {
    show_steps(part, reader);
    return part;
  };
  return shown_needs(show, processes);
}

}  // namespace hycoll
