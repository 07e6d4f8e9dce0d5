// Percent of one core that processes use while all but the first wait in a receive: SECONDS WAIT_MILLISECONDS
#include <sys/resource.h>

#include "bench.h"

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  const int wait_ms = argc > 2 ? atoi(argv[2]) : 1000;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  double used = -cpu_seconds(), all = 0;
  int word = 0;
  if (rank == 0) {
    usleep((useconds_t)wait_ms * 1000);
    used += cpu_seconds();
    word = 7;
    for (int r = 1; r < size; r++) MPI_Send(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    used += cpu_seconds();
    expect(word == 7, "idle");
  }
  const double seconds = MPI_Wtime() - begin;
  MPI_Reduce(&used, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  print_figure("idle", all / seconds * 100);
  bench_end();
  return 0;
}
