#include "preload/session/pending_call.h"

#include <algorithm>
#include <exception>

#include "preload/session/nonblocking_calls.h"
#include "preload/session/session.h"

namespace hycoll::preload {

PendingCall::PendingCall(Routine its_routine, MPI_Comm its_communicator,
                         CallQueue& its_queue) noexcept
    : routine(its_routine),
      communicator(its_communicator),
      queue(its_queue),
      generation_(its_queue.generation()) {}

PendingCall::~PendingCall() { free_kept_types(); }

MPI_Datatype PendingCall::keep(MPI_Datatype type) {
  const bool is_derived =
      type != MPI_DATATYPE_NULL && ElementType(type).code() == ElementType::kDerivedCode;
  if (!is_derived) return type;
  const auto known = std::ranges::find(kept_types_, type, &KeptType::given);
  if (known != kept_types_.end()) return known->copy;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  if (PMPI_Type_dup(type, &copy) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
  kept_types_.push_back({.given = type, .copy = copy});
  return copy;
}

void PendingCall::free_kept_types() {
  for (KeptType& kept : kept_types_) PMPI_Type_free(&kept.copy);
  kept_types_.clear();
}

void PendingCall::deliver() {
  try {
    call.deliver();
  } catch (const Error& met) {
    error_ = met;
  } catch (const std::exception& met) {
    error_.emplace(ErrorKind::environment, met.what());
  }
}

void PendingCall::give_up() {
  // Releases what this owner has written to the one that deletes, and acquires what others have.
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

int PendingCall::raise(const Error& met) const {
  const bool is_freed = queue.generation() != generation_;
  return raise_error(is_freed ? MPI_COMM_SELF : communicator, met);
}

void NonblockingCall::tell_completion() {
  free_kept_types();
  PMPI_Grequest_complete(request);
  is_complete_.store(true, std::memory_order_release);  // pairs with is_complete()
}

int NonblockingCall::answer(MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  if (error_ && error_code_ == MPI_SUCCESS) error_code_ = raise(*error_);
  return error_code_;
}

}  // namespace hycoll::preload
