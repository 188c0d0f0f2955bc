// Waiting for several requests at once.
#include "checks.h"

enum { kCalls = 4 };

/// Calls under way on `member`, each with a value of its own.
static void start_calls(hycoll_member member, long own[], long sums[], hycoll_request requests[]) {
  for (int i = 0; i < kCalls; ++i) {
    own[i] = i + 1;
    sums[i] = 0;
    CHECK_SUCCESS(hycoll_iallreduce(&own[i], &sums[i], 1, MPI_LONG, MPI_SUM, member, &requests[i]));
  }
}

static void check_sums(hycoll_member member, const long sums[], const hycoll_request requests[]) {
  int size = 0;
  CHECK_SUCCESS(hycoll_size(member, &size));
  for (int i = 0; i < kCalls; ++i) {
    CHECK(sums[i] == (long)size * (i + 1), "call %d: %ld", i, sums[i]);
    CHECK(requests[i].handle == 0, "call %d: the request stays", i);
  }
}

void test_requests(void) {
  hycoll_member member = HYCOLL_NULL;
  CHECK_SUCCESS(hycoll_communicator_create(MPI_COMM_WORLD, NULL, &member));
  long own[kCalls];
  long sums[kCalls];
  hycoll_request requests[kCalls] = {HYCOLL_NULL, HYCOLL_NULL, HYCOLL_NULL, HYCOLL_NULL};
  int flag = 0;
  int index = 0;
  int count = 0;
  int indices[kCalls];

  start_calls(member, own, sums, requests);
  CHECK_SUCCESS(hycoll_waitall(kCalls, requests));
  check_sums(member, sums, requests);

  start_calls(member, own, sums, requests);
  for (flag = 0; !flag;) CHECK_SUCCESS(hycoll_testall(kCalls, requests, &flag));
  check_sums(member, sums, requests);

  start_calls(member, own, sums, requests);
  for (int i = 0; i < kCalls; ++i) {
    CHECK_SUCCESS(hycoll_waitany(kCalls, requests, &index));
    CHECK(index >= 0 && index < kCalls && requests[index].handle == 0, "waitany: %d", index);
  }
  check_sums(member, sums, requests);
  CHECK_SUCCESS(hycoll_waitany(kCalls, requests, &index));
  CHECK(index == MPI_UNDEFINED, "waitany of no calls: %d", index);

  start_calls(member, own, sums, requests);
  for (int found = 0; found < kCalls; found += count) {
    CHECK_SUCCESS(hycoll_testsome(kCalls, requests, &count, indices));
    for (int i = 0; i < count; ++i) CHECK(requests[indices[i]].handle == 0, "testsome: stays");
  }
  check_sums(member, sums, requests);
  CHECK_SUCCESS(hycoll_testsome(kCalls, requests, &count, indices));
  CHECK(count == MPI_UNDEFINED, "testsome of no calls: %d", count);

  start_calls(member, own, sums, requests);
  for (int i = 0; i < kCalls; ++i) {
    for (flag = 0; !flag;) CHECK_SUCCESS(hycoll_test(&requests[i], &flag));
  }
  check_sums(member, sums, requests);
  CHECK_SUCCESS(hycoll_wait(&requests[0]));
  CHECK_SUCCESS(hycoll_communicator_free(&member));
}
