/*
 * Writes the graph of every topology communicator to a file that `rankweave plan edges:FILE` reads, with what
 * was called as comments. The first rank of a communicator holds the graph until the communicator is freed or
 * the program ends. A process records a limited number of communicators: a program may make one in every
 * step.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Destinations of all ranks, on rank 0. MPI_ERR_NO_MEM on all ranks if there is no memory for them.
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

/* A program continues where its graph is too large to be recorded. */
int rw_record_gather(MPI_Comm comm, rw_state *state) {
  int code = gather(comm, state);
  if (code != MPI_ERR_NO_MEM) return code;
  if (state->lists.rank == 0)
    fprintf(stderr, "rankweave shim: no memory to record the graph of a communicator\n");
  free(state->graph);
  state->graph = NULL;
  return MPI_SUCCESS;
}

static void write_graph(FILE *file, const rw_state *state) {
  static const char *names[] = {"neighbor-allgather", "neighbor-alltoall"};
  int ranks = state->lists.ranks;
  fprintf(file, "# communicator %d, as seen by its rank 0\n", state->number);
  for (int c = 0; c < RW_COLLECTIVES; c++) {
    const rw_plan *plan = &state->plans[c];
    if (plan->all_calls == 0) continue;
    fprintf(file, "# %s: %u calls, the first is call %u", names[c], plan->all_calls, plan->first_call);
    if (plan->longest >= plan->shortest) fprintf(file, ", blocks of %.0f to %.0f bytes", plan->shortest, plan->longest);
    fprintf(file, "\n");
  }
  fprintf(file, "ranks %d\n", ranks);
  for (int r = 0; r < ranks; r++)
    for (int e = state->graph_starts[r]; e < state->graph_starts[r + 1]; e++)
      if (state->graph[e] != MPI_PROC_NULL) fprintf(file, "%d %d\n", r, state->graph[e]);
}

/*
 * The first communicator of the first rank of the world has the name itself, others have rank and number
 * behind it.
 */
void rw_record_write(const rw_state *state) {
  char path[4096], part[4096 + 8];
  int world = 0;
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

void rw_record_call(rw_plan *plan, const rw_buffer *from, int blocks) {
  static unsigned calls;
  unsigned call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  if (plan->all_calls++ == 0) {
    plan->first_call = call;
    plan->shortest = INT64_MAX;
  }
  for (int i = 0; i < blocks; i++) {
    double bytes = (double)rw_buffer_count(from, i) * from->size;
    if (bytes > plan->longest) plan->longest = bytes;
    if (bytes < plan->shortest) plan->shortest = bytes;
  }
}
