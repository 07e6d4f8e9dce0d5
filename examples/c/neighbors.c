/* neighbors.c: every process sends its number to the next eight, 250 times. At least 9 processes. */
#include <mpi.h>
#include <stdio.h>

enum { NEIGHBORS = 8, FIRST = 50, CALLS = 200 };

int main(int argc, char **argv) {
  int rank, ranks, sources[NEIGHBORS], destinations[NEIGHBORS], theirs[NEIGHBORS];
  MPI_Comm graph;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < NEIGHBORS; i++) {
    sources[i] = (rank + ranks - 1 - i) % ranks;
    destinations[i] = (rank + 1 + i) % ranks;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, NEIGHBORS, sources, MPI_UNWEIGHTED, NEIGHBORS, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  double begin = 0;
  for (int call = 0; call < FIRST + CALLS; call++) {
    if (call == FIRST) begin = MPI_Wtime(); /* the first calls plan and try */
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, theirs, 1, MPI_INT, graph);
  }
  if (rank == 0) printf("%.1f us per call, from rank %d first\n", (MPI_Wtime() - begin) / CALLS * 1e6, theirs[0]);
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return 0;
}
