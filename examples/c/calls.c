/* calls.c: microseconds of three collectives, of the process that takes longest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 20, CALLS = 50 };

static void print(const char *name, int bytes, double begin) {
  int rank;
  double us = (MPI_Wtime() - begin) / CALLS * 1e6, longest;
  MPI_Reduce(&us, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%-10s %8d B %10.1f us\n", name, bytes, longest);
}

int main(int argc, char **argv) {
  int ranks;
  double begin = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int bytes = 64; bytes <= 1 << 18; bytes *= 64) {
    double *mine = calloc((size_t)bytes, 1), *all = calloc((size_t)bytes * (size_t)ranks, 1);
    for (int call = 0; call < FIRST + CALLS; call++) {
      if (call == FIRST) MPI_Barrier(MPI_COMM_WORLD), begin = MPI_Wtime();
      MPI_Allreduce(mine, all, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    print("allreduce", bytes, begin);
    for (int call = 0; call < FIRST + CALLS; call++) {
      if (call == FIRST) MPI_Barrier(MPI_COMM_WORLD), begin = MPI_Wtime();
      MPI_Bcast(mine, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    print("bcast", bytes, begin);
    for (int call = 0; call < FIRST + CALLS; call++) {
      if (call == FIRST) MPI_Barrier(MPI_COMM_WORLD), begin = MPI_Wtime();
      MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
    print("allgather", bytes, begin);
    free(mine), free(all);
  }
  MPI_Finalize();
  return 0;
}
