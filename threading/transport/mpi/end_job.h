#ifndef HYCOLL_THREADING_TRANSPORT_MPI_END_JOB_H_
#define HYCOLL_THREADING_TRANSPORT_MPI_END_JOB_H_

#include <string_view>

namespace hycoll {

/// Ends all processes of the job with a message that reaches the user: writes the line to standard
/// error, lets the launcher read it, and calls MPI_Abort with the status. Launchers drop what they
/// have not read from a process by then: MPICH's lost one message in forty on busy cores. A
/// launcher that reads nothing is waited for no longer than a second. Any thread, between MPI_Init
/// and MPI_Finalize.
[[noreturn]] void end_job(std::string_view message, int exit_status);

/// The same where a process of the job has ended. Launchers notice that too, and end all others,
/// this one included, with the status of the one that ended first; MPI_Abort would put its own in
/// the place of that. So it comes a second after the message.
[[noreturn]] void end_job_after_launcher(std::string_view message, int exit_status);

/// Returns after a second, if the launcher has not ended this process by then.
void wait_for_launcher();

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_MPI_END_JOB_H_
