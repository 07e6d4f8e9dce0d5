/*
 * Calls that run into defects of the installed MPI, put right from the first one (RANKWEAVE_SHIM=repair).
 *
 * MPI_PROC_NULL among the neighbors of a graph ends blocking calls of Open MPI 4. Its non-blocking ones take it, so
 * a blocking call is started and waited for: by all ranks, since messages of the two kinds do not match.
 *
 * On a periodic dimension of one or two processes both neighbors are one process. The block sent to one side has to
 * arrive from the other; some functions pair the two blocks by their order instead. A grid of one process shows which
 * functions do so. Their calls are handed to MPI_Neighbor_alltoallw, with the received blocks of such a dimension
 * exchanged if it pairs by order, too. Its places are of MPI_Aint, so they reach every block; those of other forms are
 * of int. It reads its arrays when a call starts, so one copy of them per communicator suffices.
 */
#include "shim.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether MPI is examined for the first defect: that would end the program. The issues are public. */
#ifdef OPEN_MPI
enum { HAS_NULL_DEFECT = 1 };
#define PAIRING_ISSUE "issue 14430 of open-mpi/ompi"
#else
enum { HAS_NULL_DEFECT = 0 };
#define PAIRING_ISSUE "issue 2194 of pmodels/mpich"
#endif

enum { BOTH = 2 };

/* Arrays with an element for each block, which MPI gets in place of the program's. */
typedef struct {
  int *counts;
  MPI_Aint *places;
  MPI_Datatype *types;
} arrays;

/* What is known of MPI_PROC_NULL as a neighbor in a graph. Ranks agree on the greatest. */
enum { UNKNOWN = -1, NO_NULL, HAS_NULL, NO_MEMORY };

/* A communicator whose calls may need a repair. */
typedef struct {
  rw_lists lists; /* empty if the communicator has no such topology */
  int null;       /* UNKNOWN, NO_NULL or HAS_NULL; alike on all ranks */
  int is_wrapped; /* a dimension is periodic and has one or two processes */
  int *source;    /* slot whose block arrives where a function pairs by order; it shares its memory with both counts */
  arrays sent, received; /* their arrays of a kind share one memory */
} repaired;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int pairs_by_order[RW_FUNCTIONS];
static uint64_t started[RW_FUNCTIONS], exchanged[RW_FUNCTIONS];

int rw_repairs(void) {
  const rw_settings *world = rw_world_settings();
  return world != NULL && world->repairs > 0 && world->enabled > 0;
}

static void destroy(void *given) {
  repaired *p = given;
  rw_lists_free(&p->lists);
  free(p->source);
  free(p->sent.places);
  free(p->sent.types);
  free(p);
}

static rw_attribute attribute = RW_ATTRIBUTE(destroy);

static void examine(void) {
  static const int one = 1, numbers[BOTH] = {0, 1};
  static const rw_function functions[] = {RW_NEIGHBOR_ALLTOALL,  RW_NEIGHBOR_ALLTOALLV,  RW_NEIGHBOR_ALLTOALLW,
                                          RW_INEIGHBOR_ALLTOALL, RW_INEIGHBOR_ALLTOALLV, RW_INEIGHBOR_ALLTOALLW};
  MPI_Comm comm;
  (void)rw_watch_end();
  if (PMPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &comm) != MPI_SUCCESS) return;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    int to[BOTH] = {-1, -1};
    pairs_by_order[functions[i]] = rw_pairing_try(functions[i], numbers, to, comm) == MPI_SUCCESS && to[0] == numbers[0];
  }
  PMPI_Comm_free(&comm);
}

/* Finds, for each slot, the one that a wrapped dimension exchanges it with. */
static int find_wraps(MPI_Comm comm, repaired *p) {
  int dimensions = p->lists.in_count / BOTH;
  int *grid = malloc(sizeof *grid * 3 * (size_t)(dimensions + 1));
  int code = grid == NULL ? MPI_ERR_NO_MEM : PMPI_Cart_get(comm, dimensions, grid, grid + dimensions, grid + 2 * dimensions);
  for (int d = 0; code == MPI_SUCCESS && d < dimensions; d++) {
    int wraps = grid[dimensions + d] && grid[d] <= BOTH;
    p->is_wrapped |= wraps;
    p->source[BOTH * d] = BOTH * d + wraps;
    p->source[BOTH * d + 1] = BOTH * d + 1 - wraps;
  }
  free(grid);
  return code;
}

static int read_topology(MPI_Comm comm, repaired *p) {
  enum { ARRAYS = 3 };
  int topology = MPI_UNDEFINED;
  int code = PMPI_Topo_test(comm, &topology);
  if (code != MPI_SUCCESS || (topology != MPI_CART && topology != MPI_DIST_GRAPH)) return code;
  code = rw_lists_read(comm, &p->lists);
  /* Processes of another world may lack this library, so they would not agree. */
  p->null = !HAS_NULL_DEFECT || p->lists.is_grid || !rw_is_of_world(comm) ? NO_NULL : UNKNOWN;
  if (code != MPI_SUCCESS || !p->lists.is_grid) return code;
  size_t slots = (size_t)p->lists.in_count + 1;
  p->source = malloc(ARRAYS * slots * sizeof *p->source);
  p->sent.places = malloc(BOTH * slots * sizeof *p->sent.places);
  p->sent.types = malloc(BOTH * slots * sizeof *p->sent.types);
  if (p->source == NULL || p->sent.places == NULL || p->sent.types == NULL) return MPI_ERR_NO_MEM;
  p->sent.counts = p->source + slots;
  p->received = (arrays){p->sent.counts + slots, p->sent.places + slots, p->sent.types + slots};
  return find_wraps(comm, p);
}

/*
 * Finds or attaches the state of a communicator. A graph has one without memory, too: its ranks need it only to agree.
 * Returns a code of MPI. Local.
 */
static int find(MPI_Comm comm, repaired **found) {
  static repaired nothing, without_memory = {.null = NO_MEMORY};
  int code, topology = MPI_CART;
  pthread_once(&once, examine);
  *found = rw_attribute_get(&attribute, comm, &code);
  if (code != MPI_SUCCESS || *found != NULL) return code;
  repaired *p = *found = calloc(1, sizeof *p);
  code = p == NULL ? MPI_ERR_NO_MEM : read_topology(comm, p);
  if (code == MPI_SUCCESS) code = rw_attribute_set(&attribute, comm, p);
  if (code == MPI_SUCCESS) return code;
  if (p != NULL) destroy(p);
  if (code != MPI_ERR_NO_MEM || PMPI_Topo_test(comm, &topology) != MPI_SUCCESS || topology == MPI_CART) return code;
  *found = HAS_NULL_DEFECT && topology == MPI_DIST_GRAPH && rw_is_of_world(comm) ? &without_memory : &nothing;
  return MPI_SUCCESS;
}

/* Raises the error of a rank that has no state. Other ranks may have begun the call. */
static int raise_unfound(MPI_Comm comm, int code) {
  return code == MPI_ERR_NO_MEM ? rw_raise_alone(comm, code) : rw_raise(comm, code);
}

static int has_null(const int *list, int count) {
  for (int i = 0; i < count; i++)
    if (list[i] == MPI_PROC_NULL) return 1;
  return 0;
}

/* Agrees in the first blocking call. MPI_ERR_NO_MEM, on all ranks, if one has no memory for its state. */
static int agree_on_null(MPI_Comm comm, repaired *p) {
  if (p->null == NO_NULL || p->null == HAS_NULL) return MPI_SUCCESS;
  int has = has_null(p->lists.in, p->lists.in_count) || has_null(p->lists.out, p->lists.out_count);
  int greatest = p->null == NO_MEMORY ? NO_MEMORY : has ? HAS_NULL : NO_NULL;
  int code = PMPI_Allreduce(MPI_IN_PLACE, &greatest, 1, MPI_INT, MPI_MAX, comm);
  if (code != MPI_SUCCESS) return code;
  if (greatest == NO_MEMORY) return rw_raise(comm, MPI_ERR_NO_MEM);
  p->null = greatest;
  return code;
}

static void count(uint64_t *calls) { __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED); }

static int must_exchange(const repaired *p, rw_function function) {
  return p->is_wrapped && pairs_by_order[function];
}

/* Lists blocks of one datatype, in the order of slots; NULL: as they are. Without places they lie one after the other. */
static int list_blocks(arrays *of, int blocks, const int *slots, int count, const int *counts, const int *places,
                       MPI_Datatype type) {
  MPI_Aint low, extent;
  int code = PMPI_Type_get_extent(type, &low, &extent);
  for (int i = 0; code == MPI_SUCCESS && i < blocks; i++) {
    int from = slots == NULL ? i : slots[i];
    of->counts[i] = counts == NULL ? count : counts[from];
    of->places[i] = extent * (places == NULL ? (MPI_Aint)from * count : places[from]);
    of->types[i] = type;
  }
  return code;
}

/* Lists the blocks of a call for the function that performs it in its place. */
static int exchange_blocks(repaired *p, rw_function function, rw_function by, const rw_call *c) {
  int blocks = p->lists.in_count;
  int code = list_blocks(&p->sent, blocks, NULL, c->send_count, c->send_counts, c->send_displacements, c->send_type);
  if (code == MPI_SUCCESS)
    code = list_blocks(&p->received, blocks, pairs_by_order[by] ? p->source : NULL, c->receive_count, c->receive_counts,
                       c->receive_displacements, c->receive_type);
  count(&exchanged[function]);
  return code;
}

static int is_wrong(const rw_call *call, rw_function function, const repaired *p) {
  int form = function % RW_INEIGHBOR_ALLGATHER;
  return rw_call_is_wrong(call, &p->lists, form == RW_NEIGHBOR_ALLTOALLV,
                          form == RW_NEIGHBOR_ALLTOALLV || form == RW_NEIGHBOR_ALLGATHERV);
}

#define W_VALUES                                                                                                   \
  call->from, p->sent.counts, p->sent.places, p->sent.types, call->to, p->received.counts, p->received.places,      \
      p->received.types, call->comm

int rw_repair_call(const rw_call *call, rw_function function) {
  repaired *p;
  if (call->comm == MPI_COMM_NULL) return rw_call_by_mpi(call, function);
  int code = find(call->comm, &p);
  if (code != MPI_SUCCESS) return raise_unfound(call->comm, code);
  /* A call that MPI refuses must not wait for other ranks. */
  if (is_wrong(call, function, p)) return rw_call_by_mpi(call, function);
  code = agree_on_null(call->comm, p);
  if (code != MPI_SUCCESS) return code;
  if (p->null == HAS_NULL) {
    MPI_Request request;
    count(&started[function]);
    code = rw_start_by_mpi(call, function, &request);
    return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
  if (!must_exchange(p, function)) return rw_call_by_mpi(call, function);
  code = exchange_blocks(p, function, RW_NEIGHBOR_ALLTOALLW, call);
  return code == MPI_SUCCESS ? rw_next.Neighbor_alltoallw(W_VALUES) : rw_raise(call->comm, code);
}

int rw_repair_start(const rw_call *call, rw_function function, MPI_Request *request) {
  repaired *p;
  if (call->comm == MPI_COMM_NULL) return rw_start_by_mpi(call, function, request);
  int code = find(call->comm, &p);
  if (code != MPI_SUCCESS) return raise_unfound(call->comm, code);
  if (!must_exchange(p, function) || is_wrong(call, function, p)) return rw_start_by_mpi(call, function, request);
  code = exchange_blocks(p, function, RW_INEIGHBOR_ALLTOALLW, call);
  return code == MPI_SUCCESS ? rw_next.Ineighbor_alltoallw(W_VALUES, request) : rw_raise(call->comm, code);
}

static int are_wrong(const rw_received *received, int blocks) {
  if (blocks > 0 && (received->counts == NULL || received->places == NULL || received->types == NULL)) return 1;
  for (int i = 0; i < blocks; i++)
    if (received->counts[i] < 0 || received->types[i] == MPI_DATATYPE_NULL) return 1;
  return 0;
}

int rw_repair_received(MPI_Comm comm, rw_function function, rw_received *received, int *how) {
  repaired *p;
  *how = RW_REPAIR_NOTHING;
  if (comm == MPI_COMM_NULL) return MPI_SUCCESS;
  int code = find(comm, &p), waits = function == RW_NEIGHBOR_ALLTOALLW;
  if (code != MPI_SUCCESS) return raise_unfound(comm, code);
  if (are_wrong(received, p->lists.in_count)) return MPI_SUCCESS;
  if (waits) code = agree_on_null(comm, p);
  if (code != MPI_SUCCESS) return code;
  if (waits && p->null == HAS_NULL) {
    count(&started[function]);
    *how = RW_REPAIR_BY_START;
    return MPI_SUCCESS;
  }
  if (!must_exchange(p, function)) return MPI_SUCCESS;
  for (int i = 0; i < p->lists.in_count; i++) {
    p->received.counts[i] = received->counts[p->source[i]];
    p->received.places[i] = received->places[p->source[i]];
    p->received.types[i] = received->types[p->source[i]];
  }
  *received = (rw_received){p->received.counts, p->received.places, p->received.types};
  count(&exchanged[function]);
  return MPI_SUCCESS;
}

static void report(const uint64_t *calls, const char *what, const char *issue) {
  char line[256];
  for (int f = 0; f < RW_FUNCTIONS; f++) {
    if (calls[f] == 0) continue;
    snprintf(line, sizeof line, "repaired: %s: %" PRIu64 " call%s with %s (%s)", rw_function_name((rw_function)f), calls[f],
             calls[f] == 1 ? "" : "s", what, issue);
    rw_report_line(line);
  }
}

void rw_repair_report(void) {
  report(started, "MPI_PROC_NULL as a neighbor in a graph, started and waited for", "issue 4675 of open-mpi/ompi");
  report(exchanged, "blocks of a periodic dimension of one or two processes, exchanged", PAIRING_ISSUE);
}
