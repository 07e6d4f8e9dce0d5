/*
 * This file begins and ends the counting. RANKWEAVE_PROFILE is `profile:FILE` for counts and times of every function, or
 * `time:FILE` for the time from the end of MPI_Init to the beginning of MPI_Finalize only: then every other function
 * is handed on after one test.
 */
#include "profile.h"

#include "own-mpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

int rw_is_on, rw_has_counter;

static const char *profile_file, *time_file;
static double began;
static uint64_t began_ticks;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const char *after(const char *text, const char *word) {
  size_t length = strlen(word);
  return text != NULL && strncmp(text, word, length) == 0 && text[length] != '\0' ? text + length : NULL;
}

enum { OFF, PROFILE, TIME, UNKNOWN };

/*
 * Reads the setting of all processes, which take part in the end only if it is the same everywhere. A job that was
 * spawned has the environment of its parents, and their file is not for it.
 */
static void read_settings(void) {
  const char *text = getenv("RANKWEAVE_PROFILE");
  const char *profile = after(text, "profile:"), *time = after(text, "time:");
  int mode = profile != NULL ? PROFILE : time != NULL ? TIME : text != NULL && *text != '\0' ? UNKNOWN : OFF;
  int least[2] = {mode, -mode}, rank = 0;
  MPI_Comm parents = MPI_COMM_NULL;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_get_parent(&parents);
  PMPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  int is_same = least[0] == -least[1];
  if (rank == 0 && !is_same)
    fprintf(stderr, "rankweave profile: expected the same RANKWEAVE_PROFILE in all processes: nothing is counted\n");
  else if (rank == 0 && mode == UNKNOWN)
    fprintf(stderr, "rankweave profile: expected RANKWEAVE_PROFILE=profile:FILE or time:FILE, got %s: nothing is counted\n", text);
  if (!is_same || parents != MPI_COMM_NULL) return;
  profile_file = profile;
  time_file = time;
}

/* The counter of x86 has the same pace on all cores if the processor says that it is invariant. */
static int find_counter(void) {
#if defined __x86_64__
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
#else
  return 0;
#endif
}

void rw_initialized(void) {
  read_settings();
  if (profile_file != NULL && rw_communicators_begin() && rw_thread_begin() != NULL) {
    rw_has_counter = find_counter();
    rw_is_on = 1;
  }
  began = now();
  began_ticks = rw_ticks();
}

void rw_finalizing(void) {
  double seconds = now() - began;
  uint64_t ticks = rw_ticks() - began_ticks;
  rw_is_on = 0;
  if (time_file != NULL) rw_write_seconds(time_file, seconds);
  if (profile_file == NULL) return;
  uint64_t in_mpi;
  rw_process process = {.seconds = seconds, .seconds_per_tick = ticks > 0 ? seconds / (double)ticks : 0};
  process.sum = rw_sum_of_threads(&in_mpi);
  process.in_mpi = (double)in_mpi * process.seconds_per_tick;
  rw_write_profile(profile_file, &process);
}

static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found != NULL) memcpy(function, &found, sizeof found);
}

RW_EXPORT int MPI_Init(int *argc, char ***argv) {
  __typeof__(&MPI_Init) next = PMPI_Init;
  rw_require_own_mpi();
  find(&next, "MPI_Init");
  int code = next(argc, argv);
  if (code == MPI_SUCCESS) rw_initialized();
  return code;
}

RW_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  __typeof__(&MPI_Init_thread) next = PMPI_Init_thread;
  rw_require_own_mpi();
  find(&next, "MPI_Init_thread");
  int code = next(argc, argv, required, provided);
  if (code == MPI_SUCCESS) rw_initialized();
  return code;
}

RW_EXPORT int MPI_Finalize(void) {
  __typeof__(&MPI_Finalize) next = PMPI_Finalize;
  find(&next, "MPI_Finalize");
  rw_finalizing();
  return next();
}
