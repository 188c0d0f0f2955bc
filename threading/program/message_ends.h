#ifndef HYCOLL_THREADING_PROGRAM_MESSAGE_ENDS_H_
#define HYCOLL_THREADING_PROGRAM_MESSAGE_ENDS_H_

#include <map>
#include <tuple>

#include "core/schedule/schedule.h"

namespace hycoll {

/// Which workers send and receive the messages of a schedule.
class MessageEnds {
 public:
  explicit MessageEnds(const Schedule& schedule);

  /// The worker, counted over all nodes, with which a worker of `node` exchanges the message of
  /// this send or receive.
  int other_end(int node, const Step& step) const;

 private:
  struct Message {
    int lane;
    int tag;
    int from_node;
    int to_node;
    friend bool operator<(const Message& a, const Message& b) {
      return std::tie(a.lane, a.tag, a.from_node, a.to_node) <
             std::tie(b.lane, b.tag, b.from_node, b.to_node);
    }
  };
  struct Ends {
    int sender = -1;
    int receiver = -1;
  };
  static Message message_of(int node, const Step& step);

  std::map<Message, Ends> ends_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_MESSAGE_ENDS_H_
