#include "threading/transport/ucx/ucx_context.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/errors.h"
#include "core/base/lifetime.h"

namespace hycoll {
namespace {

/// A context and a first worker over TCP take less than half of them.
constexpr std::size_t kDescriptorsNeeded = 64;

/// Throws where too few are left: UCX ends the process when its own thread gets none.
void require_descriptors() {
  std::array<int, kDescriptorsNeeded> descriptors{};
  std::size_t got = 0;
  while (got < descriptors.size() && (descriptors[got] = eventfd(0, EFD_CLOEXEC)) >= 0) ++got;
  for (std::size_t i = 0; i < got; ++i) close(descriptors[i]);
  if (got == descriptors.size()) return;
  throw Error(ErrorKind::environment,
              fmt::format("UCX needs some {} file descriptors, and {} are left. Raise the limit "
                          "(ulimit -n), or do without UCX: HYCOLL_TRANSPORT=mpi",
                          kDescriptorsNeeded, got));
}

/// Elements of the queues in shared memory, of which messages that fit into one take a shorter way
/// than others. UCX's own have 128 bytes; a queue has 256.
constexpr const char* kQueueElementBytes = "1088";

/// Whether connections may go through UCX's queues in shared memory, whose elements nobody has
/// asked to be of another size. UCX tells users of variables that it has no use for.
bool may_choose_queue_elements() {
  for (const char* name :
       {"UCX_MM_FIFO_ELEM_SIZE", "UCX_POSIX_FIFO_ELEM_SIZE", "UCX_SYSV_FIFO_ELEM_SIZE"}) {
    if (std::getenv(name) != nullptr) return false;
  }
  const char* const value = std::getenv("UCX_TLS");
  if (value == nullptr) return true;
  const std::string_view transports = value;
  if (transports.starts_with('^')) return false;
  constexpr std::array kWithQueues{"all", "sm", "shm", "mm", "posix", "sysv"};
  return std::ranges::any_of(kWithQueues, [&](const char* name) {
    return transports.find(name) != std::string_view::npos;
  });
}

}  // namespace

void check_ucx(const UcxLibrary& ucx, ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  throw Error(ErrorKind::environment,
              fmt::format("{} failed: {}. Look at UCX_TLS and UCX_NET_DEVICES, or do without UCX: "
                          "HYCOLL_TRANSPORT=mpi",
                          what, ucx.status_string(status)));
}

const UcxContext& UcxContext::shared() {
  // When a process ends, UCX may have put itself away before static objects are destroyed. If it
  // throws, the next call tries again.
  static const Immortal context([] { return make(false); });
  return *context;
}

const UcxContext& UcxContext::with_puts() {
  static const Immortal context([] { return make(true); });  // as above
  return *context;
}

UcxContext UcxContext::make(bool has_puts) {
  const FoundUcx& found = found_ucx();
  if (found.library == nullptr) {
    throw Error(ErrorKind::environment,
                fmt::format("UCX cannot be used: {}. Install it, or do without: "
                            "HYCOLL_TRANSPORT=mpi",
                            found.why_not));
  }
  return UcxContext(*found.library, has_puts);
}

UcxContext::UcxContext(const UcxLibrary& library, bool has_puts)
    : library_(&library), has_puts_(has_puts) {
  require_descriptors();
  ucp_config_t* config = nullptr;
  check_ucx(library, library.config_read(nullptr, nullptr, &config), "ucp_config_read");
  const auto set = [&](const char* name, const std::string& value) {
    check_ucx(library, library.config_modify(config, name, value.c_str()), name);
  };
  set("RNDV_THRESH", std::to_string(kLongBytes));
  // Otherwise a leader looks after a second network, for long messages, with every short one.
  if (std::getenv("UCX_MAX_RNDV_LANES") == nullptr) set("MAX_RNDV_LANES", "1");
  // UCX versions differ in whether this can be said here; without it everything works, too.
  if (may_choose_queue_elements()) {
    static_cast<void>(library.config_modify(config, "MM_FIFO_ELEM_SIZE", kQueueElementBytes));
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = UCP_FEATURE_TAG | (has_puts ? UCP_FEATURE_RMA : 0);
  params.mt_workers_shared =
      1;  // each worker has one thread at a time, but they share this context
  const ucs_status_t status =
      library.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &handle_);
  library.config_release(config);
  check_ucx(library, status, "ucp_init");
}

}  // namespace hycoll
