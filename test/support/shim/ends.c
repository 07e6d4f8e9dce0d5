/*
 * Runs neighborhood collectives where lists have ends: on a grid that is not periodic, whose ends are
 * MPI_PROC_NULL; and on a graph without parallel edges, with a block that is too long for its place. Four
 * ranks.
 */
#define _DEFAULT_SOURCE
#include "cases.h"

#include <sys/mman.h>
#include <unistd.h>

enum { RANKS = 4, GRID_EDGES = 4, GRAPH_EDGES = 3, LONG = 300 };

static int wrong;

static void expect(int got, int wanted, const char *what) {
  if (got == wanted) return;
  if (wrong++ < 3) printf("rank %d: %s: expected %d, got %d\n", rank, what, wanted, got);
}

/* Of an edge between two ranks: at most one, whatever the direction. */
static int element(int source, int destination, int call) { return (source * 31 + destination) * 131 + call; }

/* Memory that may be read, followed by a page that may not. */
static int *guarded(size_t page) {
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  return (int *)pages;
}

static void check_grid(MPI_Comm grid, int *from, int behind, int call) {
  int peers[GRID_EDGES], to[GRID_EDGES];
  MPI_Cart_shift(grid, 0, 1, &peers[0], &peers[1]);
  MPI_Cart_shift(grid, 1, 1, &peers[2], &peers[3]);

  from[0] = element(rank, 0, call);
  memset(to, -1, sizeof to);
  MPI_Neighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, grid);
  for (int i = 0; i < GRID_EDGES; i++)
    expect(to[i], peers[i] == MPI_PROC_NULL ? -1 : element(peers[i], 0, call), "allgather of the grid");

  for (int i = 0; i < GRID_EDGES; i++) from[i] = element(rank, peers[i], call);
  memset(to, -1, sizeof to);
  MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, grid);
  for (int i = 0; i < GRID_EDGES; i++)
    expect(to[i], peers[i] == MPI_PROC_NULL ? -1 : element(peers[i], rank, call), "alltoall of the grid");

  /* What goes to nobody lies where nothing may be read. */
  int counts[GRID_EDGES], send_at[GRID_EDGES], receive_at[GRID_EDGES];
  for (int i = 0; i < GRID_EDGES; i++) {
    counts[i] = 1;
    send_at[i] = peers[i] == MPI_PROC_NULL ? behind + i : i;
    receive_at[i] = i;
  }
  memset(to, -1, sizeof to);
  MPI_Neighbor_alltoallv(from, counts, send_at, MPI_INT, to, counts, receive_at, MPI_INT, grid);
  for (int i = 0; i < GRID_EDGES; i++)
    expect(to[i], peers[i] == MPI_PROC_NULL ? -1 : element(peers[i], rank, call), "alltoallv of the grid");
}

static void check_graph(MPI_Comm graph, const int *sources, const int *destinations, int call) {
  int from[GRAPH_EDGES], to[GRAPH_EDGES];
  for (int i = 0; i < GRAPH_EDGES; i++) from[i] = element(rank, destinations[i], call);
  memset(to, -1, sizeof to);
  MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, graph);
  for (int i = 0; i < GRAPH_EDGES; i++) expect(to[i], element(sources[i], rank, call), "alltoall of the graph");
}

/*
 * Rank 0 contributes a short block, all others long ones. In a call that is wrong rank 1 has too little place
 * for that of rank 0.
 */
static void check_lengths(MPI_Comm graph, const int *sources, int is_wrong, int call) {
  int from[LONG], to[GRAPH_EDGES * LONG], counts[GRAPH_EDGES], places[GRAPH_EDGES], class = MPI_SUCCESS;
  for (int i = 0; i < LONG; i++) from[i] = element(rank, i, call);
  for (int s = 0; s < GRAPH_EDGES; s++) {
    counts[s] = sources[s] == 0 ? 2 : LONG;
    if (is_wrong && rank == 1 && sources[s] == 0) counts[s] = 1;
    places[s] = s * LONG;
  }
  int code = MPI_Neighbor_allgatherv(from, rank == 0 ? 2 : LONG, MPI_INT, to, counts, places, MPI_INT, graph);
  MPI_Error_class(code, &class);
  expect(class, is_wrong && rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "class of the error");
  for (int s = 0; s < GRAPH_EDGES; s++)
    for (int i = 0; code == MPI_SUCCESS && i < counts[s]; i++)
      expect(to[places[s] + i], element(sources[s], i, call), "allgatherv of the graph");
}

int ends(int words, char **word) {
  (void)word;
  if (words != 1 || ranks != RANKS) return 1;
  wrong = 0;
  MPI_Comm grid, graph;
  const int extents[] = {2, 2}, periods[] = {0, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  int *from = guarded(page);
  for (int call = 0; call < 3; call++) check_grid(grid, from, (int)(page / sizeof *from), call);

  int sources[GRAPH_EDGES], destinations[GRAPH_EDGES];
  static const int distances[GRAPH_EDGES] = {1, 2, 3};
  for (int i = 0; i < GRAPH_EDGES; i++) {
    sources[i] = (rank + RANKS - distances[i]) % RANKS;
    destinations[i] = (rank + distances[i]) % RANKS;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, GRAPH_EDGES, sources, MPI_UNWEIGHTED, GRAPH_EDGES, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  for (int call = 0; call < 3; call++) check_graph(graph, sources, destinations, call);
  /* More calls than a trial has. */
  for (int call = 0; call < 15; call++) check_lengths(graph, sources, call % 5 == 1, call);

  MPI_Comm_free(&grid);
  MPI_Comm_free(&graph);
  munmap(from, 2 * page);
  return wrong;
}
