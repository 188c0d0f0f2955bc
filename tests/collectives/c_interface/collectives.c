// Every collective in its three forms, on the members of all layouts, with drawn counts, roots and
// descriptions of blocks, against what the elements must be.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#ifdef THROUGH_FORTRAN  // tests/collectives/fortran_interface
#include "through_fortran.h"
#else
#define CALLED(name) hycoll_##name
#endif

enum { kThreads = 2, kTrials = 12, kMostPairs = 300 };

/// In what way blocks of longs are described to MPI.
enum description { kLongs, kPairs, kGapped, kDescriptions };

static MPI_Datatype types[kDescriptions];

static void make_types(void) {
  types[kLongs] = MPI_LONG;
  MPI_Type_contiguous(2, MPI_LONG, &types[kPairs]);
  MPI_Type_commit(&types[kPairs]);
  MPI_Type_create_resized(MPI_LONG, 0, 2 * (MPI_Aint)sizeof(long), &types[kGapped]);
  MPI_Type_commit(&types[kGapped]);
}

static void free_types(void) {
  MPI_Type_free(&types[kPairs]);
  MPI_Type_free(&types[kGapped]);
}

/// So many longs, in elements of the description. Numbers are even.
static MPI_Count elements_of(enum description description, long longs) {
  return description == kPairs ? longs / 2 : longs;
}

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

enum form { kBlocking, kNonblocking, kPersistent, kForms };

/// A call of one member. All members have the same `seed`.
struct trial {
  hycoll_member member;
  int rank;
  int size;
  enum form form;
  uint64_t seed;
  int root;
  bool in_place;
  long longs;  ///< Of a vector, or of an equal block.
};

/// Unequal blocks: those of a rank, known to all.
static long block_longs(const struct trial* trial, int from, int to) {
  return 2 * (long)(mixed(trial->seed, 7 + (uint64_t)from, (uint64_t)to) % 20);
}

/// A buffer of longs as they are described.
struct buffer {
  enum description description;
  long longs;
  long* data;
};

static const long kUntouched = -77;

static struct buffer new_buffer(enum description description, long longs) {
  struct buffer made = {description, longs, malloc(((size_t)longs * 2 + 1) * sizeof(long))};
  for (long i = 0; i <= 2 * longs; ++i) made.data[i] = kUntouched;
  return made;
}

static long* at(const struct buffer* buffer, long i) {
  return buffer->data + (buffer->description == kGapped ? 2 * i : i);
}

static MPI_Count count_in(const struct buffer* buffer, long longs) {
  return elements_of(buffer->description, longs);
}

static void check_gaps(const struct trial* trial, const struct buffer* buffer, const char* what) {
  if (buffer->description == kGapped) {
    for (long i = 0; i < buffer->longs; ++i) {
      CHECK(buffer->data[2 * i + 1] == kUntouched, "%s: gap %ld was written to", what, i);
    }
  }
  const long end = buffer->description == kGapped ? 2 * buffer->longs : buffer->longs;
  CHECK(buffer->data[end] == kUntouched, "%s: rank %d: written beyond the end", what, trial->rank);
}

/// What a member passes: of the block for another one, if there are such.
static long passed(int from, int to, long i) {
  return 1000003L * (from + 1) + 10007L * to + 31 * i;
}

static enum description drawn_description(const struct trial* trial, int salt) {
  return (enum description)(mixed(trial->seed, 100 + (uint64_t)trial->rank, (uint64_t)salt) %
                            kDescriptions);
}

/// A copy of what a buffer holds, which is overwritten. Null: there is no buffer.
static long* hide(const struct buffer* buffer) {
  if (buffer == NULL) return NULL;
  const size_t size = (2 * (size_t)buffer->longs + 1) * sizeof(long);
  long* const copy = malloc(size);
  memcpy(copy, buffer->data, size);
  for (long i = 0; i <= 2 * buffer->longs; ++i) buffer->data[i] = kUntouched;
  return copy;
}

/// Puts it back.
static void reveal(const struct buffer* buffer, long* copy) {
  if (buffer == NULL) return;
  memcpy(buffer->data, copy, (2 * (size_t)buffer->longs + 1) * sizeof(long));
  free(copy);
}

/// Makes the call hycoll_name(...) in the trial's form. The input is in the buffer `source`, for a
/// persistent call from its first start on; that is started twice, unless it is in place.
#define RUN(source, name, ...)                                          \
  do {                                                                  \
    hycoll_request request = HYCOLL_NULL;                               \
    if (trial->form == kBlocking) {                                     \
      CHECK_SUCCESS(CALLED(name)(__VA_ARGS__));                         \
    } else if (trial->form == kNonblocking) {                           \
      CHECK_SUCCESS(CALLED(i##name)(__VA_ARGS__, &request));            \
      CHECK_SUCCESS(hycoll_wait(&request));                             \
      CHECK(request.handle == 0, #name ": the request stays");          \
    } else {                                                            \
      long* const input_copy = hide(source);                            \
      CHECK_SUCCESS(CALLED(name##_init)(__VA_ARGS__, &request));        \
      reveal(source, input_copy);                                       \
      for (int start = 0; start < (trial->in_place ? 1 : 2); ++start) { \
        CHECK_SUCCESS(hycoll_start(&request));                          \
        CHECK_SUCCESS(hycoll_wait(&request));                           \
      }                                                                 \
      CHECK_SUCCESS(hycoll_request_free(&request));                     \
    }                                                                   \
  } while (0)

static void check_value(const struct trial* trial, const char* name, long i, long found,
                        long expected) {
  CHECK(found == expected,
        "%s, form %d, %d members, rank %d, root %d%s: element %ld is %ld, expected %ld", name,
        (int)trial->form, trial->size, trial->rank, trial->root,
        trial->in_place ? ", in place" : "", i, found, expected);
}

/// The sum of what members first to last - 1 pass for a member.
static long sum_of(int first, int last, int to, long i) {
  long sum = 0;
  for (int from = first; from < last; ++from) sum += passed(from, to, i);
  return sum;
}

enum reduction { kAllreduce, kReduce, kScan, kExscan };

static void reduce_vector(const struct trial* trial, enum reduction reduction) {
  const bool is_root = reduction != kReduce || trial->rank == trial->root;
  const bool in_place = trial->in_place && is_root;
  const struct buffer own = new_buffer(kLongs, trial->longs);
  const struct buffer result = new_buffer(kLongs, trial->longs);
  const struct buffer* const source = in_place ? &result : &own;
  for (long i = 0; i < trial->longs; ++i) {
    *at(source, i) = passed(trial->rank, 0, i);
  }
  const void* const input = in_place ? MPI_IN_PLACE : own.data;
  void* const output = is_root ? result.data : NULL;
  const MPI_Count count = trial->longs;
  if (reduction == kAllreduce)
    RUN(source, allreduce, input, output, count, MPI_LONG, MPI_SUM, trial->member);
  if (reduction == kReduce)
    RUN(source, reduce, input, output, count, MPI_LONG, MPI_SUM, trial->root, trial->member);
  if (reduction == kScan) RUN(source, scan, input, output, count, MPI_LONG, MPI_SUM, trial->member);
  if (reduction == kExscan)
    RUN(source, exscan, input, output, count, MPI_LONG, MPI_SUM, trial->member);
  const bool has_result = is_root && (reduction != kExscan || trial->rank > 0);
  int last = trial->size;
  if (reduction == kScan) last = trial->rank + 1;
  if (reduction == kExscan) last = trial->rank;
  for (long i = 0; i < trial->longs && has_result; ++i) {
    check_value(trial, "a reduction", i, *at(&result, i), sum_of(0, last, 0, i));
  }
  check_gaps(trial, &result, "a reduction");
  free(own.data);
  free(result.data);
}

static void allreduce(const struct trial* trial) { reduce_vector(trial, kAllreduce); }
static void reduce(const struct trial* trial) { reduce_vector(trial, kReduce); }
static void scan(const struct trial* trial) { reduce_vector(trial, kScan); }
static void exscan(const struct trial* trial) { reduce_vector(trial, kExscan); }

static void barrier(const struct trial* trial) { RUN(NULL, barrier, trial->member); }

static void bcast(const struct trial* trial) {
  const struct buffer buffer = new_buffer(drawn_description(trial, 1), trial->longs);
  for (long i = 0; i < trial->longs && trial->rank == trial->root; ++i) {
    *at(&buffer, i) = passed(trial->root, 0, i);
  }
  RUN(&buffer, bcast, buffer.data, count_in(&buffer, trial->longs), types[buffer.description],
      trial->root, trial->member);
  for (long i = 0; i < trial->longs; ++i) {
    check_value(trial, "bcast", i, *at(&buffer, i), passed(trial->root, 0, i));
  }
  check_gaps(trial, &buffer, "bcast");
  free(buffer.data);
}

/// Blocks of the members, in one buffer.
struct blocks {
  long* longs;        ///< Of each.
  long* begins;       ///< Where each begins, in longs.
  MPI_Count* counts;  ///< The same in elements.
  MPI_Aint* displs;
  long sum;
};

/// Where `apart`, there are two longs between blocks.
static struct blocks new_blocks(const struct trial* trial, enum description description,
                                long (*longs_of)(const struct trial*, int), bool apart) {
  const size_t size = (size_t)trial->size;
  struct blocks made = {malloc(size * sizeof(long)), malloc(size * sizeof(long)),
                        malloc(size * sizeof(MPI_Count)), malloc(size * sizeof(MPI_Aint)), 0};
  for (int rank = 0; rank < trial->size; ++rank) {
    made.longs[rank] = longs_of(trial, rank);
    made.begins[rank] = made.sum;
    made.counts[rank] = elements_of(description, made.longs[rank]);
    made.displs[rank] = (MPI_Aint)elements_of(description, made.sum);
    made.sum += made.longs[rank] + (apart ? 2 : 0);
  }
  return made;
}

static void free_blocks(struct blocks* blocks) {
  free(blocks->longs);
  free(blocks->begins);
  free(blocks->counts);
  free(blocks->displs);
}

static long equal_longs(const struct trial* trial, int rank) {
  (void)rank;
  return trial->longs;
}
static long own_longs(const struct trial* trial, int rank) { return block_longs(trial, rank, 0); }
static long sent_longs(const struct trial* trial, int rank) {
  return block_longs(trial, trial->rank, rank);
}
static long received_longs(const struct trial* trial, int rank) {
  return block_longs(trial, rank, trial->rank);
}

static void reduce_to_blocks(const struct trial* trial, bool is_equal) {
  struct blocks blocks = new_blocks(trial, kLongs, is_equal ? equal_longs : own_longs, false);
  const struct buffer all = new_buffer(kLongs, blocks.sum);
  const struct buffer result = new_buffer(kLongs, blocks.longs[trial->rank]);
  for (int to = 0; to < trial->size; ++to) {
    for (long i = 0; i < blocks.longs[to]; ++i) {
      *at(&all, blocks.begins[to] + i) = passed(trial->rank, to, i);
    }
  }
  const void* const input = trial->in_place ? MPI_IN_PLACE : all.data;
  void* const output = trial->in_place ? all.data : result.data;
  if (is_equal) {
    RUN(&all, reduce_scatter_block, input, output, trial->longs, MPI_LONG, MPI_SUM, trial->member);
  } else {
    RUN(&all, reduce_scatter, input, output, blocks.counts, MPI_LONG, MPI_SUM, trial->member);
  }
  for (long i = 0; i < blocks.longs[trial->rank]; ++i) {
    check_value(trial, "reduce_scatter", i, *at(trial->in_place ? &all : &result, i),
                sum_of(0, trial->size, trial->rank, i));
  }
  free_blocks(&blocks);
  free(all.data);
  free(result.data);
}

static void reduce_scatter_block(const struct trial* trial) { reduce_to_blocks(trial, true); }
static void reduce_scatter(const struct trial* trial) { reduce_to_blocks(trial, false); }

/// The member's own block: as all are described, or in another way that the call takes.
static struct buffer own_buffer(const struct trial* trial, enum description of_all, bool is_equal,
                                bool is_free, long longs) {
  enum description own = drawn_description(trial, 2);
  // Away from the root, gatherv and scatterv take what lies in memory as it is sent.
  if (!is_equal && !is_free && (own == kGapped || of_all == kGapped)) own = of_all;
  return new_buffer(own, longs);
}

static void gather_blocks(const struct trial* trial, bool is_equal, bool is_rooted) {
  const bool has_all = !is_rooted || trial->rank == trial->root;
  const bool in_place = trial->in_place && has_all;
  const bool apart = !is_equal && trial->seed % 2 == 0;
  // Of blocks of different lengths all members describe the same.
  const enum description described =
      is_equal ? drawn_description(trial, 1) : (enum description)(trial->seed % kDescriptions);
  struct blocks blocks = new_blocks(trial, described, is_equal ? equal_longs : own_longs, apart);
  const long longs = blocks.longs[trial->rank];
  const struct buffer all = new_buffer(described, blocks.sum);
  const struct buffer own = own_buffer(trial, described, is_equal, has_all, longs);
  const struct buffer* const source = in_place ? &all : &own;
  for (long i = 0; i < longs; ++i) {
    *at(source, (in_place ? blocks.begins[trial->rank] : 0) + i) = passed(trial->rank, 0, i);
  }
  const void* const input = in_place ? MPI_IN_PLACE : own.data;
  const MPI_Count count = count_in(&own, longs);
  const MPI_Datatype type = types[own.description];
  void* const output = has_all ? all.data : NULL;
  const MPI_Count of_each = elements_of(described, trial->longs);
  const MPI_Aint* const displs = apart ? blocks.displs : NULL;
  if (is_equal && is_rooted) {
    RUN(source, gather, input, count, type, output, of_each, types[described], trial->root,
        trial->member);
  } else if (is_equal) {
    RUN(source, allgather, input, count, type, output, of_each, types[described], trial->member);
  } else if (is_rooted) {
    RUN(source, gatherv, input, count, type, output, blocks.counts, displs, types[described],
        trial->root, trial->member);
  } else {
    RUN(source, allgatherv, input, count, type, output, blocks.counts, displs, types[described],
        trial->member);
  }
  for (int from = 0; from < trial->size && has_all; ++from) {
    for (long i = 0; i < blocks.longs[from]; ++i) {
      check_value(trial, "a gather", i, *at(&all, blocks.begins[from] + i), passed(from, 0, i));
    }
  }
  check_gaps(trial, &all, "a gather");
  free_blocks(&blocks);
  free(all.data);
  free(own.data);
}

static void allgather(const struct trial* trial) { gather_blocks(trial, true, false); }
static void gather(const struct trial* trial) { gather_blocks(trial, true, true); }
static void allgatherv(const struct trial* trial) { gather_blocks(trial, false, false); }
static void gatherv(const struct trial* trial) { gather_blocks(trial, false, true); }

static void scatter_blocks(const struct trial* trial, bool is_equal) {
  const bool is_root = trial->rank == trial->root;
  const bool in_place = trial->in_place && is_root;
  const bool apart = !is_equal && trial->seed % 2 == 0;
  const enum description described =
      is_equal ? drawn_description(trial, 1) : (enum description)(trial->seed % kDescriptions);
  struct blocks blocks = new_blocks(trial, described, is_equal ? equal_longs : own_longs, apart);
  const long longs = blocks.longs[trial->rank];
  const struct buffer all = new_buffer(described, blocks.sum);
  const struct buffer own = own_buffer(trial, described, is_equal, is_root, longs);
  for (int to = 0; to < trial->size && is_root; ++to) {
    for (long i = 0; i < blocks.longs[to]; ++i) {
      *at(&all, blocks.begins[to] + i) = passed(trial->root, to, i);
    }
  }
  const void* const input = is_root ? all.data : NULL;
  void* const output = in_place ? MPI_IN_PLACE : own.data;
  const MPI_Count count = count_in(&own, longs);
  const MPI_Datatype type = types[own.description];
  const MPI_Aint* const displs = apart ? blocks.displs : NULL;
  if (is_equal) {
    RUN(&all, scatter, input, elements_of(described, trial->longs), types[described], output, count,
        type, trial->root, trial->member);
  } else {
    RUN(&all, scatterv, input, blocks.counts, displs, types[described], output, count, type,
        trial->root, trial->member);
  }
  for (long i = 0; i < longs && !in_place; ++i) {
    check_value(trial, "a scatter", i, *at(&own, i), passed(trial->root, trial->rank, i));
  }
  check_gaps(trial, &own, "a scatter");
  free_blocks(&blocks);
  free(all.data);
  free(own.data);
}

static void scatter(const struct trial* trial) { scatter_blocks(trial, true); }
static void scatterv(const struct trial* trial) { scatter_blocks(trial, false); }

enum exchange { kEqual, kUnequal, kTyped };

/// In place, a member sends as much to each as it gets from it.
static long in_place_longs(const struct trial* trial, int rank) {
  const int low = rank < trial->rank ? rank : trial->rank;
  const int high = rank < trial->rank ? trial->rank : rank;
  return block_longs(trial, low, high);
}

static void exchange(const struct trial* trial, enum exchange kind) {
  const bool apart = kind == kTyped || (kind == kUnequal && trial->seed % 2 == 0);
  const enum description sent_as = drawn_description(trial, 3);
  const enum description received_as = trial->in_place ? sent_as : drawn_description(trial, 4);
  long (*sent_of)(const struct trial*, int) = kind == kEqual ? equal_longs : sent_longs;
  long (*received_of)(const struct trial*, int) = kind == kEqual ? equal_longs : received_longs;
  if (trial->in_place && kind != kEqual) sent_of = received_of = in_place_longs;
  struct blocks sent = new_blocks(trial, sent_as, sent_of, apart);
  struct blocks received = new_blocks(trial, received_as, received_of, apart);
  const struct buffer in = new_buffer(sent_as, sent.sum);
  const struct buffer out = new_buffer(received_as, received.sum);
  const struct buffer* const source = trial->in_place ? &out : &in;
  for (int to = 0; to < trial->size; ++to) {
    for (long i = 0; i < sent.longs[to]; ++i) {
      *at(source, sent.begins[to] + i) = passed(trial->rank, to, i);
    }
  }
  const void* const input = trial->in_place ? MPI_IN_PLACE : in.data;
  const size_t size = (size_t)trial->size;
  MPI_Datatype* const sent_types = malloc(size * sizeof *sent_types);
  MPI_Datatype* const received_types = malloc(size * sizeof *received_types);
  for (int rank = 0; rank < trial->size; ++rank) {
    sent_types[rank] = types[sent_as];
    received_types[rank] = types[received_as];
  }
  if (kind == kEqual) {
    RUN(source, alltoall, input, elements_of(sent_as, trial->longs), types[sent_as], out.data,
        elements_of(received_as, trial->longs), types[received_as], trial->member);
  } else if (kind == kUnequal) {
    RUN(source, alltoallv, input, sent.counts, apart ? sent.displs : NULL, types[sent_as], out.data,
        received.counts, apart ? received.displs : NULL, types[received_as], trial->member);
  } else {
    for (int rank = 0; rank < trial->size; ++rank) {
      sent.displs[rank] = (char*)at(&in, sent.begins[rank]) - (char*)in.data;
      received.displs[rank] = (char*)at(&out, received.begins[rank]) - (char*)out.data;
    }
    RUN(source, alltoallw, input, sent.counts, sent.displs, sent_types, out.data, received.counts,
        received.displs, received_types, trial->member);
  }
  for (int from = 0; from < trial->size; ++from) {
    for (long i = 0; i < received.longs[from]; ++i) {
      check_value(trial, "an all-to-all", i, *at(&out, received.begins[from] + i),
                  passed(from, trial->rank, i));
    }
  }
  check_gaps(trial, &out, "an all-to-all");
  free(sent_types);
  free(received_types);
  free_blocks(&sent);
  free_blocks(&received);
  free(in.data);
  free(out.data);
}

static void alltoall(const struct trial* trial) { exchange(trial, kEqual); }
static void alltoallv(const struct trial* trial) { exchange(trial, kUnequal); }
static void alltoallw(const struct trial* trial) { exchange(trial, kTyped); }

static void (*const collectives[])(const struct trial*) = {
    allreduce,      reduce,    reduce_scatter_block,
    reduce_scatter, scan,      exscan,
    bcast,          allgather, allgatherv,
    gather,         gatherv,   scatter,
    scatterv,       alltoall,  alltoallv,
    alltoallw,      barrier};

/// All collectives and forms on one member.
static void run_trials(hycoll_member member) {
  struct trial trial = {.member = member};
  CHECK_SUCCESS(hycoll_rank(member, &trial.rank));
  CHECK_SUCCESS(hycoll_size(member, &trial.size));
  for (size_t which = 0; which < sizeof collectives / sizeof *collectives; ++which) {
    for (int number = 0; number < kTrials; ++number) {
      trial.form = (enum form)(number % kForms);
      trial.seed = mixed(which, (uint64_t)number, (uint64_t)trial.size);
      trial.root = (int)(mixed(trial.seed, 1, 0) % (uint64_t)trial.size);
      trial.in_place = mixed(trial.seed, 2, 0) % 3 == 0;
      trial.longs = 2 * (long)(mixed(trial.seed, 3, 0) % kMostPairs);
      collectives[which](&trial);
    }
  }
}

static void in_communicator(const hycoll_options* options) {
  hycoll_member member = HYCOLL_NULL;
  CHECK_SUCCESS(hycoll_communicator_create(MPI_COMM_WORLD, options, &member));
  run_trials(member);
  CHECK_SUCCESS(hycoll_communicator_free(&member));
  CHECK(member.handle == 0, "a freed communicator's handle stays");
}

struct thread {
  hycoll_team team;
  int index;
};

static void* run_thread(void* passed_thread) {
  const struct thread* const thread = passed_thread;
  hycoll_member member = HYCOLL_NULL;
  CHECK_SUCCESS(hycoll_team_join(thread->team, thread->index, &member));
  run_trials(member);
  return NULL;
}

static void in_team(const hycoll_options* options) {
  hycoll_team team = HYCOLL_NULL;
  CHECK_SUCCESS(hycoll_team_create(MPI_COMM_WORLD, kThreads, options, &team));
  struct thread threads[kThreads];
  pthread_t others[kThreads];
  for (int i = 0; i < kThreads; ++i) threads[i] = (struct thread){team, i};
  for (int i = 1; i < kThreads; ++i) pthread_create(&others[i], NULL, run_thread, &threads[i]);
  run_thread(&threads[0]);
  for (int i = 1; i < kThreads; ++i) pthread_join(others[i], NULL);
  CHECK_SUCCESS(hycoll_team_free(&team));
}

void test_collectives(void) {
  make_types();
  hycoll_options options = HYCOLL_OPTIONS_INIT;
  options.workers = 2;
  options.pinning = 0;
  in_communicator(&options);
  options.workers = HYCOLL_UNSET;
  options.layout = "processes";
  in_communicator(&options);
  in_team(&options);
  options.layout = "per_node";
  in_team(&options);
  free_types();
}
