// One large array per operation between processes, from a barrier until every process has its data: SECONDS
// SIZE REPEATS.
#include "bench.h"

static double *mine, *into, *all;
static int count;

static void send_one(void) {
  if (rank == 0) MPI_Send(mine, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  else if (rank == 1) MPI_Recv(into, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void bcast(void) { MPI_Bcast(rank == 0 ? mine : into, count, MPI_DOUBLE, 0, MPI_COMM_WORLD); }

static void allgather(void) { MPI_Allgather(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD); }

static void allreduce(void) { MPI_Allreduce(mine, into, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); }

static void allreduce_sum(void) { MPI_Allreduce(mine, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void measure(const char *name, void (*operation)(void), const double *got, int others, int repeats) {
  double *samples = bytes_of((size_t)repeats * sizeof *samples);
  for (int i = 0; i < repeats; i++) {
    for (int e = 0; e < count; e++) mine[e] = rank == 0 ? i + 2 : 1, into[e] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    operation();
    MPI_Barrier(MPI_COMM_WORLD);
    samples[i] = (MPI_Wtime() - begin) * 1e6;
    const double expected = i + 2 + others;
    if (got != NULL) expect(got[0] == expected && got[count / 2] == expected && got[count - 1] == expected, name);
  }
  print_figure(name, median(samples, repeats));
  free(samples);
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  count = atoi(argv[2]) / (int)sizeof(double);
  const int repeats = atoi(argv[3]);
  const size_t bytes = (size_t)count * sizeof(double);
  mine = bytes_of(bytes), into = bytes_of(bytes), all = bytes_of(bytes * (size_t)size);
  measure("send", send_one, rank == 1 ? into : NULL, 0, repeats);
  measure("bcast", bcast, rank == 0 ? NULL : into, 0, repeats);
  measure("allgather", allgather, all, 0, repeats);
  measure("allreduce", allreduce, into, 0, repeats);
  measure("allreduceSum", allreduce_sum, into, size - 1, repeats);
  bench_end();
  return 0;
}
