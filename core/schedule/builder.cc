#include "core/schedule/builder.h"

#include <algorithm>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {

ScheduleBuilder::ScheduleBuilder(const CollectiveTraits& collective, std::string algorithm,
                                 Shape shape, int chunk_count, int root, NumberRange nodes)
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
                .dependencies = {}} {
  HYCOLL_ASSERT(chunk_count >= 1, "a schedule needs a chunk");
  schedule_.part = part_of(schedule_.shape, nodes);
  const int member_count = schedule_.shape.member_count();
  HYCOLL_ASSERT(root >= 0 && root < member_count, "the root is a member");
  HYCOLL_ASSERT(!has_blocks(collective) || chunk_count % member_count == 0,
                "every member's block has the same number of chunks");
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

BufferId ScheduleBuilder::add_buffer(BufferRole role, int owner, ChunkRange chunks) {
  HYCOLL_ASSERT(chunks.first >= 0 && chunks.count >= 0 &&
                    chunks.first + chunks.count <= schedule_.chunk_count,
                "a buffer holds chunks of the partition");
  schedule_.buffers.push_back({role, owner, chunks.first, chunks.count});
  return static_cast<BufferId>(schedule_.buffers.size()) - 1;
}

BufferId ScheduleBuilder::add_staging(int node, ChunkRange chunks) {
  return nodes().holds(node) ? add_buffer(BufferRole::staging, node, chunks) : kElsewhere;
}

BufferId ScheduleBuilder::add_scratch(int worker, ChunkRange chunks) {
  return add_workers_buffer(BufferRole::scratch, worker, chunks);
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

BufferId ScheduleBuilder::repeat_buffer(const Buffer& buffer) {
  HYCOLL_ASSERT(!is_of_member(buffer.role), "members' buffers are there from the start");
  return add_buffer(buffer.role, buffer.owner, {buffer.first_chunk, buffer.chunk_count});
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
  const int from_node =
      shape().node_of_worker(schedule_.strands[static_cast<std::size_t>(strand)].worker);
  Step step{.kind = StepKind::send, .lane = lane, .peer_node = to_node};
  step.tag = sent_[{lane, from_node, to_node}]++;
  add_step(strand, step, {}, std::span(&source, 1));
}

void ScheduleBuilder::recv(StrandId strand, int lane, int from_node, Span destination) {
  if (strand == kElsewhere) return;
  const int to_node =
      shape().node_of_worker(schedule_.strands[static_cast<std::size_t>(strand)].worker);
  Step step{.kind = StepKind::recv, .lane = lane, .peer_node = from_node};
  step.tag = received_[{lane, from_node, to_node}]++;
  add_step(strand, step, std::span(&destination, 1), {});
}

void ScheduleBuilder::native_allreduce(StrandId strand, int lane, Span destination, Span source) {
  if (strand == kElsewhere) return;
  const int node =
      shape().node_of_worker(schedule_.strands[static_cast<std::size_t>(strand)].worker);
  Step step{.kind = StepKind::native, .lane = lane};
  step.tag = native_[{lane, node}]++;
  add_step(strand, step, std::span(&destination, 1), std::span(&source, 1));
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
  Outstanding& outstanding = outstanding_[static_cast<std::size_t>(strand)];
  schedule_.dependencies.insert(schedule_.dependencies.end(), outstanding.steps.begin(),
                                outstanding.steps.end());
  step.dependency_count = static_cast<int>(outstanding.steps.size());
  outstanding = {};
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
  add_step(strand, {.kind = StepKind::wait, .flag = flag, .value = value}, {}, {});
}

void ScheduleBuilder::add_step(StrandId strand, Step step, std::span<const Span> destinations,
                               std::span<const Span> sources) {
  if (strand == kElsewhere) return;
  infer_dependencies(strand, step, destinations, sources);
  auto& steps = schedule_.strands[static_cast<std::size_t>(strand)].steps;
  step.first_span = static_cast<int>(schedule_.spans.size());
  step.destination_count = static_cast<int>(destinations.size());
  step.source_count = static_cast<int>(sources.size());
  schedule_.spans.insert(schedule_.spans.end(), destinations.begin(), destinations.end());
  schedule_.spans.insert(schedule_.spans.end(), sources.begin(), sources.end());
  if (is_asynchronous(step.kind)) {
    add_outstanding(outstanding_[static_cast<std::size_t>(strand)], step,
                    static_cast<int>(steps.size()));
  }
  steps.push_back(step);
}

void ScheduleBuilder::append(StrandId strand, const Step& step) {
  Step appended = step;
  appended.first_span = static_cast<int>(schedule_.spans.size());
  schedule_.strands[static_cast<std::size_t>(strand)].steps.push_back(appended);
}

void ScheduleBuilder::infer_dependencies(StrandId strand, Step& step,
                                         std::span<const Span> destinations,
                                         std::span<const Span> sources) {
  step.first_dependency = static_cast<int>(schedule_.dependencies.size());
  Outstanding& outstanding = outstanding_[static_cast<std::size_t>(strand)];
  std::set<int> conflicting;
  const auto find_conflicts = [&](const Span& span, bool writes) {
    const int memory = memory_of(span);
    const int first = span.first_chunk - outstanding.longest + 1;
    const auto end =
        outstanding.accesses.lower_bound({memory, span.first_chunk + span.chunk_count});
    for (auto at = outstanding.accesses.lower_bound({memory, first}); at != end; ++at) {
      for (const Access& earlier : at->second) {
        const bool overlap = span.first_chunk < at->first.second + earlier.chunk_count;
        if (overlap && (writes || earlier.writes)) conflicting.insert(earlier.step);
      }
    }
  };
  if (!outstanding.steps.empty()) {
    for (const Span& span : destinations) find_conflicts(span, true);
    for (const Span& span : sources) find_conflicts(span, false);
  }
  const auto& steps = schedule_.strands[static_cast<std::size_t>(strand)].steps;
  for (const int earlier : conflicting) {
    schedule_.dependencies.push_back(earlier);
    drop_outstanding(outstanding, steps[static_cast<std::size_t>(earlier)], earlier);
  }
  step.dependency_count = static_cast<int>(conflicting.size());
}

int ScheduleBuilder::memory_of(const Span& span) const {
  // A member's input and output may be the same memory, so they always count as such here.
  const Buffer& buffer = schedule_.buffer_of(span);
  return is_of_member(buffer.role) ? input(buffer.owner) : span.buffer;
}

void ScheduleBuilder::add_outstanding(Outstanding& outstanding, const Step& step, int index) const {
  outstanding.steps.insert(index);
  const auto add = [&](const Span& span, bool writes) {
    if (span.chunk_count == 0) return;
    outstanding.longest = std::max(outstanding.longest, span.chunk_count);
    outstanding.accesses[{memory_of(span), span.first_chunk}].push_back(
        {.step = index, .chunk_count = span.chunk_count, .writes = writes});
  };
  for (const Span& span : schedule_.destinations(step)) add(span, true);
  for (const Span& span : schedule_.sources(step)) add(span, false);
}

void ScheduleBuilder::drop_outstanding(Outstanding& outstanding, const Step& step,
                                       int index) const {
  outstanding.steps.erase(index);
  const auto drop = [&](const Span& span) {
    const auto found = outstanding.accesses.find({memory_of(span), span.first_chunk});
    if (found == outstanding.accesses.end()) return;
    std::erase_if(found->second, [&](const Access& access) { return access.step == index; });
    if (found->second.empty()) outstanding.accesses.erase(found);
  };
  for (const Span& span : schedule_.destinations(step)) drop(span);
  for (const Span& span : schedule_.sources(step)) drop(span);
}

Schedule ScheduleBuilder::finish() && { return std::move(schedule_); }

}  // namespace hycoll
