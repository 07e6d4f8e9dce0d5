// Collectives over all processes: SECONDS KEY:KIND:ITERATIONS:BATCHES[:GRAPH FILE] ...; barrier, allreduce,
// neighbor.
#include "graph.h"

static void barrier(void *with) {
  (void)with;
  MPI_Barrier(MPI_COMM_WORLD);
}

struct sum {
  double mine, all;
};

static void allreduce(void *with) {
  struct sum *sum = with;
  MPI_Allreduce(&sum->mine, &sum->all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

struct blocks {
  MPI_Comm comm;
  int mine, *theirs;
};

static void neighbor(void *with) {
  struct blocks *b = with;
  MPI_Neighbor_allgather(&b->mine, 1, MPI_INT, b->theirs, 1, MPI_INT, b->comm);
}

static double measure_allreduce(int iterations, int batches) {
  struct sum sum = {0, 0};
  for (int i = 0; i < 3; i++) {
    sum.mine = rank + i;
    allreduce(&sum);
    expect(sum.all == size * (size - 1) / 2.0 + (double)i * size, "allreduce");
  }
  return timed(allreduce, &sum, iterations, batches);
}

static double measure_neighbor(const char *path, int iterations, int batches) {
  const struct graph graph = read_graph(path);
  expect(graph.ranks == size, "ranks of the graph");
  const struct vertex *v = &graph.vertices[rank];
  struct blocks b = {MPI_COMM_NULL, 0, bytes_of((size_t)v->in * sizeof(int))};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, v->in, v->sources, MPI_UNWEIGHTED, v->out, v->destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &b.comm);
  for (int i = 0; i < 3; i++) {
    b.mine = rank * 1000 + i;
    neighbor(&b);
    for (int s = 0; s < v->in; s++) expect(b.theirs[s] == v->sources[s] * 1000 + i, "neighbor allgather");
  }
  const double result = timed(neighbor, &b, iterations, batches);
  MPI_Comm_free(&b.comm);
  return result;
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  for (int a = 2; a < argc; a++) {
    char key[64], kind[16], path[1024] = "";
    int iterations, batches;
    if (sscanf(argv[a], "%63[^:]:%15[^:]:%d:%d:%1023s", key, kind, &iterations, &batches, path) < 4)
      MPI_Abort(MPI_COMM_WORLD, 2);
    double result = 0;
    if (strcmp(kind, "barrier") == 0) {
      for (int i = 0; i < 3; i++) barrier(NULL);
      result = timed(barrier, NULL, iterations, batches);
    } else if (strcmp(kind, "allreduce") == 0) result = measure_allreduce(iterations, batches);
    else if (strcmp(kind, "neighbor") == 0) result = measure_neighbor(path, iterations, batches);
    else MPI_Abort(MPI_COMM_WORLD, 2);
    print_figure(key, result);
  }
  bench_end();
  return 0;
}
