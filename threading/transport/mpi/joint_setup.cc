#include "threading/transport/mpi/joint_setup.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string_view>

#include "core/base/errors.h"
#include "threading/memory/waiter.h"
#include "threading/transport/mpi/check_mpi.h"

namespace hycoll {
namespace {

/// What another process has met, and been named for.
class FailureElsewhere : public Error {
 public:
  using Error::Error;
};

}  // namespace

/// As it is sent: plain bytes.
struct JointSetup::Failure {
  ErrorKind kind = ErrorKind::environment;
  bool names_process = false;  ///< The text does.
  std::array<char, 1016> text{};

  void set_text(std::string_view what) noexcept { what.copy(text.data(), text.size() - 1); }
  /// Of the exception that is being handled.
  static Failure handled() noexcept {
    Failure failure;
    try {
      throw;
    } catch (const FailureElsewhere& error) {
      failure = {.kind = error.kind(), .names_process = true};
      failure.set_text(error.what());
    } catch (const Error& error) {
      failure.kind = error.kind();
      failure.set_text(error.what());
    } catch (const std::bad_alloc&) {
      failure.set_text("the system has refused memory while hycoll prepared itself");
    } catch (const std::exception& exception) {
      failure.set_text(exception.what());
    }
    return failure;
  }
};

int JointSetup::rank() const {
  int rank = 0;
  check_mpi(MPI_Comm_rank(communicator_, &rank), "MPI_Comm_rank");
  return rank;
}

/// MPI libraries' blocking calls do not give their core away. Where more threads can run than there
/// are cores, each meeting would take slices of the scheduler's.
void JointSetup::complete_started(const char* name, int code, MPI_Request& request) {
  check_mpi(code, name);
  Waiter waiter{WaitPolicy{}};
  for (int is_over = 0;;) {
    check_mpi(MPI_Test(&request, &is_over, MPI_STATUS_IGNORE), name);
    if (is_over != 0) return;
    if (waiter.turn()) waiter.give_way();
  }
}

JointSetup::Meeting JointSetup::reduced(const Meeting& own) const {
  Meeting least;
  constexpr int kCount = sizeof(Meeting) / sizeof(std::int64_t);
  complete("MPI_Iallreduce", [&](MPI_Request* request) {
    return MPI_Iallreduce(&own.failed, &least.failed, kCount, MPI_INT64_T, MPI_MIN, communicator_,
                          request);
  });
  return least;
}

void JointSetup::tell(Failure& failure, std::int64_t rank) const {
  complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(&failure, sizeof(failure), MPI_BYTE, static_cast<int>(rank), communicator_,
                      request);
  });
}

JointSetup::Numbers JointSetup::least(const Numbers& own) {
  is_over_ = true;  // unless this ends well
  const Meeting met = reduced({.failed = kNobody, .numbers = own});
  if (met.failed != kNobody) throw_failure_of(met.failed);
  is_over_ = false;
  return met.numbers;
}

void JointSetup::throw_failure_of(std::int64_t rank) const {
  Failure failure;
  tell(failure, rank);
  if (failure.names_process) throw FailureElsewhere(failure.kind, failure.text.data());
  const int number = static_cast<int>(rank);
  throw FailureElsewhere(
      failure.kind,
      fmt::format("{}: {}", names_ ? names_(number) : fmt::format("process {}", number),
                  failure.text.data()));
}

void JointSetup::give_up() {
  if (is_over_) throw;
  is_over_ = true;
  const Failure own = Failure::handled();
  Failure told = own;
  tell(told, reduced({.failed = rank(), .numbers = {}}).failed);
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw Error(own.kind, own.text.data());
  }
}

}  // namespace hycoll
