#ifndef HYCOLL_THREADING_TRANSPORT_UCX_UCX_CONTEXT_H_
#define HYCOLL_THREADING_TRANSPORT_UCX_UCX_CONTEXT_H_

#include <ucp/api/ucp.h>

#include <cstddef>

#include "threading/transport/ucx/ucx_library.h"

namespace hycoll {

/// Throws Error (environment), with UCX's words and what hycoll was doing, unless `status` is
/// UCS_OK.
void check_ucx(const UcxLibrary& ucx, ucs_status_t status, const char* what);

/// UCX's view of the networks and memories of this process, which its endpoints share: as
/// UCX_TLS, UCX_NET_DEVICES and the other variables of UCX say.
class UcxContext {
 public:
  /// Messages of so many bytes, and longer ones, go by rendezvous, shorter ones at once, whatever
  /// UCX_RNDV_THRESH says: senders of the former wait for their receivers.
  static constexpr std::size_t kLongBytes = 32 * 1024;

  /// The process's context, made when it is first needed and kept until the process ends. Throws
  /// Error (environment) where there is no UCX, or none of the transports that it is allowed to
  /// use. Any thread.
  static const UcxContext& shared();

  /// The same, with which memory can be written into, too (UcxLanding). One of its own, for with
  /// it UCX may look after a further network with every message.
  static const UcxContext& with_puts();

  UcxContext(const UcxContext&) = delete;
  UcxContext& operator=(const UcxContext&) = delete;

  const UcxLibrary& library() const noexcept { return *library_; }
  ucp_context_h handle() const noexcept { return handle_; }
  bool has_puts() const noexcept { return has_puts_; }

 private:
  UcxContext(const UcxLibrary& library, bool has_puts);
  static UcxContext make(bool has_puts);

  const UcxLibrary* library_;
  bool has_puts_;
  ucp_context_h handle_ = nullptr;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_UCX_UCX_CONTEXT_H_
