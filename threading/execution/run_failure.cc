#include "threading/execution/run_failure.h"

#include <exception>
#include <new>
#include <string>

#include "core/base/lifetime.h"

namespace hycoll {
namespace {

/// Made early, for there may be no memory for it when it is needed.
const Immortal kOutOfMemory([] {
  return RunFailure(Error(ErrorKind::environment,
                          "a collective call has run out of memory, or of what else the system "
                          "gives a process"),
                    RunFailure::Scope::run);
});

}  // namespace

RunFailure handled_failure() noexcept {
  try {
    throw;
  } catch (const RunFailure& failure) {
    return failure;
  } catch (const Error& error) {
    return {error, RunFailure::Scope::run};
  } catch (const std::bad_alloc&) {
    return *kOutOfMemory;
  } catch (const std::exception& exception) {
    try {
      return {Error(ErrorKind::environment,
                    std::string("a collective call has met an exception: ") + exception.what()),
              RunFailure::Scope::run};
    } catch (const std::bad_alloc&) {
      return *kOutOfMemory;
    }
  }
}

}  // namespace hycoll
