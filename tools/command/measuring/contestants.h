#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_CONTESTANTS_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_CONTESTANTS_H_

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectives/api/hycoll.h"
#include "tools/command/line/routine.h"
#include "tools/command/measuring/measurement.h"

namespace hycoll::command {

using Contestants = std::vector<std::unique_ptr<Contestant>>;

/// The name of the MPI library's own.
inline constexpr const char* kNativeName = "mpi";

/// One of hycoll's calls on input vectors of `count` elements of each of `member_count` members.
Call call_of(const Problem& problem, std::size_t count, int member_count, const void* input,
             void* output);

/// hycoll's blocking calls. `caller` outlives the contestant.
std::unique_ptr<Contestant> hycoll_contestant(Communicator& caller, const Problem& problem,
                                              std::size_t count, std::string name);
std::unique_ptr<Contestant> hycoll_contestant(Member& caller, const Problem& problem,
                                              std::size_t count, std::string name);

/// The MPI library's blocking calls. Requires a count that an int holds, as the next two do.
std::unique_ptr<Contestant> native_contestant(MPI_Comm comm, const Problem& problem,
                                              std::size_t count);

/// One such call, of an input and an output.
std::function<void(const std::byte*, std::byte*)> native_call(MPI_Comm comm, const Problem& problem,
                                                              std::size_t count);

/// Starts the MPI library's nonblocking call.
MPI_Request start_native(MPI_Comm comm, const Problem& problem, std::size_t count,
                         const void* input, void* output);

/// Whether the MPI library has persistent collectives (MPI 4).
inline constexpr bool kHasNativePersistent = MPI_VERSION >= 4;

/// Sets up the MPI library's persistent call. Requires kHasNativePersistent.
MPI_Request prepare_native(MPI_Comm comm, const Problem& problem, std::size_t count,
                           const void* input, void* output);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_CONTESTANTS_H_
