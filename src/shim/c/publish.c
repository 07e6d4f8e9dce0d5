/*
 * Rings of places in which a process publishes its blocks, call after call. A block is written into place n mod K
 * when all readers have consumed call n - K. If they have not, or the region has no room, the blocks are sent as
 * messages: no start waits. When a communicator is freed, its ring and entry remain until all readers are done with
 * them.
 */
#include "publish.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* CHUNK: ranks that a group translates at a time. RETRY: calls until a region without room is asked again. */
enum { CHUNK = 64, RETRY = 64 };
/*
 * The multiples of the limit up to which blocks are copied; PART is the part of the region that bounds them. Blocks
 * of an allgather are written once for all readers; those of an alltoall are copied up to what MPI would send
 * without waiting for a reader.
 */
static const size_t longer[RW_COLLECTIVES] = {32, 4};
enum { PART = 32 };
/*
 * The places of a ring, and calls for which there is space. A rank that waits for few others runs ahead of its
 * readers, and a place costs less than a message.
 */
static const uint64_t places_of[RW_COLLECTIVES][RW_KINDS] = {{32, 16, 4, 32}, {4, 4, 2, 4}};

static rw_publishers *closed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t limit_of(const rw_arena *arena, int collective) {
  size_t most = arena->region / PART, limit = arena->limit * longer[collective];
  if (limit > most) limit = most;
  return limit > arena->limit ? limit : arena->limit;
}

rw_publishers *rw_publishers_allocate(const rw_lists *lists) {
  const rw_arena *arena = rw_arena_of_process();
  rw_publishers *all = calloc(1, sizeof *all);
  if (all == NULL) return NULL;
  all->number = -1;
  int ok = 1;
  for (int c = 0; arena != NULL && c < RW_COLLECTIVES; c++) {
    rw_publisher *p = &all->each[c];
    size_t ends = (size_t)lists->in_count + (size_t)lists->out_count;
    p->source = calloc(ends + 1, sizeof *p->source);
    p->own_request = malloc((ends + 1) * sizeof *p->own_request);
    p->limit = limit_of(arena, c);
    p->copy = malloc(arena->limit + 1);
    p->own_has_read = calloc(ends + 1, 1);
    p->is_behind = malloc((size_t)arena->processes);
    ok = ok && p->source && p->own_request && p->own_has_read && p->is_behind && p->copy;
    p->all = all;
    p->collective = c;
    pthread_mutex_init(&p->lock, NULL);
    if (p->source != NULL) p->reader = p->source + lists->in_count;
  }
  if (ok) return all;
  rw_publishers_close(all);
  return NULL;
}

static size_t units_of(const rw_publisher *p, int kind) {
  size_t bytes = kind == RW_SHORT ? rw_arena_of_process()->limit : p->limit;
  return (bytes + RW_LINE - 1) / RW_LINE;
}

static size_t space_units(const rw_publisher *p, int kind) {
  return (size_t)places_of[p->collective][kind] * p->blocks * units_of(p, kind);
}

/* The sources of both collectives are the same. */
static void leave_sources(const rw_publishers *all) {
  const rw_publisher *p = all->each[0].is_made > 0 ? &all->each[0] : &all->each[1];
  for (int i = 0; p->is_made > 0 && i < p->sources; i++) rw_entry_leave(p->source[i].process, all->number);
}

static void free_all(rw_publishers *all) {
  if (all->entry != NULL) rw_entry_remove(all->number);
  leave_sources(all);
  for (int c = 0; c < RW_COLLECTIVES; c++) {
    rw_publisher *p = &all->each[c];
    if (p->ring != 0) rw_lines_give(p->ring, p->ring_lines);
    for (int kind = RW_SHORT; kind < RW_LENT; kind++)
      if (p->space[kind] != 0) rw_space_give(p->space[kind], space_units(p, kind));
    if (p->all != NULL) pthread_mutex_destroy(&p->lock);
    free(p->source);
    free(p->own_request);
    free(p->own_has_read);
    free(p->is_behind);
    free(p->copy);
  }
  free(all);
}

/*
 * Returns whether readers are done: those that have an entry have consumed all calls, and as many as have none have
 * left. Those that had left before have none. So if all are counted, none of them is only late with its entry.
 */
static int have_read(const rw_publisher *p) {
  unsigned left = rw_entry_left(p->entry), without = 0;
  for (int i = 0; i < p->readers; i++) {
    const rw_entry *entry = rw_entry_find(p->reader[i].process, p->number);
    uint64_t calls = entry == NULL ? 0 : __atomic_load_n(rw_entry_consumed(entry, p->collective), __ATOMIC_ACQUIRE);
    if (entry != NULL && calls >= p->started) continue;
    if (rw_entry_find(p->reader[i].process, p->number) != NULL) return 0;
    without++;
  }
  return without == left;
}

static int are_done(rw_publishers *all) {
  for (int c = 0; all->entry != NULL && c < RW_COLLECTIVES; c++)
    if (all->each[c].started > 0 && !have_read(&all->each[c])) return 0;
  return 1;
}

/* Frees closed publishers whose readers are done. Those that wait are at most as many as a region has entries. */
static void sweep(void) {
  pthread_mutex_lock(&lock);
  for (rw_publishers **at = &closed; *at != NULL;) {
    rw_publishers *all = *at;
    if (all->users > 0 || !are_done(all)) at = &all->after;
    else {
      *at = all->after;
      free_all(all);
    }
  }
  pthread_mutex_unlock(&lock);
}

void rw_publishers_open(rw_publishers *all, MPI_Comm comm, int number) {
  if (closed != NULL) sweep();
  all->comm = comm;
  all->number = number;
  for (int c = 0; c < RW_COLLECTIVES; c++) all->each[c].number = number;
}

void rw_publishers_close(rw_publishers *all) {
  if (all == NULL) return;
  pthread_mutex_lock(&lock);
  all->is_closed = 1;
  all->after = closed;
  closed = all;
  pthread_mutex_unlock(&lock);
  sweep();
}

void rw_publishers_leave(rw_publishers *all) {
  __atomic_sub_fetch(&all->users, 1, __ATOMIC_ACQ_REL);
}

/* Translates ranks to those in another group, MPI_UNDEFINED if they are not in it. */
static void translate(MPI_Group from, MPI_Group to, rw_end *ends, int count, int is_process) {
  int ranks[CHUNK], found[CHUNK];
  for (int first = 0; first < count; first += CHUNK) {
    int n = count - first < CHUNK ? count - first : CHUNK;
    for (int i = 0; i < n; i++) ranks[i] = ends[first + i].rank;
    PMPI_Group_translate_ranks(from, n, ranks, to, found);
    for (int i = 0; i < n; i++) {
      rw_end *end = &ends[first + i];
      if (!is_process) end->rank = found[i];
      else end->process = found[i] == MPI_UNDEFINED ? -1 : found[i];
    }
  }
}

/* Counts the ranks of a communicator that are in a group. */
static int count_common(MPI_Group own, int size, MPI_Group group) {
  int ranks[CHUNK], found[CHUNK], common = 0;
  for (int first = 0; first < size; first += CHUNK) {
    int n = size - first < CHUNK ? size - first : CHUNK;
    for (int i = 0; i < n; i++) ranks[i] = first + i;
    PMPI_Group_translate_ranks(own, n, ranks, group, found);
    for (int i = 0; i < n; i++) common += found[i] != MPI_UNDEFINED;
  }
  return common;
}

/*
 * Sets the ends, those on the node first, in the order of the list. Returns how many; `ends` has room for as many
 * again.
 */
static int set_ends(MPI_Group group, const int *list, int count, rw_end *ends, int *all) {
  const rw_arena *arena = rw_arena_of_process();
  int n = 0;
  for (int i = 0; i < count; i++) {
    if (list[i] == MPI_PROC_NULL) continue;
    ends[n].slot = ends[n].last = i;
    ends[n++].rank = list[i];
  }
  *all = n;
  translate(group, arena->node, ends, n, 1);
  translate(group, arena->world, ends, n, 0);
  int near = 0;
  for (int i = 0; i < n; i++) {
    if (ends[i].process < 0) continue;
    rw_end found = ends[i];
    memmove(ends + near + 1, ends + near, sizeof *ends * (size_t)(i - near));
    ends[near++] = found;
  }
  return near;
}

/* Pairs parallel edges: the first place of a source for this rank has the block of the first slot, or of the last one. */
static void pair(rw_end *ends, int count) {
  for (int i = 0; i < count; i++) {
    rw_end *end = &ends[i];
    int after = 0;
    end->nth = 0;
    for (int j = 0; j < count; j++)
      if (ends[j].rank == end->rank) *(j < i ? &end->nth : &after) += j != i;
    for (int j = 0, nth = 0; j < count; j++)
      if (ends[j].rank == end->rank && nth++ == after) end->last = ends[j].slot;
  }
}

static void make_entry(rw_publishers *all) {
  if (!all->has_entry) all->entry = rw_entry_make(all->number);
  all->has_entry = 1;
  for (int c = 0; c < RW_COLLECTIVES; c++) all->each[c].entry = all->entry;
}

rw_publisher *rw_publisher_make(const rw_state *state, int collective) {
  const rw_arena *arena = rw_arena_of_process();
  rw_publishers *all = state->publishers;
  if (arena == NULL || all == NULL || all->number < 0) return NULL;
  if (collective == RW_ALLTOALL && rw_lists_wrap(&state->lists)) return NULL;
  rw_publisher *p = &all->each[collective];
  if (p->is_made) return p->is_made > 0 ? p : NULL;
  MPI_Group group;
  if (PMPI_Comm_group(all->comm, &group) != MPI_SUCCESS) return NULL;
  int ranks = state->lists.ranks;
  p->is_made = count_common(group, ranks, arena->world) == ranks ? 1 : -1;
  p->is_shared = ranks <= arena->processes && count_common(group, ranks, arena->node) == ranks;
  p->sources = set_ends(group, state->lists.in, state->lists.in_count, p->source, &p->all_sources);
  p->readers = set_ends(group, state->lists.out, state->lists.out_count, p->reader, &p->all_readers);
  if (collective == RW_ALLTOALL && state->lists.is_parallel) pair(p->source, p->all_sources);
  p->blocks = collective == RW_ALLGATHER ? 1 : (size_t)p->readers;
  PMPI_Group_free(&group);
  if (p->is_made < 0) return NULL;
  make_entry(all);
  return p;
}

rw_outcome rw_why_unpublished(void) { return rw_arena_of_process() == NULL ? RW_NO_MEMORY : RW_NO_PLAN; }

int rw_publisher_is_shared(const rw_publisher *publisher) { return publisher->is_shared; }

int rw_publisher_was_direct(const rw_publisher *publisher) { return publisher->was_direct; }

double rw_publisher_limit(const rw_publisher *publisher) {
  return rw_arena_of_process()->lends ? INT_MAX : (double)publisher->limit;
}

enum { WORDS = RW_LINE / sizeof(int) };

/*
 * Returns a word of the table in front of the places of an alltoall: the number of readers, then the process of
 * each.
 */
static int *word_of(int process, size_t ring, int word) {
  return (int *)(void *)rw_line_of(process, ring + (size_t)word / WORDS) + (size_t)word % WORDS;
}

static size_t table_lines(int collective, int readers) {
  return collective == RW_ALLGATHER ? 0 : (size_t)readers / WORDS + 1;
}

static int make_ring(rw_publisher *p) {
  size_t table = table_lines(p->collective, p->readers), places = (size_t)places_of[p->collective][RW_IN_LINE] * p->blocks;
  int own = rw_arena_of_process()->process;
  p->ring_lines = table + places;
  p->ring = rw_lines_take(p->ring_lines);
  if (p->ring == 0) return 0;
  p->first_line = p->ring + table;
  if (table > 0) *word_of(own, p->ring, 0) = p->readers;
  for (int i = 0; table > 0 && i < p->readers; i++) *word_of(own, p->ring, i + 1) = p->reader[i].process;
  for (size_t at = 0; at < places; at++) ((rw_place *)(void *)rw_line_of(own, p->first_line + at))->calls = 0;
  __atomic_store_n(&p->entry->ring[p->collective], (uint64_t)p->ring, __ATOMIC_RELEASE);
  return 1;
}

static int kind_of(const rw_publisher *p, int64_t bytes) {
  if (bytes > (int64_t)p->limit) return RW_LENT;
  if (bytes <= RW_IN_PLACE) return RW_IN_LINE;
  return bytes <= (int64_t)rw_arena_of_process()->limit ? RW_SHORT : RW_LONG;
}

static int needs_space(int kind) { return kind == RW_SHORT || kind == RW_LONG; }

static int make_room(rw_publisher *p, int kind) {
  if (p->entry == NULL || p->started < p->next_try[kind]) return 0;
  if (p->ring != 0 || make_ring(p)) {
    if (needs_space(kind) && p->space[kind] == 0) p->space[kind] = rw_space_take(space_units(p, kind));
    if (!needs_space(kind) || p->space[kind] != 0) return 1;
  }
  p->next_try[kind] = p->started + RETRY;
  return 0;
}

/* Returns whether there is room for blocks of a kind; those of an alltoall may also be shorter. */
static int has_room(rw_publisher *p, int longest) {
  for (int kind = p->collective == RW_ALLTOALL ? RW_IN_LINE : longest; kind <= longest; kind++)
    if ((p->ring == 0 || (needs_space(kind) && p->space[kind] == 0)) && !make_room(p, kind)) return 0;
  return 1;
}

/* Returns the calls that a reader has consumed, as far as is known. */
static uint64_t consumed_by(const rw_publisher *p, rw_end *reader) {
  if (reader->entry == NULL) reader->entry = rw_entry_find(reader->process, p->number);
  return reader->entry == NULL ? 0 : __atomic_load_n(rw_entry_consumed(reader->entry, p->collective), __ATOMIC_ACQUIRE);
}

static int have_consumed(rw_publisher *p, uint64_t calls) {
  if (calls <= p->consumed || p->readers == 0) return 1;
  if (consumed_by(p, &p->reader[p->slowest]) < calls) return 0;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < p->readers; i++) {
    uint64_t consumed = consumed_by(p, &p->reader[i]);
    if (consumed >= least) continue;
    least = consumed;
    p->slowest = i;
  }
  p->consumed = least;
  return calls <= least;
}

int rw_publisher_has_place(rw_publisher *p, uint64_t call, int64_t bytes) {
  int kind = kind_of(p, bytes);
  uint64_t places = places_of[p->collective][kind];
  if (!has_room(p, kind)) return 0;
  return call < places || have_consumed(p, call - places + 1);
}

/* Returns the number of a reader's block among those of a kind. */
static size_t number_of(const rw_publisher *p, int kind, int reader, uint64_t call) {
  size_t number = (size_t)(call % places_of[p->collective][kind]) * p->blocks;
  return p->collective == RW_ALLTOALL ? number + (size_t)reader : number;
}

static rw_place *place_of(const rw_publisher *p, int reader, uint64_t call) {
  size_t line = p->first_line + number_of(p, RW_IN_LINE, reader, call);
  return (rw_place *)(void *)rw_line_of(rw_arena_of_process()->process, line);
}

const rw_place *rw_publisher_place_of(const rw_publisher *p, int reader, uint64_t call) { return place_of(p, reader, call); }

rw_place *rw_publisher_place(rw_publisher *p, int reader, uint64_t call, int64_t bytes, char **data) {
  int kind = kind_of(p, bytes);
  rw_place *place = place_of(p, reader, call);
  *data = place->data;
  if (!needs_space(kind)) return place;
  uint64_t unit = p->space[kind] + number_of(p, kind, reader, call) * units_of(p, kind);
  *data = rw_space_of(rw_arena_of_process()->process, (size_t)unit);
  memcpy(place->data, &unit, sizeof unit);
  return place;
}

const char *rw_place_data(const rw_place *place, int process) {
  uint64_t unit;
  if (place->length <= RW_IN_PLACE) return place->data;
  memcpy(&unit, place->data, sizeof unit);
  return rw_space_of(process, (size_t)unit);
}

static int find_ring(const rw_publisher *p, rw_end *source) {
  const rw_arena *arena = rw_arena_of_process();
  if (source->entry == NULL) source->entry = rw_entry_find(source->process, p->number);
  size_t ring = source->entry == NULL ? 0 : (size_t)__atomic_load_n(&source->entry->ring[p->collective], __ATOMIC_ACQUIRE);
  if (ring == 0) return 0;
  int readers = 1, own = 0, before = source->nth;
  if (p->collective == RW_ALLTOALL) {
    readers = *word_of(source->process, ring, 0);
    while (own < readers && (*word_of(source->process, ring, own + 1) != arena->process || before-- > 0)) own++;
  }
  source->stride = (size_t)readers * (size_t)arena->processes * RW_LINE;
  source->place = rw_line_of(source->process, ring + table_lines(p->collective, readers) + (size_t)own);
  return 1;
}

const rw_place *rw_publisher_find(const rw_publisher *p, rw_end *source, uint64_t call) {
  if (source->place == NULL && !find_ring(p, source)) return NULL;
  size_t number = (size_t)(call % places_of[p->collective][RW_IN_LINE]);
  const rw_place *place = (const rw_place *)(const void *)(source->place + number * source->stride);
  return __atomic_load_n(&place->calls, __ATOMIC_ACQUIRE) == call + 1 ? place : NULL;
}
