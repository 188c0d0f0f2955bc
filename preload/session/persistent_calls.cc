#include "preload/session/persistent_calls.h"

#include <chrono>
#include <exception>
#include <thread>

#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "preload/session/next.h"
#include "preload/session/nonblocking_calls.h"
#include "preload/session/session.h"
#include "threading/transport/mpi/check_mpi.h"

namespace hycoll::preload {
namespace {

// This library defines both itself.
int start_in_library(MPI_Request* request) {
  static auto* const start = next<decltype(PMPI_Start)>("PMPI_Start");
  return start(request);
}

int free_in_library(MPI_Request* request) {
  static auto* const free = next<decltype(PMPI_Request_free)>("PMPI_Request_free");
  return free(request);
}

}  // namespace

PersistentCall::PersistentCall(Attachment& attachment, Routine its_routine,
                               MPI_Comm its_communicator)
    : PendingCall(attachment, attachment.another_queue(), its_routine, its_communicator) {}

PersistentCall::~PersistentCall() {
  if (tag_ != kNoTag) PersistentCalls::instance().give_back(tag_);
  NonblockingCalls::instance().give_back(queue);
}

int PersistentCall::start(MPI_Request* request) {
  // Pairs with tell_completion().
  for (Start last = Start::none;
       !start_.compare_exchange_weak(last, Start::under_way, std::memory_order_acquire);
       last = Start::none) {
    if (last == Start::under_way) {
      return raise(Error(ErrorKind::invalid_argument,
                         "MPI_Start: the last start of this persistent collective has not "
                         "completed; wait for it first"));
    }
    std::this_thread::yield();  // another thread has told the program, and goes on soon
  }
  const int code = start_in_library(request);
  if (code != MPI_SUCCESS) {
    start_.store(Start::none, std::memory_order_relaxed);
    return code;
  }
  PersistentCalls::under_way_.fetch_add(1, std::memory_order_relaxed);  // as in find()
  try {
    if (before_start) before_start();
    if (Session::instance().report() != nullptr) start_time = std::chrono::steady_clock::now();
    call.start();
  } catch (const Error& met) {
    error_ = met;
  } catch (const std::exception& met) {
    error_.emplace(ErrorKind::environment, met.what());
  }
  if (error_) {
    tell_completion();
  } else {
    NonblockingCalls::instance().begin(*this);
  }
  return MPI_SUCCESS;
}

void PersistentCall::tell_completion() {
  // A byte more than is received is an error of whoever waits.
  const int excess = error_ ? 1 : 0;
  const bool is_lost =
      error_ && frees_failed_requests() && PersistentCalls::instance().unlist(request_, *this);
  if (error_) raise(*error_);
  error_.reset();
  // With the message the program may start the call again, or free its request.
  Start under_way = Start::under_way;
  start_.compare_exchange_strong(under_way, Start::told, std::memory_order_relaxed);
  const char byte = 0;
  PMPI_Send(&byte, excess, MPI_BYTE, 0, tag_,
            PersistentCalls::instance().communicator_.load(std::memory_order_relaxed));
  // Pairs with start(), and with PersistentCalls::free().
  if (start_.exchange(Start::none, std::memory_order_acq_rel) == Start::given_up) {
    free_in_library(&request_);
  }
  PersistentCalls::under_way_.fetch_sub(1, std::memory_order_relaxed);  // as in find()
  if (is_lost) give_up();
}

PersistentCalls& PersistentCalls::instance() noexcept {
  static Immortal calls([] { return PersistentCalls(); });
  return *calls;
}

PersistentCall* PersistentCalls::find_listed(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(request);
  return found == calls_.end() ? nullptr : found->second;
}

bool PersistentCalls::unlist(MPI_Request request, const PersistentCall& call) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(request);
  if (found == calls_.end() || found->second != &call) return false;
  calls_.erase(found);
  count_.fetch_sub(1, std::memory_order_relaxed);  // as in find()
  return true;
}

MPI_Comm PersistentCalls::own_communicator() {
  MPI_Comm own = communicator_.load(std::memory_order_relaxed);
  if (own != MPI_COMM_NULL) return own;
  // Unlike a duplicate it gets no attributes of the program's.
  check_mpi(PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own), "MPI_Comm_split");
  PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  communicator_.store(own, std::memory_order_relaxed);  // published with the requests
  return own;
}

MPI_Request PersistentCalls::add(std::unique_ptr<PersistentCall> call) {
  install_request_hooks();
  const std::lock_guard lock(mutex_);
  const MPI_Comm own = own_communicator();
  const bool is_new = free_tags_.empty();
  const int tag = is_new ? next_tag_ : free_tags_.back();
  free_tags_.reserve(static_cast<std::size_t>(next_tag_) + 1);  // give_back() asks for no memory
  MPI_Request made = MPI_REQUEST_NULL;
  check_mpi(PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, own, &made), "MPI_Recv_init");
  calls_.emplace(made, call.get());
  if (is_new) {
    ++next_tag_;
  } else {
    free_tags_.pop_back();
  }
  call->request_ = made;
  call.release()->tag_ = tag;
  count_.fetch_add(1, std::memory_order_relaxed);  // as in find()
  return made;
}

void PersistentCalls::give_back(int tag) {
  const std::lock_guard lock(mutex_);
  free_tags_.push_back(tag);
}

int PersistentCalls::free(PersistentCall& call, MPI_Request* request) {
  unlist(*request, call);
  int code = MPI_SUCCESS;
  auto start = call.start_.load(std::memory_order_acquire);  // pairs with tell_completion()
  while (start != PersistentCall::Start::none &&
         !call.start_.compare_exchange_weak(start, PersistentCall::Start::given_up,
                                            std::memory_order_acq_rel)) {
  }
  // MPI forbids that, and libraries lose the receive, for which the message would wait then.
  if (start != PersistentCall::Start::none) {
    *request = MPI_REQUEST_NULL;
  } else {
    code = free_in_library(request);
  }
  call.give_up();
  return code;
}

void PersistentCalls::close() noexcept {
  // Also what goes on although its request is gone.
  NonblockingCalls::instance().finish_persistent();
  while (!calls_.empty()) {
    MPI_Request request = calls_.begin()->first;
    PersistentCall& call = *calls_.begin()->second;
    free(call, &request);
  }
  MPI_Comm own = communicator_.exchange(MPI_COMM_NULL, std::memory_order_relaxed);
  if (own != MPI_COMM_NULL) PMPI_Comm_free(&own);
}

}  // namespace hycoll::preload
