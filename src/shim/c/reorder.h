/* Topology communicators whose vertices are placed by a mapping. Part of shim.h. */
#ifndef RANKWEAVE_REORDER_H
#define RANKWEAVE_REORDER_H

/* reorder-edges.c implements the declarations below. */

enum { RW_LANES = 4 };

/* The edges of a graph that one rank gives: source and destination in turn. */
typedef struct {
  int ranks; /* ranks of the graph */
  int count;
  int *pairs;
} rw_edges;

/* Lists the edges. 0: MPI refuses the arguments, or there is no memory. Local. */
int rw_edges_of_neighbors(rw_edges *edges, int rank, int in, const int sources[], int out, const int destinations[]);
int rw_edges_of_lists(rw_edges *edges, int count, const int sources[], const int degrees[], const int destinations[]);
int rw_edges_of_grid(rw_edges *edges, int rank, int dimensions, const int extents[], const int periods[]);
void rw_edges_free(rw_edges *edges);
/*
 * Adds the sums of `edgesDigest` in src/topology/topology-hash.ts, modulo 2^64: those of all ranks add up to the
 * graph's.
 */
void rw_edges_add(const rw_edges *edges, uint64_t sums[RW_LANES]);

/* reorder-file.c implements the declarations below. */

/* A mapping of `rankweave map -o`. */
typedef struct {
  uint32_t graph[RW_LANES]; /* digest of its edges */
  int ranks;
  int slot_of[]; /* a permutation: the rank whose process has each vertex */
} rw_mapping;

/* Reads the packed form of a mapping, which the caller frees. NULL: `wrong` says why. */
rw_mapping *rw_mapping_read(const char *path, char *wrong, size_t room);

/* reorder-placed.c implements the declarations below. */

/* The neighbors of vertices: those of v from start[v] to start[v + 1]. */
typedef struct {
  int *start, *list;
} rw_rows;

/* The relation of senders and receivers, each pair once, and no vertex with itself. */
typedef struct {
  int vertices;
  rw_rows out, in;
} rw_relations;

/* Makes the relations. 0: no memory. */
int rw_relations_make(rw_relations *relations, int vertices, int64_t edges, const int *pairs);
void rw_relations_free(rw_relations *relations);
/* Counts distinct pairs (vertex, other node of a destination), which a mapping minimizes. Negative: no memory. */
int64_t rw_pairs_of(const rw_relations *relations, int nodes, const int *node_of);

/* Vertices on nodes, and for every vertex the number of its destinations on each node. */
typedef struct {
  const rw_relations *relations;
  int *node_of;
  int64_t pairs;
  int64_t work;            /* steps so far */
  int *held, *node, *count; /* rows as in the relations; `held` elements of each are in use */
} rw_placed;

/* Makes the counts; moves change `node_of`, which remains the caller's. 0: no memory. */
int rw_placed_make(rw_placed *placed, const rw_relations *relations, int *node_of);
void rw_placed_free(rw_placed *placed);
/* Returns by how many pairs a move of the vertex to the node lowers their number. */
int rw_placed_gain(rw_placed *placed, int vertex, int node);
void rw_placed_move(rw_placed *placed, int vertex, int node);

/* reorder-starts.c implements the declarations below. */

/* The capacities of nodes, and the grid of the vertices, if any. */
typedef struct {
  const rw_relations *relations;
  int nodes;
  const int *capacity; /* vertices of each node */
  int dimensions;      /* 0: no grid */
  const int *extents;  /* the last dimension is fastest */
} rw_places;

/*
 * Assigns a node to each vertex. Returns 1; 0: there is no such start; -1: no memory. Blocks are consecutive
 * vertices; boxes have equal sides; halves cut the longest side again and again; regions grow by neighbors.
 */
typedef int rw_start_rule(const rw_places *places, int *node_of);
rw_start_rule rw_start_blocks, rw_start_boxes, rw_start_halves, rw_start_regions;

/* reorder-map.c implements the declarations below. */

/* A graph that is to be mapped onto ranks whose nodes are known. */
typedef struct {
  int vertices, nodes;
  const int *node_of_slot;
  int64_t edges;
  const int *pairs;       /* source and destination of each edge */
  int dimensions;         /* 0: no grid */
  const int *extents;
} rw_to_map;

/*
 * Computes the slot of every vertex in a bounded number of steps. The result never has more pairs than vertex v on
 * slot v, and is equal for equal graphs. `before` and `after` are the pairs. 0: no memory.
 */
int rw_map(const rw_to_map *given, int *slot_of, int64_t *before, int64_t *after);

/* reorder-choice.c implements the declarations below. */

/* The choices: the graph stays as MPI places it; ranks remain; ranks are reordered. */
enum { RW_AS_GIVEN, RW_IN_ORDER, RW_REORDERED };

/* A graph of a communicator, to be placed. */
typedef struct {
  MPI_Comm comm;
  int rank, size;
  const rw_edges *edges; /* edges of this rank */
  int64_t total;         /* number of all edges */
  const uint32_t *graph; /* digest of all edges */
  int dimensions;
  const int *extents;
} rw_graph_given;

/*
 * Makes one of the above choices; `key` is the rank that this process gets in the new order. It warns once if it
 * cannot serve. Collective.
 */
int rw_reorder_choose(const rw_graph_given *given, int *choice, int *key);
/* Prints a line of the report. */
void rw_reorder_report(void);

/* reorder.c implements the declarations below. */

enum { RW_ARRAYS = 4 };

/*
 * The arguments of a constructor: as the program gives them, then as MPI gets them. Arrays of weights may be
 * constants of MPI.
 */
typedef struct {
  MPI_Comm comm;
  int reorder;
  int length[RW_ARRAYS];
  const int *array[RW_ARRAYS];
  int *memory[RW_ARRAYS];
  MPI_Comm made; /* a communicator in the new order, or MPI_COMM_NULL */
} rw_creation;

/*
 * Returns whether the library places graphs of this communicator if they may be reordered. Alike on all ranks.
 * Local.
 */
int rw_reorder_serves(MPI_Comm comm);
/*
 * Changes the arguments if the library has a better order. The arrays of MPI_Dist_graph_create_adjacent are
 * sources, their weights, destinations, their weights; those of MPI_Dist_graph_create sources, degrees,
 * destinations, weights. Returns a code of MPI. Collective.
 */
int rw_reorder_neighbors(rw_creation *creation);
int rw_reorder_lists(rw_creation *creation);
int rw_reorder_grid(rw_creation *creation, int dimensions, const int extents[], const int periods[]);
/* Ends a creation after the constructor, whatever code they returned. */
void rw_reorder_end(rw_creation *creation);

#endif
