// Programs that make few calls, and programs whose blocks grow and shrink: SECONDS WORD ..., a word being
// short:CALLS:ROUNDS:GRAPH FILE (create, CALLS calls, free; us of a round) or
// swept:CALLS:GRAPH FILE (blocks of 1 B to 1 MiB and back on one communicator; us of a call, per size).
#include "graph.h"

enum { SIZES = 21 };

static MPI_Comm create(const struct vertex *v) {
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, v->in, v->sources, MPI_UNWEIGHTED, v->out, v->destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  return comm;
}

static void measure_short(const struct vertex *v, int calls, int rounds) {
  int mine, *theirs = bytes_of((size_t)v->in * sizeof *theirs);
  double *samples = bytes_of((size_t)rounds * sizeof *samples);
  char key[32];
  for (int round = 0; round < rounds; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Comm comm = create(v);
    for (int call = 0; call < calls; call++) {
      mine = rank * 1000 + call;
      MPI_Neighbor_allgather(&mine, 1, MPI_INT, theirs, 1, MPI_INT, comm);
    }
    MPI_Comm_free(&comm);
    samples[round] = (MPI_Wtime() - begin) * 1e6;
    for (int s = 0; s < v->in; s++) expect(theirs[s] == v->sources[s] * 1000 + calls - 1, "neighbor allgather");
  }
  snprintf(key, sizeof key, "k%d", calls);
  print_figure(key, median(samples, rounds));
}

// Fewer calls of long blocks.
static int calls_of(int calls, int size) { return size < 12 ? calls : calls >> ((size - 10) / 2); }

static void measure_swept(const struct vertex *v, int calls) {
  char *mine = bytes_of((size_t)1 << (SIZES - 1)), *theirs = bytes_of(((size_t)1 << (SIZES - 1)) * (size_t)v->in);
  double us[SIZES] = {0};
  char key[32];
  MPI_Comm comm = create(v);
  for (int step = 0; step < 2 * SIZES; step++) {
    const int power = step < SIZES ? step : 2 * SIZES - 1 - step, count = calls_of(calls, power), bytes = 1 << power;
    memset(mine, rank + step, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int call = 0; call < count; call++)
      MPI_Neighbor_allgather(mine, bytes, MPI_BYTE, theirs, bytes, MPI_BYTE, comm);
    us[power] += (MPI_Wtime() - begin) / count * 1e6 / 2;
    for (int s = 0; s < v->in; s++)
      expect(theirs[(size_t)(s + 1) * (size_t)bytes - 1] == (char)(v->sources[s] + step), "swept neighbor allgather");
  }
  MPI_Comm_free(&comm);
  for (int size = 0; size < SIZES; size++) {
    snprintf(key, sizeof key, "b%d", 1 << size);
    print_figure(key, us[size]);
  }
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  for (int a = 2; a < argc; a++) {
    char path[1024];
    int calls, rounds;
    const int is_short = sscanf(argv[a], "short:%d:%d:%1023s", &calls, &rounds, path) == 3;
    if (!is_short && sscanf(argv[a], "swept:%d:%1023s", &calls, path) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    const struct graph graph = read_graph(path);
    expect(graph.ranks == size, "ranks of the graph");
    if (is_short) measure_short(&graph.vertices[rank], calls, rounds);
    else measure_swept(&graph.vertices[rank], calls);
  }
  bench_end();
  return 0;
}
