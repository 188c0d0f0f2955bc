#ifndef HYCOLL_CORE_DRAWING_SHARED_RESOURCES_H_
#define HYCOLL_CORE_DRAWING_SHARED_RESOURCES_H_

#include <optional>

namespace hycoll {

/// A message between two nodes.
struct SharedMessage {
  int step;  ///< The number of the step that sends it.
  int from_worker;
  int to_worker;
  int lane;
  double size_bytes;
};

/// When a message has left its endpoint, and when it is at its receiver's.
struct MessagePassage {
  double sent_us;
  double there_us;
};

/// What a worker reduces and copies in one step.
struct SharedMove {
  int step;
  int worker;
  double size_bytes;
  double alone_us;  ///< What it takes if nobody else uses the memory.
};

/// Something that was begun before has come to its end.
struct SharedCompletion {
  int step;
  MessagePassage passage;  ///< Of a message. Of a move both are the time of its end.
};

/// What steps of different workers share while a schedule is walked through: the network, and the
/// memory of each node. Whoever walks tells it what begins, in the order of time, and is told when
/// it ends: at once where that is known, or later. Times are microseconds. For one thread.
class SharedResources {
 public:
  virtual ~SharedResources() = default;

  /// Begins to carry a message at this time. Nothing: next() tells its end.
  virtual std::optional<MessagePassage> carry(const SharedMessage& message, double time_us) = 0;

  /// Begins to move bytes through the memory of a worker's node at this time. Returns when that is
  /// done; nothing: next() tells.
  virtual std::optional<double> move(const SharedMove& move, double time_us) = 0;

  /// Goes on to the next completion, or to `until_us` if there is none before. Requires that
  /// something is under way if `until_us` is infinite.
  virtual std::optional<SharedCompletion> next(double until_us) = 0;

  /// From a signal, or a write to lines, until another worker of the node has seen it.
  virtual double signal_us(int from_worker, int to_worker) const = 0;

 protected:
  SharedResources() = default;
  SharedResources(const SharedResources&) = default;
  SharedResources& operator=(const SharedResources&) = default;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_SHARED_RESOURCES_H_
