#include "core/staging/staging.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/at.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"
#include "core/schedule/pairs.h"
#include "core/schedule/part_checks.h"
#include "core/schedule/walk.h"
#include "core/schedule/without_steps.h"
#include "core/staging/staging_places.h"
#include "core/staging/value_flow.h"

namespace hycoll {
namespace {

constexpr int kNone = -1;

/// Shows each step to a function; a copy that collects, as one copy for each of its sources, for
/// they may be others' buffers or not.
template <class Show>
class Reading : public StepReader {
 public:
  Reading(Dependencies dependencies, Show show)
      : StepReader(dependencies), show_(std::move(show)) {}
  void read(const Schedule& frame, int strand, const Step& step, std::span<const Span> destinations,
            std::span<const Span> sources, std::span<const int> dependencies) override {
    if (!collects(step)) {
      return show_(frame, strand, step, destinations, sources, dependencies);
    }
    Step single = step;
    single.source_count = 1;
    int done = 0;
    for (const Span& source : sources) {
      const Span part = collected_part(destinations.front(), done, source);
      show_(frame, strand, single, std::span(&part, 1), std::span(&source, 1), dependencies);
      done += source.chunk_count;
    }
  }

 private:
  Show show_;
};

/// A builder with what of a schedule is no member's, and the strands.
ScheduleBuilder builder_like(const Schedule& direct, const Shape& shape) {
  ScheduleBuilder builder(direct.collective, direct.algorithm, shape, direct.chunk_count,
                          direct.root, direct.part.nodes);
  builder.repeat_buffers(direct);
  for (std::size_t s = at(builder.strand_count()); s < direct.strands.size(); ++s) {
    builder.add_strand(direct.strands[s].worker);
  }
  return builder;
}

/// The second look at a node's steps: makes the staged ones.
class StagedSteps {
 public:
  StagedSteps(ValueFlow& flow, const StagingPlaces& places, Synchroniser& synchroniser)
      : flow_(flow),
        places_(places),
        synchroniser_(synchroniser),
        builder_(synchroniser.builder()),
        asynchronous_(at(builder_.strand_count())) {}

  /// Phase 1: every owner copies what others read of its input, cut as they read it.
  void copy_in() {
    for (const int member : builder_.members()) {
      const int input = builder_.input(member);
      const InputCells cells(builder_.schedule(), input);
      const StrandId strand = strand_of(member);
      for (int cell = 0; cell < cells.count();) {
        const int first_value = flow_.first_input_value(input) + cell;
        const BufferId staging = places_.of_input(input, first_value);
        int count = 1;
        while (cells.continue_at(cell + count) && !flow_.is_cut(first_value + count) &&
               flow_.is_input_staged(first_value + count) == (staging != kNone)) {
          ++count;
        }
        if (staging != kNone) copy(strand, staging, input, {cells.chunk(cell), count});
        cell += count;
      }
    }
  }

  /// Phases 2 and 3: a step of the direct schedule, in as many parts as its operands need.
  void add(const Schedule& frame, int strand, const Step& step, std::span<const Span> destinations,
           std::span<const Span> sources, std::span<const int> dependencies) {
    std::vector<int>& asynchronous = asynchronous_[at(strand)];
    for (const int dependency : dependencies) {
      const int earlier = asynchronous[at(dependency)];
      if (earlier != kNone) synchroniser_.complete(earlier);
    }
    if (step.kind == StepKind::signal || step.kind == StepKind::wait) return;
    flow_.follow(frame, strand, step, destinations, sources);
    cut(destinations, sources);
    int added = kNone;
    if (is_asynchronous(step.kind) && parts_.size() > 1) {
      added = add_collected(strand, step, sources.front());
    } else {
      for (const Part& part : parts_) added = add_part(strand, step, part);
    }
    if (is_asynchronous(step.kind)) asynchronous.push_back(added);
  }

  /// Phase 4: every owner copies to its output what others have computed, as it becomes available.
  void copy_out() {
    for (const int member : builder_.members()) {
      find_copies(member);
      if (!std::ranges::is_sorted(copies_, {}, &Copy::level)) {
        std::ranges::stable_sort(copies_, {}, &Copy::level);
      }
      const StrandId strand = strand_of(member);
      for (const Copy& next : copies_) {
        copy(strand, builder_.output(member), next.source, next.chunks);
      }
    }
  }

 private:
  /// Where an operand lies, and its first chunk there, whose others follow.
  struct Place {
    int buffer;
    int first_chunk;
  };
  /// The operands of a part of a step in which each lies in one buffer.
  struct Part {
    std::vector<Place> destinations;
    std::vector<Place> sources;
    int chunk_count;
  };
  struct Copy {
    int level;
    int producer;
    int source;
    ChunkRange chunks;
  };

  StrandId strand_of(int member) const {
    return builder_.main_strand(builder_.shape().worker_of_member(member));
  }

  void copy(StrandId strand, BufferId to, BufferId from, ChunkRange chunks) {
    const Span destination = span_of(to, chunks);
    const Span source = span_of(from, chunks);
    synchroniser_.add(strand, {.kind = StepKind::copy}, std::span(&destination, 1),
                      std::span(&source, 1));
  }

  void cut(std::span<const Span> destinations, std::span<const Span> sources) {
    const Span& whole = destinations.empty() ? sources.front() : destinations.front();
    parts_.clear();
    for (int chunk = 0; chunk < whole.chunk_count; ++chunk) {
      find_operands(destinations, sources, chunk);
      if (parts_.empty() || !lie_in(destinations_, parts_.back().destinations) ||
          !lie_in(sources_, parts_.back().sources)) {
        parts_.push_back({destinations_, sources_, 0});
      }
      ++parts_.back().chunk_count;
    }
  }

  /// Whether operands lie in the same buffers.
  static bool lie_in(std::span<const Place> operands, std::span<const Place> others) {
    return std::ranges::equal(operands, others, {}, &Place::buffer, &Place::buffer);
  }

  /// None where nobody needs what the step makes.
  void find_operands(std::span<const Span> destinations, std::span<const Span> sources, int chunk) {
    destinations_.clear();
    sources_.clear();
    for (const Span& span : destinations) {
      if (!flow_.is_member_buffer(span.buffer) || flow_.is_kept(flow_.written(span, chunk))) {
        destinations_.push_back({span.buffer, span.first_chunk + chunk});
      }
    }
    const int produced = flow_.produced();
    const BufferId staging = produced < 0 ? kNone : places_.of(produced + chunk);
    if (staging != kNone) {
      destinations_.push_back({staging, flow_.computed(produced + chunk).chunk});
    }
    if (destinations_.empty() && !destinations.empty()) return;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const bool is_reachable =
          !flow_.is_member_buffer(sources[s].buffer) || flow_.is_read_directly(sources, s, chunk);
      sources_.push_back({is_reachable ? sources[s].buffer : staging_of(sources[s], s, chunk),
                          sources[s].first_chunk + chunk});
    }
  }

  BufferId staging_of(const Span& span, std::size_t number, int chunk) const {
    const HeldValue held = flow_.source(number, chunk);
    return held.kind() == HeldValue::Kind::input
               ? places_.of_input(span.buffer, flow_.value_of(held))
               : places_.of(flow_.value_of(held));
  }

  int add_part(int strand, const Step& step, const Part& part) {
    if (part.destinations.empty() && part.sources.empty()) {
      HYCOLL_ASSERT(!is_asynchronous(step.kind), "what is received is used");
      return kNone;
    }
    spans_.clear();
    for (const std::vector<Place>* const places : {&part.destinations, &part.sources}) {
      for (const auto& [buffer, first_chunk] : *places) {
        HYCOLL_ASSERT(buffer != kNone, "what others read is staged");
        spans_.push_back(span_of(buffer, {first_chunk, part.chunk_count}));
      }
    }
    const std::span<const Span> spans = spans_;
    return synchroniser_.add(strand, step, spans.first(part.destinations.size()),
                             spans.subspan(part.destinations.size()));
  }

  /// A message of what several workers have staged is put together first.
  int add_collected(int strand, const Step& step, const Span& whole) {
    HYCOLL_ASSERT(step.kind == StepKind::send, "what is received lies in one buffer");
    const ChunkRange chunks{whole.first_chunk, whole.chunk_count};
    const BufferId message = synchroniser_.add_scratch(strand, chunks);
    for (const Part& part : parts_) {
      const auto& [buffer, first_chunk] = part.sources.front();
      copy(strand, message, buffer, {first_chunk, part.chunk_count});
    }
    return add_part(
        strand, step,
        {.destinations = {}, .sources = {{message, chunks.first}}, .chunk_count = chunks.count});
  }

  void find_copies(int member) {
    copies_.clear();
    const int output = builder_.output(member);
    const int input = builder_.input(member);
    const int input_count = builder_.input_chunks(member).count;
    const int first_own = flow_.first_input_value(input);
    const Buffer outputs = builder_.schedule().buffers[at(output)];
    for (int cell = 0; cell < outputs.chunk_count; ++cell) {
      const HeldValue held = flow_.result(output, cell);
      if (flow_.is_kept(held)) continue;
      const int chunk = chunk_in(builder_.schedule(), outputs, cell);
      const int value = flow_.value_of(held);
      const bool is_own_input = value >= first_own && value < first_own + input_count;
      const bool is_input = flow_.is_input(value);
      const Copy next{.level = is_input ? -1 : flow_.computed(value).level,
                      .producer = is_input ? -1 : flow_.computed(value).producer,
                      .source = is_own_input ? input : places_.of(value),
                      .chunks = {chunk, 1}};
      const bool continues = !copies_.empty() && copies_.back().producer == next.producer &&
                             copies_.back().source == next.source &&
                             copies_.back().chunks.first + copies_.back().chunks.count == chunk;
      if (continues) {
        ++copies_.back().chunks.count;
      } else {
        copies_.push_back(next);
      }
    }
  }

  ValueFlow& flow_;
  const StagingPlaces& places_;
  Synchroniser& synchroniser_;
  const ScheduleBuilder& builder_;
  std::vector<std::vector<int>> asynchronous_;  // per strand: its asynchronous direct steps
  // Of the step or member at hand.
  std::vector<Place> destinations_;
  std::vector<Place> sources_;
  std::vector<Part> parts_;
  std::vector<Span> spans_;
  std::vector<Copy> copies_;
};

/// Whether a worker touches buffers that it does not reach in this shape.
bool touches_foreign_buffers(const Schedule& schedule, const Shape& shape) {
  return std::ranges::any_of(schedule.strands, [&](const Strand& strand) {
    return std::ranges::any_of(strand.steps, [&](const Step& step) {
      const auto spans =
          std::span(schedule.spans)
              .subspan(static_cast<std::size_t>(step.first_span),
                       static_cast<std::size_t>(step.destination_count + step.source_count));
      return std::ranges::any_of(spans, [&](const Span& span) {
        const Buffer& buffer = schedule.buffer_of(span);
        return is_of_member(buffer.role) && !shape.reaches(strand.worker, buffer.owner);
      });
    });
  });
}

/// A schedule's steps in an order in which they can be executed, where messages arrive at once.
class OrderedSchedule {
 public:
  explicit OrderedSchedule(const Schedule& schedule) : index_(schedule) {
    HYCOLL_ASSERT(!verifier::order_of_part(index_, order_), "a schedule to be staged is correct");
    asynchronous_number_.resize(at(index_.step_count()), kNone);
    std::vector<int> counts(schedule.strands.size(), 0);
    for (int id = 0; id < index_.step_count(); ++id) {
      if (!is_asynchronous(index_.step(id).kind)) continue;
      asynchronous_number_[at(id)] = counts[at(index_.place[at(id)].strand)]++;
    }
  }

  Schedule show(StepReader& reader) const {
    const Schedule& schedule = index_.schedule;
    std::vector<int> dependencies;
    for (const int id : order_) {
      const Step& step = index_.step(id);
      const int strand = index_.place[at(id)].strand;
      dependencies.clear();
      for (const int dependency : schedule.dependencies_of(step)) {
        dependencies.push_back(asynchronous_number_[at(index_.number(strand, dependency))]);
      }
      reader.read(schedule, strand, step, schedule.destinations(step), schedule.sources(step),
                  dependencies);
    }
    Schedule frame = without_steps(schedule);
    for (const Strand& strand : schedule.strands) frame.strands.push_back({strand.worker, {}});
    return frame;
  }

 private:
  const verifier::Index index_;
  std::vector<int> order_;
  std::vector<int> asynchronous_number_;  // per step, in its strand
};

std::optional<StagedPart> stage(const StepReplay& direct, const Processes& processes,
                                NumberRange workers, StepWatch* watch) {
  std::optional<ValueFlow> flow;
  std::optional<Shape> shape;
  Reading learning(Dependencies::ignored, [&](const Schedule& built, int strand, const Step& step,
                                              std::span<const Span> destinations,
                                              std::span<const Span> sources, std::span<const int>) {
    if (!flow) {
      shape = built.shape.with_processes(processes);
      flow.emplace(built, *shape);
    }
    flow->learn(built, strand, step, destinations, sources);
  });
  const Schedule frame = direct(learning);
  if (!flow) {
    shape = frame.shape.with_processes(processes);
    flow.emplace(frame, *shape);
  }
  flow->learn_results();
  if (!flow->is_in_order()) return {};
  ScheduleBuilder builder = builder_like(frame, *shape);
  const StagingPlaces places(*flow, builder);
  Synchroniser synchroniser(std::move(builder), places.is_rewritten(),
                            {frame.part.workers.first + workers.first, workers.count}, watch);
  StagedSteps steps(*flow, places, synchroniser);
  steps.copy_in();
  Reading following(Dependencies::inferred, [&](const auto&... read) { steps.add(read...); });
  direct(following);
  steps.copy_out();
  return StagedPart{.made = std::move(synchroniser).finish(),
                    .crosses_processes = flow->crosses_processes()};
}

/// What one node does, which nobody but its own workers need to know: messages stay as they are.
Schedule staged_node(const Schedule& direct, const Processes& processes) {
  const OrderedSchedule ordered(direct);
  auto staged = stage([&](StepReader& reader) { return ordered.show(reader); }, processes,
                      {.first = 0, .count = direct.part.workers.count}, nullptr);
  HYCOLL_ASSERT(staged, "the order is one of execution");
  return std::move(staged->made.schedule);
}

}  // namespace

bool crosses_processes(const Schedule& direct, const Processes& processes) {
  return touches_foreign_buffers(direct, direct.shape.with_processes(processes));
}

bool crosses_processes(const StepReplay& direct, const Processes& processes) {
  std::optional<Shape> shape;
  bool crosses = false;
  Reading reading(Dependencies::ignored, [&](const Schedule& frame, int strand, const Step&,
                                             std::span<const Span> destinations,
                                             std::span<const Span> sources, std::span<const int>) {
    if (crosses) return;
    if (!shape) shape = frame.shape.with_processes(processes);
    const int worker = frame.strands[at(strand)].worker;
    const auto is_foreign = [&](const Span& span) {
      const Buffer& buffer = frame.buffer_of(span);
      return is_of_member(buffer.role) && !shape->reaches(worker, buffer.owner);
    };
    crosses =
        std::ranges::any_of(destinations, is_foreign) || std::ranges::any_of(sources, is_foreign);
  });
  direct(reading);
  return crosses;
}

std::optional<StagedPart> staged_for(const StepReplay& direct, const Processes& processes,
                                     NumberRange workers, StepWatch& watch) {
  return stage(direct, processes, workers, &watch);
}

Schedule staged(const Schedule& direct, const Processes& processes) {
  const Shape shape = direct.shape.with_processes(processes);
  if (!touches_foreign_buffers(direct, shape)) {
    Schedule schedule = direct;
    schedule.shape = shape;
    return schedule;
  }
  return staged_throughout(direct, shape.processes());
}

Schedule staged_throughout(const Schedule& direct, const Processes& processes) {
  if (direct.part.nodes.count == 1) return staged_node(direct, processes);
  std::vector<Schedule> nodes;
  for (const int node : direct.part.nodes) {
    nodes.push_back(staged_node(restricted_to(direct, only_node(node)), processes));
  }
  return joined(nodes);
}

}  // namespace hycoll
