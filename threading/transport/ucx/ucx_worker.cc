#include "threading/transport/ucx/ucx_worker.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/base/lifetime.h"
#include "threading/transport/ucx/ucx_caretaker.h"

namespace hycoll {

/// Workers that no lane uses, the last one first.
struct UcxWorker::Idle {
  std::mutex mutex;
  std::unique_ptr<UcxWorker> first;  // guarded by mutex

  /// When a process ends, UCX may have put itself away before static objects are destroyed.
  static Idle& workers() {
    static Immortal<Idle> idle;
    return *idle;
  }
};

UcxWorker::Handle UcxWorker::take(const UcxContext& context) {
  {
    Idle& idle = Idle::workers();
    const std::scoped_lock lock(idle.mutex);
    for (std::unique_ptr<UcxWorker>* link = &idle.first; *link != nullptr;
         link = &(*link)->next_idle_) {
      if ((*link)->context_ != &context) continue;
      Handle taken(link->release());
      *link = std::move(taken->next_idle_);
      return taken;
    }
  }
  return Handle(new UcxWorker(context));
}

void UcxWorker::HandOn::operator()(UcxWorker* worker) const noexcept {
  Idle& idle = Idle::workers();
  const std::scoped_lock lock(idle.mutex);
  worker->next_idle_ = std::exchange(idle.first, std::unique_ptr<UcxWorker>(worker));
}

UcxWorker::UcxWorker(const UcxContext& context)
    : context_(&context), handle_(nullptr, {context.library()}) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  // One thread after another may be the lane's.
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucp_worker_h made = nullptr;
  check_ucx(ucx(), ucx().worker_create(context.handle(), &params, &made), "ucp_worker_create");
  handle_.reset(made);
  ucp_address_t* address = nullptr;
  std::size_t size_bytes = 0;
  check_ucx(ucx(), ucx().worker_get_address(handle(), &address, &size_bytes),
            "ucp_worker_get_address");
  const auto release = [this](ucp_address_t* bytes) {
    ucx().worker_release_address(handle(), bytes);
  };
  const std::unique_ptr<ucp_address_t, decltype(release)> held(address, release);
  const std::span bytes(reinterpret_cast<const std::byte*>(address), size_bytes);
  address_.assign(bytes.begin(), bytes.end());
}

UcxWorker::~UcxWorker() {
  if (has_caretaker_) UcxCaretaker::instance().leave(*this);
  for (ucs_status_ptr_t const request : leaving_) ucx().request_free(request);
  flush();
  std::vector<ucs_status_ptr_t> closing;
  for (const auto& [address, connection] : connections_) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = connection.status == UCS_OK ? 0 : UCP_EP_CLOSE_FLAG_FORCE;
    closing.push_back(ucx().ep_close(connection.handle, &params));
  }
  await(closing);
}

UcxWorker::Connection& UcxWorker::connection_to(std::span<const std::byte> address,
                                                bool is_on_this_machine) {
  std::string key(reinterpret_cast<const char*>(address.data()), address.size());
  key += is_on_this_machine ? 'h' : 'e';
  const auto [known, is_new] = connections_.try_emplace(std::move(key));
  Connection& connection = known->second;
  if (!is_new) return connection;
  connection.worker = this;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = is_on_this_machine ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {.cb = &UcxWorker::on_end, .arg = &connection};
  const ucs_status_t status = ucx().ep_create(handle(), &params, &connection.handle);
  if (status != UCS_OK) connections_.erase(known);
  check_ucx(ucx(), status, "ucp_ep_create");
  connection.is_over_tcp = is_over_tcp(connection.handle);
  // There a message is sent, for UCX, when a part of it fits into the socket's buffer.
  may_hold_back_ = may_hold_back_ || connection.is_over_tcp;
  return connection;
}

bool UcxWorker::is_over_tcp(ucp_ep_h connection) const {
  char* text = nullptr;
  std::size_t size_bytes = 0;
  std::FILE* const file = open_memstream(&text, &size_bytes);
  if (file == nullptr) return true;
  ucx().ep_print_info(connection, file);
  std::fclose(file);
  const bool names_tcp = std::string_view(text, size_bytes).find("tcp/") != std::string_view::npos;
  std::free(text);
  return names_tcp;
}

void UcxWorker::on_end(void* connection, ucp_ep_h /*handle*/, ucs_status_t status) {
  auto& ended = *static_cast<Connection*>(connection);
  if (ended.status == UCS_OK) ++ended.worker->ended_count_;
  ended.status = status;
  ended.ended_at = std::chrono::steady_clock::now();
}

bool UcxWorker::flush() {
  const ucp_request_param_t params{};
  ucs_status_ptr_t const request = ucx().worker_flush(handle(), &params);
  return await(std::span(&request, 1));
}

std::unique_lock<std::mutex> UcxWorker::use_against_caretaker() {
  std::unique_lock lock(use_);
  use_count_.store(use_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (!is_looked_after_.load(std::memory_order_relaxed)) {
    is_looked_after_.store(true, std::memory_order_relaxed);
    if (!has_caretaker_) UcxCaretaker::instance().take(*this);
    has_caretaker_ = true;
    UcxCaretaker::instance().wake();
  }
  return lock;
}

UcxWorker::Care UcxWorker::look_after() {
  if (!is_looked_after_.load(std::memory_order_relaxed)) return Care::not_needed;
  const std::unique_lock lock(use_, std::try_to_lock);
  if (!lock) return Care::in_use;
  const std::uint64_t uses = use_count_.load(std::memory_order_relaxed);
  if (std::exchange(last_use_count_, uses) != uses) {
    is_flush_old_ = true;
    return Care::in_use;
  }
  if (leaving_.empty()) {
    const ucp_request_param_t params{};
    for (const auto& [address, connection] : connections_) {
      if (connection.status != UCS_OK) continue;
      ucs_status_ptr_t const flush = ucx().ep_flush(connection.handle, &params);
      if (UCS_PTR_IS_PTR(flush)) leaving_.push_back(flush);
    }
    is_flush_old_ = false;
  }
  progress();
  if (!have_left(leaving_)) return Care::left;
  for (ucs_status_ptr_t const request : leaving_) ucx().request_free(request);
  leaving_.clear();
  if (is_flush_old_) return Care::left;
  is_looked_after_.store(false, std::memory_order_relaxed);
  return Care::not_needed;
}

bool UcxWorker::have_left(std::span<const ucs_status_ptr_t> requests) const {
  return std::ranges::all_of(requests, [this](ucs_status_ptr_t request) {
    return !UCS_PTR_IS_PTR(request) || ucx().request_status(request) != UCS_INPROGRESS;
  });
}

bool UcxWorker::await(std::span<const ucs_status_ptr_t> requests) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  bool are_over = have_left(requests);
  while (!are_over && std::chrono::steady_clock::now() < until) {
    progress();
    are_over = have_left(requests);
  }
  for (ucs_status_ptr_t const request : requests) {
    if (UCS_PTR_IS_PTR(request)) ucx().request_free(request);
  }
  return are_over;
}

}  // namespace hycoll
