/*
 * neighbors.c: every process sends its number to the next eight, 250 times or as often as its argument says, and prints
 * the time of the second half of the calls. At least 9 processes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEIGHBORS = 8 };

int main(int argc, char **argv) {
  int rank, ranks, sources[NEIGHBORS], destinations[NEIGHBORS], theirs[NEIGHBORS];
  MPI_Comm graph;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int calls = argc > 1 ? atoi(argv[1]) : 250, untimed = calls / 2; /* the first calls plan and try */
  if (calls < 1) {
    if (rank == 0) fprintf(stderr, "expected a number of calls, got %s\n", argv[1]);
    MPI_Finalize();
    return 2;
  }
  for (int i = 0; i < NEIGHBORS; i++) {
    sources[i] = (rank + ranks - 1 - i) % ranks;
    destinations[i] = (rank + 1 + i) % ranks;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, NEIGHBORS, sources, MPI_UNWEIGHTED, NEIGHBORS, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  double begin = 0;
  for (int call = 0; call < calls; call++) {
    if (call == untimed) begin = MPI_Wtime();
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, theirs, 1, MPI_INT, graph);
  }
  double call_us = (MPI_Wtime() - begin) / (calls - untimed) * 1e6;
  if (rank == 0) printf("%.1f us per call, from rank %d first\n", call_us, theirs[0]);
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return 0;
}
