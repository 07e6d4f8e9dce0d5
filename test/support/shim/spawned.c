/*
 * Starts as many processes without the preloaded library, and calls collectives on a communicator of both halves.
 * Prints `right` if the results are. Run on two or more processes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* More than the calls after which ranks would agree on a plan. */
enum { CALLS = 100 };

int main(int argc, char **argv) {
  MPI_Comm between, both, ring;
  int rank, ranks, got = -1;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&between);
  int is_child = between != MPI_COMM_NULL;
  if (!is_child) {
    char *words[] = {"-u", "LD_PRELOAD", argv[0], NULL};
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_spawn("env", words, ranks, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(between, is_child, &both);
  MPI_Comm_rank(both, &rank);
  MPI_Comm_size(both, &ranks);
  double own = rank + 0.5;
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, both);
  int wrong = sum != ranks * (double)ranks / 2;
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Dist_graph_create_adjacent(both, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  for (int call = 0; call < CALLS; call++) MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, ring);
  wrong += got != left;
  for (int i = 0; i < 2; i++) {
    int sent = rank == 0 ? i + 7 : -1;
    MPI_Bcast(&sent, 1, MPI_INT, 0, ring);
    wrong += sent != i + 7;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, both);
  if (rank == 0) printf(wrong == 0 ? "right\n" : "%d wrong\n", wrong);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return wrong != 0;
}
