/*
 * Makes one topology twice: as MPI does, and with reorder = 1. Rank v of the second has the neighbors and weights of rank v
 * of the first; in the same order where MPI says one. Prints the rank of the parent where each vertex is. Arguments: kind of
 * topology, seed.
 */
#include "cases.h"

enum { MOST_EDGES = 1024, WORDS = 4 * MOST_EDGES };

static int wrong, edges;
static int from[MOST_EDGES], to[MOST_EDGES], weight[MOST_EDGES];

static void expect(int is_right, const char *what) {
  if (is_right) return;
  if (wrong++ < 5) fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
}

static unsigned next(unsigned *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 8; }

/* With self loops, parallel edges, and vertices without sources. Shuffled, so that blocks of ranks are bad. */
static void draw_graph(unsigned seed) {
  edges = (int)(seed % 4) * 2 * ranks;
  for (int e = 0; e < edges; e++) {
    int near = (int)(next(&seed) % 5) - 2, source = (int)(next(&seed) % (unsigned)ranks);
    int destination = (source + near * 3 + 3 * ranks * 3) % ranks;
    from[e] = source;
    to[e] = destination % 5 == 4 ? source : destination;
    weight[e] = (int)(next(&seed) % 100);
  }
}

static MPI_Comm make_adjacent(MPI_Comm old, int is_weighted, int reorder) {
  int in = 0, out = 0, *list = malloc(sizeof(int) * 4 * MOST_EDGES), own;
  int *sources = list, *destinations = list + MOST_EDGES, *in_weights = list + 2 * MOST_EDGES, *out_weights = list + 3 * MOST_EDGES;
  MPI_Comm comm;
  MPI_Comm_rank(old, &own);
  for (int e = 0; e < edges; e++) {
    if (from[e] == own) out_weights[out] = weight[e], destinations[out++] = to[e];
    /* The last edge comes first. */
    int last = edges - 1 - e;
    if (to[last] == own) in_weights[in] = weight[last], sources[in++] = from[last];
  }
  MPI_Dist_graph_create_adjacent(
      old, in, sources, !is_weighted ? MPI_UNWEIGHTED : in == 0 ? MPI_WEIGHTS_EMPTY : in_weights, out, destinations,
      !is_weighted ? MPI_UNWEIGHTED : out == 0 ? MPI_WEIGHTS_EMPTY : out_weights, MPI_INFO_NULL, reorder, &comm);
  free(list);
  return comm;
}

/* Edges are given by ranks that have nothing to do with them, some of those of a source together. */
static MPI_Comm make_lists(MPI_Comm old, int is_weighted, int reorder) {
  int count = 0, given = 0, *list = malloc(sizeof(int) * 4 * MOST_EDGES), own;
  int *sources = list, *degrees = list + MOST_EDGES, *destinations = list + 2 * MOST_EDGES, *weights = list + 3 * MOST_EDGES;
  MPI_Comm comm;
  MPI_Comm_rank(old, &own);
  for (int e = 0; e < edges; e++) {
    if (e * 7 % 11 % ranks != own) continue;
    if (count > 0 && sources[count - 1] == from[e]) degrees[count - 1]++;
    else sources[count] = from[e], degrees[count++] = 1;
    weights[given] = weight[e];
    destinations[given++] = to[e];
  }
  MPI_Dist_graph_create(old, count, sources, degrees, destinations,
                        !is_weighted ? MPI_UNWEIGHTED : given == 0 ? MPI_WEIGHTS_EMPTY : weights, MPI_INFO_NULL, reorder, &comm);
  free(list);
  return comm;
}

/* The last rank is beyond the grid if there are more than four. */
static MPI_Comm make_grid(MPI_Comm old, unsigned seed, int reorder) {
  int extents[3] = {0}, periods[3] = {seed & 1, seed >> 1 & 1, 1}, dimensions = 1 + (int)(seed % 3);
  MPI_Comm comm;
  MPI_Dims_create(ranks > 4 ? ranks - 1 : ranks, dimensions, extents);
  MPI_Cart_create(old, dimensions, extents, periods, reorder, &comm);
  return comm;
}

static MPI_Comm make(MPI_Comm old, const char *kind, unsigned seed, int reorder) {
  if (strcmp(kind, "grid") == 0) return make_grid(old, seed, reorder);
  if (strcmp(kind, "lists") == 0) return make_lists(old, (int)(seed & 1), reorder);
  return make_adjacent(old, (int)(seed & 1), reorder);
}

static int compare_pairs(const void *left, const void *right) {
  const int *a = left, *b = right;
  return a[0] != b[0] ? a[0] - b[0] : a[1] - b[1];
}

/* Ranks with their weights, in ascending order. */
static void sort(int count, int *list, int *weights) {
  int pairs[MOST_EDGES][2];
  for (int i = 0; i < count; i++) pairs[i][0] = list[i], pairs[i][1] = weights[i];
  qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
  for (int i = 0; i < count; i++) list[i] = pairs[i][0], weights[i] = pairs[i][1];
}

/* Everything that MPI says of a rank's neighbors, in words. */
static void describe(MPI_Comm comm, int is_sorted, int *words) {
  int topology;
  memset(words, 0, sizeof(int) * WORDS);
  MPI_Topo_test(comm, &topology);
  words[0] = topology;
  if (topology == MPI_CART) {
    int own;
    MPI_Comm_rank(comm, &own);
    MPI_Cartdim_get(comm, &words[1]);
    MPI_Cart_get(comm, words[1], words + 2, words + 5, words + 8);
    for (int d = 0; d < words[1]; d++) MPI_Cart_shift(comm, d, 1, &words[11 + 2 * d], &words[12 + 2 * d]);
    MPI_Cart_rank(comm, words + 8, &words[20]);
    expect(words[20] == own, "the rank of the coordinates");
  } else {
    MPI_Dist_graph_neighbors_count(comm, &words[1], &words[2], &words[3]);
    int in = words[1], out = words[2], *at = words + 4;
    if (words[3]) MPI_Dist_graph_neighbors(comm, in, at, at + in, out, at + 2 * in, at + 2 * in + out);
    else MPI_Dist_graph_neighbors(comm, in, at, MPI_UNWEIGHTED, out, at + 2 * in, MPI_UNWEIGHTED);
    if (is_sorted) sort(in, at, at + in), sort(out, at + 2 * in, at + 2 * in + out);
  }
}

/* Rank v of the second is rank v of the first. `is_sorted`: MPI does not say in which order neighbors are. */
static void compare(MPI_Comm plain, MPI_Comm reordered, int is_sorted) {
  int own, count, *all, *words = malloc(sizeof(int) * WORDS);
  MPI_Comm_size(plain, &count);
  MPI_Comm_rank(reordered, &own);
  all = malloc(sizeof(int) * WORDS * (size_t)count);
  describe(plain, is_sorted, words);
  MPI_Allgather(words, WORDS, MPI_INT, all, WORDS, MPI_INT, plain);
  describe(reordered, is_sorted, words);
  expect(memcmp(words, all + (size_t)own * WORDS, sizeof(int) * WORDS) == 0, "a list of neighbors");
  free(all);
  free(words);
}

/* What a rank gets from its neighbors: their ranks in the topology. */
static void call(MPI_Comm comm) {
  int topology, in, out, weighted, own, *sources = malloc(sizeof(int) * MOST_EDGES), *got = malloc(sizeof(int) * MOST_EDGES);
  MPI_Topo_test(comm, &topology);
  MPI_Comm_rank(comm, &own);
  if (topology == MPI_DIST_GRAPH) {
    int *others = malloc(sizeof(int) * 3 * MOST_EDGES);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(comm, in, sources, weighted ? others + MOST_EDGES : MPI_UNWEIGHTED, out, others,
                             weighted ? others + 2 * MOST_EDGES : MPI_UNWEIGHTED);
    free(others);
  } else {
    MPI_Cartdim_get(comm, &in);
    for (int d = 0; d < in; d++) MPI_Cart_shift(comm, d, 1, &sources[2 * d], &sources[2 * d + 1]);
    in *= 2;
  }
  for (int calls = 0; calls < 3; calls++) {
    for (int i = 0; i < in; i++) got[i] = MPI_PROC_NULL;
    MPI_Neighbor_allgather(&own, 1, MPI_INT, got, 1, MPI_INT, comm);
    expect(memcmp(got, sources, sizeof(int) * (size_t)in) == 0, "the data of a neighbor allgather");
  }
  free(sources);
  free(got);
}

int reorder(int words, char **word) {
  if (words != 3) return 1;
  unsigned seed = (unsigned)atoi(word[2]);
  const char *kind = word[1];
  wrong = 0;
  MPI_Comm old = MPI_COMM_WORLD;
  MPI_Errhandler handler;
  if (strcmp(kind, "child") == 0) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &old);
  else MPI_Comm_dup(MPI_COMM_WORLD, &old);
  MPI_Comm_set_errhandler(old, MPI_ERRORS_RETURN);
  draw_graph(seed);
  MPI_Comm plain = make(old, kind, seed, 0), reordered = make(old, kind, seed, 1);
  expect((plain == MPI_COMM_NULL) == (reordered == MPI_COMM_NULL), "who is in the grid");
  int own, *place = malloc(sizeof(int) * (size_t)ranks), count = 0;
  MPI_Comm_rank(old, &own);
  if (reordered != MPI_COMM_NULL) {
    MPI_Errhandler given;
    MPI_Comm_get_errhandler(plain, &given);
    MPI_Comm_get_errhandler(reordered, &handler);
    expect(handler == given, "the error handler");
    MPI_Errhandler_free(&given);
    MPI_Errhandler_free(&handler);
    compare(plain, reordered, strcmp(kind, "lists") == 0);
    call(plain);
    call(reordered);
    MPI_Comm_size(reordered, &count);
    MPI_Allgather(&own, 1, MPI_INT, place, 1, MPI_INT, reordered);
    MPI_Comm_free(&plain);
    MPI_Comm_free(&reordered);
  }
  /* The parent's first rank may be any process. */
  PMPI_Bcast(&count, 1, MPI_INT, 0, old);
  PMPI_Bcast(place, count, MPI_INT, 0, old);
  for (int v = 0; rank == 0 && v < count; v++) printf("%d%c", place[v], v + 1 < count ? ' ' : '\n');
  free(place);
  MPI_Comm_free(&old);
  return wrong;
}
