#ifndef HYCOLL_COLLECTIVES_C_INTERFACE_FORMS_H_
#define HYCOLL_COLLECTIVES_C_INTERFACE_FORMS_H_

// The three forms of each collective, and what all of them make of MPI's arguments.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/c_interface/guard.h"
#include "collectives/c_interface/hycoll.h"
#include "collectives/c_interface/objects.h"
#include "collectives/elements/committed.h"
#include "threading/observing/call_site.h"

namespace hycoll::c_interface {

/// Who makes a call, and where its lists are kept.
struct Caller {
  const MemberObject& member;
  CallLists& lists;
};

/// Whether a call is made without lists: `make` takes the member alone. The short ones would
/// notice.
template <class Make>
concept WithoutLists = std::is_invocable_v<const Make&, const MemberObject&>;

template <class Make>
int blocking(const char* function, hycoll_member member, const Make& make) noexcept {
  return guarded(function, [&] {
    MemberObject& object = member_of(member.handle);
    if constexpr (WithoutLists<Make>) {
      object.run(make(std::as_const(object)));
    } else {
      CallLists lists;
      const Call call = make(Caller{object, lists});
      lists.make_ready();
      object.run(call);
    }
  });
}

/// A request, whose call `begin(object, call)` starts, or sets up.
template <class Make, class Begin>
int with_request(const char* function, hycoll_member member, hycoll_request* request,
                 const Make& make, const Begin& begin) noexcept {
  return guarded(function, [&] {
    require_pointer("request", request);
    *request = {0};
    MemberObject& object = member_of(member.handle);
    auto made = std::make_unique<RequestObject>(object);
    if constexpr (WithoutLists<Make>) {
      begin(*made, make(std::as_const(object)));
    } else {
      begin(*made, make(Caller{object, made->lists()}));
    }
    request->handle = Handles::instance().add(Kind::request, made.get());
    static_cast<void>(made.release());
  });
}

template <class Make>
int nonblocking(const char* function, hycoll_member member, hycoll_request* request,
                const Make& make) noexcept {
  return with_request(function, member, request, make, [](RequestObject& object, const Call& call) {
    object.start_nonblocking(call);
  });
}

template <class Make>
int persistent(const char* function, hycoll_member member, hycoll_request* request,
               const Make& make) noexcept {
  return with_request(function, member, request, make,
                      [](RequestObject& object, const Call& call) { object.prepare(call); });
}

[[noreturn]] void refuse_type(const char* argument, MPI_Datatype type);
[[noreturn]] void refuse_in_place(const char* argument);

/// Throws ArgumentError (MPI_ERR_TYPE) if it is null, or has not been committed.
inline ElementType type_of(const char* argument, MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL || !is_committed(type)) [[unlikely]]
    refuse_type(argument, type);
  return ElementType(type);
}

/// Throws ArgumentError (MPI_ERR_BUFFER) if it is MPI_IN_PLACE.
inline void* not_in_place(const char* argument, void* buffer) {
  if (buffer == MPI_IN_PLACE) [[unlikely]]
    refuse_in_place(argument);
  return buffer;
}
inline const void* not_in_place(const char* argument, const void* buffer) {
  return not_in_place(argument, const_cast<void*>(buffer));
}

/// Counts of all members as hycoll takes them, in `kept`. Throws ArgumentError if they are missing,
/// or one is negative.
std::span<const std::size_t> kept_counts(const char* argument, const MPI_Count* counts,
                                         int member_count, std::vector<std::size_t>& kept);

}  // namespace hycoll::c_interface

/// What makes the call of name_call(caller, arguments); name_call takes a Caller, or a
/// MemberObject.
#define HYCOLL_C_MAKE(name, arguments)                                                        \
  [&](const auto& caller) -> decltype(hycoll::c_interface::name##_call(caller arguments())) { \
    return hycoll::c_interface::name##_call(caller arguments());                              \
  }

/// Defines the forms of hycoll_name, by name_call. `parameters` ends with a comma, and `arguments`
/// begins with one, unless they are empty.
#define HYCOLL_C_FORMS(name, parameters, arguments)                                         \
  int hycoll_##name(parameters() hycoll_member member) {                                    \
    const hycoll::CallSite site(__builtin_return_address(0));                               \
    return hycoll::c_interface::blocking(__func__, member, HYCOLL_C_MAKE(name, arguments)); \
  }                                                                                         \
  int hycoll_i##name(parameters() hycoll_member member, hycoll_request* request) {          \
    return hycoll::c_interface::nonblocking(__func__, member, request,                      \
                                            HYCOLL_C_MAKE(name, arguments));                \
  }                                                                                         \
  int hycoll_##name##_init(parameters() hycoll_member member, hycoll_request* request) {    \
    return hycoll::c_interface::persistent(__func__, member, request,                       \
                                           HYCOLL_C_MAKE(name, arguments));                 \
  }

#endif  // HYCOLL_COLLECTIVES_C_INTERFACE_FORMS_H_
