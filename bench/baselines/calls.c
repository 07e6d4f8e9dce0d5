// Collective calls by bytes, checked once each: SECONDS BYTES.. A call of reductions has that vector, the others that block.
#include "bench.h"

enum { batches = 11 };
static const double batch_seconds = 5e-3;

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

// As many calls as the slowest process takes for a batch.
static int iterations_of(void (*operation)(void *)) {
  double seconds = 0;
  for (int i = 0; i < 3; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    operation(NULL);
    seconds = MPI_Wtime() - begin;
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double wanted = batch_seconds / seconds;
  return wanted < 1 ? 1 : wanted > 1000 ? 1000 : (int)wanted;
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  for (int arg = 2; arg < argc; arg++) {
    count = atoi(argv[arg]) / (int)sizeof(double);
    mine = bytes_of((size_t)count * sizeof(double) * (size_t)size);
    into = bytes_of((size_t)count * sizeof(double) * (size_t)size);
    for (int call = 0; call < CALLS; call++) {
      check(call);
      double slowest = timed(calls[call].operation, NULL, iterations_of(calls[call].operation), batches);
      MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      char key[64];
      snprintf(key, sizeof key, "%s %s", calls[call].name, argv[arg]);
      print_figure(key, slowest);
    }
    free(mine), free(into);
  }
  bench_end();
  return 0;
}
