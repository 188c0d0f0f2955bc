// The main() of test programs that run under mpiexec: every rank runs every test case.
//
// A rank that fails a check would leave the others waiting in a collective, so a failing test case
// prints its report and ends the whole job. When all pass, rank 0's summary stands for the job.
#include <doctest/doctest.h>
#include <mpi.h>

#include <iostream>
#include <string>

#include "threading/transport/mpi/end_job.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

// UCX keeps its tables of transports and configurations to the end of the process. Names of other
// libraries only.
extern "C" const char* __lsan_default_suppressions() { return "leak:libucs.so\n"; }
#endif

namespace {

// Leaks are searched for while MPI is still there: what it never frees belongs by then to libraries
// that it has unloaded, which no suppression can name. Ends the job if there is one.
void search_leaks() {
#ifdef __SANITIZE_ADDRESS__
  __lsan_do_leak_check();
#endif
}

class AbortJobOnFailure : public doctest::IReporter {
 public:
  explicit AbortJobOnFailure(const doctest::ContextOptions&) {}

  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.failure_flags == doctest::TestCaseFailureReason::None) {
      return;
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::cout << std::flush;
    hycoll::end_job("rank " + std::to_string(rank) + " failed; the job ends here", 1);
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("abort_job_on_failure", 1, AbortJobOnFailure);

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    hycoll::end_job("rank " + std::to_string(rank) + ": MPI thread level " +
                        std::to_string(provided) +
                        " provided, MPI_THREAD_MULTIPLE needed by the tests",
                    1);
  }
  doctest::Context context(argc, argv);
  if (rank != 0) {
    context.setOption("minimal", true);
  }
  const int result = context.run();
  search_leaks();
  MPI_Finalize();
  return result;
}
