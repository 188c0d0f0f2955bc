#include "collectives/c_interface/guard.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "collectives/c_interface/hycoll.h"
#include "collectives/elements/error_class.h"
#include "core/base/lifetime.h"

namespace hycoll::c_interface {
namespace {

/// What hycoll_error_string() says to a thread.
struct KeptText {
  std::string text;
};

int class_of_current(std::string& text) {
  try {
    throw;
  } catch (const ArgumentError& error) {
    text += error.what();
    return error.mpi_class();
  } catch (const Error& error) {
    text += error.what();
    return error_class(error);
  } catch (const std::bad_alloc&) {
    text += "out of memory";
    return MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    text += error.what();
    return MPI_ERR_OTHER;
  } catch (...) {
    text += "an exception without a text";
    return MPI_ERR_OTHER;
  }
}

}  // namespace

int keep_error(const char* function) noexcept {
  try {
    std::string text = fmt::format("{}: ", function);
    const int mpi_class = class_of_current(text);
    of_this_thread<KeptText>().text = std::move(text);
    return mpi_class;
  } catch (...) {  // there is no memory for a text
    return MPI_ERR_NO_MEM;
  }
}

void refuse_handle(Kind kind, const char* argument, std::uint64_t handle) {
  const int mpi_class = kind == Kind::request ? MPI_ERR_REQUEST : MPI_ERR_COMM;
  throw ArgumentError(mpi_class,
                      fmt::format("{}: the handle {}; expected one of a {}", argument,
                                  Handles::instance().why_not(kind, handle), name_of(kind)));
}

void refuse_count(const std::string& argument, MPI_Count count) {
  throw ArgumentError(MPI_ERR_COUNT, fmt::format("{}={}: expected 0 or more", argument,
                                                 static_cast<long long>(count)));
}

void require_pointer(const char* argument, const void* pointer) {
  if (pointer == nullptr) {
    throw ArgumentError(MPI_ERR_ARG, fmt::format("{} is NULL; expected an address", argument));
  }
}

}  // namespace hycoll::c_interface

extern "C" const char* hycoll_error_string(void) {
  return hycoll::of_this_thread<hycoll::c_interface::KeptText>().text.c_str();
}
