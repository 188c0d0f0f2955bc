#ifndef HYCOLL_NUMA_PLACEMENT_NUMA_LIBRARY_H_
#define HYCOLL_NUMA_PLACEMENT_NUMA_LIBRARY_H_

#include <linux/mempolicy.h>

#include <string>

namespace hycoll {

/// Those functions of libnuma that hycoll calls, as numa(3) and mbind(2) describe them. Its headers
/// are not needed.
struct NumaLibrary {
  int (*move_pages)(int process, unsigned long count, void** pages, const int* domains, int* places,
                    int flags) = nullptr;
  long (*bind)(void* address, unsigned long size_bytes, int policy, const unsigned long* domains,
               unsigned long domain_count, unsigned flags) = nullptr;
};

/// What is found of libnuma on this machine. It is looked for when it is first asked for, by the
/// dynamic linker's own rules: one hycoll serves machines with it and without.
struct FoundNuma {
  const NumaLibrary* library = nullptr;  ///< null if there is none that serves
  std::string why_not;                   ///< then: the reason, for messages
};
/// Any thread may ask.
const FoundNuma& found_numa();

/// The same of the library with this file name; `library` is what is filled and pointed to.
FoundNuma look_for_numa(const char* file_name, NumaLibrary& library);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_PLACEMENT_NUMA_LIBRARY_H_
