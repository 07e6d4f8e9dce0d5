/* queues.c: every other process sends rank 0 many messages; rank 0 takes the newest first, or the oldest. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGES = 4000, ROUNDS = 3 };

int main(int argc, char **argv) {
  int rank, ranks, value = 0, takes_oldest = argc > 1 && strcmp(argv[1], "oldest") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double begin = 0;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; rank > 0 && i < MESSAGES; i++) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    begin -= MPI_Wtime();
    for (int source = 1; rank == 0 && source < ranks; source++)
      for (int i = 0; i < MESSAGES; i++)
        MPI_Recv(&value, 1, MPI_INT, source, takes_oldest ? i : MESSAGES - 1 - i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin += MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%.3f us per receive\n", begin / ROUNDS / MESSAGES / (ranks - 1) * 1e6);
  MPI_Finalize();
  return 0;
}
