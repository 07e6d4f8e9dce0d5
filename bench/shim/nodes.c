/*
 * Neighbor allgathers of 6 graphs and 3 lengths of blocks. The first rank prints a line per case: the graph, the
 * bytes of a block, and the time of a call in us after the first calls. Ends with an error if data are wrong.
 * Arguments: how many first calls are not measured, and how many are.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, LONG = 1 << 16 };

typedef struct {
  const char *name;
  double density; /* of a random graph; 0 for another */
  int radius;     /* of a Moore neighborhood; 0 for another */
  int ring;       /* neighbors on each side */
} graph;

static const graph graphs[] = {{"random d=0.05", 0.05, 0, 0}, {"random d=0.2", 0.2, 0, 0}, {"random d=0.5", 0.5, 0, 0},
                               {"Moore 2-D r=1", 0, 1, 0},    {"Moore 2-D r=2", 0, 2, 0}, {"ring, 4 on each side", 0, 0, 4}};
static const int lengths[] = {8, 1024, LONG};

static int rank, ranks, first_calls, calls;

static int distance(int a, int b, int around) {
  int d = abs(a - b);
  return d < around - d ? d : around - d;
}

static double draw(int from, int to) {
  unsigned x = (unsigned)from * 7919u + (unsigned)to * 104729u + 1;
  for (int i = 0; i < 3; i++) x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return x / 4294967296.0;
}

static int is_edge(const graph *g, int from, int to) {
  if (from == to) return 0;
  if (g->density > 0) return draw(from, to) < g->density;
  if (g->ring > 0) return distance(from, to, ranks) <= g->ring;
  return distance(from / COLUMNS, to / COLUMNS, ranks / COLUMNS) <= g->radius &&
         distance(from % COLUMNS, to % COLUMNS, COLUMNS) <= g->radius;
}

static void measure(const graph *g, int bytes, int *in, int *out) {
  int in_count = 0, out_count = 0;
  MPI_Comm comm;
  for (int peer = 0; peer < ranks; peer++) {
    if (is_edge(g, peer, rank)) in[in_count++] = peer;
    if (is_edge(g, rank, peer)) out[out_count++] = peer;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_count, in, MPI_UNWEIGHTED, out_count, out, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  char *sent = malloc((size_t)bytes), *received = malloc((size_t)bytes * (size_t)(in_count + 1));
  double begin = 0;
  for (int call = 0; call < first_calls + calls; call++) {
    if (call == first_calls) {
      MPI_Barrier(comm);
      begin = MPI_Wtime();
    }
    memset(sent, rank + call, (size_t)bytes);
    MPI_Neighbor_allgather(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, comm);
    for (int i = 0; i < in_count; i++)
      if (received[(size_t)bytes * (size_t)i] != (char)(in[i] + call) ||
          received[(size_t)bytes * (size_t)(i + 1) - 1] != (char)(in[i] + call))
        MPI_Abort(MPI_COMM_WORLD, 3);
  }
  double own = (MPI_Wtime() - begin) / calls * 1e6, longest;
  MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
  if (rank == 0) printf("%s\t%d\t%.1f\n", g->name, bytes, longest), fflush(stdout);
  free(sent);
  free(received);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  first_calls = atoi(argv[1]);
  calls = atoi(argv[2]);
  int *in = malloc(sizeof(int) * (size_t)ranks), *out = malloc(sizeof(int) * (size_t)ranks);
  for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++)
    for (size_t b = 0; b < sizeof lengths / sizeof *lengths; b++) measure(&graphs[g], lengths[b], in, out);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
