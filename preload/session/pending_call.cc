#include "preload/session/pending_call.h"

#include <exception>

#include "preload/session/attachment.h"
#include "preload/session/nonblocking_calls.h"
#include "preload/session/session.h"

namespace hycoll::preload {

PendingCall::PendingCall(Attachment& attachment, CallQueue& its_queue, Routine its_routine,
                         MPI_Comm its_communicator) noexcept
    : routine(its_routine),
      communicator(its_communicator),
      queue(its_queue),
      attachment_(attachment) {
  attachment_.own();
}

PendingCall::~PendingCall() {
  call = {};  // before hycoll's communicator
  if (attachment_.give_up()) Session::instance().retire(attachment_);
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
  return raise_error(attachment_.has_communicator() ? communicator : MPI_COMM_SELF, met);
}

void NonblockingCall::tell_completion() {
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
