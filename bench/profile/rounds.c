/*
 * Rounds of messages of 8 bytes: a process to itself in three calls, two processes to each other in two. It prints the
 * median time of a call in nanoseconds, as JSON. Arguments: rounds and messages of a round.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

static char out[8], in[8];
static int rank, ranks;

static void to_itself(void) {
  MPI_Request request;
  MPI_Irecv(in, 8, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 8, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void to_each_other(void) {
  if (rank == 0) MPI_Send(out, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(in, 8, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int rounds = argc > 1 ? atoi(argv[1]) : 1000, messages = argc > 2 ? atoi(argv[2]) : 1000;
  double *times = malloc((size_t)rounds * sizeof *times);
  for (int r = 0; r < rounds; r++) {
    double began = now();
    for (int m = 0; m < messages; m++) {
      if (ranks == 1) to_itself();
      else to_each_other();
    }
    times[r] = (now() - began) / messages / (ranks == 1 ? 3 : 2);
  }
  qsort(times, (size_t)rounds, sizeof *times, compare);
  if (rank == 0) printf("{\"ns\":%.2f}\n", times[rounds / 2]);
  free(times);
  MPI_Finalize();
  return 0;
}
