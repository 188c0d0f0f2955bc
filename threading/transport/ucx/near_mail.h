#ifndef HYCOLL_THREADING_TRANSPORT_UCX_NEAR_MAIL_H_
#define HYCOLL_THREADING_TRANSPORT_UCX_NEAR_MAIL_H_

#include <cstddef>
#include <memory>

#include "threading/memory/message_ring.h"
#include "threading/memory/shared_segment.h"

namespace hycoll {

/// What the lanes of two processes on one machine pass one another short messages through: two
/// rings in memory that both share. One of them makes it, and tells the other its handle.
class NearMail {
 public:
  /// Of a message.
  static constexpr std::size_t kMostBytes = MessageRing::kMostBytes;

  /// Null where the memory is refused.
  static std::unique_ptr<NearMail> make();
  /// The one that the other process has made; null if this one cannot reach it, as between
  /// containers.
  static std::unique_ptr<NearMail> open(const SharedSegment::Handle& handle);

  const SharedSegment::Handle& handle() const noexcept { return segment_.handle(); }
  /// By whoever has made it, when the other process has opened it, or cannot.
  void close() noexcept { segment_.close(); }

  MessageRing& outgoing() noexcept { return outgoing_; }
  MessageRing& incoming() noexcept { return incoming_; }

 private:
  NearMail(SharedSegment segment, bool has_made_it);

  SharedSegment segment_;
  MessageRing outgoing_;
  MessageRing incoming_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_UCX_NEAR_MAIL_H_
