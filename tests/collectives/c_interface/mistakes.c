// What is refused: arguments and handles. Nothing of it reaches another process.
#include <string.h>

#include "checks.h"

/// Checks that a call is refused with this class and a text that says so.
#define CHECK_REFUSED(call, class, said)                                                      \
  do {                                                                                        \
    const int code = (call);                                                                  \
    CHECK(code == (class), "%s: class %d, expected %d: %s", #call, code, (int)(class),        \
          hycoll_error_string());                                                             \
    CHECK(strstr(hycoll_error_string(), (said)) != NULL, "%s: '%s' does not say '%s'", #call, \
          hycoll_error_string(), (said));                                                     \
  } while (0)

static void refuse_arguments(hycoll_member member) {
  long own = 1;
  long sum = 0;
  MPI_Count counts[64] = {0};
  counts[0] = -1;
  hycoll_request request = HYCOLL_NULL;
  int size = 0;
  CHECK_SUCCESS(hycoll_size(member, &size));
  CHECK_REFUSED(hycoll_allreduce(&own, &sum, -1, MPI_LONG, MPI_SUM, member), MPI_ERR_COUNT,
                "hycoll_allreduce: count=-1");
  CHECK_REFUSED(hycoll_allreduce(&own, &sum, 1, MPI_DATATYPE_NULL, MPI_SUM, member), MPI_ERR_TYPE,
                "MPI_DATATYPE_NULL");
  CHECK_REFUSED(hycoll_allreduce(&own, &sum, 1, MPI_LONG, MPI_OP_NULL, member), MPI_ERR_OP,
                "MPI_OP_NULL");
  CHECK_REFUSED(hycoll_allreduce(&own, MPI_IN_PLACE, 1, MPI_LONG, MPI_SUM, member), MPI_ERR_BUFFER,
                "recvbuf is MPI_IN_PLACE");
  CHECK_REFUSED(hycoll_allreduce(NULL, &sum, 1, MPI_LONG, MPI_SUM, member), MPI_ERR_BUFFER,
                "allreduce");
  CHECK_REFUSED(hycoll_bcast(&own, 1, MPI_LONG, size, member), MPI_ERR_ROOT, "root");
  CHECK_REFUSED(hycoll_bcast(&own, 1, MPI_LONG, -1, member), MPI_ERR_ROOT, "root");
  CHECK_REFUSED(hycoll_bcast(MPI_IN_PLACE, 1, MPI_LONG, 0, member), MPI_ERR_BUFFER, "buffer");
  CHECK_REFUSED(hycoll_allgatherv(&own, 1, MPI_LONG, &sum, NULL, NULL, MPI_LONG, member),
                MPI_ERR_ARG, "recvcounts is NULL");
  CHECK_REFUSED(hycoll_allgatherv(&own, 1, MPI_LONG, &sum, counts, NULL, MPI_LONG, member),
                MPI_ERR_COUNT, "recvcounts[0]=-1");
  CHECK_REFUSED(hycoll_allgather(&own, 2, MPI_LONG, &sum, 1, MPI_LONG, member), MPI_ERR_TRUNCATE,
                "own data");
  CHECK_REFUSED(hycoll_allgather(NULL, 1, MPI_LONG, &sum, 2, MPI_INT, member), MPI_ERR_BUFFER,
                "NULL");
  CHECK_REFUSED(hycoll_iallreduce(&own, &sum, -1, MPI_LONG, MPI_SUM, member, &request),
                MPI_ERR_COUNT, "hycoll_iallreduce: count");
  CHECK(request.handle == 0, "a refused call has a request");
  CHECK_REFUSED(hycoll_iallreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, member, NULL), MPI_ERR_ARG,
                "request is NULL");
  CHECK_REFUSED(hycoll_rank(member, NULL), MPI_ERR_ARG, "rank is NULL");

  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_LONG, &uncommitted);
  CHECK_REFUSED(hycoll_bcast(&own, 0, uncommitted, 0, member), MPI_ERR_TYPE, "committed");
  MPI_Type_free(&uncommitted);
}

static void refuse_handles(hycoll_member member) {
  long own = 1;
  long sum = 0;
  hycoll_member none = HYCOLL_NULL;
  hycoll_member foreign = {UINT64_MAX};
  hycoll_team as_team = {member.handle};
  hycoll_team no_team = HYCOLL_NULL;
  hycoll_request as_request = {member.handle};
  CHECK_REFUSED(hycoll_allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, none), MPI_ERR_COMM,
                "member: the handle is null");
  CHECK_REFUSED(hycoll_barrier(foreign), MPI_ERR_COMM, "none that hycoll has given");
  CHECK_REFUSED(hycoll_team_join(as_team, 0, &none), MPI_ERR_COMM, "that of a member");
  CHECK_REFUSED(hycoll_team_join(no_team, 0, &none), MPI_ERR_COMM, "null");
  CHECK_REFUSED(hycoll_wait(&as_request), MPI_ERR_REQUEST, "that of a member");
  CHECK_REFUSED(hycoll_start(NULL), MPI_ERR_ARG, "request is NULL");

  // A slot is used again by another one, and the old handle is not taken for it.
  hycoll_member freed = HYCOLL_NULL;
  hycoll_member next = HYCOLL_NULL;
  CHECK_SUCCESS(hycoll_communicator_create(MPI_COMM_SELF, NULL, &freed));
  hycoll_member copy = freed;
  CHECK_SUCCESS(hycoll_communicator_free(&freed));
  CHECK_REFUSED(hycoll_communicator_free(&freed), MPI_ERR_COMM, "null");
  CHECK_REFUSED(hycoll_communicator_free(&copy), MPI_ERR_COMM, "has been freed");
  CHECK_SUCCESS(hycoll_communicator_create(MPI_COMM_SELF, NULL, &next));
  CHECK_REFUSED(hycoll_barrier(copy), MPI_ERR_COMM, "has been freed");
  CHECK_SUCCESS(hycoll_barrier(next));
  CHECK_SUCCESS(hycoll_communicator_free(&next));
}

static void refuse_requests(hycoll_member member) {
  long own = 1;
  long sum = 0;
  hycoll_request request = HYCOLL_NULL;
  CHECK_SUCCESS(hycoll_allreduce_init(&own, &sum, 1, MPI_LONG, MPI_SUM, member, &request));
  CHECK_SUCCESS(hycoll_wait(&request));  // not started: nothing to wait for
  CHECK(request.handle != 0, "a persistent request has gone");
  CHECK_SUCCESS(hycoll_start(&request));
  CHECK_REFUSED(hycoll_start(&request), MPI_ERR_REQUEST, "has not been waited for");
  CHECK_REFUSED(hycoll_request_free(&request), MPI_ERR_REQUEST, "wait for it");
  CHECK_SUCCESS(hycoll_wait(&request));
  hycoll_member again = member;
  CHECK_REFUSED(hycoll_communicator_free(&again), MPI_ERR_REQUEST, "1 requests");
  hycoll_request copy = request;
  CHECK_SUCCESS(hycoll_request_free(&request));
  CHECK_REFUSED(hycoll_start(&copy), MPI_ERR_REQUEST, "has been freed");
  CHECK_REFUSED(hycoll_wait(&copy), MPI_ERR_REQUEST, "has been freed");

  CHECK_SUCCESS(hycoll_ibarrier(member, &request));
  copy = request;
  CHECK_REFUSED(hycoll_start(&copy), MPI_ERR_REQUEST, "nonblocking");
  CHECK_SUCCESS(hycoll_wait(&request));
  CHECK_REFUSED(hycoll_wait(&copy), MPI_ERR_REQUEST, "has been freed");
  CHECK_REFUSED(hycoll_waitall(-1, &request), MPI_ERR_COUNT, "count=-1");
}

static void refuse_set_up(void) {
  hycoll_member member = HYCOLL_NULL;
  hycoll_team team = HYCOLL_NULL;
  hycoll_options options = HYCOLL_OPTIONS_INIT;
  CHECK_REFUSED(hycoll_communicator_create(MPI_COMM_NULL, NULL, &member), MPI_ERR_COMM, "parent");
  CHECK_REFUSED(hycoll_communicator_create(MPI_COMM_WORLD, NULL, NULL), MPI_ERR_ARG, "NULL");
  CHECK_REFUSED(hycoll_team_create(MPI_COMM_WORLD, 0, NULL, &team), MPI_ERR_ARG, "0");
  options.layout = "nodes";
  CHECK_REFUSED(hycoll_communicator_create(MPI_COMM_WORLD, &options, &member), MPI_ERR_ARG,
                "options.layout='nodes': expected per_node or processes");
  options.layout = NULL;
  options.workers = -2;
  CHECK_REFUSED(hycoll_communicator_create(MPI_COMM_WORLD, &options, &member), MPI_ERR_ARG,
                "options.workers='-2'");
  options.workers = HYCOLL_UNSET;
  options.size = 3;
  CHECK_REFUSED(hycoll_communicator_create(MPI_COMM_WORLD, &options, &member), MPI_ERR_ARG,
                "HYCOLL_OPTIONS_INIT");
  options.size = sizeof options + 8;
  CHECK_REFUSED(hycoll_communicator_create(MPI_COMM_WORLD, &options, &member), MPI_ERR_ARG,
                "newer hycoll");
  CHECK(member.handle == 0 && team.handle == 0, "what is refused has a handle");

  CHECK_SUCCESS(hycoll_team_create(MPI_COMM_WORLD, 1, NULL, &team));
  CHECK_REFUSED(hycoll_team_join(team, 1, &member), MPI_ERR_ARG, "1");
  CHECK_REFUSED(hycoll_team_join(team, -1, &member), MPI_ERR_ARG, "-1");
  CHECK_SUCCESS(hycoll_team_join(team, 0, &member));
  hycoll_member copy = member;
  CHECK_REFUSED(hycoll_communicator_free(&copy), MPI_ERR_COMM, "hycoll_team_free");
  CHECK_SUCCESS(hycoll_barrier(member));
  CHECK_SUCCESS(hycoll_team_free(&team));
  CHECK_REFUSED(hycoll_barrier(member), MPI_ERR_COMM, "has been freed");
}

void test_mistakes(void) {
  hycoll_member member = HYCOLL_NULL;
  CHECK_SUCCESS(hycoll_communicator_create(MPI_COMM_WORLD, NULL, &member));
  refuse_arguments(member);
  refuse_handles(member);
  refuse_requests(member);
  // Everybody is where all the others are: nothing has been half made.
  long own = 1;
  long sum = 0;
  int size = 0;
  CHECK_SUCCESS(hycoll_size(member, &size));
  CHECK_SUCCESS(hycoll_allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, member));
  CHECK(sum == size, "%ld", sum);
  CHECK_SUCCESS(hycoll_communicator_free(&member));
  refuse_set_up();
}

static hycoll_member left;

void make_handles_to_end(void) {
  CHECK_SUCCESS(hycoll_communicator_create(MPI_COMM_SELF, NULL, &left));
}

void test_ended_handles(void) {
  hycoll_member member = HYCOLL_NULL;
  CHECK_REFUSED(hycoll_barrier(left), MPI_ERR_COMM, "before MPI_Finalize");
  CHECK_REFUSED(hycoll_communicator_free(&left), MPI_ERR_COMM, "before MPI_Finalize");
  CHECK_REFUSED(hycoll_communicator_create(MPI_COMM_WORLD, NULL, &member), MPI_ERR_OTHER,
                "MPI_Finalize has been called");
}
