#ifndef HYCOLL_TESTS_SUPPORT_ERROR_KIND_H_
#define HYCOLL_TESTS_SUPPORT_ERROR_KIND_H_

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "core/base/errors.h"

namespace hycoll::tests {

/// The kind of the Error that the action throws, and its message if that is wanted; a failed check
/// if it throws none.
inline ErrorKind kind_of_error(const std::function<void()>& action,
                               std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.kind();
  }
  FAIL_CHECK("no error");
  return ErrorKind::timeout;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_ERROR_KIND_H_
