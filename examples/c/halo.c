/* halo.c: a neighbor allgather on a grid whose points have lost their order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 65536, FIRST = 20, CALLS = 200 };

int main(int argc, char **argv) {
  int ranks, rank, node, dims[2] = {0, 0}, neighbors[4], degree = 0, leaves = 0, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(ranks, 2, dims);
  /* Rank r has the point 3 r, and the point p is that of rank p / 3, both modulo the number of ranks. */
  int *rank_of = malloc((size_t)ranks * sizeof *rank_of);
  for (int r = 0; r < ranks; r++) rank_of[3 * r % ranks] = r;
  const int point = 3 * rank % ranks, x = point % dims[0], y = point / dims[0];
  if (x > 0) neighbors[degree++] = rank_of[point - 1];
  if (x < dims[0] - 1) neighbors[degree++] = rank_of[point + 1];
  if (y > 0) neighbors[degree++] = rank_of[point - dims[0]];
  if (y < dims[1] - 1) neighbors[degree++] = rank_of[point + dims[0]];

  /* The first rank of each node stands for it. */
  MPI_Comm on_node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &on_node);
  node = rank;
  MPI_Bcast(&node, 1, MPI_INT, 0, on_node);
  int *node_of = malloc((size_t)ranks * sizeof *node_of);
  MPI_Allgather(&node, 1, MPI_INT, node_of, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < degree; i++) leaves += node_of[neighbors[i]] != node;
  MPI_Reduce(&leaves, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);

  MPI_Comm grid;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, neighbors, MPI_UNWEIGHTED, degree, neighbors, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &grid);
  char *mine = calloc(BYTES, 1), *theirs = calloc(BYTES, 4);
  double begin = 0, longest;
  for (int call = 0; call < FIRST + CALLS; call++) {
    if (call == FIRST) MPI_Barrier(grid), begin = MPI_Wtime();
    MPI_Neighbor_allgather(mine, BYTES, MPI_BYTE, theirs, BYTES, MPI_BYTE, grid);
  }
  const double us = (MPI_Wtime() - begin) / CALLS * 1e6;
  MPI_Reduce(&us, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d messages leave a node, %.0f us a call\n", all, longest);
  MPI_Finalize();
  return 0;
}
