// Collective calls by bytes, checked once each: SECONDS BYTES.. A call of reductions has that vector, the others that block.
// Each is timed one after another, and by itself as `rankweave measure` does.
#include "bench.h"

enum { batches = 11, few_batches = 3, most_isolated = 256, least_isolated = 5 };
static const double batch_seconds = 5e-3, isolated_seconds = 0.1;

static double *mine, *into;
static int count;

static void call_allreduce(void *with) {
  (void)with;
  MPI_Allreduce(mine, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void call_bcast(void *with) {
  (void)with;
  MPI_Bcast(rank == 0 ? mine : into, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void call_allgather(void *with) {
  (void)with;
  MPI_Allgather(mine, count, MPI_DOUBLE, into, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void call_alltoall(void *with) {
  (void)with;
  MPI_Alltoall(mine, count, MPI_DOUBLE, into, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

enum { ALLREDUCE, BCAST, ALLGATHER, ALLTOALL, CALLS };

static const struct {
  const char *name;
  void (*operation)(void *);
  int per_rank; // whether the result has a block of each rank
} calls[CALLS] = {
    [ALLREDUCE] = {"allreduce", call_allreduce, 0},
    [BCAST] = {"bcast", call_bcast, 0},
    [ALLGATHER] = {"allgather", call_allgather, 1},
    [ALLTOALL] = {"alltoall", call_alltoall, 1},
};

static void check(int call) {
  for (size_t e = 0; e < (size_t)count * (size_t)size; e++) mine[e] = rank + 1, into[e] = 0;
  calls[call].operation(NULL);
  if (call == BCAST && rank == 0) return;
  const int blocks = calls[call].per_rank ? size : 1;
  for (int b = 0; b < blocks; b++) {
    const double expected = call == ALLREDUCE ? size * (size + 1) / 2.0 : b + 1;
    const double *block = into + (size_t)b * (size_t)count;
    expect(block[0] == expected && block[count - 1] == expected, calls[call].name);
  }
}

// Of the slowest process.
static double seconds_of(void (*operation)(void *)) {
  double seconds = 0;
  for (int i = 0; i < 3; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    operation(NULL);
    seconds = MPI_Wtime() - begin;
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

static int between(double least, double wanted, double most) { return (int)(wanted < least ? least : wanted > most ? most : wanted); }

static void dissemination(void) {
  for (int distance = 1; distance < size; distance *= 2) {
    const int to = (rank + distance) % size, from = (rank - distance + size) % size;
    MPI_Sendrecv(NULL, 0, MPI_BYTE, to, 1, NULL, 0, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Median microseconds of a call by itself: all enter together, a barrier follows, and the process that takes longest counts, less the
// median of the barrier alone, above what that is uncertain by.
static double isolated(void (*operation)(void *), int repetitions) {
  double *own = bytes_of(4 * (size_t)repetitions * sizeof *own), *with = own + 2 * repetitions, *barrier = with + repetitions;
  dissemination();
  for (int i = 0; i < repetitions; i++) {
    const double before = MPI_Wtime();
    dissemination();
    const double entered = MPI_Wtime();
    operation(NULL);
    dissemination();
    own[i] = (MPI_Wtime() - entered) * 1e6;
    own[repetitions + i] = (entered - before) * 1e6;
  }
  MPI_Allreduce(own, with, 2 * repetitions, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double barrier_us = median(barrier, repetitions), call_us = median(with, repetitions) - barrier_us;
  // 1.96 deviations of a binomial from the middle: where the median lies with 95% confidence.
  int below = 1;
  for (double left = repetitions - 4; left >= 0 && left * left >= 3.84 * repetitions; left -= 2) below++;
  const double uncertain = (barrier[repetitions - below] - barrier[below - 1]) / 2;
  free(own);
  return call_us > uncertain ? call_us : uncertain > 1e-3 ? uncertain : 1e-3;
}

static void print_slowest(const char *name, const char *bytes, const char *how, double us) {
  double slowest;
  MPI_Allreduce(&us, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  char key[64];
  snprintf(key, sizeof key, "%s %s%s", name, bytes, how);
  print_figure(key, slowest);
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  for (int arg = 2; arg < argc; arg++) {
    count = atoi(argv[arg]) / (int)sizeof(double);
    mine = bytes_of((size_t)count * sizeof(double) * (size_t)size);
    into = bytes_of((size_t)count * sizeof(double) * (size_t)size);
    for (int call = 0; call < CALLS; call++) {
      void (*const operation)(void *) = calls[call].operation;
      check(call);
      const double once = seconds_of(operation);
      const int iterations = between(1, batch_seconds / once, 1000);
      const int repetitions = between(least_isolated, isolated_seconds / once, most_isolated);
      print_slowest(calls[call].name, argv[arg], "", timed(operation, NULL, iterations, once > 10 * batch_seconds ? few_batches : batches));
      print_slowest(calls[call].name, argv[arg], " isolated", isolated(operation, repetitions));
    }
    free(mine), free(into);
  }
  bench_end();
  return 0;
}
