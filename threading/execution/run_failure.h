#ifndef HYCOLL_THREADING_EXECUTION_RUN_FAILURE_H_
#define HYCOLL_THREADING_EXECUTION_RUN_FAILURE_H_

#include <cstdint>
#include <optional>

#include "core/base/errors.h"

namespace hycoll {

/// What a run has ended with, and what that means for the runs that follow it.
class RunFailure : public Error {
 public:
  enum class Scope : std::uint8_t {
    run,          ///< The run has failed. All members still make the further runs of the call.
    earlier_run,  ///< Another one, which this member had left before it failed: the results of this
                  ///< run are right.
    disagreement,  ///< Members of the node make different calls: nobody makes further runs of his.
  };

  RunFailure(const Error& error, Scope scope) noexcept : Error(error), scope_(scope) {}
  Scope scope() const noexcept { return scope_; }

 private:
  Scope scope_;
};

/// Whether what a run has yielded is right, for all that it has ended with.
inline bool has_results(const std::optional<RunFailure>& failure) noexcept {
  return !failure || failure->scope() == RunFailure::Scope::earlier_run;
}

/// Whether the members make the further runs of a call whose run has ended with this.
inline bool goes_on(const std::optional<RunFailure>& failure) noexcept {
  return !failure || failure->scope() != RunFailure::Scope::disagreement;
}

/// The std::exception that is being handled as the failure of a run.
RunFailure handled_failure() noexcept;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_EXECUTION_RUN_FAILURE_H_
