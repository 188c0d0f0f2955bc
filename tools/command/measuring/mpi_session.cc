#include "tools/command/measuring/mpi_session.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <thread>

#include "core/base/errors.h"
#include "threading/transport/mpi/end_job.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll::command {
namespace {

constexpr auto kAgreementTime = std::chrono::seconds(2);
constexpr auto kNap = std::chrono::microseconds(200);

MpiSession start_session(ThreadLevel level) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr,
                  level == ThreadLevel::multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  MpiSession session{};
  session.thread_level = thread_level_name(provided);
  MPI_Comm_dup(MPI_COMM_WORLD, &session.world);
  MPI_Comm_rank(session.world, &session.rank);
  MPI_Comm_size(session.world, &session.size);
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(session.world, MPI_COMM_TYPE_SHARED, session.rank, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &session.local_rank);
  MPI_Comm_size(machine, &session.local_size);
  MPI_Comm_free(&machine);
  return session;
}

/// Meets the other processes asleep; false if they have not all come in time.
bool met_idly(MPI_Comm comm, std::chrono::steady_clock::duration patience) {
  const auto start = std::chrono::steady_clock::now();
  MPI_Request request = MPI_REQUEST_NULL;
  // Past a preloaded library, whose calls are what is measured.
  PMPI_Ibarrier(comm, &request);
  for (;;) {
    int done = 0;
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (std::chrono::steady_clock::now() - start > patience) return false;
    std::this_thread::sleep_for(kNap);
  }
}

/// `failures` is a communicator that nothing else uses: whatever state the others are in, nothing
/// but this is matched by it.
ExitStatus report_failure(const MpiSession& session, MPI_Comm failures, const Error& error) {
  const bool everybody_failed = met_idly(failures, kAgreementTime);
  if (everybody_failed && !session.speaks()) return kUsage;
  if (!everybody_failed) {
    end_job(fmt::format("hycoll: rank {}: {}", session.rank, error.what()), kUsage);
  }
  fmt::print(stderr, "hycoll: {}\n", error.what());
  return kUsage;
}

/// The first word after `label`, if the label is there.
std::optional<std::string> word_after(const std::string& text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = text.find_first_not_of(" \t", at + label.size());
  if (begin == std::string::npos) return std::nullopt;
  return text.substr(begin, text.find_first_of(" \t\n,", begin) - begin);
}

}  // namespace

void meet_idly(MPI_Comm comm) { met_idly(comm, std::chrono::steady_clock::duration::max()); }

void MpiSession::wait_idly() const { meet_idly(world); }

ExitStatus run_with_mpi(ThreadLevel level,
                        const std::function<ExitStatus(const MpiSession&)>& body) {
  MpiSession session = start_session(level);
  MPI_Comm failures = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &failures);
  ExitStatus status = kSuccess;
  try {
    status = body(session);
  } catch (const Error& error) {
    status = report_failure(session, failures, error);
  }
  MPI_Comm_free(&failures);
  MPI_Comm_free(&session.world);
  MPI_Finalize();
  return status;
}

std::string mpi_library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  if (const auto version = word_after(whole, "MPICH Version:")) return "MPICH " + *version;
  if (const auto version = word_after(whole, "Open MPI v")) return "Open MPI " + *version;
  return whole.substr(0, whole.find('\n'));
}

}  // namespace hycoll::command
