// What the Fortran module calls: MPI's arguments as Fortran has them, for <hycoll.h>. It reads
// descriptors of arrays, so the C compiler must be the one that belongs to the Fortran compiler.
//
// A count, datatype or list that is NULL was not passed: buffers say what they hold.
#include <ISO_Fortran_binding.h>
#include <hycoll.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "lists are passed on as they are");

/// Who makes a call: what all collectives take.
struct caller {
  const char* name;  ///< Of the collective.
  int form;          ///< 0: blocking, 1: nonblocking, 2: persistent.
  hycoll_member member;
  hycoll_request* request;  ///< Of the latter two.
};

// --- Errors ------------------------------------------------------------------------------------

enum { kLongestText = 1024 };
static _Thread_local char error_text[kLongestText];

static int refuse(const struct caller* caller, int mpi_class, const char* format, ...) {
  int length = 0;
  va_list arguments;
  length = snprintf(error_text, sizeof error_text, "hycoll_%s%s%s: ", caller->form == 1 ? "i" : "",
                    caller->name, caller->form == 2 ? "_init" : "");
  va_start(arguments, format);
  vsnprintf(error_text + length, sizeof error_text - (size_t)length, format, arguments);
  va_end(arguments);
  return mpi_class;
}

/// The result of a function of <hycoll.h>, whose text is kept.
static int kept(int mpi_class) {
  if (mpi_class != MPI_SUCCESS) {
    snprintf(error_text, sizeof error_text, "%s", hycoll_error_string());
  }
  return mpi_class;
}

int hycoll_fortran_error_length(void) { return (int)strlen(error_text); }

void hycoll_fortran_error_text(char* text) { memcpy(text, error_text, strlen(error_text)); }

/// Launchers drop what they have not read when a job ends. One that reads nothing is waited for no
/// longer than a second.
static void let_launcher_read(void) {
  int unread = 0;
  for (int look = 0; look < 1000; ++look) {
    if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0) break;
    poll(NULL, 0, 1);  // a millisecond
  }
  poll(NULL, 0, 20);  // from its helper on this machine to the launcher itself
}

void hycoll_fortran_abort(int mpi_class) {
  fprintf(stderr, "%s\n", error_text);
  let_launcher_read();
  MPI_Abort(MPI_COMM_WORLD, mpi_class);
  _Exit(mpi_class);  // it returns in MPICH 4.2, before the launcher ends the process
}

// --- What Fortran knows of MPI -------------------------------------------------------------------

/// MPI_IN_PLACE and MPI_BOTTOM are known by their addresses, which differ in mpi_f08 and mpi.
static struct {
  const void* in_place[2];
  const void* bottom[2];
  MPI_Fint logical;  ///< MPI_LOGICAL.
  size_t logical_bytes;
} fortran;

void hycoll_fortran_tell(const void* in_place_f08, const void* in_place_mpi, const void* bottom_f08,
                         const void* bottom_mpi, MPI_Fint logical, size_t logical_bytes) {
  fortran.in_place[0] = in_place_f08;
  fortran.in_place[1] = in_place_mpi;
  fortran.bottom[0] = bottom_f08;
  fortran.bottom[1] = bottom_mpi;
  fortran.logical = logical;
  fortran.logical_bytes = logical_bytes;
}

// --- Buffers -------------------------------------------------------------------------------------

/// A buffer as <hycoll.h> takes it.
struct buffer {
  void* address;
  MPI_Count count;
  MPI_Datatype type;
};

/// The number of elements; -1: the array is not contiguous.
static MPI_Count contiguous_elements(const CFI_cdesc_t* array) {
  MPI_Count count = 1;
  bool has_gaps = false;
  for (int i = 0; i < array->rank; ++i) {
    const CFI_index_t extent = array->dim[i].extent;
    has_gaps = has_gaps || (extent != 1 &&
                            array->dim[i].sm != (CFI_index_t)array->elem_len * (CFI_index_t)count);
    count *= extent;
  }
  return has_gaps && count != 0 ? -1 : count;
}

/// MPI's types by Fortran's, and by the bytes of its kind. 0: there is none, or it is not this.
enum { kMostKindBytes = 8 };
static const struct {
  bool is_there;
  MPI_Datatype type;
} known_types[CFI_type_Character + 1][kMostKindBytes + 1] = {
    [CFI_type_Integer] = {[1] = {true, MPI_INT8_T},
                          [2] = {true, MPI_INT16_T},
                          [4] = {true, MPI_INT32_T},
                          [8] = {true, MPI_INT64_T}},
    [CFI_type_Real] = {[4] = {true, MPI_FLOAT}, [8] = {true, MPI_DOUBLE}},
    [CFI_type_Complex] = {[4] = {true, MPI_C_FLOAT_COMPLEX}, [8] = {true, MPI_C_DOUBLE_COMPLEX}},
    [CFI_type_Character] = {[1] = {true, MPI_CHAR}},
};

/// MPI's type of the elements. MPI_DATATYPE_NULL: there is none.
static MPI_Datatype type_of(const CFI_cdesc_t* array) {
  const int type = array->type & CFI_type_mask;
  const int kind_bytes = array->type >> CFI_type_kind_shift;
  const bool is_in_table =
      type <= CFI_type_Character && kind_bytes >= 0 && kind_bytes <= kMostKindBytes;
  if (is_in_table && known_types[type][kind_bytes].is_there) {
    return known_types[type][kind_bytes].type;
  }
  return type == CFI_type_Logical && array->elem_len == fortran.logical_bytes
             ? MPI_Type_f2c(fortran.logical)
             : MPI_DATATYPE_NULL;
}

/// Whether it is MPI_IN_PLACE or MPI_BOTTOM, which is put into `made` then. Both are scalars.
static bool is_address_of_mpi(const CFI_cdesc_t* array, struct buffer* made) {
  const void* const address = array->base_addr;
  if (address == fortran.in_place[0] || address == fortran.in_place[1]) {
    made->address = MPI_IN_PLACE;
    return true;
  }
  if (address == fortran.bottom[0] || address == fortran.bottom[1]) {
    made->address = MPI_BOTTOM;
    return true;
  }
  return false;
}

/// Says what a buffer holds: `count` elements of `type`, or, of what is NULL, what the array is.
static int describe(const struct caller* caller, const char* argument, const CFI_cdesc_t* array,
                    const MPI_Count* count, const MPI_Fint* type, struct buffer* made) {
  const MPI_Count elements = contiguous_elements(array);
  made->address = array->base_addr;
  made->count = count != NULL ? *count : elements;
  made->type = type != NULL ? MPI_Type_f2c(*type) : MPI_DATATYPE_NULL;
  if (array->rank == 0 && is_address_of_mpi(array, made)) return MPI_SUCCESS;
  if (elements < 0) {
    return refuse(caller, MPI_ERR_BUFFER,
                  "%s is an array that is not contiguous; pass a contiguous one, or its first "
                  "element with a datatype that has the gaps",
                  argument);
  }
  if (type != NULL) return MPI_SUCCESS;
  made->type = type_of(array);
  if (made->type == MPI_DATATYPE_NULL) {
    return refuse(caller, MPI_ERR_TYPE,
                  "%s has elements of %zu bytes of a type or kind that MPI has no datatype for; "
                  "call hycoll_%s with one",
                  argument, array->elem_len, caller->name);
  }
  if (array->type == CFI_type_char) made->count *= (MPI_Count)array->elem_len;
  return MPI_SUCCESS;
}

static bool is_in_place(const struct buffer* buffer) { return buffer->address == MPI_IN_PLACE; }

static int require_alike(const struct caller* caller, const struct buffer* send,
                         const struct buffer* receive) {
  if (send->type == receive->type) return MPI_SUCCESS;
  return refuse(caller, MPI_ERR_TYPE,
                "sendbuf and recvbuf are of different types or kinds; expected the same");
}

static int require_elements(const struct caller* caller, const char* argument,
                            const struct buffer* buffer, MPI_Count least) {
  if (buffer->count >= least) return MPI_SUCCESS;
  return refuse(caller, MPI_ERR_COUNT, "%s has %lld elements; expected %lld", argument,
                (long long)buffer->count, (long long)least);
}

/// Makes the count of a buffer that of one of `members` equal blocks.
static int split(const struct caller* caller, const char* argument, int members,
                 struct buffer* buffer) {
  if (is_in_place(buffer)) return MPI_SUCCESS;  // where <hycoll.h> refuses it
  if (buffer->count % members != 0) {
    return refuse(caller, MPI_ERR_COUNT,
                  "%s has %lld elements; expected a multiple of the %d members", argument,
                  (long long)buffer->count, members);
  }
  buffer->count /= members;
  return MPI_SUCCESS;
}

// --- Lists ---------------------------------------------------------------------------------------

/// Lists that were made of Fortran's, until free_lists().
struct lists {
  int mpi_class;  ///< Of the first that was refused.
  int size;       ///< Of each: the number of members.
  int made_count;
  void* made[6];
};

static void free_lists(struct lists* lists) {
  for (int i = 0; i < lists->made_count; ++i) free(lists->made[i]);
}

/// The list's memory, of elements of so many bytes; NULL if it is refused.
static void* new_list(const struct caller* caller, struct lists* lists, const char* argument,
                      const CFI_cdesc_t* array, size_t bytes) {
  if (lists->mpi_class != MPI_SUCCESS) return NULL;
  if (array->dim[0].extent < lists->size) {
    lists->mpi_class =
        refuse(caller, MPI_ERR_ARG, "%s has %lld elements; expected %d, of all members", argument,
               (long long)array->dim[0].extent, lists->size);
    return NULL;
  }
  void* const made = malloc((size_t)lists->size * bytes);
  if (made == NULL) {
    lists->mpi_class = refuse(caller, MPI_ERR_NO_MEM, "%s: out of memory", argument);
    return NULL;
  }
  lists->made[lists->made_count++] = made;
  return made;
}

static const void* element(const CFI_cdesc_t* array, int i) {
  return (const char*)array->base_addr + array->dim[0].sm * i;
}

/// Counts, or displacements, of 32 or 64 bits. NULL: there is none, or it is refused.
static const MPI_Count* numbers(const struct caller* caller, struct lists* lists,
                                const char* argument, const CFI_cdesc_t* array) {
  if (array == NULL) return NULL;
  MPI_Count* const made = new_list(caller, lists, argument, array, sizeof *made);
  for (int i = 0; made != NULL && i < lists->size; ++i) {
    int32_t short_number = 0;
    if (array->elem_len == sizeof *made) {
      memcpy(&made[i], element(array, i), sizeof *made);
    } else {
      memcpy(&short_number, element(array, i), sizeof short_number);
      made[i] = short_number;
    }
  }
  return made;
}

static const MPI_Datatype* types(const struct caller* caller, struct lists* lists,
                                 const char* argument, const CFI_cdesc_t* array) {
  MPI_Datatype* const made = new_list(caller, lists, argument, array, sizeof *made);
  for (int i = 0; made != NULL && i < lists->size; ++i) {
    MPI_Fint handle = 0;
    memcpy(&handle, element(array, i), sizeof handle);
    made[i] = MPI_Type_f2c(handle);
  }
  return made;
}

// --- Collectives ---------------------------------------------------------------------------------

/// Makes hycoll_name(...) in the caller's form.
#define MAKE(name, ...)                                                                \
  kept(caller.form == 0   ? hycoll_##name(__VA_ARGS__, caller.member)                  \
       : caller.form == 1 ? hycoll_i##name(__VA_ARGS__, caller.member, caller.request) \
                          : hycoll_##name##_init(__VA_ARGS__, caller.member, caller.request))

/// Ends the function with an error, if there is one.
#define CHECK(call)                                 \
  do {                                              \
    const int mpi_class = (call);                   \
    if (mpi_class != MPI_SUCCESS) return mpi_class; \
  } while (0)

/// The parameters that all collectives begin with.
#define CALLER int form, hycoll_member member, hycoll_request *request
#define CALLER_OF(name) \
  { name, form, member, request }

/// Refuses all members once MPI has ended: its handles must not be translated then.
static int check_lives(const struct caller* caller) {
  int has_ended = 0;
  int rank = 0;
  MPI_Finalized(&has_ended);
  return has_ended ? kept(hycoll_rank(caller->member, &rank)) : MPI_SUCCESS;
}

static int members(const struct caller* caller, int* rank, int* size) {
  CHECK(kept(hycoll_rank(caller->member, rank)));
  return kept(hycoll_size(caller->member, size));
}

/// Both buffers of a reduction of vectors. Without a result recvbuf is not looked at.
static int describe_vectors(const struct caller* caller, const CFI_cdesc_t* sendbuf,
                            const CFI_cdesc_t* recvbuf, const MPI_Count* count,
                            const MPI_Fint* datatype, bool has_result, struct buffer* send,
                            struct buffer* receive) {
  CHECK(describe(caller, "sendbuf", sendbuf, count, datatype, send));
  if (!has_result) {
    receive->address = NULL;
    return MPI_SUCCESS;
  }
  CHECK(describe(caller, "recvbuf", recvbuf, count, datatype, receive));
  if (is_in_place(send)) {
    send->count = receive->count;
    send->type = receive->type;
  }
  if (datatype != NULL || is_in_place(receive)) return MPI_SUCCESS;  // the latter hycoll.h refuses
  CHECK(require_alike(caller, send, receive));
  return require_elements(caller, "recvbuf", receive, send->count);
}

/// Defines a reduction of vectors whose result all members get.
#define VECTOR_REDUCTION(name)                                                                  \
  int hycoll_fortran_##name(CALLER, const CFI_cdesc_t* sendbuf, const CFI_cdesc_t* recvbuf,     \
                            const MPI_Count* count, const MPI_Fint* datatype, MPI_Fint op) {    \
    const struct caller caller = CALLER_OF(#name);                                              \
    struct buffer send;                                                                         \
    struct buffer receive;                                                                      \
    CHECK(check_lives(&caller));                                                                \
    CHECK(describe_vectors(&caller, sendbuf, recvbuf, count, datatype, true, &send, &receive)); \
    return MAKE(name, send.address, receive.address, send.count, send.type, MPI_Op_f2c(op));    \
  }

VECTOR_REDUCTION(allreduce)
VECTOR_REDUCTION(scan)
VECTOR_REDUCTION(exscan)

int hycoll_fortran_reduce(CALLER, const CFI_cdesc_t* sendbuf, const CFI_cdesc_t* recvbuf,
                          const MPI_Count* count, const MPI_Fint* datatype, MPI_Fint op, int root) {
  const struct caller caller = CALLER_OF("reduce");
  struct buffer send;
  struct buffer receive;
  int rank = 0;
  CHECK(kept(hycoll_rank(member, &rank)));
  CHECK(
      describe_vectors(&caller, sendbuf, recvbuf, count, datatype, rank == root, &send, &receive));
  return MAKE(reduce, send.address, receive.address, send.count, send.type, MPI_Op_f2c(op), root);
}

int hycoll_fortran_reduce_scatter_block(CALLER, const CFI_cdesc_t* sendbuf,
                                        const CFI_cdesc_t* recvbuf, const MPI_Count* recvcount,
                                        const MPI_Fint* datatype, MPI_Fint op) {
  const struct caller caller = CALLER_OF("reduce_scatter_block");
  struct buffer send;
  struct buffer receive;
  int rank = 0;
  int size = 0;
  CHECK(members(&caller, &rank, &size));
  CHECK(describe(&caller, "sendbuf", sendbuf, recvcount, datatype, &send));
  CHECK(describe(&caller, "recvbuf", recvbuf, recvcount, datatype, &receive));
  if (datatype == NULL) {
    if (is_in_place(&send)) {
      CHECK(split(&caller, "recvbuf", size, &receive));
    } else {
      CHECK(require_alike(&caller, &send, &receive));
      CHECK(require_elements(&caller, "sendbuf", &send, size * receive.count));
    }
  }
  return MAKE(reduce_scatter_block, send.address, receive.address, receive.count, receive.type,
              MPI_Op_f2c(op));
}

int hycoll_fortran_reduce_scatter(CALLER, const CFI_cdesc_t* sendbuf, const CFI_cdesc_t* recvbuf,
                                  const CFI_cdesc_t* recvcounts, const MPI_Fint* datatype,
                                  MPI_Fint op) {
  const struct caller caller = CALLER_OF("reduce_scatter");
  struct buffer send;
  struct buffer receive;
  struct lists lists = {0};
  int rank = 0;
  CHECK(members(&caller, &rank, &lists.size));
  CHECK(describe(&caller, "sendbuf", sendbuf, NULL, datatype, &send));
  CHECK(describe(&caller, "recvbuf", recvbuf, NULL, datatype, &receive));
  if (datatype == NULL && !is_in_place(&send)) CHECK(require_alike(&caller, &send, &receive));
  const MPI_Count* const counts = numbers(&caller, &lists, "recvcounts", recvcounts);
  const int result = lists.mpi_class != MPI_SUCCESS
                         ? lists.mpi_class
                         : MAKE(reduce_scatter, send.address, receive.address, counts, receive.type,
                                MPI_Op_f2c(op));
  free_lists(&lists);
  return result;
}

int hycoll_fortran_bcast(CALLER, const CFI_cdesc_t* buffer, const MPI_Count* count,
                         const MPI_Fint* datatype, int root) {
  const struct caller caller = CALLER_OF("bcast");
  struct buffer all;
  CHECK(check_lives(&caller));
  CHECK(describe(&caller, "buffer", buffer, count, datatype, &all));
  return MAKE(bcast, all.address, all.count, all.type, root);
}

/// Both buffers of a call with equal blocks. `send_has_all` and `receive_has_all`: of all members
/// (1), of one (0), or not looked at (-1).
static int describe_blocks(const struct caller* caller, const CFI_cdesc_t* sendbuf,
                           const MPI_Count* sendcount, const MPI_Fint* sendtype,
                           const CFI_cdesc_t* recvbuf, const MPI_Count* recvcount,
                           const MPI_Fint* recvtype, int size, int send_has_all,
                           int receive_has_all, struct buffer* send, struct buffer* receive) {
  const struct buffer none = {NULL, 0, MPI_BYTE};
  *send = none;
  *receive = none;
  if (send_has_all >= 0) CHECK(describe(caller, "sendbuf", sendbuf, sendcount, sendtype, send));
  if (receive_has_all >= 0) {
    CHECK(describe(caller, "recvbuf", recvbuf, recvcount, recvtype, receive));
  }
  if (sendtype != NULL) return MPI_SUCCESS;
  const bool are_both =
      send_has_all >= 0 && receive_has_all >= 0 && !is_in_place(send) && !is_in_place(receive);
  if (are_both) CHECK(require_alike(caller, send, receive));
  if (send_has_all == 1 && receive_has_all == 1) {  // an all-to-all
    if (!is_in_place(send)) CHECK(split(caller, "sendbuf", size, send));
    return split(caller, "recvbuf", size, receive);
  }
  // One block is what the member's own array is; an array of all may be longer, but in place.
  if (send_has_all == 1) {
    if (!are_both) return split(caller, "sendbuf", size, send);
    CHECK(require_elements(caller, "sendbuf", send, size * receive->count));
    send->count = receive->count;
  }
  if (receive_has_all == 1) {
    if (!are_both) return split(caller, "recvbuf", size, receive);
    CHECK(require_elements(caller, "recvbuf", receive, size * send->count));
    receive->count = send->count;
  }
  return MPI_SUCCESS;
}

#define BLOCKS                                                                      \
  const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount, const MPI_Fint *sendtype, \
      const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype
#define DESCRIBE_BLOCKS(send_has_all, receive_has_all)                                             \
  struct buffer send;                                                                              \
  struct buffer receive;                                                                           \
  int rank = 0;                                                                                    \
  int size = 0;                                                                                    \
  CHECK(members(&caller, &rank, &size));                                                           \
  CHECK(describe_blocks(&caller, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, size, \
                        send_has_all, receive_has_all, &send, &receive))
#define BLOCKS_DESCRIBED \
  send.address, send.count, send.type, receive.address, receive.count, receive.type

int hycoll_fortran_allgather(CALLER, BLOCKS) {
  const struct caller caller = CALLER_OF("allgather");
  DESCRIBE_BLOCKS(0, 1);
  return MAKE(allgather, BLOCKS_DESCRIBED);
}

int hycoll_fortran_alltoall(CALLER, BLOCKS) {
  const struct caller caller = CALLER_OF("alltoall");
  DESCRIBE_BLOCKS(1, 1);
  return MAKE(alltoall, BLOCKS_DESCRIBED);
}

int hycoll_fortran_gather(CALLER, BLOCKS, int root) {
  const struct caller caller = CALLER_OF("gather");
  DESCRIBE_BLOCKS(0, rank == root ? 1 : -1);
  return MAKE(gather, BLOCKS_DESCRIBED, root);
}

int hycoll_fortran_scatter(CALLER, BLOCKS, int root) {
  const struct caller caller = CALLER_OF("scatter");
  DESCRIBE_BLOCKS(rank == root ? 1 : -1, 0);
  return MAKE(scatter, BLOCKS_DESCRIBED, root);
}

/// Both buffers of a call with lists, and how many members there are. A buffer of all blocks has no
/// count: the lists say.
#define DESCRIBE_LISTED(sendcount, recvcount)                               \
  struct buffer send;                                                       \
  struct buffer receive;                                                    \
  struct lists lists = {0};                                                 \
  int rank = 0;                                                             \
  CHECK(members(&caller, &rank, &lists.size));                              \
  CHECK(describe(&caller, "sendbuf", sendbuf, sendcount, sendtype, &send)); \
  CHECK(describe(&caller, "recvbuf", recvbuf, recvcount, recvtype, &receive))
/// Makes the call unless a list is refused, and ends the function.
#define MAKE_LISTED(name, ...)                                                                     \
  do {                                                                                             \
    const int result = lists.mpi_class != MPI_SUCCESS ? lists.mpi_class : MAKE(name, __VA_ARGS__); \
    free_lists(&lists);                                                                            \
    return result;                                                                                 \
  } while (0)
#define GATHERED                                                                            \
  const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount, const MPI_Fint *sendtype,         \
      const CFI_cdesc_t *recvbuf, const CFI_cdesc_t *recvcounts, const CFI_cdesc_t *displs, \
      const MPI_Fint *recvtype

int hycoll_fortran_allgatherv(CALLER, GATHERED) {
  const struct caller caller = CALLER_OF("allgatherv");
  DESCRIBE_LISTED(sendcount, NULL);
  const MPI_Count* const counts = numbers(&caller, &lists, "recvcounts", recvcounts);
  const MPI_Count* const places = numbers(&caller, &lists, "displs", displs);
  MAKE_LISTED(allgatherv, send.address, send.count, send.type, receive.address, counts,
              (const MPI_Aint*)places, receive.type);
}

int hycoll_fortran_gatherv(CALLER, GATHERED, int root) {
  const struct caller caller = CALLER_OF("gatherv");
  DESCRIBE_LISTED(sendcount, NULL);
  const MPI_Count* const counts = numbers(&caller, &lists, "recvcounts", recvcounts);
  const MPI_Count* const places = numbers(&caller, &lists, "displs", displs);
  MAKE_LISTED(gatherv, send.address, send.count, send.type, receive.address, counts,
              (const MPI_Aint*)places, receive.type, root);
}

int hycoll_fortran_scatterv(CALLER, const CFI_cdesc_t* sendbuf, const CFI_cdesc_t* sendcounts,
                            const CFI_cdesc_t* displs, const MPI_Fint* sendtype,
                            const CFI_cdesc_t* recvbuf, const MPI_Count* recvcount,
                            const MPI_Fint* recvtype, int root) {
  const struct caller caller = CALLER_OF("scatterv");
  DESCRIBE_LISTED(NULL, recvcount);
  const MPI_Count* const counts = numbers(&caller, &lists, "sendcounts", sendcounts);
  const MPI_Count* const places = numbers(&caller, &lists, "displs", displs);
  MAKE_LISTED(scatterv, send.address, counts, (const MPI_Aint*)places, send.type, receive.address,
              receive.count, receive.type, root);
}

int hycoll_fortran_alltoallv(CALLER, const CFI_cdesc_t* sendbuf, const CFI_cdesc_t* sendcounts,
                             const CFI_cdesc_t* sdispls, const MPI_Fint* sendtype,
                             const CFI_cdesc_t* recvbuf, const CFI_cdesc_t* recvcounts,
                             const CFI_cdesc_t* rdispls, const MPI_Fint* recvtype) {
  const struct caller caller = CALLER_OF("alltoallv");
  DESCRIBE_LISTED(NULL, NULL);
  const MPI_Count* const sent = numbers(&caller, &lists, "sendcounts", sendcounts);
  const MPI_Count* const sent_places = numbers(&caller, &lists, "sdispls", sdispls);
  const MPI_Count* const received = numbers(&caller, &lists, "recvcounts", recvcounts);
  const MPI_Count* const received_places = numbers(&caller, &lists, "rdispls", rdispls);
  MAKE_LISTED(alltoallv, send.address, sent, (const MPI_Aint*)sent_places, send.type,
              receive.address, received, (const MPI_Aint*)received_places, receive.type);
}

int hycoll_fortran_alltoallw(CALLER, const CFI_cdesc_t* sendbuf, const CFI_cdesc_t* sendcounts,
                             const CFI_cdesc_t* sdispls, const CFI_cdesc_t* sendtypes,
                             const CFI_cdesc_t* recvbuf, const CFI_cdesc_t* recvcounts,
                             const CFI_cdesc_t* rdispls, const CFI_cdesc_t* recvtypes) {
  const struct caller caller = CALLER_OF("alltoallw");
  const MPI_Fint* const sendtype = &fortran.logical;  // any: the lists have the types
  const MPI_Fint* const recvtype = &fortran.logical;
  DESCRIBE_LISTED(NULL, NULL);
  const MPI_Count* const sent = numbers(&caller, &lists, "sendcounts", sendcounts);
  const MPI_Count* const sent_places = numbers(&caller, &lists, "sdispls", sdispls);
  const MPI_Datatype* const sent_types = types(&caller, &lists, "sendtypes", sendtypes);
  const MPI_Count* const received = numbers(&caller, &lists, "recvcounts", recvcounts);
  const MPI_Count* const received_places = numbers(&caller, &lists, "rdispls", rdispls);
  const MPI_Datatype* const received_types = types(&caller, &lists, "recvtypes", recvtypes);
  MAKE_LISTED(alltoallw, send.address, sent, (const MPI_Aint*)sent_places, sent_types,
              receive.address, received, (const MPI_Aint*)received_places, received_types);
}

int hycoll_fortran_barrier(CALLER) {
  return kept(form == 0   ? hycoll_barrier(member)
              : form == 1 ? hycoll_ibarrier(member, request)
                          : hycoll_barrier_init(member, request));
}

// --- Communicators, teams, requests --------------------------------------------------------------

/// Of MPI that has ended: any, for <hycoll.h> refuses it.
static MPI_Comm communicator_of(MPI_Fint handle) {
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  return has_ended ? MPI_COMM_SELF : MPI_Comm_f2c(handle);
}

int hycoll_fortran_communicator_create(MPI_Fint parent, const hycoll_options* options,
                                       hycoll_member* communicator) {
  return kept(hycoll_communicator_create(communicator_of(parent), options, communicator));
}

int hycoll_fortran_communicator_free(hycoll_member* communicator) {
  return kept(hycoll_communicator_free(communicator));
}

int hycoll_fortran_communicator_serve(hycoll_member communicator) {
  return kept(hycoll_communicator_serve(communicator));
}

int hycoll_fortran_team_create(MPI_Fint parent, int thread_count, const hycoll_options* options,
                               hycoll_team* team) {
  return kept(hycoll_team_create(communicator_of(parent), thread_count, options, team));
}

int hycoll_fortran_team_join(hycoll_team team, int thread_index, hycoll_member* member) {
  return kept(hycoll_team_join(team, thread_index, member));
}

int hycoll_fortran_team_free(hycoll_team* team) { return kept(hycoll_team_free(team)); }

int hycoll_fortran_team_serve(hycoll_team team) { return kept(hycoll_team_serve(team)); }

int hycoll_fortran_rank(hycoll_member member, int* rank) { return kept(hycoll_rank(member, rank)); }

int hycoll_fortran_size(hycoll_member member, int* size) { return kept(hycoll_size(member, size)); }

int hycoll_fortran_wait(hycoll_request* request) { return kept(hycoll_wait(request)); }

int hycoll_fortran_test(hycoll_request* request, int* flag) {
  return kept(hycoll_test(request, flag));
}

int hycoll_fortran_start(hycoll_request* request) { return kept(hycoll_start(request)); }

int hycoll_fortran_request_free(hycoll_request* request) {
  return kept(hycoll_request_free(request));
}

int hycoll_fortran_waitall(int count, hycoll_request requests[]) {
  return kept(hycoll_waitall(count, requests));
}

/// Fortran's places begin with 1.
static int place_of(int index) { return index == MPI_UNDEFINED ? index : index + 1; }

int hycoll_fortran_waitany(int count, hycoll_request requests[], int* place) {
  int index = MPI_UNDEFINED;
  const int result = kept(hycoll_waitany(count, requests, &index));
  *place = place_of(index);
  return result;
}

int hycoll_fortran_testall(int count, hycoll_request requests[], int* flag) {
  return kept(hycoll_testall(count, requests, flag));
}

int hycoll_fortran_testsome(int count, hycoll_request requests[], int* outcount, int places[]) {
  *outcount = 0;
  const int result = kept(hycoll_testsome(count, requests, outcount, places));
  for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; ++i) places[i] = place_of(places[i]);
  return result;
}
