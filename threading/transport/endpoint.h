#ifndef HYCOLL_THREADING_TRANSPORT_ENDPOINT_H_
#define HYCOLL_THREADING_TRANSPORT_ENDPOINT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/errors.h"
#include "core/base/types.h"

namespace hycoll {

/// An operation under way on an endpoint. What the words mean is the endpoint's business.
struct EndpointRequest {
  std::uintptr_t handle = 0;
  std::uintptr_t detail = 0;
};

/// A peer, or the way to it, has come to an end: what is expected of it will never come.
class PeerEnded : public Error {
 public:
  /// `message` says who it is.
  explicit PeerEnded(const std::string& message) : Error(ErrorKind::environment, message) {}
};

/// Tags of neighbouring calls differ, because the workers of a node may post receives of
/// neighbouring calls in either order. They are never further apart; calls with equal tags are kept
/// apart by the order of messages.
inline constexpr int kTagEpochs = 4;  // kMostTags in core/schedule/schedule.h counts on them

/// What one lane of a node sends and receives through: the same lane of every other node can be
/// reached, by its node's number; or, where the workers of a node are processes of their own, every
/// worker, by its number over all nodes (Peers in program.h). Messages match by (peer, tag), those
/// with equal tags in the order in which they were sent. Used by one worker at a time.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Starts to send; the memory must stay unchanged until the request has completed.
  virtual EndpointRequest send(int peer, int tag, const void* source, std::size_t size_bytes) = 0;

  /// Starts to receive exactly `size_bytes` bytes. A message of another length is an Error
  /// (mismatch), thrown by test().
  virtual EndpointRequest receive(int peer, int tag, void* destination, std::size_t size_bytes) = 0;

  /// Starts the transport's own allreduce between all nodes of the lane. `source` may equal
  /// `destination`.
  virtual EndpointRequest allreduce(int tag, const void* source, void* destination,
                                    std::size_t count, DataType type, Operator op) = 0;

  /// The same, and waits for it. For a worker that has nothing else to do; the transport's progress
  /// goes on.
  virtual void blocking_allreduce(int tag, const void* source, void* destination, std::size_t count,
                                  DataType type, Operator op) = 0;

  /// Whether the request has completed; drives the transport. Once it has, or if this throws, the
  /// request is used up, and the operation's memory is no longer used.
  /// Throws PeerEnded where the transport can tell.
  virtual bool test(EndpointRequest& request) = 0;

  /// Gives up a receive, which is used up: nothing is written after that. Returns whether its
  /// message is still to come.
  virtual bool cancel(EndpointRequest& request) = 0;

  /// Lets a send complete by itself: its memory may be read for as long as the endpoint lives.
  virtual void leave_alone(EndpointRequest& request) = 0;

  /// Sends no bytes where some are expected: the receive fails, and says that this side has failed.
  virtual void send_failure(int peer, int tag) = 0;

  /// Receives a message of at most `size_bytes` bytes, whenever it comes, and drops it, so that its
  /// sender need not wait.
  virtual void discard(int peer, int tag, std::size_t size_bytes) = 0;

  /// Lets this endpoint's own operations progress. By the worker that uses it.
  virtual void advance() = 0;

  /// Lets the transport progress on behalf of everybody in the process, as far as it does not
  /// matter who drives it. Any worker may call it on any endpoint.
  virtual void progress() = 0;

  /// The tags that a schedule may use are 0..tag_count() - 1; the executor multiplies them by
  /// kTagEpochs.
  virtual int tag_count() const = 0;

  /// For messages: how users know a peer, e.g. "process 3 on host a".
  virtual std::string describe_peer(int peer) const = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_ENDPOINT_H_
