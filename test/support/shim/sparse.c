/*
 * All-to-alls whose counts change from call to call and are mostly zero, compared with what every rank knows of all.
 * Arguments: the counts (mixed, sparse, dense; self for MPI_COMM_SELF; refused for a call of one rank that MPI refuses, before
 * sparse ones), the form (mixed, v, w, Iv, place), a seed, the calls, and `threads` for two threads with a communicator each.
 */
#include "cases.h"

#include <pthread.h>

enum { RANKS = 16, MOST = 12, PLACE = 2 * MOST, COMMUNICATORS = 2 };
enum { ALL_ZERO, ONE_SENDS, ONE_RECEIVES, TO_SELF, SPARSE, DENSE, PATTERNS };
enum { FORM_V, FORM_W, FORM_START, FORM_IN_PLACE, FORM_IN_PLACE_W, FORMS };

typedef struct {
  const char *counts, *form;
  unsigned seed;
  int calls, number; /* number: of the thread */
  MPI_Comm comms[COMMUNICATORS];
  int wrong;
} job;

static unsigned mix(unsigned x) {
  for (int i = 0; i < 3; i++) x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return x ^ (x >> 16);
}

static unsigned draw(const job *j, int call, int a, int b) {
  return mix(j->seed * 7919u + (unsigned)j->number * 613u + (unsigned)call * 104729u + (unsigned)a * 1009u + (unsigned)b);
}

static int pattern_of(const job *j, int call) {
  if (strcmp(j->counts, "mixed") == 0) return (int)(draw(j, call, -1, 0) % PATTERNS);
  return strcmp(j->counts, "dense") == 0 ? DENSE : SPARSE;
}

/* The integers that a rank sends another in a call; equal in both directions if the call is in place. */
static int count_of(const job *j, int call, int from, int to, int ranks, int is_symmetric) {
  int chosen = (int)(draw(j, call, -2, 0) % (unsigned)ranks);
  if (is_symmetric && from > to) return count_of(j, call, to, from, ranks, 1);
  int is_drawn = draw(j, call, from, to) % 6 == 0, drawn = 1 + (int)(draw(j, call, to + 100, from) % MOST);
  switch (pattern_of(j, call)) {
    case ALL_ZERO: return 0;
    case ONE_SENDS: return from == chosen ? drawn : 0;
    case ONE_RECEIVES: return to == chosen ? drawn : 0;
    case TO_SELF: return from == to ? drawn : 0;
    case SPARSE: return is_drawn ? drawn : 0;
    default: return drawn;
  }
}

static int element(int call, int from, int to, int i) { return ((call * RANKS + from) * RANKS + to) * MOST + i; }

static int form_of(const job *j, int call) {
  if (strcmp(j->form, "v") == 0) return FORM_V;
  if (strcmp(j->form, "w") == 0) return FORM_W;
  if (strcmp(j->form, "Iv") == 0) return FORM_START;
  if (strcmp(j->form, "place") == 0) return FORM_IN_PLACE;
  return (int)(draw(j, call, -3, 0) % FORMS);
}

/* Blocks whose elements lie every `step` integers: with a step of 2 there are gaps, which must stay as they are. */
typedef struct {
  int step, counts[RANKS], places[RANKS], bytes[RANKS], data[RANKS * PLACE];
  MPI_Datatype type, types[RANKS];
} side;

static void place(side *s, int step, int ranks) {
  s->step = step;
  MPI_Type_create_resized(MPI_INT, 0, step * (MPI_Aint)sizeof(int), &s->type);
  MPI_Type_commit(&s->type);
  for (int r = 0; r < ranks; r++) {
    s->places[r] = r * PLACE / step;
    s->bytes[r] = r * PLACE * (int)sizeof(int);
    s->types[r] = s->type;
  }
  for (int i = 0; i < RANKS * PLACE; i++) s->data[i] = -1;
}

/* The two sides may describe equal data differently, and an empty type has no data at any count. */
static int exchange(const job *j, MPI_Comm comm, int call) {
  static __thread side from, to;
  int own, ranks, wrong = 0, form = form_of(j, call), is_in_place = form == FORM_IN_PLACE || form == FORM_IN_PLACE_W;
  side *sent = is_in_place ? &to : &from;
  MPI_Datatype empty;
  MPI_Request request;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &ranks);
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  place(&from, 1 + (int)(draw(j, call, -4, own) % 2), ranks);
  place(&to, 1 + (int)(draw(j, call, -5, own) % 2), ranks);
  for (int r = 0; r < ranks; r++) {
    from.counts[r] = count_of(j, call, own, r, ranks, is_in_place);
    to.counts[r] = count_of(j, call, r, own, ranks, is_in_place);
    for (int i = 0; i < from.counts[r]; i++) sent->data[r * PLACE + i * sent->step] = element(call, own, r, i);
    if (from.counts[r] > 0 || draw(j, call, own, r + 50) % 4 > 0) continue;
    from.types[r] = empty;
    from.counts[r] = form == FORM_W ? 3 : 0;
  }
  switch (form) {
    case FORM_V:
      MPI_Alltoallv(from.data, from.counts, from.places, from.type, to.data, to.counts, to.places, to.type, comm);
      break;
    case FORM_W:
      MPI_Alltoallw(from.data, from.counts, from.bytes, from.types, to.data, to.counts, to.bytes, to.types, comm);
      break;
    case FORM_START:
      MPI_Ialltoallv(from.data, from.counts, from.places, from.type, to.data, to.counts, to.places, to.type, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case FORM_IN_PLACE:
      MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, to.data, to.counts, to.places, to.type, comm);
      break;
    default: MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, to.data, to.counts, to.bytes, to.types, comm);
  }
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < PLACE; i++) {
      int at = i / to.step, is_data = i % to.step == 0 && at < to.counts[r];
      wrong += to.data[r * PLACE + i] != (is_data ? element(call, r, own, at) : -1);
    }
  MPI_Type_free(&from.type);
  MPI_Type_free(&to.type);
  MPI_Type_free(&empty);
  return wrong;
}

static void *run(void *given) {
  job *j = given;
  for (int call = 0; call < j->calls; call++) j->wrong += exchange(j, j->comms[call % COMMUNICATORS], call);
  return NULL;
}

/* One rank alone makes a call that MPI refuses. Returns whether there was no error. */
static int is_accepted(MPI_Comm comm) {
  const int counts[RANKS] = {-1}, places[RANKS] = {0};
  int from[1], to[1];
  if (rank > 0) return 0;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int code = MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  return code == MPI_SUCCESS;
}

int sparse(int words, char **word) {
  int is_threaded = words > 5, wrong = 0, is_self = strcmp(word[1], "self") == 0;
  job jobs[2];
  pthread_t threads[2];
  if (ranks > RANKS) return 1;
  for (int i = 0; i < 1 + is_threaded; i++) {
    jobs[i] = (job){word[1], word[2], (unsigned)atoi(word[3]), atoi(word[4]), i, {MPI_COMM_SELF, MPI_COMM_SELF}, 0};
    if (is_self) continue;
    /* One keeps its calls until the end; the other has ranks in another order, and is freed. */
    jobs[i].comms[0] = MPI_COMM_WORLD;
    if (i > 0) MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &jobs[i].comms[1]);
  }
  if (strcmp(word[1], "refused") == 0) wrong += is_accepted(MPI_COMM_WORLD);
  if (is_threaded) {
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, &jobs[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  } else run(&jobs[0]);
  for (int i = 0; i < 1 + is_threaded; i++) {
    wrong += jobs[i].wrong;
    if (is_self) continue;
    if (i > 0) MPI_Comm_free(&jobs[i].comms[0]);
    MPI_Comm_free(&jobs[i].comms[1]);
  }
  return wrong;
}
