/*
 * Writes the graph of every topology communicator to a file that `rankweave plan edges:FILE` reads, with the calls
 * as comments. The first rank of a communicator holds the graph until the communicator is freed or the program
 * ends. A process records a limited number of communicators: a program may make one in every step.
 */
#include "shim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Gathers the destinations of all ranks on rank 0. MPI_ERR_NO_MEM on all ranks if there is no memory for them.
 * Collective.
 */
static int gather(MPI_Comm comm, rw_state *state) {
  const rw_lists *lists = &state->lists;
  int is_first = lists->rank == 0, *degrees = NULL, *starts = NULL, *graph = NULL;
  int64_t edges = 0;
  if (is_first) {
    degrees = malloc(sizeof(int) * (size_t)lists->ranks);
    starts = malloc(sizeof(int) * ((size_t)lists->ranks + 1));
  }
  int code = rw_agree_on_memory(comm, !is_first || (degrees != NULL && starts != NULL));
  if (code == MPI_SUCCESS) code = PMPI_Gather(&lists->out_count, 1, MPI_INT, degrees, 1, MPI_INT, 0, comm);
  for (int r = 0; is_first && code == MPI_SUCCESS && r < lists->ranks; r++) {
    starts[r] = (int)edges;
    edges += degrees[r];
  }
  if (is_first && code == MPI_SUCCESS) {
    starts[lists->ranks] = (int)edges;
    graph = edges <= INT32_MAX ? malloc(sizeof(int) * ((size_t)edges + 1)) : NULL;
  }
  if (code == MPI_SUCCESS) code = rw_agree_on_memory(comm, !is_first || graph != NULL);
  if (code == MPI_SUCCESS)
    code = PMPI_Gatherv(lists->out, lists->out_count, MPI_INT, graph, degrees, starts, MPI_INT, 0, comm);
  free(degrees);
  state->graph_starts = starts;
  state->graph = graph;
  return code;
}

/* Names the nodes in their order, as `rankweave` reads `cores` of a cluster: `2x16+8`. Collective. */
static void name_nodes(MPI_Comm comm, rw_state *state) {
  rw_layout layout;
  size_t used = 0;
  if (rw_layout_make(comm, (int)state->settings.cores, &layout) != MPI_SUCCESS) return;
  for (int n = 0, first = 0; n < layout.nodes && used < sizeof state->nodes; n++) {
    int ranks = layout.start[n + 1] - layout.start[n];
    if (n + 1 < layout.nodes && layout.start[n + 2] - layout.start[n + 1] == ranks) continue;
    used += (size_t)snprintf(state->nodes + used, sizeof state->nodes - used, "%s%dx%d", used > 0 ? "+" : "", n + 1 - first,
                             ranks);
    first = n + 1;
  }
  if (used >= sizeof state->nodes) state->nodes[0] = '\0';
  rw_layout_free(&layout);
}

/* A program continues if its graph is too large to be recorded. */
int rw_record_gather(MPI_Comm comm, rw_state *state) {
  int code = gather(comm, state);
  if (code == MPI_SUCCESS) name_nodes(comm, state);
  if (code != MPI_ERR_NO_MEM) return code;
  if (state->lists.rank == 0)
    fprintf(stderr, "rankweave shim: no memory to record the graph of a communicator\n");
  free(state->graph);
  state->graph = NULL;
  return MPI_SUCCESS;
}

static void write_graph(FILE *file, const rw_state *state) {
  int ranks = state->lists.ranks;
  fprintf(file, "# communicator %d, as seen by its rank 0\n", state->number);
  for (int f = 0; f < RW_FUNCTIONS; f++) {
    const rw_recorded *recorded = &state->recorded[f];
    if (recorded->calls == 0) continue;
    fprintf(file, "# %s: %u calls, the first is call %u", rw_function_name(f), recorded->calls, recorded->first_call);
    if (recorded->has_blocks)
      fprintf(file, ", blocks of %.0f to %.0f bytes", recorded->shortest, recorded->longest);
    fprintf(file, "\n");
  }
  if (state->nodes[0] != '\0') fprintf(file, "# nodes of the ranks: %s\n", state->nodes);
  fprintf(file, "ranks %d\n", ranks);
  for (int r = 0; r < ranks; r++)
    for (int e = state->graph_starts[r]; e < state->graph_starts[r + 1]; e++)
      if (state->graph[e] != MPI_PROC_NULL) fprintf(file, "%d %d\n", r, state->graph[e]);
}

void rw_record_call(rw_state *state, rw_function function) {
  static unsigned calls;
  rw_recorded *recorded = &state->recorded[function];
  unsigned call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  if (recorded->calls++ == 0) recorded->first_call = call;
}

void rw_record_block(rw_state *state, rw_function function, double bytes) {
  rw_recorded *recorded = &state->recorded[function];
  if (!recorded->has_blocks || bytes > recorded->longest) recorded->longest = bytes;
  if (!recorded->has_blocks || bytes < recorded->shortest) recorded->shortest = bytes;
  recorded->has_blocks = 1;
}

void rw_record(rw_state *state, rw_function function, int collective, const rw_call *call) {
  rw_buffer from, to;
  int blocks = collective == RW_ALLGATHER ? 1 : state->lists.out_count;
  rw_record_call(state, function);
  if (rw_call_buffers(call, function, &from, &to) != MPI_SUCCESS) return;
  for (int i = 0; i < blocks; i++) rw_record_block(state, function, (double)rw_buffer_count(&from, i) * from.size);
}

/* The most persistent requests that are recorded; starts of further ones are not. */
enum { REQUESTS = 1024 };

static struct {
  MPI_Request request;
  rw_state *state; /* NULL: the place is free */
  rw_function function;
} requests[REQUESTS];
/* The number of places that were ever used: without any, a start costs one comparison. */
static int used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the place of a request; that of a free one for NULL. */
static int place_of(MPI_Request request, int is_used) {
  int i = 0;
  while (i < used && !((requests[i].state != NULL) == is_used && (!is_used || requests[i].request == request))) i++;
  return i;
}

void rw_record_request(MPI_Request request, rw_state *state, rw_function function) {
  pthread_mutex_lock(&lock);
  int i = place_of(request, 0);
  if (i < REQUESTS) {
    requests[i].request = request;
    requests[i].state = state;
    requests[i].function = function;
    if (i == used) __atomic_store_n(&used, used + 1, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&lock);
}

void rw_record_start(MPI_Request request) {
  if (__atomic_load_n(&used, __ATOMIC_RELAXED) == 0) return;
  pthread_mutex_lock(&lock);
  int i = place_of(request, 1);
  if (i < used) rw_record_call(requests[i].state, requests[i].function);
  pthread_mutex_unlock(&lock);
}

void rw_record_forget(MPI_Request request) {
  if (__atomic_load_n(&used, __ATOMIC_RELAXED) == 0) return;
  pthread_mutex_lock(&lock);
  int i = place_of(request, 1);
  if (i < used) requests[i].state = NULL;
  pthread_mutex_unlock(&lock);
}

/* Forgets a state: a communicator may be freed before requests on it. */
static void forget_state(const rw_state *state) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < used; i++)
    if (requests[i].state == state) requests[i].state = NULL;
  pthread_mutex_unlock(&lock);
}

/*
 * The first communicator of the first rank of the world gets the plain name; the names of others end in rank and
 * number.
 */
void rw_record_write(const rw_state *state) {
  char path[4096], part[4096 + 8];
  int world = 0;
  if (state->settings.records > 0) forget_state(state);
  if (state->graph == NULL || rw_record_path() == NULL) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world);
  if (world == 0 && state->number == 0) snprintf(path, sizeof path, "%s", rw_record_path());
  else snprintf(path, sizeof path, "%s.%d.%d", rw_record_path(), world, state->number);
  snprintf(part, sizeof part, "%s.part", path);
  FILE *file = fopen(part, "w");
  int is_whole = 0;
  if (file != NULL) {
    write_graph(file, state);
    is_whole = ferror(file) == 0;
    /* Closing writes the rest. */
    if (fclose(file) != 0) is_whole = 0;
  }
  if (is_whole && rename(part, path) == 0) return;
  fprintf(stderr, "rankweave shim: cannot write %s: ", path);
  perror(NULL);
  if (file != NULL) remove(part);
}
