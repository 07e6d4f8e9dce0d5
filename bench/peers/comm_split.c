// Splits of MPI_COMM_WORLD into 4 communicators, each freed again: SECONDS ITERATIONS BATCHES.
#include "bench.h"

static void split(void *with) {
  MPI_Comm *part = with;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 4, -rank, part);
  MPI_Comm_free(part);
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
  bench_end();
  return 0;
}
