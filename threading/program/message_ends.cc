#include "threading/program/message_ends.h"

#include "core/base/errors.h"

namespace hycoll {

MessageEnds::Message MessageEnds::message_of(int node, const Step& step) {
  const bool is_send = step.kind == StepKind::send;
  return {.lane = step.lane,
          .tag = step.tag,
          .from_node = is_send ? node : step.peer_node,
          .to_node = is_send ? step.peer_node : node};
}

MessageEnds::MessageEnds(const Schedule& schedule) {
  for (const Strand& strand : schedule.strands) {
    const int node = schedule.shape.node_of_worker(strand.worker);
    for (const Step& step : strand.steps) {
      if (step.kind == StepKind::send) ends_[message_of(node, step)].sender = strand.worker;
      if (step.kind == StepKind::recv) ends_[message_of(node, step)].receiver = strand.worker;
    }
  }
}

int MessageEnds::other_end(int node, const Step& step) const {
  const auto found = ends_.find(message_of(node, step));
  HYCOLL_ASSERT(found != ends_.end(), "every message of a schedule is matched");
  const Ends& ends = found->second;
  return step.kind == StepKind::send ? ends.receiver : ends.sender;
}

}  // namespace hycoll
