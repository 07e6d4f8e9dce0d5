/*
 * Constructors of topologies that may reorder ranks. Vertex v becomes rank v of a communicator on which MPI then
 * makes the topology in that order. The arguments of a vertex's rank are sent to the process that gets the vertex.
 * So MPI sees the arguments of a program that was started in that order.
 */
#include "shim.h"

#include <stdlib.h>

enum { TAG = 0 };
/* The length that stands for MPI_UNWEIGHTED in a message about lengths. */
enum { UNWEIGHTED = -1 };

int rw_reorder_serves(MPI_Comm comm) {
  const rw_settings *world = rw_world_settings();
  int is_inter = 1;
  if (world == NULL || world->enabled < 1 || world->reorders < 1 || comm == MPI_COMM_NULL) return 0;
  return PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && !is_inter && rw_is_of_world(comm);
}

static int length_in_message(const rw_creation *c, int i) { return c->array[i] == MPI_UNWEIGHTED ? UNWEIGHTED : c->length[i]; }

/* Gets the arrays of the rank whose number this process now has. Collective on `comm`. */
static int exchange(rw_creation *c, MPI_Comm comm, int old_rank) {
  int sent[RW_ARRAYS], received[RW_ARRAYS], from = MPI_PROC_NULL, has_memory = 1;
  MPI_Status status;
  for (int i = 0; i < RW_ARRAYS; i++) sent[i] = length_in_message(c, i);
  /* Each rank gets one such message. */
  int code = PMPI_Sendrecv(sent, RW_ARRAYS, MPI_INT, old_rank, TAG, received, RW_ARRAYS, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &status);
  if (code != MPI_SUCCESS) return code;
  from = status.MPI_SOURCE;
  for (int i = 0; i < RW_ARRAYS; i++) {
    if (received[i] <= 0) continue;
    c->memory[i] = malloc(sizeof(int) * (size_t)received[i]);
    has_memory = has_memory && c->memory[i] != NULL;
  }
  code = rw_agree_on_memory(comm, has_memory);
  for (int i = 0; i < RW_ARRAYS && code == MPI_SUCCESS; i++) {
    code = PMPI_Sendrecv(c->array[i], sent[i] < 0 ? 0 : sent[i], MPI_INT, old_rank, TAG + 1 + i, c->memory[i],
                         received[i] < 0 ? 0 : received[i], MPI_INT, from, TAG + 1 + i, comm, MPI_STATUS_IGNORE);
    /* An empty array needs no address, but MPI_UNWEIGHTED needs its own. */
    c->array[i] = received[i] == UNWEIGHTED ? MPI_UNWEIGHTED : received[i] == 0 ? MPI_WEIGHTS_EMPTY : c->memory[i];
    c->length[i] = received[i] < 0 ? 0 : received[i];
  }
  return code;
}

/* Restores the arguments that have been changed. */
static void give_back(rw_creation *c, const rw_creation *given) {
  rw_reorder_end(c);
  *c = *given;
}

/* Makes the communicator in the new order. `has_arrays`: ranks have separate arrays. Collective. */
static int reorder(rw_creation *c, int rank, int key, int has_arrays) {
  const rw_creation given = *c;
  int code = PMPI_Comm_split(given.comm, 0, key, &c->made);
  if (code != MPI_SUCCESS) return c->made = MPI_COMM_NULL, code;
  if (has_arrays) code = exchange(c, c->made, rank);
  if (code == MPI_ERR_NO_MEM) return give_back(c, &given), MPI_SUCCESS;
  c->comm = c->made;
  c->reorder = 0;
  return code;
}

/* Places a graph whose edges this rank has if `is_right`. */
static int place(rw_creation *c, const rw_edges *edges, int is_right, int dimensions, const int extents[]) {
  rw_graph_given given = {.comm = c->comm, .edges = edges, .dimensions = dimensions, .extents = extents};
  uint64_t sums[2 + RW_LANES] = {!is_right, 0};
  uint32_t graph[RW_LANES];
  int choice = RW_AS_GIVEN, key = 0;
  if (is_right) {
    sums[1] = (uint64_t)edges->count;
    rw_edges_add(edges, sums + 2);
  }
  int code = PMPI_Allreduce(MPI_IN_PLACE, sums, 2 + RW_LANES, MPI_UINT64_T, MPI_SUM, c->comm);
  if (code != MPI_SUCCESS || sums[0] > 0) return code;
  for (int i = 0; i < RW_LANES; i++) graph[i] = (uint32_t)sums[2 + i];
  given.graph = graph;
  given.total = (int64_t)sums[1];
  PMPI_Comm_rank(c->comm, &given.rank);
  PMPI_Comm_size(c->comm, &given.size);
  code = rw_reorder_choose(&given, &choice, &key);
  if (choice != RW_AS_GIVEN) c->reorder = 0;
  return code == MPI_SUCCESS && choice == RW_REORDERED ? reorder(c, given.rank, key, dimensions == 0) : code;
}

/* Returns whether an array of weights is valid, or a constant that stands for no weights. */
static int are_weights(const rw_creation *c, int i) {
  return c->array[i] == MPI_UNWEIGHTED || c->length[i] == 0 || (c->array[i] != NULL && c->array[i] != MPI_WEIGHTS_EMPTY);
}

int rw_reorder_neighbors(rw_creation *c) {
  rw_edges edges = {0};
  int rank;
  PMPI_Comm_rank(c->comm, &rank);
  PMPI_Comm_size(c->comm, &edges.ranks);
  int is_right = rw_edges_of_neighbors(&edges, rank, c->length[0], c->array[0], c->length[2], c->array[2]) &&
                 are_weights(c, 1) && are_weights(c, 3);
  int code = place(c, &edges, is_right, 0, NULL);
  rw_edges_free(&edges);
  return code;
}

int rw_reorder_lists(rw_creation *c) {
  rw_edges edges = {0};
  PMPI_Comm_size(c->comm, &edges.ranks);
  int is_right = rw_edges_of_lists(&edges, c->length[0], c->array[0], c->array[1], c->array[2]);
  /* The arrays of destinations and weights have one element per edge. */
  c->length[2] = c->length[3] = is_right ? edges.count : 0;
  int code = place(c, &edges, is_right && are_weights(c, 3), 0, NULL);
  rw_edges_free(&edges);
  return code;
}

/* Returns the ranks of a grid; 0 if MPI refuses it. */
static int ranks_of(int dimensions, const int extents[], int most) {
  int64_t ranks = 1;
  for (int d = 0; d < dimensions; d++) {
    if (extents == NULL || extents[d] < 1) return 0;
    ranks *= extents[d];
    if (ranks > most) return 0;
  }
  return (int)ranks;
}

int rw_reorder_grid(rw_creation *c, int dimensions, const int extents[], const int periods[]) {
  rw_edges edges = {0};
  int rank, size;
  PMPI_Comm_rank(c->comm, &rank);
  PMPI_Comm_size(c->comm, &size);
  edges.ranks = ranks_of(dimensions, extents, size);
  int is_right = dimensions > 0 && rw_edges_of_grid(&edges, rank, dimensions, extents, periods);
  int code = place(c, &edges, is_right, dimensions, extents);
  rw_edges_free(&edges);
  return code;
}

void rw_reorder_end(rw_creation *c) {
  for (int i = 0; i < RW_ARRAYS; i++) {
    free(c->memory[i]);
    c->memory[i] = NULL;
  }
  if (c->made != MPI_COMM_NULL) PMPI_Comm_free(&c->made);
}
