// Splits of MPI_COMM_WORLD into 4 communicators, each freed again, then KEPT of them are retained to measure
// their memory: SECONDS ITERATIONS BATCHES [KEPT].
#include <malloc.h>

#include "bench.h"

static void split(void *with) {
  MPI_Comm *part = with;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 4, -rank, part);
  MPI_Comm_free(part);
}

static double bytes_in_use(void) {
  const struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

// Bytes of the heap per communicator, on the process with the most.
static double bytes_each(int count) {
  MPI_Comm *kept = bytes_of((size_t)count * sizeof *kept);
  const double before = bytes_in_use();
  for (int i = 0; i < count; i++) MPI_Comm_split(MPI_COMM_WORLD, rank % 4, -rank, &kept[i]);
  double each = (bytes_in_use() - before) / count, most;
  MPI_Allreduce(&each, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) MPI_Comm_free(&kept[i]);
  free(kept);
  return most;
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 4, -rank, &part);
  int part_rank, part_size;
  MPI_Comm_rank(part, &part_rank);
  MPI_Comm_size(part, &part_size);
  expect(part_size == (size - rank % 4 + 3) / 4, "size");
  expect(part_rank == part_size - 1 - rank / 4, "rank");
  MPI_Comm_free(&part);
  print_figure("split", timed(split, &part, atoi(argv[2]), atoi(argv[3])));
  if (argc > 4) print_figure("bytes", bytes_each(atoi(argv[4])));
  bench_end();
  return 0;
}
