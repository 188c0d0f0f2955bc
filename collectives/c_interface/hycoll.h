#ifndef HYCOLL_C_H_
#define HYCOLL_C_H_

/// hycoll's collectives for C, and for C++ programs that prefer MPI's way of calling. C++ has
/// <hycoll/hycoll.h>, which says more about layouts and members.
///
/// A member takes the place of MPI's communicator, as the last argument of each call. A
/// communicator is one member for each process; a team has one for each thread.
///
/// Example: a sum over all processes.
///
///     hycoll_member world;
///     hycoll_communicator_create(MPI_COMM_WORLD, NULL, &world);
///     double own = 1, sum;
///     hycoll_allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, world);
///     check(sum >= 1);
///     hycoll_communicator_free(&world);
///
/// Every function returns MPI_SUCCESS or a class of MPI's errors, such as MPI_ERR_ROOT;
/// hycoll_error_string() says more. Nothing ends the job, but for Options::timeout.
///
/// Handles are values: copies stand for the same thing. One that is null, has been freed, or is of
/// another kind is refused. Threads may use different handles at once; one member or request is
/// used by one thread at a time. All handles end with MPI_Finalize.

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One member: that of a process in a communicator, or of a thread in a team.
typedef struct hycoll_member {
  uint64_t handle;  ///< 0: none.
} hycoll_member;

/// The threads of a process that are members.
typedef struct hycoll_team {
  uint64_t handle;  ///< 0: none.
} hycoll_team;

/// A nonblocking call under way, or a persistent call.
typedef struct hycoll_request {
  uint64_t handle;  ///< 0: none.
} hycoll_request;

/// Initialises a handle that stands for nothing: `hycoll_request request = HYCOLL_NULL;`.
#define HYCOLL_NULL \
  { 0 }

/// Choices for a communicator or team; all processes pass the same. What is NULL, or
/// HYCOLL_UNSET, is as the environment says (docs/settings.md), where each field's variable is
/// explained, and the values that it may have.
///
/// Example:
///
///     hycoll_options options = HYCOLL_OPTIONS_INIT;
///     options.layout = "processes";
///     options.warn_after_s = 10;
///     hycoll_member world;
///     hycoll_communicator_create(MPI_COMM_WORLD, &options, &world);
///     hycoll_communicator_free(&world);
typedef struct hycoll_options {
  size_t size;            ///< sizeof(hycoll_options), which tells the header's version.
  const char* layout;     ///< What a node is.
  const char* node;       ///< Whose processes form a node.
  const char* algorithm;  ///< An algorithm, or a list.
  const char* placement;  ///< Where leaders run.
  const char* transport;  ///< What messages between nodes go through.
  const char* puts;       ///< Whether long messages are put.
  const char* wait;       ///< What a wait does with its core.
  const char* groups;     ///< Which members are near one another.
  const char* latencies;  ///< What a cache line takes.
  const char* topology;   ///< The network's switches: a file.
  const char* machine;    ///< The machine's prices: a file.
  int workers;            ///< Of a process in a communicator.
  int lanes;              ///< Of a node.
  int pinning;            ///< 0 or 1: whether threads are bound.
  int aggregators;        ///< Processes that only reduce.
  int reproducible;       ///< 0 or 1.
  int check;              ///< 0 or 1: arguments of all processes are compared.
  int warn_after_s;       ///< Seconds.
  int timeout_s;          ///< Seconds.
  int staging_kib;        ///< KiB of each worker.
  int staging_limit_mib;  ///< MiB of a machine.
  int single_copy_kib;    ///< KiB; 0: none.
  int plan_cache_kib;     ///< KiB.
  int exchange_kib;       ///< KiB.
} hycoll_options;

/// Of a number: not set.
#define HYCOLL_UNSET (-1)
/// Nothing is set.
#define HYCOLL_OPTIONS_INIT                                                                   \
  {                                                                                           \
    sizeof(hycoll_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
        HYCOLL_UNSET, HYCOLL_UNSET, HYCOLL_UNSET, HYCOLL_UNSET, HYCOLL_UNSET, HYCOLL_UNSET,   \
        HYCOLL_UNSET, HYCOLL_UNSET, HYCOLL_UNSET, HYCOLL_UNSET, HYCOLL_UNSET, HYCOLL_UNSET,   \
        HYCOLL_UNSET                                                                          \
  }

/// What went wrong in the last function of this thread that returned an error: a text for people,
/// which lasts until the next one does. Empty if none has.
const char* hycoll_error_string(void);

/// Collective over `parent`, whose processes become the members in the order of ranks. NULL for
/// options: as the environment says. As hycoll::Communicator, needs MPI_THREAD_MULTIPLE for
/// more than one worker, and for nonblocking and persistent calls.
int hycoll_communicator_create(MPI_Comm parent, const hycoll_options* options,
                               hycoll_member* communicator);
/// Collective. Nothing may be under way. Sets the handle to null.
int hycoll_communicator_free(hycoll_member* communicator);

/// Collective over `parent`, called by one thread of each process. `thread_count` threads of this
/// process become members, 1 or more; processes may have different numbers. Needs
/// MPI_THREAD_MULTIPLE.
///
/// Example: every thread of a parallel region is a member.
///
///     hycoll_team team;
///     hycoll_team_create(MPI_COMM_WORLD, omp_get_max_threads(), NULL, &team);
///     #pragma omp parallel
///     {
///       hycoll_member member;
///       hycoll_team_join(team, omp_get_thread_num(), &member);
///       double own = 1, sum;
///       hycoll_allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, member);
///       check(sum >= omp_get_num_threads());
///     }
///     hycoll_team_free(&team);
int hycoll_team_create(MPI_Comm parent, int thread_count, const hycoll_options* options,
                       hycoll_team* team);
/// The member of a thread, by its index from 0 to thread_count - 1, e.g. omp_get_thread_num(). To
/// be called in each parallel region. The first call for an index binds the calling thread to a
/// core, unless hycoll_options::pinning is 0. Refused in a parallel region with fewer threads
/// than the team, which would be waited for.
int hycoll_team_join(hycoll_team team, int thread_index, hycoll_member* member);
/// Collective. No member may be inside a call. The members' handles end, too.
int hycoll_team_free(hycoll_team* team);

/// The member's rank; -1 of a process that is an aggregator.
int hycoll_rank(hycoll_member member, int* rank);
/// The number of members.
int hycoll_size(hycoll_member member, int* size);

/// Of an aggregator (hycoll_options::aggregators): works for the members, until they have freed
/// their communicators, or teams.
int hycoll_communicator_serve(hycoll_member communicator);
/// The same of a team.
int hycoll_team_serve(hycoll_team team);

/// Returns when the call has completed. A nonblocking call's handle is null then; a persistent one
/// may be started again. Returns at once for a null handle.
int hycoll_wait(hycoll_request* request);
/// Sets *flag to 1 if the call has completed, with what hycoll_wait() does then, and else to 0.
int hycoll_test(hycoll_request* request, int* flag);
/// Waits for all; returns the error of the first in this order that has met one.
int hycoll_waitall(int count, hycoll_request requests[]);
/// Waits for one that is not null or inactive, and sets *index to its place; MPI_UNDEFINED if there
/// is none.
int hycoll_waitany(int count, hycoll_request requests[], int* index);
/// Sets *flag to 1 if all have completed, with what hycoll_waitall() does then, and else to 0, with
/// all as they were.
int hycoll_testall(int count, hycoll_request requests[], int* flag);
/// Completes those that have completed; *outcount says how many, indices[0...] which. MPI_UNDEFINED
/// for *outcount if all are null or inactive.
int hycoll_testsome(int count, hycoll_request requests[], int* outcount, int indices[]);
/// Starts a persistent call. Its last start must have been waited for.
int hycoll_start(hycoll_request* request);
/// Frees a persistent call, whose last start must have been waited for.
int hycoll_request_free(hycoll_request* request);

// The collectives, with MPI's arguments. MPI_IN_PLACE stands where MPI allows it. The blocking form
// is described; one whose name begins with i returns at once, and its buffers are the call's until
// hycoll_wait() returns; one whose name ends with _init sets a call up for hycoll_start(), with
// buffers that last as long as the request. Lists of counts, displacements and types may be changed
// as soon as the function has returned. Members make their calls and starts in the same order.

/// Reduces `count` elements over all members; every member gets the result.
int hycoll_allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, hycoll_member member);
/// Nonblocking.
int hycoll_iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, hycoll_member member,
                          hycoll_request* request);

/// The same for the root alone; `recvbuf` of the others is not touched and may be NULL.
int hycoll_reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, hycoll_member member);
/// Nonblocking.
int hycoll_ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, hycoll_member member, hycoll_request* request);

/// `sendbuf` has a block of `recvcount` elements for each member; each gets the reduction of its
/// own.
int hycoll_reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, hycoll_member member);
/// Nonblocking.
int hycoll_ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, hycoll_member member,
                                 hycoll_request* request);
/// Persistent.
int hycoll_reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, hycoll_member member,
                                     hycoll_request* request);

/// The same with blocks of recvcounts[m] elements for member m; all members pass the same counts.
int hycoll_reduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, hycoll_member member);
/// Nonblocking.
int hycoll_ireduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, hycoll_member member,
                           hycoll_request* request);
/// Persistent.
int hycoll_reduce_scatter_init(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, hycoll_member member,
                               hycoll_request* request);

/// Member m gets the reduction of what members 0 to m pass.
int hycoll_scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, hycoll_member member);
/// Nonblocking.
int hycoll_iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, hycoll_member member, hycoll_request* request);

/// Member m > 0 gets the reduction of what members 0 to m - 1 pass; `recvbuf` of member 0 is not
/// touched.
int hycoll_exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, hycoll_member member);
/// Nonblocking.
int hycoll_iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, hycoll_member member, hycoll_request* request);

/// Copies the root's buffer to all others.
int hycoll_bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                 hycoll_member member);
/// Nonblocking.
int hycoll_ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                  hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_bcast_init(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                      hycoll_member member, hycoll_request* request);

/// Every member gets the blocks of all, of `recvcount` elements each, in the order of ranks.
int hycoll_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, hycoll_member member);
/// Nonblocking.
int hycoll_iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                      hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                          hycoll_member member, hycoll_request* request);

/// The same with blocks of recvcounts[m] elements of member m, which begin at element displs[m];
/// displs may be NULL: they follow each other. All members pass the same counts.
int hycoll_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, hycoll_member member);
/// Nonblocking.
int hycoll_iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, hycoll_member member, hycoll_request* request);

/// The root gets the blocks of all members. What begins with `recv` counts at the root only.
int hycoll_gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, hycoll_member member);
/// Nonblocking.
int hycoll_igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, hycoll_member member,
                   hycoll_request* request);
/// Persistent.
int hycoll_gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       hycoll_member member, hycoll_request* request);

/// The same with blocks of recvcounts[m] elements. Unlike in MPI, all members pass recvcounts and
/// recvtype; recvbuf and displs count at the root only.
int hycoll_gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, hycoll_member member);
/// Nonblocking.
int hycoll_igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, hycoll_member member,
                        hycoll_request* request);

/// Every member gets its block of the root's `sendbuf`. What begins with `send` counts at the root
/// only.
int hycoll_scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, hycoll_member member);
/// Nonblocking.
int hycoll_iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, hycoll_member member,
                    hycoll_request* request);
/// Persistent.
int hycoll_scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        hycoll_member member, hycoll_request* request);

/// The same with blocks of sendcounts[m] elements. Unlike in MPI, all members pass sendcounts and
/// sendtype; sendbuf and displs count at the root only.
int hycoll_scatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, hycoll_member member);
/// Nonblocking.
int hycoll_iscatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, hycoll_member member,
                     hycoll_request* request);
/// Persistent.
int hycoll_scatterv_init(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, hycoll_member member,
                         hycoll_request* request);

/// Member m gets block m of every member's `sendbuf`.
int hycoll_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, hycoll_member member);
/// Nonblocking.
int hycoll_ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, hycoll_member member,
                     hycoll_request* request);
/// Persistent.
int hycoll_alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                         hycoll_member member, hycoll_request* request);

/// The same with a length for each block, and displacements in elements.
int hycoll_alltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, hycoll_member member);
/// Nonblocking.
int hycoll_ialltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, hycoll_member member,
                      hycoll_request* request);
/// Persistent.
int hycoll_alltoallv_init(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, hycoll_member member, hycoll_request* request);

/// The same with a type for each block, and displacements in bytes.
int hycoll_alltoallw(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                     hycoll_member member);
/// Nonblocking.
int hycoll_ialltoallw(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                      hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_alltoallw_init(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], hycoll_member member,
                          hycoll_request* request);

/// Returns when all members have come.
int hycoll_barrier(hycoll_member member);
/// Nonblocking.
int hycoll_ibarrier(hycoll_member member, hycoll_request* request);
/// Persistent.
int hycoll_barrier_init(hycoll_member member, hycoll_request* request);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HYCOLL_C_H_
