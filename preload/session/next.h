#ifndef HYCOLL_PRELOAD_SESSION_NEXT_H_
#define HYCOLL_PRELOAD_SESSION_NEXT_H_

#include <dlfcn.h>

namespace hycoll::preload {

/// The function of this name in what the loader has below this library: a tool that is preloaded
/// after it, or the MPI library. Null if there is none.
template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_NEXT_H_
