#ifndef HYCOLL_TOOLS_COMMAND_CHECKING_JOB_PLACES_H_
#define HYCOLL_TOOLS_COMMAND_CHECKING_JOB_PLACES_H_

#include <span>
#include <string>
#include <vector>

namespace hycoll::command {

/// On which hosts of a platform the processes of a job are simulated.
struct JobPlaces {
  std::vector<int> hosts;  ///< By rank: the number of a host of the platform.
  /// A host of the job that the platform does not have; then its hosts are taken in their order.
  /// "": every process is on the host of its own host's name.
  std::string unknown;
};

/// How many of the names are different.
int distinct_count(std::span<const std::string> names);

/// `job`: the names of the processes' hosts, by rank; `platform`: the names of the platform's
/// hosts, by number. A host is found by its name, or else by what stands before the first dot of
/// it. Pure. Throws Error (invalid_argument) that names --platform if it has fewer hosts than the
/// job.
JobPlaces places_on(std::span<const std::string> platform, std::span<const std::string> job);

/// "8 processes on 8 hosts, ...", and where they are simulated. Pure.
std::string job_text(std::span<const std::string> job, const JobPlaces& places);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_CHECKING_JOB_PLACES_H_
