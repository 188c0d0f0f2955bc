#ifndef HYCOLL_CORE_BASE_ERRORS_H_
#define HYCOLL_CORE_BASE_ERRORS_H_

#include <stdexcept>
#include <string>

namespace hycoll {

/// What went wrong, for callers that react to it; the message says it for people.
enum class ErrorKind {
  invalid_argument,  ///< An argument is outside what the function accepts.
  mismatch,          ///< Members of one collective passed arguments that do not fit together.
  unsupported,    ///< The request is well formed, but this algorithm, shape or build does not serve
                  ///< it.
  environment,    ///< The machine, the MPI library or the launch line does not provide what is
                  ///< needed.
  timeout,        ///< Somebody did not arrive within the configured time.
  user_operator,  ///< An operator that the caller brought along threw an exception.
};

/// Every error that a caller can cause or meet.
///
/// Example:
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     int value = 1;
///     try {
///       communicator.broadcast(&value, 1, hycoll::DataType::int32, communicator.size());
///     } catch (const hycoll::Error& error) {
///       check(error.kind() == hycoll::ErrorKind::invalid_argument);  // no such root
///     }
///
/// The message names the argument, its value, what was
/// expected and the remedy.
class Error : public std::runtime_error {
 public:
  /// The message is what what() returns.
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  /// What kind of error it is.
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// What is wrong is the root.
class RootError : public Error {
 public:
  /// Of the kind invalid_argument.
  explicit RootError(const std::string& message) : Error(ErrorKind::invalid_argument, message) {}
};

/// What is wrong is where a buffer lies: it is null, or overlaps another one.
class BufferError : public Error {
 public:
  /// Of the kind invalid_argument.
  explicit BufferError(const std::string& message) : Error(ErrorKind::invalid_argument, message) {}
};

/// What is wrong is how much a buffer holds.
class SizeError : public Error {
 public:
  /// Of the kind invalid_argument.
  explicit SizeError(const std::string& message) : Error(ErrorKind::invalid_argument, message) {}
};

/// Reports a broken invariant of hycoll itself and ends the process; called by HYCOLL_ASSERT.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const char* explanation);

}  // namespace hycoll

/// Checks an invariant of hycoll's own code, in every build. Misuse by a caller is an Error
/// instead.
#define HYCOLL_ASSERT(condition, explanation) \
  (static_cast<bool>(condition)               \
       ? static_cast<void>(0)                 \
       : ::hycoll::assertion_failed(#condition, __FILE__, __LINE__, explanation))

#endif  // HYCOLL_CORE_BASE_ERRORS_H_
