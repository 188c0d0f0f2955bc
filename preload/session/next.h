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

/// What the loader has below under MPI's name, if that is another library's than what it has under
/// the name for profiling; null if both are the MPI library's.
template <class Function>
Function* tool_below(const char* name, const char* profiling_name) noexcept {
  auto* const below = next<Function>(name);
  Dl_info tool{};
  Dl_info library{};
  const bool is_known =
      dladdr(reinterpret_cast<void*>(below), &tool) != 0 &&
      dladdr(reinterpret_cast<void*>(next<Function>(profiling_name)), &library) != 0;
  return is_known && tool.dli_fbase != library.dli_fbase ? below : nullptr;
}

}  // namespace hycoll::preload

/// The MPI library's function.
#define HYCOLL_PRELOAD_LIBRARY(name) hycoll::preload::next<decltype(PMPI_##name)>("PMPI_" #name)

/// MPI_name where this library defines PMPI_name, which tools and Fortran's interfaces call too: by
/// a tool below that has it, which gets there itself.
#define HYCOLL_PRELOAD_BY_PROFILING_NAME(name, parameters, arguments)                    \
  int MPI_##name parameters {                                                            \
    static auto* const tool =                                                            \
        hycoll::preload::tool_below<decltype(PMPI_##name)>("MPI_" #name, "PMPI_" #name); \
    return tool == nullptr ? PMPI_##name arguments : tool arguments;                     \
  }

#endif  // HYCOLL_PRELOAD_SESSION_NEXT_H_
