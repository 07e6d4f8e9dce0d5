// MPI_Ineighbor_allgather and MPI_Wait: SECONDS KEY:BYTES:ITERATIONS:BATCHES:GRAPH FILE ...
#include "graph.h"

// Calls before those that are timed: a library may spend some on measuring.
enum { FIRST = 40 };

struct blocks {
  MPI_Comm comm;
  int bytes;
  char *mine, *theirs;
};

static void started(void *with) {
  struct blocks *b = with;
  MPI_Request request;
  MPI_Ineighbor_allgather(b->mine, b->bytes, MPI_CHAR, b->theirs, b->bytes, MPI_CHAR, b->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static char byte_of(int source, int i, int call) { return (char)(source * 31 + i * 7 + call); }

static void verify(struct blocks *b, const struct vertex *v) {
  for (int call = 0; call < FIRST; call++) {
    for (int i = 0; i < b->bytes; i++) b->mine[i] = byte_of(rank, i, call);
    started(b);
    for (int s = 0; s < v->in; s++)
      for (int i = 0; i < b->bytes; i++)
        expect(b->theirs[s * b->bytes + i] == byte_of(v->sources[s], i, call), "started neighbor allgather");
  }
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  for (int a = 2; a < argc; a++) {
    char key[64], path[1024] = "";
    struct blocks b;
    int iterations, batches;
    if (sscanf(argv[a], "%63[^:]:%d:%d:%d:%1023s", key, &b.bytes, &iterations, &batches, path) != 5)
      MPI_Abort(MPI_COMM_WORLD, 2);
    const struct graph graph = read_graph(path);
    expect(graph.ranks == size, "ranks of the graph");
    const struct vertex *v = &graph.vertices[rank];
    b.mine = bytes_of((size_t)b.bytes);
    b.theirs = bytes_of((size_t)b.bytes * (size_t)v->in);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, v->in, v->sources, MPI_UNWEIGHTED, v->out, v->destinations,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &b.comm);
    verify(&b, v);
    // A rank without neighbors does not wait for anything: the slowest one counts.
    double own = timed(started, &b, iterations, batches), slowest;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    print_figure(key, slowest);
    MPI_Comm_free(&b.comm);
    free(b.mine);
    free(b.theirs);
  }
  bench_end();
  return 0;
}
