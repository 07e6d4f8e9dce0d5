/*
 * Communicators with and without `rankweave=off` in their info, with 10 allgathers each. Ends with an error
 * unless all data are right.
 */
#include "cases.h"

static int wrong;

static void call(MPI_Comm ring) {
  for (int i = 0; i < 10; i++) {
    int received[2] = {-1, -1};
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, received, 1, MPI_INT, ring);
    wrong += received[0] != (rank + ranks - 1) % ranks || received[1] != (rank + 1) % ranks;
  }
}

int off(int words, char **word) {
  (void)words, (void)word;
  MPI_Comm without, copy, on;
  MPI_Info info;
  int neighbors[2];
  wrong = 0;
  neighbors[0] = (rank + ranks - 1) % ranks;
  neighbors[1] = (rank + 1) % ranks;
  MPI_Info_create(&info);
  MPI_Info_set(info, "rankweave", "off");
  /* Communicator 0 is off, 1 is its copy, 2 is on for 10 calls, off for 10 and on again. */
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbors, MPI_UNWEIGHTED, 2, neighbors, MPI_UNWEIGHTED, info, 0,
                                 &without);
  MPI_Comm_dup(without, &copy);
  MPI_Comm_dup_with_info(without, MPI_INFO_NULL, &on);
  call(without);
  call(copy);
  call(on);
  MPI_Comm_set_info(on, info);
  call(on);
  MPI_Info_set(info, "rankweave", "on");
  MPI_Comm_set_info(on, info);
  call(on);
  MPI_Info_free(&info);
  MPI_Comm_free(&on);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&without);
  return wrong;
}
