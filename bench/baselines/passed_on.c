// What a preloaded library adds to calls that it leaves to MPI: SECONDS CALLS BATCHES. One process, whose
// neighborhood is empty.
#include "bench.h"

static MPI_Comm comm;

static void by_name(void *with) {
  int *blocks = with;
  MPI_Neighbor_allgather(&blocks[0], 1, MPI_INT, &blocks[1], 1, MPI_INT, comm);
}

// Never intercepted.
static void by_profiling_name(void *with) {
  int *blocks = with;
  PMPI_Neighbor_allgather(&blocks[0], 1, MPI_INT, &blocks[1], 1, MPI_INT, comm);
}

int main(int argc, char **argv) {
  int blocks[2] = {0, 0};
  bench_begin(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int calls = atoi(argv[2]), batches = atoi(argv[3]);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  double *more = bytes_of((size_t)batches * sizeof *more), *all = bytes_of((size_t)batches * sizeof *all);
  timed(by_name, blocks, calls, 1);
  for (int b = 0; b < batches; b++) {
    all[b] = timed(by_name, blocks, calls, 1);
    more[b] = all[b] - timed(by_profiling_name, blocks, calls, 1);
  }
  print_figure("all", median(all, batches));
  print_figure("more", median(more, batches));
  MPI_Comm_free(&comm);
  bench_end();
  return 0;
}
