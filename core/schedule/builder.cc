#include "core/schedule/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "core/base/errors.h"
#include "core/schedule/packs.h"

namespace hycoll {

ScheduleBuilder::ScheduleBuilder(const CollectiveTraits& collective, std::string algorithm,
                                 Shape shape, int chunk_count, int root, const PartRequest& request)
    : schedule_{.collective = collective,
                .algorithm = std::move(algorithm),
                .shape = std::move(shape),
                .chunk_count = chunk_count,
                .root = root,
                .part = {},
                .buffers = {},
                .flags = {},
                .strands = {},
                .spans = {},
                .packed = {},
                .dependencies = {}},
      reader_(request.reader),
      ignores_dependencies_(reader_ != nullptr &&
                            reader_->dependencies() == Dependencies::ignored) {
  HYCOLL_ASSERT(chunk_count >= 1, "a schedule needs a chunk");
  schedule_.part = part_of(schedule_.shape, request.nodes);
  const int member_count = schedule_.shape.member_count();
  HYCOLL_ASSERT(root >= 0 && root < member_count, "the root is a member");
  HYCOLL_ASSERT(!has_blocks(collective) || chunk_count % member_count == 0,
                "every member's block has the same number of chunks");
  HYCOLL_ASSERT(!has_pairs(collective) || chunk_count == member_count * member_count,
                "every pair has one chunk");
  for (const int member : members()) {
    add_buffer(BufferRole::input, member, input_chunks(member));
  }
  for (const int member : members()) {
    add_buffer(BufferRole::output, member, output_chunks(member));
  }
  for (const int worker : part().workers) add_strand(worker);
}

ChunkRange ScheduleBuilder::input_chunks(int member) const {
  return hycoll::input_chunks(schedule_.collective, schedule_.shape, schedule_.chunk_count,
                              schedule_.root, member);
}

ChunkRange ScheduleBuilder::output_chunks(int member) const {
  return hycoll::output_chunks(schedule_.collective, schedule_.shape, schedule_.chunk_count,
                               schedule_.root, member);
}

BufferId ScheduleBuilder::add_buffer(BufferRole role, int owner, ChunkRange numbers) {
  const int all = role == BufferRole::scratch ? number_count(schedule_) : schedule_.chunk_count;
  HYCOLL_ASSERT(numbers.first >= 0 && numbers.count >= 0 && numbers.count <= all - numbers.first,
                "a buffer holds chunks of the partition");
  schedule_.buffers.push_back({role, owner, numbers.first, numbers.count});
  return static_cast<BufferId>(schedule_.buffers.size()) - 1;
}

BufferId ScheduleBuilder::add_staging(int node, ChunkRange chunks) {
  return nodes().holds(node) ? add_buffer(BufferRole::staging, node, chunks) : kElsewhere;
}

BufferId ScheduleBuilder::add_scratch(int worker, ChunkRange chunks) {
  return add_workers_buffer(BufferRole::scratch, worker, chunks);
}

BufferId ScheduleBuilder::add_shared_scratch(int worker, ChunkRange chunks) {
  const BufferId id = add_scratch(worker, chunks);
  if (id != kElsewhere) schedule_.buffers.back().shares_with = id;
  return id;
}

BufferId ScheduleBuilder::add_scratch_over(BufferId first, ChunkRange chunks) {
  if (first == kElsewhere) return kElsewhere;
  const Buffer& place = schedule_.buffers[static_cast<std::size_t>(first)];
  HYCOLL_ASSERT(place.shares_with == first, "a place is that of the first buffer there");
  const BufferId id = add_buffer(BufferRole::scratch, place.owner, chunks);
  schedule_.buffers.back().shares_with = first;
  return id;
}

BufferId ScheduleBuilder::add_pack(int worker, std::span<const ChunkRange> ranges) {
  HYCOLL_ASSERT(has_pairs(schedule_.collective), "chunks in packs are equally long");
  HYCOLL_ASSERT(!ranges.empty(), "there is something in a pack");
  if (!part().workers.holds(worker)) return kElsewhere;
  const int first = number_count(schedule_);
  int next = first;
  for (const ChunkRange& chunks : ranges) {
    HYCOLL_ASSERT(chunks.first >= 0 && chunks.count > 0 &&
                      chunks.count <= schedule_.chunk_count - chunks.first,
                  "a pack holds chunks of the partition");
    if (chunks.count > INT_MAX - next) {
      throw Error(
          ErrorKind::unsupported,
          fmt::format("algorithm '{}' packs more blocks than can be numbered; choose another "
                      "algorithm, or fewer members",
                      schedule_.algorithm));
    }
    schedule_.packed.push_back({.first_number = next, .chunks = chunks});
    next += chunks.count;
  }
  return add_buffer(BufferRole::scratch, worker, {first, next - first});
}

Span ScheduleBuilder::in_pack(BufferId pack, ChunkRange cells) const {
  if (pack == kElsewhere) return span_of(pack, cells);
  const Buffer& buffer = schedule_.buffers[static_cast<std::size_t>(pack)];
  return span_of(pack, {buffer.first_chunk + cells.first, cells.count});
}

BufferId ScheduleBuilder::add_lines(int worker, ChunkRange chunks) {
  return add_workers_buffer(BufferRole::lines, worker, chunks);
}

BufferId ScheduleBuilder::add_stream(int worker, ChunkRange chunks) {
  return add_workers_buffer(BufferRole::stream, worker, chunks);
}

BufferId ScheduleBuilder::add_workers_buffer(BufferRole role, int worker, ChunkRange chunks) {
  return part().workers.holds(worker) ? add_buffer(role, worker, chunks) : kElsewhere;
}

void ScheduleBuilder::repeat_buffers(const Schedule& schedule) {
  HYCOLL_ASSERT(schedule_.packed.empty(), "packs' numbers follow the partition's");
  schedule_.packed = schedule.packed;
  for (const Buffer& buffer : schedule.buffers) {
    // Members' buffers are there from the start.
    if (is_of_member(buffer.role)) continue;
    const BufferId id =
        add_buffer(buffer.role, buffer.owner, {buffer.first_chunk, buffer.chunk_count});
    HYCOLL_ASSERT(&buffer - schedule.buffers.data() == id, "the members' buffers are as many");
    schedule_.buffers.back().shares_with = buffer.shares_with;
  }
}

StrandId ScheduleBuilder::add_strand(int worker) {
  if (!part().workers.holds(worker)) return kElsewhere;
  schedule_.strands.push_back({worker, {}});
  outstanding_.emplace_back();
  return static_cast<StrandId>(schedule_.strands.size()) - 1;
}

FlagId ScheduleBuilder::add_flag(StrandId writer) {
  if (writer == kElsewhere) return kElsewhere;
  const int worker = schedule_.strands[static_cast<std::size_t>(writer)].worker;
  schedule_.flags.push_back({schedule_.shape.node_of_worker(worker), writer});
  signalled_.push_back(0);
  return static_cast<FlagId>(schedule_.flags.size()) - 1;
}

void ScheduleBuilder::send(StrandId strand, int lane, int to_node, Span source) {
  if (strand == kElsewhere) return;
  Step step{.kind = StepKind::send, .lane = lane, .peer_node = to_node};
  step.tag = sent_.next(key_of(lane, strand, to_node));
  add_step(strand, std::move(step), {}, std::span(&source, 1));
}

void ScheduleBuilder::recv(StrandId strand, int lane, int from_node, Span destination) {
  if (strand == kElsewhere) return;
  Step step{.kind = StepKind::recv, .lane = lane, .peer_node = from_node};
  step.tag = received_.next(key_of(lane, strand, from_node));
  add_step(strand, std::move(step), std::span(&destination, 1), {});
}

void ScheduleBuilder::native_allreduce(StrandId strand, int lane, Span destination, Span source) {
  if (strand == kElsewhere) return;
  Step step{.kind = StepKind::native, .lane = lane};
  step.tag = native_.next(key_of(lane, strand, 0));
  add_step(strand, std::move(step), std::span(&destination, 1), std::span(&source, 1));
}

void ScheduleBuilder::reduce(StrandId strand, std::span<const Span> destinations,
                             std::span<const Span> sources) {
  add_step(strand, {.kind = StepKind::reduce}, destinations, sources);
}

void ScheduleBuilder::reduce(StrandId strand, std::initializer_list<Span> destinations,
                             std::initializer_list<Span> sources) {
  reduce(strand, std::span(destinations.begin(), destinations.size()),
         std::span(sources.begin(), sources.size()));
}

void ScheduleBuilder::copy(StrandId strand, std::span<const Span> destinations, Span source) {
  add_step(strand, {.kind = StepKind::copy}, destinations, std::span(&source, 1));
}

void ScheduleBuilder::copy(StrandId strand, Span destination, Span source) {
  copy(strand, std::span(&destination, 1), source);
}

void ScheduleBuilder::collect(StrandId strand, Span destination, std::span<const Span> sources) {
  add_step(strand, {.kind = StepKind::copy}, std::span(&destination, 1), sources);
}

void ScheduleBuilder::repeat(StrandId strand, const Step& step, std::span<const Span> destinations,
                             std::span<const Span> sources) {
  HYCOLL_ASSERT(step.kind != StepKind::signal && step.kind != StepKind::wait,
                "flags belong to one schedule");
  add_step(strand,
           {.kind = step.kind, .lane = step.lane, .peer_node = step.peer_node, .tag = step.tag},
           destinations, sources);
}

Step ScheduleBuilder::next_signal(StrandId strand, FlagId flag) {
  HYCOLL_ASSERT(schedule_.flags[static_cast<std::size_t>(flag)].writer_strand == strand,
                "a flag has one writer");
  const int value = ++signalled_[static_cast<std::size_t>(flag)];
  return {.kind = StepKind::signal, .flag = flag, .value = value};
}

void ScheduleBuilder::signal(StrandId strand, FlagId flag) {
  if (strand == kElsewhere) return;
  Step step = next_signal(strand, flag);
  step.first_dependency = static_cast<int>(schedule_.dependencies.size());
  outstanding_[static_cast<std::size_t>(strand)].take_all(conflicting_);
  step.dependency_count = add_dependencies();
  append(strand, step);
}

void ScheduleBuilder::signal(StrandId strand, FlagId flag, std::span<const Span> announced) {
  if (strand == kElsewhere) return;
  Step step = next_signal(strand, flag);
  infer_dependencies(strand, step, announced, {});
  append(strand, step);
}

void ScheduleBuilder::wait(StrandId strand, FlagId flag) {
  if (strand == kElsewhere) return;
  wait(strand, flag, signalled_[static_cast<std::size_t>(flag)]);
}

void ScheduleBuilder::wait(StrandId strand, FlagId flag, int value) {
  if (strand == kElsewhere) return;
  HYCOLL_ASSERT(value >= 1, "nothing has been signalled that could be waited for");
  Step step{.kind = StepKind::wait, .flag = flag, .value = value};
  if (reader_ != nullptr) return reader_->read(schedule_, strand, step, {}, {}, {});
  step.first_dependency = static_cast<int>(schedule_.dependencies.size());
  append(strand, step);
}

void ScheduleBuilder::add_step(StrandId strand, Step&& step, std::span<const Span> destinations,
                               std::span<const Span> sources) {
  if (strand == kElsewhere) return;
  step.destination_count = static_cast<int>(destinations.size());
  step.source_count = static_cast<int>(sources.size());
  if (ignores_dependencies_) {
    return reader_->read(schedule_, strand, step, destinations, sources, {});
  }
  infer_dependencies(strand, step, destinations, sources);
  auto& steps = schedule_.strands[static_cast<std::size_t>(strand)].steps;
  step.first_span = static_cast<int>(schedule_.spans.size());
  if (is_shown(strand, step, destinations, sources)) return;
  schedule_.spans.insert(schedule_.spans.end(), destinations.begin(), destinations.end());
  schedule_.spans.insert(schedule_.spans.end(), sources.begin(), sources.end());
  if (is_asynchronous(step.kind)) {
    OutstandingSteps& outstanding = outstanding_[static_cast<std::size_t>(strand)];
    const auto number = static_cast<int>(steps.size());
    for_each_access(step, [&](const MemoryAccess& access) { outstanding.add(number, access); });
  }
  steps.push_back(step);
}

void ScheduleBuilder::append(StrandId strand, const Step& step) {
  if (ignores_dependencies_) return reader_->read(schedule_, strand, step, {}, {}, {});
  if (is_shown(strand, step, {}, {})) return;
  Step appended = step;
  appended.first_span = static_cast<int>(schedule_.spans.size());
  schedule_.strands[static_cast<std::size_t>(strand)].steps.push_back(appended);
}

bool ScheduleBuilder::is_shown(StrandId strand, const Step& step,
                               std::span<const Span> destinations, std::span<const Span> sources) {
  if (reader_ == nullptr) return false;
  reader_->read(schedule_, strand, step, destinations, sources, schedule_.dependencies_of(step));
  schedule_.dependencies.resize(static_cast<std::size_t>(step.first_dependency));
  return !is_asynchronous(step.kind);
}

void ScheduleBuilder::infer_dependencies(StrandId strand, Step& step,
                                         std::span<const Span> destinations,
                                         std::span<const Span> sources) {
  step.first_dependency = static_cast<int>(schedule_.dependencies.size());
  OutstandingSteps& outstanding = outstanding_[static_cast<std::size_t>(strand)];
  if (outstanding.empty()) return;
  for (const Span& span : destinations) {
    outstanding.find_conflicts(access_of(span, true), conflicting_);
  }
  for (const Span& span : sources) {
    outstanding.find_conflicts(access_of(span, false), conflicting_);
  }
  step.dependency_count = add_dependencies();
  const auto& steps = schedule_.strands[static_cast<std::size_t>(strand)].steps;
  for (const int earlier : schedule_.dependencies_of(step)) {
    for_each_access(steps[static_cast<std::size_t>(earlier)],
                    [&](const MemoryAccess& access) { outstanding.drop(earlier, access); });
  }
}

int ScheduleBuilder::add_dependencies() {
  std::ranges::sort(conflicting_);
  const auto repeated = std::ranges::unique(conflicting_);
  conflicting_.erase(repeated.begin(), repeated.end());
  schedule_.dependencies.insert(schedule_.dependencies.end(), conflicting_.begin(),
                                conflicting_.end());
  const auto count = static_cast<int>(conflicting_.size());
  conflicting_.clear();
  return count;
}

MemoryAccess ScheduleBuilder::access_of(const Span& span, bool writes) const {
  // A member's input and output may be the same memory, so they always count as such here.
  const Buffer& buffer = schedule_.buffer_of(span);
  if (buffer.shares_with >= 0) {
    // Where the chunks of others lie there depends on their lengths.
    return {.memory = buffer.shares_with, .first_chunk = 0, .chunk_count = 1, .writes = writes};
  }
  return {.memory = is_of_member(buffer.role) ? input(buffer.owner) : span.buffer,
          .first_chunk = span.first_chunk,
          .chunk_count = span.chunk_count,
          .writes = writes};
}

template <class Visit>
void ScheduleBuilder::for_each_access(const Step& step, const Visit& visit) const {
  for (const Span& span : schedule_.destinations(step)) visit(access_of(span, true));
  for (const Span& span : schedule_.sources(step)) visit(access_of(span, false));
}

std::uint64_t ScheduleBuilder::key_of(int lane, StrandId strand, int peer_node) const {
  auto sides = static_cast<std::uint64_t>(peer_node);
  if (nodes().count > 1) {
    const int node = shape().node_of_worker(worker_of(strand)) - nodes().first;
    sides += static_cast<std::uint64_t>(node) * static_cast<std::uint64_t>(shape().node_count());
  }
  return static_cast<std::uint64_t>(lane) << 48 | sides;
}

Schedule ScheduleBuilder::finish() && {
  outstanding_ = {};
  if (reader_ != nullptr) {
    for (Strand& strand : schedule_.strands) strand.steps = {};
    schedule_.spans = {};
  }
  for (Strand& strand : schedule_.strands) strand.steps.shrink_to_fit();
  schedule_.spans.shrink_to_fit();
  schedule_.dependencies.shrink_to_fit();
  return std::move(schedule_);
}

}  // namespace hycoll
