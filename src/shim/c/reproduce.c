/*
 * Reductions whose bits depend on the contributions and their ranks only (RANKWEAVE_SHIM=reproducible). MPI moves the
 * contributions, and this library combines them along the fixed tree over ranks. Short ones go to every rank that has
 * a result. Of long ones, each rank combines a part, and results are gathered. How elements are dealt over calls,
 * parts and nodes does not matter: the tree is the same for each.
 *
 * The memory of a communicator is made in its first blocking call, in which all ranks agree that they have it. Longer
 * calls are cut into pieces that fit.
 */
#include "shim.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of memory of a communicator, and of short contributions of all its ranks together. */
enum { MEMORY = 1 << 20, SHORT = 1 << 14 };

/* A communicator that reduces. */
typedef struct {
  int rank, ranks, is_inter, is_of_world;
  char *memory;
  size_t bytes;
  int *sent, *sent_at, *received, *received_at; /* they share one memory */
} reducer;

/* A call in progress. */
typedef struct {
  const rw_reduction *call;
  reducer *with;
  rw_leaves leaves;
  const char *from;
  size_t extent;
  MPI_Aint before; /* bytes from the start of an element to its first byte */
  int most;        /* elements of each rank for which there is memory */
} work;

static uint64_t counts[RW_TUNE_FUNCTIONS][RW_REPRODUCE_FORMS][RW_REPRODUCE_OUTCOMES];

int rw_reproduces(void) {
  const rw_settings *world = rw_world_settings();
  return world != NULL && world->reproduces > 0 && world->enabled > 0;
}

static void destroy(void *given) {
  reducer *f = given;
  free(f->memory);
  free(f->sent);
  free(f);
}

static rw_attribute attribute = RW_ATTRIBUTE(destroy);

static int attach(MPI_Comm comm, reducer **made) {
  reducer *f = *made = calloc(1, sizeof *f);
  if (f == NULL) return MPI_ERR_NO_MEM;
  int code = PMPI_Comm_test_inter(comm, &f->is_inter);
  if (code == MPI_SUCCESS) code = PMPI_Comm_rank(comm, &f->rank);
  if (code == MPI_SUCCESS) code = PMPI_Comm_size(comm, &f->ranks);
  if (code == MPI_SUCCESS) f->is_of_world = f->is_inter || rw_is_of_world(comm);
  if (code == MPI_SUCCESS) code = rw_attribute_set(&attribute, comm, f);
  if (code != MPI_SUCCESS) destroy(f);
  return code;
}

static int find(MPI_Comm comm, reducer **found) {
  int code;
  *found = rw_attribute_get(&attribute, comm, &code);
  return code == MPI_SUCCESS && *found == NULL ? attach(comm, found) : code;
}

/* Makes memory for an element of every rank at least. Collective where it grows, which it does on all ranks alike. */
static int provide(MPI_Comm comm, reducer *f, size_t extent) {
  size_t needed = (size_t)f->ranks * extent;
  if (needed < MEMORY) needed = MEMORY;
  if (f->bytes >= needed) return MPI_SUCCESS;
  free(f->memory);
  f->memory = malloc(needed);
  if (f->sent == NULL) f->sent = malloc(4 * (size_t)f->ranks * sizeof *f->sent);
  f->bytes = f->memory != NULL && f->sent != NULL ? needed : 0;
  int code = rw_agree_on_memory(comm, f->bytes > 0);
  if (code != MPI_SUCCESS) {
    f->bytes = 0;
    return code;
  }
  f->sent_at = f->sent + f->ranks;
  f->received = f->sent_at + f->ranks;
  f->received_at = f->received + f->ranks;
  return code;
}

/* Copies elements as a collective of this process alone: nothing else can receive it. */
static int copy(const work *w, const char *from, char *to, int count) {
  return PMPI_Allgather(from, count, w->call->type, to, count, w->call->type, MPI_COMM_SELF);
}

/* The places of the values of ranks in the memory, for pieces of so many elements. */
static char *lay_out(work *w, int count) {
  w->leaves.count = count;
  w->leaves.stride = (size_t)count * w->extent;
  w->leaves.first = w->with->memory - w->before;
  return w->leaves.first;
}

static char *result_at(const work *w, int64_t element) { return (char *)w->call->to + element * (int64_t)w->extent; }
static const char *given_at(const work *w, int64_t element) { return w->from + element * (int64_t)w->extent; }

static int has_result(const work *w) { return w->call->function != RW_TUNE_REDUCE || w->call->root == w->with->rank; }

/* Combines what the own rank has for a result. NULL: there is none. */
static char *combine(const work *w) {
  switch (w->call->function) {
    case RW_TUNE_SCAN: return rw_leaves_prefix(&w->leaves, w->with->rank, 1);
    case RW_TUNE_EXSCAN: return rw_leaves_prefix(&w->leaves, w->with->rank, 0);
    default: return rw_leaves_fold(&w->leaves, 0, w->with->ranks);
  }
}

/* Brings contributions to every rank that has a result. */
static int by_gathering(work *w, int64_t first, int count) {
  const rw_reduction *c = w->call;
  char *memory = lay_out(w, count);
  int code = c->function == RW_TUNE_REDUCE
                 ? PMPI_Gather(given_at(w, first), count, c->type, memory, count, c->type, c->root, c->comm)
                 : PMPI_Allgather(given_at(w, first), count, c->type, memory, count, c->type, c->comm);
  if (code != MPI_SUCCESS || !has_result(w)) return code;
  const char *result = combine(w);
  return result == NULL ? code : copy(w, result, result_at(w, first), count);
}

/* Sends every rank its part of elements, and combines the own one. Parts differ by rank. */
static int exchange_parts(work *w, const int *count, const int *at, char **result) {
  const rw_reduction *c = w->call;
  reducer *f = w->with;
  int own = count[f->rank];
  char *memory = lay_out(w, own);
  for (int r = 0; r < f->ranks; r++) {
    f->received[r] = own;
    f->received_at[r] = r * own;
  }
  int code = PMPI_Alltoallv(w->from, count, at, c->type, memory, f->received, f->received_at, c->type, c->comm);
  *result = code == MPI_SUCCESS && own > 0 ? rw_leaves_fold(&w->leaves, 0, f->ranks) : NULL;
  return code;
}

/* Combines a part on each rank, and gathers the results. */
static int by_parts(work *w, int64_t first, int count) {
  const rw_reduction *c = w->call;
  reducer *f = w->with;
  char *result;
  for (int r = 0, at = 0; r < f->ranks; r++) {
    f->sent[r] = count / f->ranks + (r < count % f->ranks);
    f->sent_at[r] = (int)first + at;
    at += f->sent[r];
  }
  int code = exchange_parts(w, f->sent, f->sent_at, &result), own = f->sent[f->rank];
  if (code != MPI_SUCCESS) return code;
  if (c->function == RW_TUNE_REDUCE && c->root != f->rank)
    return PMPI_Gatherv(result, own, c->type, NULL, NULL, NULL, c->type, c->root, c->comm);
  if (own > 0) code = copy(w, result, result_at(w, f->sent_at[f->rank]), own);
  if (code != MPI_SUCCESS) return code;
  if (c->function == RW_TUNE_REDUCE)
    return PMPI_Gatherv(MPI_IN_PLACE, 0, c->type, c->to, f->sent, f->sent_at, c->type, c->root, c->comm);
  return PMPI_Allgatherv(MPI_IN_PLACE, 0, c->type, c->to, f->sent, f->sent_at, c->type, c->comm);
}

static int block_of(const rw_reduction *c, int rank) { return c->counts == NULL ? c->count : c->counts[rank]; }

/*
 * Combines on each rank the block that it keeps, in pieces. In place a result overwrites only what was sent before:
 * pieces begin no later in the result than in any block.
 */
static int by_blocks(work *w) {
  const rw_reduction *c = w->call;
  reducer *f = w->with;
  int longest = 0, own = block_of(c, f->rank), code = MPI_SUCCESS;
  for (int r = 0; r < f->ranks; r++)
    if (block_of(c, r) > longest) longest = block_of(c, r);
  for (int64_t first = 0; code == MPI_SUCCESS && first < longest; first += w->most) {
    char *result;
    for (int r = 0, at = 0; r < f->ranks; at += block_of(c, r++)) {
      int64_t left = block_of(c, r) - first;
      f->sent[r] = left < 0 ? 0 : left < w->most ? (int)left : w->most;
      f->sent_at[r] = at + (left < 0 ? 0 : (int)first);
    }
    int count = f->sent[f->rank];
    code = exchange_parts(w, f->sent, f->sent_at, &result);
    if (code == MPI_SUCCESS && first < own) code = copy(w, result, result_at(w, first), count);
  }
  return code;
}

static int perform(work *w) {
  const rw_reduction *c = w->call;
  int64_t ranks = w->with->ranks;
  int is_prefix = c->function == RW_TUNE_SCAN || c->function == RW_TUNE_EXSCAN, code = MPI_SUCCESS;
  if (c->function == RW_TUNE_REDUCE_SCATTER || c->function == RW_TUNE_REDUCE_SCATTER_BLOCK) return by_blocks(w);
  int is_short = is_prefix || (int64_t)w->extent * c->count * ranks <= SHORT;
  /* The parts of a piece are as long as those of one more element per rank at most. */
  int64_t most = is_short ? w->most : (int64_t)w->most * ranks, first = 0;
  for (; code == MPI_SUCCESS && first < c->count; first += most) {
    int count = c->count - first < most ? (int)(c->count - first) : (int)most;
    code = is_short ? by_gathering(w, first, count) : by_parts(w, first, count);
  }
  return code;
}

/* A started reduce-scatter has the blocks of all ranks in memory at once, and MPI counts their places in elements. */
static rw_reproduce_outcome refuses(const rw_reduction *c, const reducer *f, int form) {
  int64_t all = 0, most = 0;
  if (f->is_inter) return RW_TWO_GROUPS;
  if (!f->is_of_world) return RW_OTHER_WORLD;
  if (f->ranks == 1) return RW_EXACT;
  int is_scattered = c->function == RW_TUNE_REDUCE_SCATTER || c->function == RW_TUNE_REDUCE_SCATTER_BLOCK;
  if (c->function == RW_TUNE_REDUCE_SCATTER && c->counts == NULL) return RW_REFUSED;
  for (int r = 0; r < (is_scattered ? f->ranks : 1); r++) {
    int block = block_of(c, r);
    if (block < 0) return RW_REFUSED;
    all += block;
    if (block > most) most = block;
  }
  if (all == 0 || (c->function == RW_TUNE_REDUCE && (c->root < 0 || c->root >= f->ranks))) return RW_REFUSED;
  int64_t placed = is_scattered && form == RW_STARTED ? most * f->ranks : 0;
  return all > INT_MAX || placed > INT_MAX ? RW_MANY_ELEMENTS : RW_BY_TREE;
}

static void count(int function, int form, rw_reproduce_outcome outcome) {
  if (__atomic_fetch_add(&counts[function][form][outcome], 1, __ATOMIC_RELAXED) == 0) (void)rw_watch_end();
}

void rw_reproduce_leave(int function, int form, MPI_Op op, MPI_Datatype type) {
  rw_leaves leaves;
  rw_reproduce_outcome outcome = rw_leaves_operation(&leaves, op, type);
  if (outcome == RW_BY_TREE)
    outcome = form == RW_PERSISTENT || form == RW_LARGE_PERSISTENT ? RW_PERSISTENT_REQUEST : RW_LARGE_COUNTS;
  count(function, form, outcome);
}

static int is_in_place(const rw_reduction *c, const reducer *f) {
  return c->from == MPI_IN_PLACE && (c->function != RW_TUNE_REDUCE || c->root == f->rank);
}

/* Returns what becomes of a call, alike on all ranks, unless there is a code. */
static rw_reproduce_outcome examine(work *w, int form, int *code) {
  const rw_reduction *call = w->call;
  if (call->comm == MPI_COMM_NULL) return RW_REFUSED;
  rw_reproduce_outcome outcome = rw_leaves_operation(&w->leaves, call->op, call->type);
  if (outcome != RW_BY_TREE) return outcome;
  *code = find(call->comm, &w->with);
  return *code == MPI_SUCCESS ? refuses(call, w->with, form) : RW_BY_TREE;
}

int rw_reproduce(const rw_reduction *call, int *code) {
  work w = {.call = call};
  MPI_Aint low, extent = 0, true_low, true_extent = 0;
  *code = MPI_SUCCESS;
  rw_reproduce_outcome outcome = examine(&w, RW_CALLED, code);
  if (*code != MPI_SUCCESS) {
    *code = rw_raise_alone(call->comm, *code);
    return 1;
  }
  if (outcome == RW_BY_TREE) {
    PMPI_Type_get_extent(call->type, &low, &extent);
    PMPI_Type_get_true_extent(call->type, &true_low, &true_extent);
    /* Elements that reach into the next one would overwrite the contribution of the next rank in the memory. */
    if (extent <= 0 || true_extent <= 0 || true_extent > extent) outcome = RW_ODD_TYPE;
  }
  count(call->function, RW_CALLED, outcome);
  if (outcome != RW_BY_TREE) return 0;
  w.extent = (size_t)extent;
  w.before = true_low;
  w.from = is_in_place(call, w.with) ? call->to : call->from;
  *code = provide(call->comm, w.with, w.extent);
  if (*code == MPI_SUCCESS) {
    size_t most = w.with->bytes / w.extent / (size_t)w.with->ranks;
    w.most = most > INT_MAX / (size_t)w.with->ranks ? INT_MAX / w.with->ranks : (int)most;
    *code = perform(&w);
    /* MPI has raised the errors of its own calls. */
    return 1;
  }
  *code = rw_raise(call->comm, *code);
  return 1;
}

int rw_reproduce_start(const rw_reduction *call, MPI_Request *request, int *code) {
  work w = {.call = call};
  rw_started *started = NULL;
  int is_done = 0;
  *code = MPI_SUCCESS;
  rw_reproduce_outcome outcome = examine(&w, RW_STARTED, code);
  if (*code == MPI_SUCCESS && outcome == RW_BY_TREE && call->op != MPI_SUM && call->op != MPI_PROD) outcome = RW_OWN_OPERATION;
  if (*code == MPI_SUCCESS && outcome == RW_BY_TREE && !rw_requests_work()) outcome = RW_NOT_ADVANCED;
  if (*code == MPI_SUCCESS) count(call->function, RW_STARTED, outcome);
  if (*code == MPI_SUCCESS && outcome != RW_BY_TREE) return 0;
  if (*code == MPI_SUCCESS) *code = rw_started_make(call, &w.leaves, w.with->rank, w.with->ranks, &started);
  if (*code != MPI_SUCCESS) {
    *code = rw_raise_alone(call->comm, *code);
    return 1;
  }
  /* MPI raises the errors of its own calls. */
  *code = rw_started_begin(started);
  if (*code == MPI_SUCCESS && rw_request_make((rw_task){rw_started_advance, rw_started_free, started}, request)) return 1;
  /* The call ends here if there is no memory for a request. */
  while (*code == MPI_SUCCESS && !is_done) *code = rw_started_advance(started, &is_done);
  rw_started_free(started);
  if (*code == MPI_SUCCESS) *code = PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  return 1;
}

void rw_reproduce_report(void) {
#define TEXT_OF(outcome, text) text,
  static const char *const texts[RW_REPRODUCE_OUTCOMES] = {RW_REPRODUCED(TEXT_OF)};
  static const char *const names[RW_TUNE_FUNCTIONS] = {
      [RW_TUNE_REDUCE] = "reduce", [RW_TUNE_ALLREDUCE] = "allreduce", [RW_TUNE_REDUCE_SCATTER] = "reduce_scatter",
      [RW_TUNE_SCAN] = "scan",     [RW_TUNE_EXSCAN] = "exscan",       [RW_TUNE_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block"};
  static const char *const start[RW_REPRODUCE_FORMS] = {"MPI_", "MPI_I", "MPI_", "MPI_I", "MPI_", "MPI_"};
  static const char *const end[RW_REPRODUCE_FORMS] = {"", "", "_c", "_c", "_init", "_init_c"};
  for (int f = 0; f < RW_TUNE_FUNCTIONS; f++)
    for (int form = 0; form < RW_REPRODUCE_FORMS; form++)
      for (int o = 0; o < RW_REPRODUCE_OUTCOMES; o++) {
        char line[256];
        uint64_t calls = counts[f][form][o];
        if (calls == 0) continue;
        int is_started = form == RW_STARTED || form == RW_LARGE_STARTED;
        char first = is_started ? names[f][0] : (char)toupper(names[f][0]);
        snprintf(line, sizeof line, "reproducible: %s%c%s%s: %" PRIu64 " call%s %s", start[form], first, names[f] + 1, end[form],
                 calls, calls == 1 ? "" : "s", texts[o]);
        rw_report_line(line);
      }
}
