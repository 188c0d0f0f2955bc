// Rank 1 stops inside a collective of the layout processes, is killed there, or comes late; the
// others must say so, and end the job if it does not come. missing_process_test.sh looks at what
// they say. Arguments: stop|kill|late COUNT.

#include <hycoll/hycoll.h>
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc != 3) return 2;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  hycoll::Options options = hycoll::Options::from_environment();
  options.layout = hycoll::Options::Layout::processes;
  hycoll::Communicator communicator(MPI_COMM_WORLD, options);
  std::vector<double> vector(static_cast<std::size_t>(std::atoi(argv[2])), 1.0);
  for (int call = 1; call <= 3; ++call) communicator.allreduce(vector);
  const std::string_view how = argv[1];
  if (rank == 1 && how == "late") {
    std::this_thread::sleep_for(std::chrono::milliseconds(1700));
  } else if (rank == 1) {
    std::raise(how == "kill" ? SIGKILL : SIGSTOP);
  }
  communicator.allreduce(vector);
  // Launchers let a stopped process go on when they end the job.
  if (rank != 1) std::puts("the call has returned");
  MPI_Finalize();
  return 0;
}
