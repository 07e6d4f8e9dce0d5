/*
 * Communicators with and without `rankweave=off` in their info, with 10 allgathers each. Ends with an error
 * unless all data are right.
 */
#include <mpi.h>
#include <stdio.h>

static int rank, ranks, wrong;

static void call(MPI_Comm ring) {
  for (int i = 0; i < 10; i++) {
    int received[2] = {-1, -1};
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, received, 1, MPI_INT, ring);
    wrong += received[0] != (rank + ranks - 1) % ranks || received[1] != (rank + 1) % ranks;
  }
}

int main(int argc, char **argv) {
  MPI_Comm off, copy, on;
  MPI_Info info;
  int neighbors[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  neighbors[0] = (rank + ranks - 1) % ranks;
  neighbors[1] = (rank + 1) % ranks;
  MPI_Info_create(&info);
  MPI_Info_set(info, "rankweave", "off");
  /* Communicator 0 is off, 1 is its copy, 2 is on for 10 calls, off for 10 and on again. */
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbors, MPI_UNWEIGHTED, 2, neighbors, MPI_UNWEIGHTED, info, 0,
                                 &off);
  MPI_Comm_dup(off, &copy);
  MPI_Comm_dup_with_info(off, MPI_INFO_NULL, &on);
  call(off);
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
  MPI_Comm_free(&off);
  if (rank == 0) printf("%s: %d wrong calls\n", wrong == 0 ? "right" : "wrong", wrong);
  MPI_Finalize();
  return wrong != 0;
}
