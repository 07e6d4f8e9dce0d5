/*
 * Runs every blocking neighborhood collective on a communicator and compares each element with what MPI
 * demands; alltoalls with what the library does, since libraries differ where edges are parallel. Arguments:
 * seed, degree, calls. The graph follows from the seed on every rank: uneven degrees, parallel edges, self
 * loops.
 */
#include "cases.h"

static int wrong;

static unsigned next_random(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* edge[e] of all ranks: from, to; in the order of sources. */
typedef struct {
  int count;
  int *from, *to;
} graph;

static graph draw(unsigned seed, int degree) {
  graph g = {0, malloc(sizeof(int) * (size_t)(ranks * (2 * degree + 1))), malloc(sizeof(int) * (size_t)(ranks * (2 * degree + 1)))};
  for (int r = 0; r < ranks; r++) {
    int own = degree == 0 ? 0 : (int)(next_random(&seed) % (unsigned)(2 * degree + 1));
    for (int i = 0; i < own; i++) {
      g.from[g.count] = r;
      g.to[g.count++] = (int)(next_random(&seed) % (unsigned)ranks);
    }
  }
  return g;
}

static int element(int source, int edge, int i, int call) { return ((source * 31 + edge) * 131 + i) * 7 + call; }

static void expect(int got, int wanted, const char *what, int slot, int i) {
  if (got == wanted) return;
  if (wrong++ < 3) printf("rank %d: %s, slot %d, element %d: expected %d, got %d\n", rank, what, slot, i, wanted, got);
}

typedef struct {
  int in, out;
  int source[4096], edge[4096], destination[4096];
} lists;

/*
 * The i-th edge from a rank to this one is its i-th slot of this rank. `edge` is its number among all edges
 * of its source.
 */
static void find_lists(const graph *g, lists *l) {
  l->in = l->out = 0;
  int first = 0;
  for (int e = 0; e < g->count; e++) {
    if (e > 0 && g->from[e] != g->from[e - 1]) first = e;
    if (g->from[e] == rank) l->destination[l->out++] = g->to[e];
    if (g->to[e] == rank) {
      l->edge[l->in] = e - first;
      l->source[l->in++] = g->from[e];
    }
  }
}

static int length_of(int source, int call) { return (source * 5 + call) % 7; }

static void check_all(MPI_Comm comm, const lists *l, int call, int count) {
  int most = count > 8 ? count : 8;
  int *from = malloc(sizeof(int) * (size_t)(most * (l->out + 1))), *to = malloc(sizeof(int) * (size_t)(2 * most * (l->in + 1)));
  int *wanted = calloc((size_t)(2 * most * (l->in + 1)), sizeof *wanted);
  int *counts = malloc(sizeof(int) * (size_t)(l->in + 1)), *places = malloc(sizeof(int) * (size_t)(l->in + 1));
  int *send_counts = malloc(sizeof(int) * (size_t)(l->out + 1)), *send_places = malloc(sizeof(int) * (size_t)(l->out + 1));
  MPI_Datatype one, every_second;
  MPI_Type_vector(1, 1, 2, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, 2 * sizeof(int), &every_second);
  MPI_Type_commit(&every_second);

  for (int i = 0; i < count; i++) from[i] = element(rank, 0, i, call);
  memset(to, -1, sizeof(int) * (size_t)(2 * most * (l->in + 1)));
  if (call % 2 == 0) MPI_Neighbor_allgather(from, count, MPI_INT, to, count, MPI_INT, comm);
  else MPI_Neighbor_allgather(from, count, MPI_INT, to, count, every_second, comm);
  int stride = call % 2 == 0 ? 1 : 2;
  for (int s = 0; s < l->in; s++)
    for (int i = 0; i < count; i++)
      expect(to[stride * (s * count + i)], element(l->source[s], 0, i, call), "allgather", s, i);

  int end = 0;
  for (int i = 0; i < length_of(rank, call); i++) from[i] = element(rank, 1, i, call);
  for (int s = 0; s < l->in; s++) {
    counts[s] = length_of(l->source[s], call);
    places[s] = end++;
    end += counts[s];
  }
  memset(to, -1, sizeof(int) * (size_t)(2 * most * (l->in + 1)));
  MPI_Neighbor_allgatherv(from, length_of(rank, call), MPI_INT, to, counts, places, MPI_INT, comm);
  for (int s = 0; s < l->in; s++) {
    for (int i = 0; i < counts[s]; i++) expect(to[places[s] + i], element(l->source[s], 1, i, call), "allgatherv", s, i);
    expect(to[places[s] + counts[s]], -1, "allgatherv, the element behind", s, counts[s]);
  }

  for (int e = 0; e < l->out; e++)
    for (int i = 0; i < count; i++) from[e * count + i] = element(rank, e, i, call);
  memset(to, -1, sizeof(int) * (size_t)(2 * most * (l->in + 1)));
  MPI_Neighbor_alltoall(from, count, MPI_INT, to, count, MPI_INT, comm);
  PMPI_Neighbor_alltoall(from, count, MPI_INT, wanted, count, MPI_INT, comm);
  for (int i = 0; i < l->in * count; i++) expect(to[i], wanted[i], "alltoall", i / count, i % count);

  for (int e = 0; e < l->out; e++) {
    send_counts[e] = length_of(rank + 3 * l->destination[e], call);
    send_places[e] = e * 8;
    for (int i = 0; i < send_counts[e]; i++) from[e * 8 + i] = element(rank, e, i, call + 1);
  }
  end = 0;
  for (int s = 0; s < l->in; s++) {
    counts[s] = length_of(l->source[s] + 3 * rank, call);
    places[s] = end;
    end += counts[s];
  }
  memset(to, -1, sizeof(int) * (size_t)(2 * most * (l->in + 1)));
  MPI_Neighbor_alltoallv(from, send_counts, send_places, MPI_INT, to, counts, places, MPI_INT, comm);
  PMPI_Neighbor_alltoallv(from, send_counts, send_places, MPI_INT, wanted, counts, places, MPI_INT, comm);
  for (int s = 0; s < l->in; s++)
    for (int i = 0; i < counts[s]; i++) expect(to[places[s] + i], wanted[places[s] + i], "alltoallv", s, i);
  MPI_Type_free(&one);
  MPI_Type_free(&every_second);
  free(from);
  free(to);
  free(wanted);
  free(counts);
  free(places);
  free(send_counts);
  free(send_places);
}

static MPI_Comm create(const lists *l) {
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, l->in, l->source, MPI_UNWEIGHTED, l->out, l->destination, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  return comm;
}

int neighbors(int words, char **word) {
  static lists first, second;
  if (words != 4) return 1;
  wrong = 0;
  unsigned seed = (unsigned)atoi(word[1]);
  int degree = atoi(word[2]), calls = atoi(word[3]);
  graph one = draw(seed, degree), other = draw(seed + 1000003u, degree / 2);
  find_lists(&one, &first);
  find_lists(&other, &second);
  MPI_Comm a = create(&first), b = create(&second), copy;
  MPI_Comm_dup(a, &copy);
  static const int counts[] = {1, 0, 3, 300};
  for (int call = 0; call < calls; call++) {
    check_all(a, &first, call, counts[call % 4]);
    check_all(b, &second, call, counts[(call + 1) % 4]);
    if (call < 2) check_all(copy, &first, call, 2);
  }
  MPI_Comm_free(&a);
  MPI_Comm_free(&copy);
  check_all(b, &second, calls, 2);
  MPI_Comm_free(&b);
  free(one.from);
  free(one.to);
  free(other.from);
  free(other.to);
  return wrong;
}
