/* A program without a world: a session, and a communicator with a topology in it. Prints that all is right. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm all, ring;
  int rank, ranks, wrong = 0, from_both[2];
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "ring", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &ranks);
  int both[] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
  MPI_Dist_graph_create_adjacent(all, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  for (int call = 0; call < 80; call++) {
    int own = rank * 100 + call;
    MPI_Neighbor_allgather(&own, 1, MPI_INT, from_both, 1, MPI_INT, ring);
    for (int i = 0; i < 2; i++) wrong += from_both[i] != both[i] * 100 + call;
  }
  if (wrong > 0) printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Barrier(all);
  if (rank == 0) puts("right");
  MPI_Comm_free(&ring);
  MPI_Comm_free(&all);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
#else
  puts("right");
#endif
  return 0;
}
