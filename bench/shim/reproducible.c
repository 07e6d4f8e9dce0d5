/*
 * What a reproducible allreduce costs: calls through the preloaded library, and MPI's own, which PMPI_ reaches past
 * it, in turns. The first process prints a table of medians in microseconds.
 *
 *   mpicc -O2 -o reproducible bench/shim/reproducible.c
 *   mpirun -n 8 -x LD_PRELOAD=librankweave_shim.so -x RANKWEAVE_SHIM=reproducible ./reproducible
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 15, MOST = 1 << 20, CALL_BYTES = 1 << 18 };

static double *from, *to;

/* The mean time of a call, of the slowest process, in microseconds. */
static double turn(int is_own, int count, int calls) {
  double longest;
  PMPI_Barrier(MPI_COMM_WORLD);
  double begin = PMPI_Wtime();
  for (int i = 0; i < calls; i++) {
    if (is_own) MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else PMPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  double took = (PMPI_Wtime() - begin) * 1e6 / calls;
  PMPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values) {
  qsort(values, TURNS, sizeof *values, compare);
  return values[TURNS / 2];
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  from = malloc(MOST);
  to = malloc(MOST);
  for (size_t i = 0; i < MOST / sizeof *from; i++) from[i] = rank + 1 / (i + 1.0);
  if (rank == 0) printf("| bytes | MPI, us | reproducible, us | ratio |\n|---|---|---|---|\n");
  for (int bytes = 8; bytes <= MOST; bytes *= 8) {
    double own[TURNS], plain[TURNS], ratio[TURNS];
    int count = bytes / (int)sizeof *from, calls = CALL_BYTES / bytes;
    if (calls > 20) calls = 20;
    if (calls < 1) calls = 1;
    for (int t = -1; t < TURNS; t++) {
      double mine = turn(1, count, calls), theirs = turn(0, count, calls);
      if (t < 0) continue;
      own[t] = mine;
      plain[t] = theirs;
      ratio[t] = mine / theirs;
    }
    double us = median(plain), own_us = median(own);
    if (rank == 0) printf("| %d | %.1f | %.1f | %.2f |\n", bytes, us, own_us, median(ratio));
    fflush(stdout);
  }
  MPI_Finalize();
}
