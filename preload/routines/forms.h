#ifndef HYCOLL_PRELOAD_ROUTINES_FORMS_H_
#define HYCOLL_PRELOAD_ROUTINES_FORMS_H_

// The forms in which MPI has each of its collectives, once for all of them: blocking, nonblocking
// and persistent, with counts of type int, and of type MPI_Count from MPI 4 on.
//
// A collective is what a program passes to it: a class with
//   candidate(routine)   what hycoll decides by whether it serves the call,
//   Translation          how the call becomes hycoll's, of the class; see Untouched,
//   BlockingTranslation  the same in the blocking form.

#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "collectives/api/hycoll.h"
#include "preload/routines/serve.h"
#include "threading/observing/call_site.h"

namespace hycoll::preload {

/// What a translation does besides making hycoll's call, by call(lists), if that finds everything
/// where the program has it. Otherwise it copies(): it is to copy() before the call, which becomes
/// one in place by put_in_place().
struct Untouched {
  static constexpr bool copies() noexcept { return false; }
  static void copy() noexcept {}
  static void put_in_place(Call& /*call*/) noexcept {}
};

template <class Translation>
void make_ready(const Translation& translation, Call& call) {
  if (!translation.copies()) return;
  translation.copy();
  translation.put_in_place(call);
}

/// The same for a persistent call, which copies before each start.
template <class Translation>
void make_ready_for_starts(const Translation& translation, PersistentCall& persistent, Call& call) {
  if (!translation.copies()) return;
  translation.put_in_place(call);
  persistent.before_start = [translation] { translation.copy(); };
}

/// Serves the blocking form. A translation that is for this form only may make calls of hycoll's
/// before, touch the buffers in its own way, and complete() the call after.
template <class Passed, class Library>
int serve_blocking(Routine routine, const Passed& passed, const Library& library) {
  using Translation = typename Passed::BlockingTranslation;
  Translation translation(passed);
  if constexpr (requires { translation.complete(); }) {
    return serve(
        passed.candidate(routine), [&](Communicator& server) { return translation.call(server); },
        library, [&](Call& call) { translation.make_ready(call); },
        [&] { translation.complete(); });
  } else {
    CallLists lists;
    return serve(
        passed.candidate(routine), [&](Communicator&) { return translation.call(lists); }, library,
        [&](Call& call) { make_ready(translation, call); }, [] {});
  }
}

template <class Passed, class Library>
int serve_nonblocking(Routine routine, const Passed& passed, MPI_Request* request,
                      const Library& library) {
  typename Passed::Translation translation(passed);
  return serve_nonblocking(
      passed.candidate(routine), request,
      [&](PendingCall& pending) {
        Call call = translation.call(pending.lists);
        make_ready(translation, call);
        return call;
      },
      library);
}

template <class Passed, class Library>
int serve_persistent(Routine routine, const Passed& passed, MPI_Request* request,
                     const Library& library) {
  typename Passed::Translation translation(passed);
  return serve_persistent(
      passed.candidate(routine), request,
      [&](PersistentCall& persistent) {
        Call call = translation.call(persistent.lists);
        make_ready_for_starts(translation, persistent, call);
        return call;
      },
      library);
}

}  // namespace hycoll::preload

/// Defines all forms of MPI_Name that the MPI library has. `passed` makes of MPI's arguments what
/// the comment above describes; parameters(type of counts, type of displacements) are those
/// arguments' declarations up to the communicator, and arguments() their names.
#define HYCOLL_PRELOAD(Name, name, passed, parameters, arguments)             \
  HYCOLL_PRELOAD_FORMS(Name, name, passed, parameters, arguments, , int, int) \
  HYCOLL_PRELOAD_LARGE_FORMS(Name, name, passed, parameters, arguments)

/// The same of one that has no counts.
#define HYCOLL_PRELOAD_WITHOUT_COUNTS(Name, name, passed, parameters, arguments) \
  HYCOLL_PRELOAD_FORMS(Name, name, passed, parameters, arguments, , int, int)

#if MPI_VERSION >= 4
#define HYCOLL_PRELOAD_LARGE_FORMS(Name, name, passed, parameters, arguments) \
  HYCOLL_PRELOAD_FORMS(Name, name, passed, parameters, arguments, _c, MPI_Count, MPI_Aint)
#else
#define HYCOLL_PRELOAD_LARGE_FORMS(Name, name, passed, parameters, arguments)
#endif

#define HYCOLL_PRELOAD_FORMS(Name, name, passed, parameters, arguments, suffix, count,        \
                             displacement)                                                    \
  int MPI_##Name##suffix(parameters(count, displacement)) {                                   \
    const hycoll::CallSite site(__builtin_return_address(0));                                 \
    return hycoll::preload::serve_blocking(hycoll::preload::Routine::name,                    \
                                           hycoll::preload::passed(arguments()),              \
                                           [&] { return PMPI_##Name##suffix(arguments()); }); \
  }                                                                                           \
  int MPI_I##name##suffix(parameters(count, displacement), MPI_Request* request) {            \
    return hycoll::preload::serve_nonblocking(                                                \
        hycoll::preload::Routine::i##name, hycoll::preload::passed(arguments()), request,     \
        [&] { return PMPI_I##name##suffix(arguments(), request); });                          \
  }                                                                                           \
  HYCOLL_PRELOAD_PERSISTENT(Name, name, passed, parameters, arguments, suffix, count, displacement)

// The names of persistent collectives: MPI's from MPI 4 on, and in Open MPI 5, which is MPI 3.1
// otherwise; Open MPI's own before.
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define HYCOLL_PRELOAD_PERSISTENT(...) HYCOLL_PRELOAD_PERSISTENT_FORM(MPI, __VA_ARGS__)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define HYCOLL_PRELOAD_PERSISTENT(...) HYCOLL_PRELOAD_PERSISTENT_FORM(MPIX, __VA_ARGS__)
#else
#define HYCOLL_PRELOAD_PERSISTENT(...)
#endif

#define HYCOLL_PRELOAD_PERSISTENT_FORM(prefix, Name, name, passed, parameters, arguments, suffix, \
                                       count, displacement)                                       \
  int prefix##_##Name##_init##suffix(parameters(count, displacement), MPI_Info info,              \
                                     MPI_Request* request) {                                      \
    return hycoll::preload::serve_persistent(                                                     \
        hycoll::preload::Routine::name##_init, hycoll::preload::passed(arguments()), request,     \
        [&] { return P##prefix##_##Name##_init##suffix(arguments(), info, request); });           \
  }

#endif  // HYCOLL_PRELOAD_ROUTINES_FORMS_H_
