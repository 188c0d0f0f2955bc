#include "collectives/algorithms/parts/lines_phases.h"

#include "core/base/errors.h"

namespace hycoll {

LinesPhases::LinesPhases(ScheduleBuilder& builder, int node)
    : builder_(builder),
      node_(node),
      first_member_(builder.shape().first_member(node)),
      member_count_(builder.shape().node(node).members),
      lines_(static_cast<std::size_t>(member_count_), -1) {
  for (int member = first_member_; member <= last_member(); ++member) {
    arrived_.push_back(builder.add_flag(strand(member)));
    builder.signal(strand(member), arrived_.back());
  }
}

int LinesPhases::leading_member() const {
  const int index = builder_.shape().leader(node_, 0) - builder_.shape().first_worker(node_);
  HYCOLL_ASSERT(index < member_count_, "the leader owns a member");
  return first_member_ + index;
}

void LinesPhases::publish_inputs(int reader) {
  for (int member = first_member_; member <= last_member(); ++member) {
    if (member == reader) continue;
    lines_[static_cast<std::size_t>(member - first_member_)] =
        publish(member, span_of(builder_.input(member), builder_.all_chunks())).buffer;
  }
}

void LinesPhases::reduce_inputs(int reader, Span result, int last,
                                const std::vector<Span>& before) {
  std::vector<Span> operands = before;
  for (int member = first_member_; member <= last; ++member) {
    const BufferId source = member == reader
                                ? builder_.input(member)
                                : lines_[static_cast<std::size_t>(member - first_member_)];
    operands.push_back(span_of(source, {result.first_chunk, result.chunk_count}));
  }
  if (operands.size() == 1) {
    builder_.copy(strand(reader), result, operands.front());
  } else {
    builder_.reduce(strand(reader), std::span(&result, 1), operands);
  }
}

Span LinesPhases::publish(int member, Span source) {
  const ChunkRange chunks{source.first_chunk, source.chunk_count};
  const int worker = builder_.shape().worker_of_member(member);
  const Span lines = span_of(builder_.add_lines(worker, chunks), chunks);
  builder_.copy(strand(member), lines, source);
  return lines;
}

void LinesPhases::await_members(int member, int first) {
  for (int other = first; other <= last_member(); ++other) {
    if (other == member) continue;
    builder_.wait(strand(member), arrived_[static_cast<std::size_t>(other - first_member_)]);
  }
}

void LinesPhases::await_members_but(int member, int known) {
  for (int other = first_member_; other <= last_member(); ++other) {
    if (other == member || other == known) continue;
    builder_.wait(strand(member), arrived_[static_cast<std::size_t>(other - first_member_)]);
  }
}

std::vector<LinesPhases> lines_phases_of_nodes(ScheduleBuilder& builder) {
  std::vector<LinesPhases> phases;
  for (int node = 0; node < builder.shape().node_count(); ++node) {
    phases.emplace_back(builder, node);
  }
  return phases;
}

}  // namespace hycoll
