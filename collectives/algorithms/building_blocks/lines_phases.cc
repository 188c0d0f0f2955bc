#include "collectives/algorithms/building_blocks/lines_phases.h"

#include "core/base/errors.h"

namespace hycoll {

LinesPhases::LinesPhases(ScheduleBuilder& builder, int node, Entry entry)
    : builder_(builder),
      node_(node),
      members_(Members::of_node(builder, node, entry)),
      lines_(static_cast<std::size_t>(members_.count()), -1) {}

int LinesPhases::leading_member() const {
  const int index = builder_.shape().leader(node_, 0) - builder_.shape().first_worker(node_);
  HYCOLL_ASSERT(index < member_count(), "the leader owns a member");
  return first_member() + index;
}

void LinesPhases::publish_inputs(int reader) {
  for (int member = first_member(); member <= last_member(); ++member) {
    if (member == reader) continue;
    lines_[static_cast<std::size_t>(member - first_member())] =
        publish(member, span_of(builder_.input(member), builder_.input_chunks(member))).buffer;
  }
}

BufferId LinesPhases::seen_by(int reader, int member) const {
  if (member == reader) return builder_.input(member);
  return lines_[static_cast<std::size_t>(member - first_member())];
}

void LinesPhases::gather_inputs(int reader, BufferId place) {
  for (int member = first_member(); member <= last_member(); ++member) {
    const ChunkRange block = builder_.input_chunks(member);
    builder_.copy(members_.strand(reader), span_of(place, block),
                  span_of(seen_by(reader, member), block));
  }
}

void LinesPhases::reduce_inputs(int reader, Span result, int last,
                                const std::vector<Span>& before) {
  std::vector<Span> operands = before;
  for (int member = first_member(); member <= last; ++member) {
    operands.push_back(span_of(seen_by(reader, member), {result.first_chunk, result.chunk_count}));
  }
  if (operands.size() == 1) {
    builder_.copy(members_.strand(reader), result, operands.front());
  } else {
    builder_.reduce(members_.strand(reader), std::span(&result, 1), operands);
  }
}

Span LinesPhases::publish(int member, Span source) {
  const ChunkRange chunks{source.first_chunk, source.chunk_count};
  const int worker = builder_.shape().worker_of_member(member);
  const Span lines = span_of(builder_.add_lines(worker, chunks), chunks);
  builder_.copy(members_.strand(member), lines, source);
  return lines;
}

void LinesPhases::await_members(int member, int first) {
  for (int other = first; other <= last_member(); ++other) {
    if (other == member) continue;
    members_.await(members_.strand(member), other);
  }
}

void LinesPhases::await_members_but(int member, int known) {
  for (int other = first_member(); other <= last_member(); ++other) {
    if (other == member || other == known) continue;
    members_.await(members_.strand(member), other);
  }
}

}  // namespace hycoll
