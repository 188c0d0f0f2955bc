#include "collectives/algorithms/broadcast/specialised_host.h"

#include <utility>

namespace hycoll {
namespace {
constexpr int kNobody = SpecialisedPlace::kNobody;
}  // namespace

SpecialisedHost::SpecialisedHost(ScheduleBuilder& builder, int node, SpecialisedPlace tree)
    : builder_(builder),
      phases_(builder, node),
      tree_(std::move(tree)),
      is_root_(node == builder.shape().node_of_member(builder.root())),
      place_(broadcast_place(builder, node, tree_.reception)) {
  for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
    strands_.push_back(builder.add_strand(builder.shape().worker_of_member(member)));
    copies_.push_back(false);
  }
}

void SpecialisedHost::append_network() {
  if (!is_root_) append_reception();
  if (tree_.to.empty()) return;
  const StrandId injector = phases_.leader(tree_.injection);
  if (is_root_) phases_.await_member(tree_.injection, place_.member);
  for (int s = 0; s < builder_.chunk_count(); ++s) {
    if (!is_root_) phases_.await_lane(injector, tree_.reception, s + 1);
    for (const int node : tree_.to) builder_.send(injector, tree_.injection, node, segment(s));
  }
  if (!leads(place_.member, tree_.injection)) phases_.announce(tree_.injection);
}

void SpecialisedHost::append_copies() {
  const int injecting = member_of(tree_.injection);
  const int helper = helper_of(injecting);
  for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
    const StrandId strand = strand_of(member);
    if (member == place_.member) {
      await_network(strand);
    } else if (member != injecting || helper == kNobody) {
      if (member == helper) phases_.await_member_as(strand, injecting);
      append_copy(member, member == helper ? injecting : kNobody);
    }
  }
}

bool SpecialisedHost::leads(int member, int lane) const {
  const Shape& shape = builder_.shape();
  return shape.worker_of_member(member) == shape.leader(phases_.node(), lane);
}

int SpecialisedHost::member_of(int lane) const {
  for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
    if (leads(member, lane)) return member;
  }
  return kNobody;
}

int SpecialisedHost::helper_of(int injecting) const {
  if (injecting == kNobody || injecting == place_.member) return kNobody;
  for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
    if (member == place_.member || leads(member, tree_.injection) ||
        leads(member, tree_.reception)) {
      continue;
    }
    return member;
  }
  return kNobody;
}

void SpecialisedHost::append_reception() {
  const StrandId receiver = phases_.leader(tree_.reception);
  phases_.await_member(tree_.reception, place_.member);
  for (int s = 0; s < builder_.chunk_count(); ++s) {
    builder_.recv(receiver, tree_.reception, tree_.parent, segment(s));
  }
  for (int s = 0; s < builder_.chunk_count(); ++s) phases_.announce(tree_.reception, segment(s));
}

void SpecialisedHost::await_network(StrandId strand) {
  const bool sends = !tree_.to.empty();
  const int last_lane = sends ? tree_.injection : tree_.reception;
  if ((is_root_ && !sends) || leads(place_.member, last_lane)) return;
  phases_.await_lane(strand, last_lane, sends ? 1 : builder_.chunk_count());
}

void SpecialisedHost::append_copy(int member, int other) {
  const StrandId strand = strand_of(member);
  copies_[static_cast<std::size_t>(member - phases_.first_member())] = true;
  if (is_root_) phases_.await_member_as(strand, place_.member);
  const int steps = is_root_ ? 1 : builder_.chunk_count();
  for (int step = 0; step < steps; ++step) {
    const ChunkRange chunks = is_root_ ? builder_.all_chunks() : ChunkRange{step, 1};
    if (!is_root_) phases_.await_lane(strand, tree_.reception, step + 1);
    std::vector<Span> outputs{span_of(builder_.output(member), chunks)};
    if (other != kNobody) outputs.push_back(span_of(builder_.output(other), chunks));
    builder_.copy(strand, outputs, span_of(place_.buffer, chunks));
  }
}

}  // namespace hycoll
