#ifndef HYCOLL_THREADING_TRANSPORT_UCX_UCX_LIBRARY_H_
#define HYCOLL_THREADING_TRANSPORT_UCX_UCX_LIBRARY_H_

#include <ucp/api/ucp.h>

#include <string>

namespace hycoll {

/// Those functions of UCX's high-level interface (UCP) that hycoll calls, found when they are first
/// asked for: one hycoll serves machines with UCX and without.
struct UcxLibrary {
  decltype(&ucp_get_version_string) get_version_string = nullptr;
  decltype(&ucp_init_version) init_version = nullptr;
  decltype(&ucp_cleanup) cleanup = nullptr;
  decltype(&ucp_config_read) config_read = nullptr;
  decltype(&ucp_config_modify) config_modify = nullptr;
  decltype(&ucp_config_release) config_release = nullptr;
  decltype(&ucp_worker_create) worker_create = nullptr;
  decltype(&ucp_worker_destroy) worker_destroy = nullptr;
  decltype(&ucp_worker_get_address) worker_get_address = nullptr;
  decltype(&ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&ucp_worker_progress) worker_progress = nullptr;
  decltype(&ucp_worker_flush_nbx) worker_flush = nullptr;
  decltype(&ucp_ep_create) ep_create = nullptr;
  decltype(&ucp_ep_flush_nbx) ep_flush = nullptr;
  decltype(&ucp_ep_print_info) ep_print_info = nullptr;
  decltype(&ucp_ep_close_nbx) ep_close = nullptr;
  decltype(&ucp_tag_send_nbx) tag_send = nullptr;
  decltype(&ucp_tag_recv_nbx) tag_receive = nullptr;
  decltype(&ucp_tag_probe_nb) tag_probe = nullptr;
  decltype(&ucp_tag_msg_recv_nbx) tag_receive_probed = nullptr;
  decltype(&ucp_mem_map) mem_map = nullptr;
  decltype(&ucp_mem_unmap) mem_unmap = nullptr;
  decltype(&ucp_mem_query) mem_query = nullptr;
  decltype(&ucp_rkey_pack) rkey_pack = nullptr;
  decltype(&ucp_rkey_buffer_release) rkey_buffer_release = nullptr;
  decltype(&ucp_ep_rkey_unpack) ep_rkey_unpack = nullptr;
  decltype(&ucp_rkey_ptr) rkey_ptr = nullptr;
  decltype(&ucp_rkey_destroy) rkey_destroy = nullptr;
  decltype(&ucp_put_nbx) put = nullptr;
  decltype(&ucp_request_check_status) request_status = nullptr;
  decltype(&ucp_request_cancel) request_cancel = nullptr;
  decltype(&ucp_request_free) request_free = nullptr;
  decltype(&ucs_status_string) status_string = nullptr;

  std::string version;  ///< e.g. "1.13.1"
};

/// What is found of UCX on this machine, by the dynamic linker's own rules. Any thread may ask.
struct FoundUcx {
  const UcxLibrary* library = nullptr;  ///< null if there is none that serves
  std::string why_not;                  ///< then: the reason, for messages
};
const FoundUcx& found_ucx();

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_UCX_UCX_LIBRARY_H_
