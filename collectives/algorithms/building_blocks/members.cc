#include "collectives/algorithms/building_blocks/members.h"

namespace hycoll {

Members::Members(ScheduleBuilder& builder, int first, int count, Entry entry)
    : builder_(builder), first_(first), count_(count) {
  if (entry == Entry::silent) return;
  entered_ = add_flags();
  for (int member = first_; member <= last(); ++member) {
    builder_.signal(strand(member), flag_of(entered_, member));
  }
}

Members Members::of_node(ScheduleBuilder& builder, int node, Entry entry) {
  return {builder, builder.shape().first_member(node), builder.shape().node(node).members, entry};
}

std::vector<FlagId> Members::add_flags() const {
  std::vector<FlagId> flags;
  for (int member = first_; member <= last(); ++member) {
    flags.push_back(builder_.add_flag(strand(member)));
  }
  return flags;
}

void Members::await_all(StrandId strand) const {
  for (int member = first_; member <= last(); ++member) {
    if (builder_.worker_of(strand) != builder_.shape().worker_of_member(member)) {
      await(strand, member);
    }
  }
}

int holding_member(const Shape& shape, int node, int lane) {
  const int first = shape.first_member(node);
  for (int member = first; member < first + shape.node(node).members; ++member) {
    if (shape.worker_of_member(member) == shape.leader(node, lane)) return member;
  }
  return first;
}

void append_departure(ScheduleBuilder& builder, std::span<const StrandId> strands,
                      const std::vector<bool>& reads) {
  std::vector<FlagId> done(strands.size(), -1);
  for (std::size_t m = 0; m < strands.size(); ++m) {
    if (!reads[m]) continue;
    done[m] = builder.add_flag(strands[m]);
    builder.signal(strands[m], done[m]);
  }
  for (std::size_t m = 0; m < strands.size(); ++m) {
    for (std::size_t other = 0; other < strands.size(); ++other) {
      if (other != m && reads[other]) builder.wait(strands[m], done[other]);
    }
  }
}

}  // namespace hycoll
