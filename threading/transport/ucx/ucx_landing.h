#ifndef HYCOLL_THREADING_TRANSPORT_UCX_UCX_LANDING_H_
#define HYCOLL_THREADING_TRANSPORT_UCX_UCX_LANDING_H_

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "threading/transport/ucx/ucx_context.h"

namespace hycoll {

/// Blocks of a landing, a bit each.
using LandingBlocks = std::uint32_t;

/// What follows a message that has been put into a landing, in its place.
struct LandingNotice {
  std::uint64_t cookie[2] = {};  ///< the landing's; no other message begins like this
  std::uint64_t first_block = 0;
  std::uint64_t size_bytes = 0;

  LandingBlocks blocks() const noexcept;
};

/// Memory of a lane's own, registered for as long as it exists, into which one peer may put
/// messages before anybody asks for them. Nobody registers what is not hycoll's: memory that its
/// owner frees may come back at the same address as another one, and a receive that has been given
/// up must not be written into.
class UcxLanding {
 public:
  static constexpr std::size_t kBlockBytes = 64 * 1024;
  static constexpr int kBlockCount = 16;
  /// Of a message. Two fit.
  static constexpr std::size_t kMostBytes = kBlockBytes * kBlockCount / 2;

  /// Null where the memory is refused, or may not be registered.
  static std::unique_ptr<UcxLanding> make(const UcxContext& context);
  ~UcxLanding();
  UcxLanding(const UcxLanding&) = delete;
  UcxLanding& operator=(const UcxLanding&) = delete;

  /// What the peer has to know, for UcxTarget; empty if there is nothing that it could use.
  std::vector<std::byte> offer() const;

  /// The notice of a message that lies here, if these bytes are one.
  std::optional<LandingNotice> notice_in(std::span<const std::byte> bytes) const noexcept;

  /// Copies as much of the message as there is room for. Its blocks are the peer's again when that
  /// knows of it.
  void read(const LandingNotice& notice, std::span<std::byte> destination) noexcept;

  /// Blocks that have been read since forget_read().
  LandingBlocks read_blocks() const noexcept { return read_; }
  void forget_read() noexcept { read_ = 0; }

 private:
  explicit UcxLanding(const UcxContext& context) : context_(&context) {}

  const UcxContext* context_;
  ucp_mem_h memory_ = nullptr;
  const std::byte* start_ = nullptr;
  std::uint64_t cookie_[2] = {};
  LandingBlocks read_ = 0;
};

/// A peer's landing, as the one sees it who puts messages there: the remote key, and which blocks
/// are free. Only the one who puts takes blocks, so that none is written before it has been read.
class UcxTarget {
 public:
  /// Null if the connection cannot write there without the peer's help: UCX would send the bytes
  /// as messages. `may_have_puts`: another machine's, over a network that knows puts.
  static std::unique_ptr<UcxTarget> from_offer(const UcxLibrary& ucx, ucp_ep_h connection,
                                               std::span<const std::byte> offer,
                                               bool may_have_puts);
  ~UcxTarget();
  UcxTarget(const UcxTarget&) = delete;
  UcxTarget& operator=(const UcxTarget&) = delete;

  /// Neighbouring blocks for a message, and the notice that tells of it; none if there is no room.
  std::optional<LandingNotice> take(std::size_t size_bytes) noexcept;
  void give_back(LandingBlocks blocks) noexcept { used_ &= ~blocks; }
  bool is_idle() const noexcept { return used_ == 0; }

  std::uint64_t address_of(const LandingNotice& notice) const noexcept {
    return start_ + notice.first_block * UcxLanding::kBlockBytes;
  }
  ucp_rkey_h key() const noexcept { return key_; }

  std::uint64_t last_use = 0;  ///< its user's

 private:
  explicit UcxTarget(const UcxLibrary& ucx) : ucx_(&ucx) {}

  const UcxLibrary* ucx_;
  ucp_rkey_h key_ = nullptr;
  std::uint64_t start_ = 0;
  std::uint64_t cookie_[2] = {};
  LandingBlocks used_ = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_UCX_UCX_LANDING_H_
