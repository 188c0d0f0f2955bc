#include "threading/transport/ucx/ucx_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>

#include "core/base/lifetime.h"

namespace hycoll {
namespace {

/// The first version with the functions that are called (ucp_ep_close_nbx, ucp_tag_send_nbx).
constexpr unsigned kMajor = 1;
constexpr unsigned kLeastMinor = 10;

/// Gives a program its signal handlers back: UCX puts its own in their places when it is loaded,
/// to print a trace. UCX_ERROR_SIGNALS asks for that.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &kept_[i]);
  }
  ~KeptSignalHandlers() {
    if (std::getenv("UCX_ERROR_SIGNALS") != nullptr) return;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &kept_[i], nullptr);
  }
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  static constexpr std::array kSignals = {SIGILL, SIGSEGV, SIGBUS, SIGFPE};
  std::array<struct sigaction, kSignals.size()> kept_{};
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

FoundUcx look() {
  static Immortal<UcxLibrary> library;
  UcxLibrary& ucx = *library;
  const KeptSignalHandlers handlers;
  // Never closed: threads of UCX's own may run in it until the process ends.
  void* const ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  if (ucp == nullptr) return {nullptr, fmt::format("no libucp.so.0 ({})", dlerror())};
  decltype(&ucp_get_version) get_version = nullptr;
  // libucs is among what libucp needs, so its functions are found through the same handle.
  const bool is_whole =
      find(ucp, "ucp_get_version", get_version) &&
      find(ucp, "ucp_get_version_string", ucx.get_version_string) &&
      find(ucp, "ucp_init_version", ucx.init_version) && find(ucp, "ucp_cleanup", ucx.cleanup) &&
      find(ucp, "ucp_config_read", ucx.config_read) &&
      find(ucp, "ucp_config_modify", ucx.config_modify) &&
      find(ucp, "ucp_config_release", ucx.config_release) &&
      find(ucp, "ucp_worker_create", ucx.worker_create) &&
      find(ucp, "ucp_worker_destroy", ucx.worker_destroy) &&
      find(ucp, "ucp_worker_get_address", ucx.worker_get_address) &&
      find(ucp, "ucp_worker_release_address", ucx.worker_release_address) &&
      find(ucp, "ucp_worker_progress", ucx.worker_progress) &&
      find(ucp, "ucp_worker_flush_nbx", ucx.worker_flush) &&
      find(ucp, "ucp_ep_create", ucx.ep_create) && find(ucp, "ucp_ep_flush_nbx", ucx.ep_flush) &&
      find(ucp, "ucp_ep_print_info", ucx.ep_print_info) &&
      find(ucp, "ucp_ep_close_nbx", ucx.ep_close) && find(ucp, "ucp_tag_send_nbx", ucx.tag_send) &&
      find(ucp, "ucp_tag_recv_nbx", ucx.tag_receive) &&
      find(ucp, "ucp_tag_probe_nb", ucx.tag_probe) &&
      find(ucp, "ucp_tag_msg_recv_nbx", ucx.tag_receive_probed) &&
      find(ucp, "ucp_mem_map", ucx.mem_map) && find(ucp, "ucp_mem_unmap", ucx.mem_unmap) &&
      find(ucp, "ucp_mem_query", ucx.mem_query) && find(ucp, "ucp_rkey_pack", ucx.rkey_pack) &&
      find(ucp, "ucp_rkey_buffer_release", ucx.rkey_buffer_release) &&
      find(ucp, "ucp_ep_rkey_unpack", ucx.ep_rkey_unpack) &&
      find(ucp, "ucp_rkey_ptr", ucx.rkey_ptr) && find(ucp, "ucp_rkey_destroy", ucx.rkey_destroy) &&
      find(ucp, "ucp_put_nbx", ucx.put) &&
      find(ucp, "ucp_request_check_status", ucx.request_status) &&
      find(ucp, "ucp_request_cancel", ucx.request_cancel) &&
      find(ucp, "ucp_request_free", ucx.request_free) &&
      find(ucp, "ucs_status_string", ucx.status_string);
  if (!is_whole) return {nullptr, fmt::format("libucp.so.0 is too old ({})", dlerror())};
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  get_version(&major, &minor, &release);
  ucx.version = fmt::format("{}.{}.{}", major, minor, release);
  if (major != kMajor || minor < kLeastMinor) {
    return {nullptr, fmt::format("UCX {} is older than {}.{}", ucx.version, kMajor, kLeastMinor)};
  }
  return {&ucx, ""};
}

}  // namespace

const FoundUcx& found_ucx() {
  static const Immortal found(&look);
  return *found;
}

}  // namespace hycoll
