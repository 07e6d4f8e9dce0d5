/*
 * What MPI says of neighborhood collectives, on every kind of topology, in every form and for many types and counts: the
 * order of neighbors, ends of grids that are neither sent nor written, and gaps that remain. Argument `brief`: few types and
 * counts.
 */
#include "cases.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define INIT(name) MPIX_Neighbor_##name##_init
enum { HAS_PERSISTENT = 1, HAS_UNEVEN_W = 1 };
#else
/*
 * Persistent forms of MPICH 4.0 hang without any library, too; and alltoallw gives wrong data or fails where a rank has not
 * as many sources as destinations.
 */
#define INIT(name) MPI_Neighbor_##name##_init
enum { HAS_PERSISTENT = 0, HAS_UNEVEN_W = 0 };
#endif

enum { MOST = 16, LONGEST = 700, GAP = 0xee, BLOCKING = 0, STARTED, PERSISTENT, FORMS };
enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };

static const char *const kinds[] = {"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};
static const char *const form_names[] = {"blocking", "started", "persistent"};
static int wrong, is_brief;

typedef struct {
  const char *name;
  MPI_Comm comm;
  int in, out, source[MOST], destination[MOST];
} topology;

/* Byte i of the block from one rank to another; an allgather has the same for all. */
static unsigned char byte_of(int from, int to, int i) { return (unsigned char)(from * 31 + to * 17 + i * 7 + 1); }

static int has_parallel_edges(const int *list, int count) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++)
      if (list[i] == list[j] && list[i] != MPI_PROC_NULL) return 1;
  return 0;
}

typedef struct {
  unsigned char *from, *to;
  int count, in_counts[MOST], out_counts[MOST], in_at[MOST], out_at[MOST];
  MPI_Aint in_bytes[MOST], out_bytes[MOST];
  MPI_Datatype types[MOST];
} buffers;

static int is_uneven(int kind) { return kind == ALLGATHERV || kind >= ALLTOALLV; }

/* Elements of a block: of uneven kinds they differ by source, and by edge where blocks are each one's own. */
static int count_of(int kind, int count, int from, int to) {
  if (!is_uneven(kind)) return count;
  return kind == ALLGATHERV ? count + from % 3 : count + (from + 2 * to) % 3;
}

static void prepare(const topology *t, int kind, int count, int size, MPI_Datatype type, buffers *b) {
  int is_own = kind >= ALLTOALL, gap = is_uneven(kind), at = 0;
  size_t room = (size_t)((count + 3) * (MOST + 1) * size + 1);
  b->count = count_of(kind, count, rank, 0);
  b->from = malloc(room);
  b->to = malloc(room);
  memset(b->from, GAP, room);
  memset(b->to, GAP, room);
  for (int i = 0; i < t->out; i++) {
    b->out_counts[i] = t->destination[i] == MPI_PROC_NULL ? count : count_of(kind, count, rank, t->destination[i]);
    b->out_at[i] = at;
    b->out_bytes[i] = (MPI_Aint)at * size;
    for (int k = 0; is_own && k < b->out_counts[i] * size; k++)
      b->from[b->out_bytes[i] + k] = byte_of(rank, t->destination[i], k);
    at += b->out_counts[i] + gap;
  }
  for (int k = 0; !is_own && k < b->count * size; k++) b->from[k] = byte_of(rank, 0, k);
  at = 0;
  for (int i = 0; i < t->in; i++) {
    b->in_counts[i] = t->source[i] == MPI_PROC_NULL ? count : count_of(kind, count, t->source[i], is_own ? rank : 0);
    b->in_at[i] = at;
    b->in_bytes[i] = (MPI_Aint)at * size;
    at += b->in_counts[i] + gap;
  }
  for (int i = 0; i < MOST; i++) b->types[i] = type;
}

#define SAME b->from, b->count, type, b->to, b->count, type, comm
#define SAME_EACH b->from, count, type, b->to, count, type, comm
#define GATHERED b->from, b->count, type, b->to, b->in_counts, b->in_at, type, comm
#define EACH b->from, b->out_counts, b->out_at, type, b->to, b->in_counts, b->in_at, type, comm
#define TYPED b->from, b->out_counts, b->out_bytes, b->types, b->to, b->in_counts, b->in_bytes, b->types, comm

static void call_blocking(int kind, int count, MPI_Datatype type, buffers *b, MPI_Comm comm) {
  switch (kind) {
    case ALLGATHER: MPI_Neighbor_allgather(SAME); return;
    case ALLGATHERV: MPI_Neighbor_allgatherv(GATHERED); return;
    case ALLTOALL: MPI_Neighbor_alltoall(SAME_EACH); return;
    case ALLTOALLV: MPI_Neighbor_alltoallv(EACH); return;
    default: MPI_Neighbor_alltoallw(TYPED); return;
  }
}

static void call_started(int kind, int count, MPI_Datatype type, buffers *b, MPI_Comm comm, MPI_Request *request) {
  switch (kind) {
    case ALLGATHER: MPI_Ineighbor_allgather(SAME, request); return;
    case ALLGATHERV: MPI_Ineighbor_allgatherv(GATHERED, request); return;
    case ALLTOALL: MPI_Ineighbor_alltoall(SAME_EACH, request); return;
    case ALLTOALLV: MPI_Ineighbor_alltoallv(EACH, request); return;
    default: MPI_Ineighbor_alltoallw(TYPED, request); return;
  }
}

static void make_persistent(int kind, int count, MPI_Datatype type, buffers *b, MPI_Comm comm, MPI_Request *request) {
  switch (kind) {
    case ALLGATHER: INIT(allgather)(SAME, MPI_INFO_NULL, request); return;
    case ALLGATHERV: INIT(allgatherv)(GATHERED, MPI_INFO_NULL, request); return;
    case ALLTOALL: INIT(alltoall)(SAME_EACH, MPI_INFO_NULL, request); return;
    case ALLTOALLV: INIT(alltoallv)(EACH, MPI_INFO_NULL, request); return;
    default: INIT(alltoallw)(TYPED, MPI_INFO_NULL, request); return;
  }
}

static void check(const topology *t, int kind, int form, int size, const buffers *b) {
  int at = 0, is_wrong = 0;
  for (int i = 0; i < t->in; i++) {
    int is_end = t->source[i] == MPI_PROC_NULL, bytes = b->in_counts[i] * size;
    for (; at < b->in_bytes[i]; at++) is_wrong |= b->to[at] != GAP;
    for (int k = 0; k < bytes; k++, at++)
      is_wrong |= b->to[at] != (is_end ? GAP : byte_of(t->source[i], kind >= ALLTOALL ? rank : 0, k));
  }
  is_wrong |= b->to[at] != GAP;
  if (is_wrong && wrong++ < 5)
    printf("rank %d: %s, %s %s, %d elements of %d bytes\n", rank, t->name, form_names[form], kinds[kind], b->count, size);
}

/* A persistent request is used twice, and refers to its buffers as they are at the start. */
static void perform(const topology *t, int kind, int form, int count, int size, MPI_Datatype type) {
  buffers own, *b = &own;
  MPI_Request request;
  prepare(t, kind, count, size, type, b);
  if (form == BLOCKING) call_blocking(kind, count, type, b, t->comm);
  if (form == STARTED) {
    call_started(kind, count, type, b, t->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (form == PERSISTENT) {
    make_persistent(kind, count, type, b, t->comm, &request);
    for (int use = 0; use < 2; use++) {
      if (use > 0) check(t, kind, form, size, b);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
  }
  check(t, kind, form, size, b);
  free(own.from);
  free(own.to);
}

static void check_all(const topology *t) {
  static const int counts[] = {0, 1, 2, 3, 5, 15, LONGEST};
  MPI_Datatype pair, types[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG_LONG, MPI_DOUBLE, MPI_DATATYPE_NULL};
  int is_simple = !has_parallel_edges(t->source, t->in) && !has_parallel_edges(t->destination, t->out);
  int all[] = {is_simple, t->in == t->out || HAS_UNEVEN_W};
  MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Type_contiguous(3, MPI_SHORT, &pair);
  MPI_Type_commit(&pair);
  types[5] = pair;
  for (int ty = is_brief ? 2 : 0; ty < 6; ty += is_brief ? 3 : 1) {
    int size;
    MPI_Type_size(types[ty], &size);
    for (int c = 0; c < 7; c += is_brief ? 3 : 1)
      for (int kind = 0; kind < KINDS; kind++)
        for (int form = 0; form < FORMS; form++)
          /* MPI libraries differ in which of two blocks between the same ranks goes where. */
          if ((kind < ALLTOALL || all[0]) && (kind < ALLTOALLW || all[1]) && (form != PERSISTENT || (HAS_PERSISTENT && ty % 3 == 2)))
            perform(t, kind, form, counts[c], size, types[ty]);
  }
  MPI_Type_free(&pair);
}

static void check_grids(void) {
  for (int dimensions = 1; dimensions <= 3; dimensions++)
    for (int wraps = 0; wraps < 1 << dimensions; wraps++) {
      topology t = {"grid", MPI_COMM_NULL, 2 * dimensions, 2 * dimensions, {0}, {0}};
      int sizes[3] = {0}, periods[3];
      for (int d = 0; d < dimensions; d++) periods[d] = wraps >> d & 1;
      MPI_Dims_create(ranks, dimensions, sizes);
      MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, 0, &t.comm);
      for (int d = 0; d < dimensions; d++) MPI_Cart_shift(t.comm, d, 1, &t.source[2 * d], &t.source[2 * d + 1]);
      memcpy(t.destination, t.source, sizeof t.source);
      check_all(&t);
      MPI_Comm_free(&t.comm);
    }
}

/* A star with a ring around it, as MPI-1 graphs: every rank gives the whole graph. */
static void check_graph(void) {
  topology t = {"graph", MPI_COMM_NULL, 0, 0, {0}, {0}};
  int index[MOST], edges[4 * MOST], end = 0;
  for (int r = 0; r < ranks; r++) {
    if (r > 0) edges[end++] = 0;
    for (int other = 1; r == 0 && other < ranks; other++) edges[end++] = other;
    int next = r % (ranks - 1) + 1, previous = (r + ranks - 3) % (ranks - 1) + 1;
    if (r > 0 && next != r) edges[end++] = next;
    if (r > 0 && previous != r && previous != next) edges[end++] = previous;
    index[r] = end;
  }
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &t.comm);
  MPI_Graph_neighbors_count(t.comm, rank, &t.in);
  MPI_Graph_neighbors(t.comm, rank, MOST, t.source);
  t.out = t.in;
  memcpy(t.destination, t.source, sizeof t.source);
  check_all(&t);
  MPI_Comm_free(&t.comm);
}

static void check_distributed(const char *name, MPI_Comm comm) {
  topology t = {name, comm, 0, 0, {0}, {0}};
  int is_weighted, in_weights[MOST], out_weights[MOST];
  MPI_Dist_graph_neighbors_count(comm, &t.in, &t.out, &is_weighted);
  MPI_Dist_graph_neighbors(comm, t.in, t.source, is_weighted ? in_weights : MPI_UNWEIGHTED, t.out, t.destination,
                           is_weighted ? out_weights : MPI_UNWEIGHTED);
  check_all(&t);
  MPI_Comm_free(&t.comm);
}

static void check_distributed_graphs(void) {
  MPI_Comm comm;
  int none = 0, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, weight = 3;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, &none, MPI_UNWEIGHTED, 0, &none, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  check_distributed("graph without edges", comm);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, &weight, 1, &next, &weight, MPI_INFO_NULL, 0, &comm);
  check_distributed("weighted ring", comm);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &rank, MPI_UNWEIGHTED, 1, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  check_distributed("loops", comm);
  /* Rank 0 gives the edges of all: everybody to ranks below it. */
  int sources[MOST], degrees[MOST], destinations[MOST * MOST], end = 0;
  for (int r = 0; r < ranks; r++) {
    sources[r] = r;
    degrees[r] = r;
    for (int to = 0; to < r; to++) destinations[end++] = to;
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? ranks : 0, sources, degrees, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                        &comm);
  check_distributed("triangle", comm);
  /* Two edges between the same ranks. */
  int twice[] = {next, next}, from_twice[] = {previous, previous};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from_twice, MPI_UNWEIGHTED, 2, twice, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  check_distributed("parallel edges", comm);
}

/* A ring whose blocks lie at addresses, behind MPI_BOTTOM; and elements of more than 2 GiB, of which there are none. */
static void check_types(void) {
  enum { ELEMENTS = 300 };
  int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, one = ELEMENTS, from[ELEMENTS] = {0}, to[ELEMENTS] = {0};
  MPI_Aint from_at, to_at;
  MPI_Datatype sent, received, half, huge;
  MPI_Request request;
  MPI_Comm comm;
  MPI_Get_address(from, &from_at);
  MPI_Get_address(to, &to_at);
  MPI_Type_create_hindexed(1, &one, &from_at, MPI_INT, &sent);
  MPI_Type_create_hindexed(1, &one, &to_at, MPI_INT, &received);
  MPI_Type_contiguous(1 << 30, MPI_CHAR, &half);
  MPI_Type_contiguous(3, half, &huge);
  MPI_Type_commit(&sent);
  MPI_Type_commit(&received);
  MPI_Type_commit(&huge);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &comm);
  for (int call = 0; call < 100; call++) {
    for (int i = 0; i < ELEMENTS; i++) from[i] = rank * 1000 + call + i;
    memset(to, GAP, sizeof to);
    if (call % 2 == 0) MPI_Neighbor_allgather(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, comm);
    else {
      MPI_Ineighbor_allgather(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < ELEMENTS; i++) wrong += to[i] != previous * 1000 + call + i;
    MPI_Neighbor_allgather(from, 0, huge, to, 0, huge, comm);
  }
  MPI_Type_free(&sent);
  MPI_Type_free(&received);
  MPI_Type_free(&half);
  MPI_Type_free(&huge);
  MPI_Comm_free(&comm);
}

static int copies;

static int copy_of_comm(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *is_copied) {
  (void)comm, (void)key, (void)extra, (void)value, (void)copied;
  copies++;
  *is_copied = 0;
  return MPI_SUCCESS;
}

static int copy_of_type(MPI_Datatype type, int key, void *extra, void *value, void *copied, int *is_copied) {
  (void)type, (void)key, (void)extra, (void)value, (void)copied;
  copies++;
  *is_copied = 0;
  return MPI_SUCCESS;
}

/* Attributes of a program are copied only where it duplicates what has them. */
static void check_attributes(void) {
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, got = -1, key, type_key;
  MPI_Comm ring;
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  MPI_Comm_create_keyval(copy_of_comm, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Type_create_keyval(copy_of_type, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
  MPI_Comm_set_attr(ring, key, &got);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &got);
  MPI_Type_set_attr(type, type_key, &got);
  MPI_Request request;
  for (int call = 0; call < 2; call++) MPI_Neighbor_allgather(&rank, 1, type, &got, 1, type, ring);
  MPI_Ineighbor_allgather(&rank, 1, type, &got, 1, type, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong += got != left;
  if (HAS_PERSISTENT) {
    INIT(allgather)(&rank, 1, type, &got, 1, type, ring, MPI_INFO_NULL, &request);
    MPI_Request_free(&request);
  }
  if (copies > 0) printf("wrong: %d attributes are copied\n", copies);
  wrong += copies;
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  MPI_Comm_free(&ring);
  MPI_Type_free(&type);
  MPI_Comm_free_keyval(&key);
  MPI_Type_free_keyval(&type_key);
}

int rules(int words, char **word) {
  is_brief = words == 2 && strcmp(word[1], "brief") == 0;
  wrong = 0;
  check_grids();
  if (ranks > 2) check_graph();
  check_distributed_graphs();
  check_types();
  check_attributes();
  return wrong;
}
