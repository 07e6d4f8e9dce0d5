/*
 * Calls one form of a neighbor alltoall on one communicator. Arguments: how its graph is made, the form, how often,
 * elements of a block, and `threads` for MPI_THREAD_MULTIPLE. Ends with an error unless all data are right.
 */
#include "cases.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define INIT(name) MPIX_Neighbor_##name##_init
#else
#define INIT(name) MPI_Neighbor_##name##_init
#endif

enum { EDGES = 4, MOST = 1024 };

typedef struct {
  int edges, peers[EDGES];
  MPI_Comm comm;
} graph;

/* Every second edge of `twice` is parallel to the one before. `wrap` has the same neighbors in two dimensions. */
static void make(graph *g, const char *how) {
  int is_twice = strcmp(how, "twice") == 0;
  MPI_Comm ring;
  MPI_Request request;
  MPI_Info info;
  if (strcmp(how, "wrap") == 0) {
    const int extents[] = {2, ranks / 2}, periods[] = {1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &g->comm);
    g->edges = EDGES;
    for (int d = 0; d < 2; d++) MPI_Cart_shift(g->comm, d, 1, &g->peers[2 * d], &g->peers[2 * d + 1]);
    return;
  }
  g->edges = is_twice ? EDGES : EDGES / 2;
  for (int i = 0; i < g->edges; i++) g->peers[i] = (rank + (i / (1 + is_twice) == 0 ? ranks - 1 : 1)) % ranks;
  MPI_Info_create(&info);
  if (strcmp(how, "off") == 0) MPI_Info_set(info, "rankweave", "off");
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g->edges, g->peers, MPI_UNWEIGHTED, g->edges, g->peers, MPI_UNWEIGHTED,
                                 info, 0, &ring);
  MPI_Info_free(&info);
  g->comm = ring;
  if (strcmp(how, "dup") == 0) MPI_Comm_dup(ring, &g->comm);
  else if (strcmp(how, "idup") == 0) {
    MPI_Comm_idup(ring, &g->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (g->comm != ring) MPI_Comm_free(&ring);
}

static int element(int source, int destination, int call) { return (source * 31 + destination) * 131 + call; }

/* The program waits before the next call, or never makes a blocking one. */
static int call(const graph *g, const char *form, int count, int number) {
  static int from[EDGES * MOST], to[EDGES * MOST];
  int counts[EDGES], places[EDGES], wrong = 0;
  MPI_Datatype types[EDGES];
  MPI_Aint bytes[EDGES];
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < EDGES * count; i++) {
    from[i] = i / count < g->edges ? element(rank, g->peers[i / count], number) : -1;
    to[i] = -1;
  }
  for (int i = 0; i < EDGES; i++) {
    counts[i] = count;
    places[i] = i * count;
    bytes[i] = (MPI_Aint)(i * count * (int)sizeof(int));
    types[i] = MPI_INT;
  }
  if (strcmp(form, "alltoall") == 0) MPI_Neighbor_alltoall(from, count, MPI_INT, to, count, MPI_INT, g->comm);
  if (strcmp(form, "alltoallw") == 0)
    MPI_Neighbor_alltoallw(from, counts, bytes, types, to, counts, bytes, types, g->comm);
  if (strcmp(form, "Ialltoall") == 0) MPI_Ineighbor_alltoall(from, count, MPI_INT, to, count, MPI_INT, g->comm, &request);
  if (strcmp(form, "Ialltoallv") == 0)
    MPI_Ineighbor_alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, g->comm, &request);
  if (strcmp(form, "init") == 0) {
    INIT(alltoall)(from, count, MPI_INT, to, count, MPI_INT, g->comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
  if (strcmp(form, "negative") == 0) {
    MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN);
    return MPI_Neighbor_alltoall(from, -1, MPI_INT, to, count, MPI_INT, g->comm) == MPI_SUCCESS;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < g->edges * count; i++) wrong += to[i] != element(g->peers[i / count], rank, number);
  return wrong;
}

int called(int words, char **word) {
  if (words < 5 || atoi(word[4]) > MOST) return 1;
  graph g;
  int wrong = 0;
  make(&g, word[1]);
  for (int i = 0; i < atoi(word[3]); i++) wrong += call(&g, word[2], atoi(word[4]), i);
  MPI_Comm_free(&g.comm);
  return wrong;
}
