/*
 * The neighbor lists of a communicator, as the library reports them: after a reordering of ranks, and with the ends
 * of grids.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

static int *ints(int count) { return malloc(sizeof(int) * (size_t)(count > 0 ? count : 1)); }

int rw_lists_count(MPI_Comm comm, rw_lists *lists) {
  int topology = MPI_UNDEFINED, weighted, dimensions = 0;
  memset(lists, 0, sizeof *lists);
  int code = PMPI_Comm_rank(comm, &lists->rank);
  if (code == MPI_SUCCESS) code = PMPI_Comm_size(comm, &lists->ranks);
  if (code == MPI_SUCCESS) code = PMPI_Topo_test(comm, &topology);
  if (code != MPI_SUCCESS) return code;
  if (topology == MPI_DIST_GRAPH)
    return PMPI_Dist_graph_neighbors_count(comm, &lists->in_count, &lists->out_count, &weighted);
  if (topology != MPI_CART) return MPI_ERR_TOPOLOGY;
  code = PMPI_Cartdim_get(comm, &dimensions);
  lists->is_grid = 1;
  lists->in_count = lists->out_count = 2 * dimensions;
  return code;
}

static int read_graph(MPI_Comm comm, rw_lists *lists) {
  int weighted;
  int code = PMPI_Dist_graph_neighbors_count(comm, &lists->in_count, &lists->out_count, &weighted);
  if (code != MPI_SUCCESS) return code;
  lists->in = ints(lists->in_count);
  lists->out = ints(lists->out_count);
  int *in_weights = ints(lists->in_count), *out_weights = ints(lists->out_count);
  if (lists->in == NULL || lists->out == NULL || in_weights == NULL || out_weights == NULL) code = MPI_ERR_NO_MEM;
  else
    code = PMPI_Dist_graph_neighbors(comm, lists->in_count, lists->in, weighted ? in_weights : MPI_UNWEIGHTED,
                                     lists->out_count, lists->out, weighted ? out_weights : MPI_UNWEIGHTED);
  free(in_weights);
  free(out_weights);
  return code;
}

static int read_grid(MPI_Comm comm, rw_lists *lists) {
  int dimensions;
  int code = PMPI_Cartdim_get(comm, &dimensions);
  if (code != MPI_SUCCESS) return code;
  lists->is_grid = 1;
  lists->in_count = lists->out_count = 2 * dimensions;
  lists->in = ints(2 * dimensions);
  lists->out = ints(2 * dimensions);
  int *extents = ints(3 * dimensions);
  if (lists->in == NULL || lists->out == NULL || extents == NULL) code = MPI_ERR_NO_MEM;
  else if (dimensions > 0)
    code = PMPI_Cart_get(comm, dimensions, extents, extents + dimensions, extents + 2 * dimensions);
  for (int d = 0; code == MPI_SUCCESS && d < dimensions; d++) {
    int before, after;
    code = PMPI_Cart_shift(comm, d, 1, &before, &after);
    lists->in[2 * d] = lists->out[2 * d] = before;
    lists->in[2 * d + 1] = lists->out[2 * d + 1] = after;
    if (extents[dimensions + d] && extents[d] <= 2) lists->is_parallel = 1;
  }
  free(extents);
  return code;
}

/* Returns whether a list has a rank twice; below 0 means no memory. */
static int has_twice(const int *list, int count, int ranks) {
  char *is_seen = calloc((size_t)ranks + 1, 1);
  int found = is_seen == NULL ? -1 : 0;
  for (int i = 0; !found && i < count; i++) {
    if (list[i] == MPI_PROC_NULL) continue;
    found = is_seen[list[i]];
    is_seen[list[i]] = 1;
  }
  free(is_seen);
  return found;
}

int rw_lists_read(MPI_Comm comm, rw_lists *lists) {
  int topology;
  memset(lists, 0, sizeof *lists);
  int code = PMPI_Comm_rank(comm, &lists->rank);
  if (code == MPI_SUCCESS) code = PMPI_Comm_size(comm, &lists->ranks);
  if (code == MPI_SUCCESS) code = PMPI_Topo_test(comm, &topology);
  if (code != MPI_SUCCESS) return code;
  if (topology == MPI_DIST_GRAPH) code = read_graph(comm, lists);
  else if (topology == MPI_CART) code = read_grid(comm, lists);
  else code = MPI_ERR_TOPOLOGY;
  if (code == MPI_SUCCESS) {
    int in = has_twice(lists->in, lists->in_count, lists->ranks), out = has_twice(lists->out, lists->out_count, lists->ranks);
    lists->is_parallel = lists->is_parallel || in > 0 || out > 0;
    if (in < 0 || out < 0) code = MPI_ERR_NO_MEM;
  }
  if (code != MPI_SUCCESS) rw_lists_free(lists);
  return code;
}

void rw_lists_free(rw_lists *lists) {
  free(lists->in);
  free(lists->out);
  lists->in = lists->out = NULL;
}
