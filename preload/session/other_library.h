#ifndef HYCOLL_PRELOAD_SESSION_OTHER_LIBRARY_H_
#define HYCOLL_PRELOAD_SESSION_OTHER_LIBRARY_H_

namespace hycoll::preload {

/// Starts the program anew if the code at `caller`, which initialises MPI, is linked with a library
/// of another family than this one is built for: Open MPI instead of MPICH, or the reverse. The
/// program then has hycoll's library for that family, if it is installed beside this one; otherwise
/// none, after a line on standard error. To be called before MPI is touched.
///
/// Programs that are linked with their MPI library have been looked at when they were loaded. This
/// is for what loads it later, such as modules of Python.
void step_out_for_other_library(const void* caller);

/// One process of a job speaks for all where MPI cannot be asked for the rank: launchers tell it.
bool is_first_process();

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_OTHER_LIBRARY_H_
