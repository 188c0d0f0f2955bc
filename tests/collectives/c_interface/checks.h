#ifndef HYCOLL_TESTS_COLLECTIVES_C_INTERFACE_CHECKS_H_
#define HYCOLL_TESTS_COLLECTIVES_C_INTERFACE_CHECKS_H_

#include <hycoll.h>
#include <stdbool.h>

/// Prints what is wrong, and counts it, unless the condition holds.
#define CHECK(condition, ...) check_that((condition), __FILE__, __LINE__, __VA_ARGS__)
/// The same for a call that returns MPI_SUCCESS.
#define CHECK_SUCCESS(call)                                                             \
  do {                                                                                  \
    const bool is_success = (call) == MPI_SUCCESS;                                      \
    check_that(is_success, __FILE__, __LINE__, "%s: %s", #call, hycoll_error_string()); \
  } while (0)

/// By any thread.
void check_that(bool holds, const char* file, int line, const char* format, ...);
/// The number of checks that have failed on this process.
int failure_count(void);

/// Every collective in all its forms, on the members of all layouts.
void test_collectives(void);
/// Waiting for several requests.
void test_requests(void);
/// Arguments and handles that are refused.
void test_mistakes(void);
/// Handles after MPI_Finalize: to be called before it, and after.
void make_handles_to_end(void);
void test_ended_handles(void);

#endif  // HYCOLL_TESTS_COLLECTIVES_C_INTERFACE_CHECKS_H_
