#ifndef HYCOLL_PRELOAD_ROUTINES_SERVE_H_
#define HYCOLL_PRELOAD_ROUTINES_SERVE_H_

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/api/hycoll.h"
#include "core/base/errors.h"
#include "preload/session/nonblocking_calls.h"
#include "preload/session/persistent_calls.h"
#include "preload/session/session.h"
#include "threading/observing/call_site.h"
#include "threading/program/staging_slices.h"

namespace hycoll::preload {

/// Bytes of `count` elements, for reports; 0 if there are none.
inline std::size_t size_bytes(MPI_Count count, MPI_Datatype type) {
  MPI_Count type_bytes = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  if (PMPI_Type_size_x(type, &type_bytes) != MPI_SUCCESS || type_bytes < 0) return 0;
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(type_bytes);
}

/// The bytes of a call, for reports.
inline std::size_t size_bytes(const Candidate& candidate) {
  return candidate.has_size ? size_bytes(candidate.element_count, candidate.type)
                            : candidate.reported_bytes;
}

/// Attachment::rank(); MPI_PROC_NULL if hycoll does not look at the communicator at all.
inline int rank_in(MPI_Comm communicator) {
  const Attachment* const attachment = Session::find(communicator);
  return attachment == nullptr ? MPI_PROC_NULL : attachment->rank();
}

/// The processes of a communicator, for routines that take a count for each; 0 if hycoll does not
/// look at the communicator at all.
inline int process_count_of(MPI_Comm communicator) {
  const Attachment* const attachment = Session::find(communicator);
  return attachment == nullptr ? 0 : attachment->process_count();
}

/// The same, but 0 for an intercommunicator too, where counts are those of the other group.
inline int own_process_count_of(MPI_Comm communicator) {
  const Attachment* const attachment = Session::find(communicator);
  const bool is_own = attachment != nullptr && attachment->rank() != MPI_PROC_NULL;
  return is_own ? attachment->process_count() : 0;
}

/// Makes a call in the MPI library, and reports it with this reason if reports are wanted.
template <class Library>
int pass_on(const Candidate& candidate, std::string_view reason, const Library& library) {
  Report* const report = Session::instance().report();
  if (report == nullptr) return library();
  const auto start = std::chrono::steady_clock::now();
  const int code = library();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report->record(candidate.routine, size_bytes(candidate), Server::mpi_library, std::string(reason),
                 seconds.count(), CallSite::here());
  return code;
}

/// Whether hycoll takes what MPI does not allow, but MPI libraries do.
inline bool takes_what_libraries_take() {
  return Session::instance().settings().options.checking == Options::Checking::process;
}

/// Ends a call that hycoll does not serve: in the MPI library, or with the error of its mistake.
template <class Library>
int decline(const Candidate& candidate, const Verdict& verdict, const Library& library) {
  if (verdict.refused_for == Mistake::none) return pass_on(candidate, verdict.reason, library);
  return raise_error(candidate.communicator, class_of(verdict.refused_for),
                     text_of(verdict.refused_for, candidate.routine));
}

/// Why the MPI library serves a call that hycoll meets StagingTooSmall in: on all processes.
inline constexpr std::string_view kTooLongForStaging =
    "an element, or the least part of all blocks, is longer than hycoll's staging";

/// The same of MemoryRefused: in blocking calls, in persistent ones, and in others.
inline constexpr std::string_view kTooLittleMemory =
    "longer than what the communicator's own memory is for, and there is no room for more "
    "(HYCOLL_STAGING_LIMIT)";
inline constexpr std::string_view kNoMemoryOfItsOwn =
    "persistent: there is no room for memory of its own (HYCOLL_STAGING_LIMIT), or too many other "
    "persistent calls have theirs";
inline constexpr std::string_view kMemoryNotThere =
    "nonblocking: hycoll takes the memory that longer calls need in a blocking one";

/// Calls `body()`, which returns MPI's error code, or raises the error that it meets. If hycoll
/// finds on all processes that it cannot make the call, it passes it on; `no_memory` says why if
/// that is MemoryRefused.
template <class Library, class Body>
int made_or_passed_on(const Candidate& candidate, std::string_view no_memory,
                      const Library& library, const Body& body) {
  try {
    return body();
  } catch (const StagingTooSmall&) {
    return pass_on(candidate, kTooLongForStaging, library);
  } catch (const MemoryRefused&) {
    return pass_on(candidate, no_memory, library);
  } catch (const Error& error) {
    return raise_error(candidate.communicator, error);
  } catch (const std::exception& error) {
    return raise_error(candidate.communicator, MPI_ERR_OTHER, error.what());
  }
}

/// Makes the call of `make_call(server)` with hycoll, which may first make calls of hycoll's own,
/// or, if it does not fit the staging or some process passes memory of a GPU, `library()` with the
/// MPI library. `make_ready(call)` may touch the buffers, and so may `complete()` after the call.
/// Returns MPI's error code.
template <class MakeCall, class Library, class MakeReady, class Complete>
int serve_with(Attachment& attachment, Communicator& server, const Candidate& candidate,
               const MakeCall& make_call, const Library& library, const MakeReady& make_ready,
               const Complete& complete) {
  return made_or_passed_on(candidate, kTooLittleMemory, library, [&] {
    Call call = make_call(server);
    if (attachment.meets_device_memory(candidate.routine, call)) {
      return pass_on(candidate, "a buffer in the memory of a GPU", library);
    }
    make_ready(call);
    Report* const report = attachment.report();
    if (report == nullptr) [[likely]] {
      server.run(call);
      complete();
      return MPI_SUCCESS;
    }
    const auto start = std::chrono::steady_clock::now();
    server.run(call);
    complete();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    report->record(candidate.routine, size_bytes(candidate), Server::hycoll,
                   server.choice(call).algorithm, seconds.count(), CallSite::here());
    return MPI_SUCCESS;
  });
}

/// Serves a call of the program's, as serve_with(), with hycoll or with the MPI library. All
/// processes of the communicator decide alike.
template <class MakeCall, class Library, class MakeReady, class Complete>
int serve(const Candidate& candidate, const MakeCall& make_call, const Library& library,
          const MakeReady& make_ready, const Complete& complete) {
  Attachment* const attachment = Session::find(candidate.communicator);
  if (attachment == nullptr) return library();
  Communicator* server = attachment->server_of_like(candidate);
  if (server == nullptr) [[unlikely]] {
    const Verdict verdict = attachment->decide(candidate, Session::instance().settings());
    if (verdict.is_timed) {
      const std::uint64_t start = ticks();
      const int code = pass_on(candidate, verdict.reason, library);
      attachment->add_library_time(ticks() - start);
      return code;
    }
    if (verdict.server == nullptr) return decline(candidate, verdict, library);
    server = verdict.server;
  }
  attachment->finish_nonblocking();
  return serve_with(*attachment, *server, candidate, make_call, library, make_ready, complete);
}

/// What the report will say of a call, if one is wanted.
inline void describe(PendingCall& pending, const Candidate& candidate, Communicator& server,
                     const Call& call) {
  if (Session::instance().report() == nullptr) return;
  pending.size_bytes = size_bytes(candidate);
  pending.algorithm = server.choice(call).algorithm;
  pending.start_time = std::chrono::steady_clock::now();
}

/// Serves a nonblocking call of the program's, which `make_call(pending)` makes with hycoll; what
/// must outlive the call is kept in the PendingCall. All processes of the communicator decide
/// alike.
template <class MakeCall, class Library>
int serve_nonblocking(const Candidate& candidate, MPI_Request* request, const MakeCall& make_call,
                      const Library& library) {
  Attachment* const attachment = Session::find(candidate.communicator);
  if (attachment == nullptr || request == nullptr) return library();
  const Verdict verdict = attachment->decide(candidate, Session::instance().settings());
  if (verdict.server == nullptr) return decline(candidate, verdict, library);
  return made_or_passed_on(candidate, kMemoryNotThere, library, [&] {
    auto pending = std::make_unique<NonblockingCall>(*attachment, attachment->queue(),
                                                     candidate.routine, candidate.communicator);
    const Call call = make_call(*pending);
    describe(*pending, candidate, *verdict.server, call);
    pending->call = verdict.server->drive(call);
    return NonblockingCalls::instance().start(std::move(pending), request);
  });
}

/// Sets up a persistent call of the program's, as `make_call(persistent)` makes it, to be started
/// with hycoll; or, with the MPI library, by `library()`. What must outlive this function is kept
/// in the PersistentCall. Collective over the communicator, whose processes decide alike.
template <class MakeCall, class Library>
int serve_persistent(const Candidate& candidate, MPI_Request* request, const MakeCall& make_call,
                     const Library& library) {
  Attachment* const attachment = Session::find(candidate.communicator);
  if (attachment == nullptr || request == nullptr) return library();
  const Verdict verdict = attachment->decide(candidate, Session::instance().settings());
  if (verdict.server == nullptr) return decline(candidate, verdict, library);
  attachment->finish_nonblocking();
  return made_or_passed_on(candidate, kNoMemoryOfItsOwn, library, [&] {
    auto persistent =
        std::make_unique<PersistentCall>(*attachment, candidate.routine, candidate.communicator);
    const Call call = make_call(*persistent);
    describe(*persistent, candidate, *verdict.server, call);
    persistent->call = verdict.server->prepare_driven(call);
    *request = PersistentCalls::instance().add(std::move(persistent));
    return MPI_SUCCESS;
  });
}

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_ROUTINES_SERVE_H_
