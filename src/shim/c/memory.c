/*
 * States of communicators, and graphs that are remembered when their communicators are freed. The next communicator
 * of the same processes with the same lists gets their plans, and all that was learned of them. A remembered graph
 * belongs to one communicator at a time. Numbers of graphs are agreed, and grow in every process. So if all ranks
 * of a communicator have remembered the same number for its processes and lists, they mean the same plans.
 */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * SPARE: states for times without memory. Ranks that have one count calls, so that none waits for this one in an
 * agreement. GRAPHS: graphs that have numbers at a time, with communicators or without.
 */
enum { SPARE = 16, GRAPHS = 16 };

static rw_state spare[SPARE];
static char is_spare_used[SPARE];
static rw_state *remembered;
static int graphs;
static double next_id = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

rw_state *rw_state_allocate(void) {
  rw_state *state = calloc(1, sizeof *state);
  pthread_mutex_lock(&lock);
  for (int i = 0; state == NULL && i < SPARE; i++) {
    if (is_spare_used[i]) continue;
    is_spare_used[i] = 1;
    state = memset(&spare[i], 0, sizeof spare[i]);
  }
  pthread_mutex_unlock(&lock);
  if (state != NULL) state->group = MPI_GROUP_NULL;
  return state;
}

static void release(rw_state *state) {
  if (state < spare || state >= spare + SPARE) {
    free(state);
    return;
  }
  pthread_mutex_lock(&lock);
  is_spare_used[state - spare] = 0;
  pthread_mutex_unlock(&lock);
}

void rw_state_free(rw_state *state) {
  for (int c = 0; c < RW_COLLECTIVES; c++) {
    rw_runner_free(state->plans[c].runner);
    rw_part_free(state->plans[c].part);
  }
  if (state->shadow != MPI_COMM_NULL) PMPI_Comm_free(&state->shadow);
  rw_publishers_close(state->publishers);
  if (state->group != MPI_GROUP_NULL) PMPI_Group_free(&state->group);
  rw_lists_free(&state->lists);
  free(state->graph_starts);
  free(state->graph);
  release(state);
}

void rw_state_remember(rw_state *state) {
  if (state->id == 0) {
    rw_state_free(state);
    return;
  }
  rw_publishers_close(state->publishers);
  state->publishers = NULL;
  for (int c = 0; c < RW_COLLECTIVES; c++) {
    rw_plan *plan = &state->plans[c];
    plan->publisher = NULL;
    plan->calls_before += plan->calls;
    plan->calls = plan->planned_calls = 0;
  }
  pthread_mutex_lock(&lock);
  state->after = remembered;
  remembered = state;
  pthread_mutex_unlock(&lock);
}

/* Threads could agree on the same number for two communicators of the same processes. */
double rw_graph_propose(void) {
  int threads = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&threads);
  return threads == MPI_THREAD_MULTIPLE || graphs >= GRAPHS ? 0 : next_id;
}

void rw_graph_number(rw_state *state, double id) {
  if (PMPI_Comm_group(state->comm, &state->group) != MPI_SUCCESS) state->group = MPI_GROUP_NULL;
  state->id = id;
  next_id = id + 1;
  graphs++;
}

static int is_same(const rw_lists *a, const rw_lists *b) {
  return a->in_count == b->in_count && a->out_count == b->out_count && a->in != NULL && b->in != NULL &&
         memcmp(a->in, b->in, sizeof(int) * (size_t)a->in_count) == 0 &&
         memcmp(a->out, b->out, sizeof(int) * (size_t)a->out_count) == 0;
}

double rw_graph_find(rw_state *state) {
  MPI_Group own;
  double id = 0;
  if (remembered == NULL || state->publishers == NULL) return 0;
  if (PMPI_Comm_group(state->comm, &own) != MPI_SUCCESS) return 0;
  for (const rw_state *other = remembered; other != NULL; other = other->after) {
    int order = MPI_UNEQUAL;
    if (!is_same(&other->lists, &state->lists) || other->group == MPI_GROUP_NULL) continue;
    if (PMPI_Group_compare(own, other->group, &order) != MPI_SUCCESS || order != MPI_IDENT) continue;
    if (id == 0 || other->id < id) id = other->id;
  }
  PMPI_Group_free(&own);
  return id;
}

static rw_state *take(double id) {
  rw_state **at = &remembered;
  while ((*at)->id != id) at = &(*at)->after;
  rw_state *taken = *at;
  *at = taken->after;
  return taken;
}

/* The counts for the report remain those of the communicator. */
void rw_graph_take(rw_state *state, double id) {
  rw_state *other = take(id);
  /*
   * The remembered lists were agreed on, also whether edges are parallel; for want of memory, the new lists may not
   * state it.
   */
  rw_lists_free(&state->lists);
  state->lists = other->lists;
  for (int c = 0; c < RW_COLLECTIVES; c++) {
    const rw_plan own = state->plans[c];
    rw_plan *plan = &state->plans[c];
    *plan = other->plans[c];
    plan->calls = own.calls;
    if (!plan->is_shared) continue;
    plan->publisher = rw_state_publisher(state, c);
    if (plan->publisher == NULL) plan->phase = RW_PHASE_NEVER;
  }
  state->shadow = other->shadow;
  state->settings = other->settings;
  state->is_agreed = other->is_agreed;
  state->group = other->group;
  state->id = id;
  free(other->graph_starts);
  free(other->graph);
  release(other);
}

/*
 * Frees graphs in the order of numbers, which is the same in all processes: freeing a communicator may be
 * collective.
 */
void rw_graphs_forget(void) {
  while (remembered != NULL) {
    double least = remembered->id;
    for (const rw_state *other = remembered; other != NULL; other = other->after)
      if (other->id < least) least = other->id;
    rw_state_free(take(least));
  }
}
