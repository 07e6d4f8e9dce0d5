/*
 * Samples the lengths of MPI's own queues, if MPI offers them as performance variables: Open MPI does for messages
 * by ob1. They are read in calls that are recorded, at most once in some milliseconds, and never while threads may
 * change the queues.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>

enum { COMMUNICATORS = 16, SAMPLES = 10000, QUEUES = 2 };

static const char *const names[QUEUES] = {"pml_ob1_unexpected_msgq_length", "pml_ob1_posted_recvq_length"};

typedef struct {
  int is_there, length; /* number of values of a variable: one for each rank */
  MPI_T_pvar_handle handles[QUEUES];
} watched;

static int is_offered, is_sampled, index_of[QUEUES];
static MPI_T_pvar_session session;
static watched communicators[COMMUNICATORS];
static unsigned *values;
static int room;
static int64_t begin, next, pause;
static struct {
  int64_t time;
  int communicator;
  double lengths[QUEUES];
} samples[SAMPLES];
static int sample_count, missed;

void rw_matching_queues_begin(void) {
  int threads = MPI_THREAD_SINGLE, provided;
  pause = (int64_t)(rw_own_settings()->matching_sample_ms * 1e6);
  begin = rw_matching_now();
  PMPI_Query_thread(&threads);
  if (pause <= 0 || MPI_T_init_thread(threads, &provided) != MPI_SUCCESS) return;
  is_offered = MPI_T_pvar_session_create(&session) == MPI_SUCCESS;
  for (int q = 0; q < QUEUES; q++)
    if (MPI_T_pvar_get_index(names[q], MPI_T_PVAR_CLASS_SIZE, &index_of[q]) != MPI_SUCCESS) is_offered = 0;
  is_sampled = is_offered && threads != MPI_THREAD_MULTIPLE;
  rw_matching_queues_add(MPI_COMM_WORLD, 0);
}

void rw_matching_queues_add(MPI_Comm comm, int number) {
  int size = 0;
  if (!is_sampled || number >= COMMUNICATORS) return;
  watched *w = &communicators[number];
  PMPI_Comm_size(comm, &size);
  for (int q = 0; q < QUEUES; q++) {
    if (MPI_T_pvar_handle_alloc(session, index_of[q], &comm, &w->handles[q], &w->length) != MPI_SUCCESS) return;
    /* A variable that counts continuously cannot be started. */
    MPI_T_pvar_start(session, w->handles[q]);
  }
  if (w->length > room) {
    unsigned *longer = realloc(values, sizeof *values * (size_t)w->length);
    if (longer == NULL) return;
    values = longer;
    room = w->length;
  }
  w->is_there = 1;
}

void rw_matching_queues_remove(int number) {
  if (number < 0 || number >= COMMUNICATORS || !communicators[number].is_there) return;
  communicators[number].is_there = 0;
  for (int q = 0; q < QUEUES; q++) MPI_T_pvar_handle_free(session, &communicators[number].handles[q]);
}

static int read_lengths(watched *w, double lengths[QUEUES]) {
  for (int q = 0; q < QUEUES; q++) {
    lengths[q] = 0;
    if (MPI_T_pvar_read(session, w->handles[q], values) != MPI_SUCCESS) return 0;
    for (int i = 0; i < w->length; i++) lengths[q] += values[i];
  }
  return 1;
}

void rw_matching_queues_sample(int64_t time) {
  if (!is_sampled || time < next) return;
  next = time + pause;
  for (int n = 0; n < COMMUNICATORS; n++) {
    double lengths[QUEUES];
    if (!communicators[n].is_there || !read_lengths(&communicators[n], lengths)) continue;
    if (sample_count == SAMPLES) {
      missed++;
      continue;
    }
    samples[sample_count].time = time - begin;
    samples[sample_count].communicator = n;
    for (int q = 0; q < QUEUES; q++) samples[sample_count].lengths[q] = lengths[q];
    sample_count++;
  }
}

void rw_matching_queues_end(const char *folder, int rank) {
  char path[4096];
  is_sampled = 0;
  snprintf(path, sizeof path, "%s/queues-%d.json", folder, rank);
  FILE *file = pause > 0 ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "{\"format\":\"rankweave-queues\",\"version\":1,\"rank\":%d,\"offered\":%s,\"missed\":%d,\"samples\":[", rank,
          is_offered ? "true" : "false", missed);
  for (int s = 0; s < sample_count; s++)
    fprintf(file, "%s\n[%.3f,%d,%.0f,%.0f]", s == 0 ? "" : ",", (double)samples[s].time / 1e3, samples[s].communicator,
            samples[s].lengths[0], samples[s].lengths[1]);
  fprintf(file, "]}\n");
  if (fclose(file) != 0) fprintf(stderr, "rankweave shim: cannot write %s\n", path);
}
