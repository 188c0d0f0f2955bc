#ifndef HYCOLL_TESTS_SUPPORT_PROCESSOR_TIME_H_
#define HYCOLL_TESTS_SUPPORT_PROCESSOR_TIME_H_

#include <sys/resource.h>

// For tests and for programs that know nothing of hycoll.

/// What has been used of the processor's cores, in seconds: by this process (RUSAGE_SELF) or thread
/// (RUSAGE_THREAD).
inline double processor_seconds(int whose) {
  rusage use{};
  getrusage(whose, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

#endif  // HYCOLL_TESTS_SUPPORT_PROCESSOR_TIME_H_
