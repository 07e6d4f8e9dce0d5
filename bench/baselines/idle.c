// All processes but the first wait in a receive; the first, which sleeps, wakes them one after the other:
// SECONDS WAIT_MILLISECONDS. idle: percent of one core used by all of them; idleWorst: the maximum over them;
// firstMs: the longest latency of the first message after the pause.
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// The same for all processes of a machine.
static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  const int wait_ms = argc > 2 ? atoi(argv[2]) : 1000;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ms(), used = cpu_seconds();
  double mine[2] = {0, 0}, worst[2], all, sent = 0;
  if (rank == 0) usleep((useconds_t)wait_ms * 1000);
  else {
    MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine[1] = now_ms() - sent;
  }
  mine[0] = (cpu_seconds() - used) * 1e3 / (now_ms() - begin) * 100;
  for (int r = 1; rank == 0 && r < size; r++) {
    sent = now_ms();
    MPI_Send(&sent, 1, MPI_DOUBLE, r, 0, MPI_COMM_WORLD);
  }
  MPI_Reduce(&mine[0], &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(mine, worst, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  expect(rank > 0 || (worst[1] >= 0 && worst[1] < wait_ms), "idle");
  print_figure("idle", all);
  print_figure("idleWorst", worst[0]);
  print_figure("firstMs", worst[1]);
  bench_end();
  return 0;
}
