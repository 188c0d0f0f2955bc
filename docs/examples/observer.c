/* A profile by an observer: how long each collective takes, and how much of that is waiting for
 * others. */
#include <hycoll.h>
#include <hycoll/observer.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A communicator with one worker for each process is executed by the thread that calls: this is one
 * thread's. */
enum { kMostLines = 16 };
static struct line {
  const char* collective;
  unsigned long runs;
  uint64_t ticks;
  uint64_t waiting_ticks;
} profile[kMostLines];

static struct line* line_of(const char* collective) {
  for (int i = 0; i < kMostLines; ++i) {
    if (profile[i].collective == NULL) profile[i].collective = collective;
    if (strcmp(profile[i].collective, collective) == 0) return &profile[i];
  }
  abort();
}

static void step_ends(void* context, const hycoll_observed_run* run,
                      const hycoll_observed_step* step) {
  (void)context;
  line_of(run->collective)->waiting_ticks += step->began_working - step->began_waiting;
}

static void run_ends(void* context, const hycoll_observed_run* run, int failed) {
  (void)context;
  (void)failed;
  struct line* const line = line_of(run->collective);
  ++line->runs;
  line->ticks += run->ended - run->began;
}

int main(int argument_count, char** arguments) {
  const hycoll_observer observer = {
      .size = sizeof observer, .step_ends = step_ends, .run_ends = run_ends};
  if (hycoll_register_observer(&observer) != 0) return 1;

  int level;
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_MULTIPLE, &level);
  hycoll_options options = HYCOLL_OPTIONS_INIT;
  options.layout = "processes";
  hycoll_member world;
  if (hycoll_communicator_create(MPI_COMM_WORLD, &options, &world) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
  double own[1000] = {0}, sum[1000];
  for (int round = 0; round < 100; ++round) {
    hycoll_allreduce(own, sum, 1000, MPI_DOUBLE, MPI_SUM, world);
    hycoll_bcast(own, 1000, MPI_DOUBLE, 0, world);
  }
  hycoll_communicator_free(&world);

  const double us_per_tick = 1e6 * hycoll_seconds_per_tick();
  for (int i = 0; i < kMostLines && profile[i].collective != NULL; ++i) {
    printf("%-10s %6lu runs %10.1f us, of which %10.1f us waiting\n", profile[i].collective,
           profile[i].runs, us_per_tick * (double)profile[i].ticks,
           us_per_tick * (double)profile[i].waiting_ticks);
  }
  if (line_of("allreduce")->runs < 100 || line_of("broadcast")->runs < 100)
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
