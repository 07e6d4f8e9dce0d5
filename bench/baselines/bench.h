// Shared by the baselines: batches of timed operations, their median, and one JSON object as output.
#ifndef RANKWEAVE_BENCH_H
#define RANKWEAVE_BENCH_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

// Argument 1 is the time limit in seconds: no run exceeds it, even if its launcher was killed.
static void bench_begin(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  if (*argc < 2) {
    fprintf(stderr, "usage: %s SECONDS ...\n", (*argv)[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  alarm((unsigned)atoi((*argv)[1]));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static __attribute__((unused)) void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "rank %d of %d: wrong result: %s\n", rank, size, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void *bytes_of(size_t count) {
  void *memory = malloc(count > 0 ? count : 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 4);
  memset(memory, 0, count);
  return memory;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, by_value);
  return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

static int printed = 0;

static __attribute__((unused)) void print_figure(const char *key, double value) {
  if (rank != 0) return;
  printf("%s\"%s\":%.6g", printed++ ? "," : "{", key, value);
}

static void bench_end(void) {
  if (rank == 0) printf("%s}\n", printed ? "" : "{");
  MPI_Finalize();
}

// Median microseconds of one call, over batches of calls that begin together.
static __attribute__((unused)) double timed(void (*operation)(void *), void *with, int iterations, int batches) {
  double *samples = bytes_of((size_t)batches * sizeof *samples);
  for (int b = 0; b < batches; b++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < iterations; i++) operation(with);
    samples[b] = (MPI_Wtime() - begin) / iterations * 1e6;
  }
  const double result = median(samples, batches);
  free(samples);
  return result;
}

#endif
