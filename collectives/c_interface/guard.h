#ifndef HYCOLL_COLLECTIVES_C_INTERFACE_GUARD_H_
#define HYCOLL_COLLECTIVES_C_INTERFACE_GUARD_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/c_interface/handles.h"
#include "collectives/c_interface/objects.h"
#include "core/base/errors.h"

namespace hycoll::c_interface {

/// What is wrong with an argument for which MPI has an error class of its own.
class ArgumentError : public Error {
 public:
  ArgumentError(int mpi_class, const std::string& message)
      : Error(ErrorKind::invalid_argument, message), mpi_class_(mpi_class) {}
  int mpi_class() const noexcept { return mpi_class_; }

 private:
  int mpi_class_;
};

/// Keeps the text for hycoll_error_string(), behind the function's name, and returns the class of
/// the exception that is being handled.
int keep_error(const char* function) noexcept;

/// Calls `body`. No exception leaves it: returns MPI_SUCCESS, or the error's class, whose text is
/// kept.
template <class Body>
int guarded(const char* function, const Body& body) noexcept {
  try {
    body();
    return MPI_SUCCESS;
  } catch (...) {
    return keep_error(function);
  }
}

[[noreturn]] void refuse_handle(Kind kind, const char* argument, std::uint64_t handle);

/// The object of a handle. Throws ArgumentError, which names the argument, if there is none.
template <class Object>
Object& object_of(Kind kind, const char* argument, std::uint64_t handle) {
  void* const object = Handles::instance().find(kind, handle);
  if (object == nullptr) [[unlikely]]
    refuse_handle(kind, argument, handle);
  return *static_cast<Object*>(object);
}

inline MemberObject& member_of(std::uint64_t handle) {
  return object_of<MemberObject>(Kind::member, "member", handle);
}

[[noreturn]] void refuse_count(const std::string& argument, MPI_Count count);

/// A count as hycoll takes it. Throws ArgumentError (MPI_ERR_COUNT) if it is negative.
inline std::size_t size_of_count(const char* argument, MPI_Count count) {
  if (count < 0) [[unlikely]]
    refuse_count(argument, count);
  return static_cast<std::size_t>(count);
}

/// Throws ArgumentError (MPI_ERR_ARG) if it is null.
void require_pointer(const char* argument, const void* pointer);

}  // namespace hycoll::c_interface

#endif  // HYCOLL_COLLECTIVES_C_INTERFACE_GUARD_H_
