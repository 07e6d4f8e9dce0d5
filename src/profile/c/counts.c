/*
 * This file has the counts of threads. A hash table grows with the ranks to which a process sends and with the sizes of its
 * collectives, and never with the number of processes.
 */
#include "profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

__thread rw_thread *rw_own __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rw_thread *all;
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void give_back(void *thread) {
  pthread_mutex_lock(&lock);
  ((rw_thread *)thread)->is_free = 1;
  pthread_mutex_unlock(&lock);
}

static void make_key(void) { pthread_key_create(&at_exit, give_back); }

rw_thread *rw_thread_begin(void) {
  pthread_once(&once, make_key);
  pthread_mutex_lock(&lock);
  rw_thread *thread = all;
  while (thread != NULL && !thread->is_free) thread = thread->next;
  if (thread == NULL && (thread = calloc(1, sizeof *thread)) != NULL) {
    thread->next = all;
    all = thread;
  }
  if (thread != NULL) thread->is_free = thread->is_inside = 0;
  pthread_mutex_unlock(&lock);
  if (thread != NULL) pthread_setspecific(at_exit, thread);
  return rw_own = thread;
}

static uint64_t hash(int64_t key) { return (uint64_t)key * 0x9E3779B97F4A7C15u >> 32; }

/* The tables differ only in the type of their slots. A table is at most three quarters full. */
#define TABLE(name, table, slot)                                                            \
  static slot *name##_find(const table *t, int64_t key) {                                   \
    size_t at = (size_t)hash(key) & (t->size - 1);                                          \
    while (t->slots[at].key != 0 && t->slots[at].key != key) at = (at + 1) & (t->size - 1); \
    return &t->slots[at];                                                                   \
  }                                                                                         \
  static int name##_grow(table *t) {                                                        \
    table larger = {.size = t->size == 0 ? 32 : 2 * t->size, .used = t->used};              \
    larger.slots = calloc(larger.size, sizeof *larger.slots);                               \
    if (larger.slots == NULL) return 0;                                                     \
    for (size_t i = 0; i < t->size; i++)                                                    \
      if (t->slots[i].key != 0) *name##_find(&larger, t->slots[i].key) = t->slots[i];       \
    free(t->slots);                                                                         \
    *t = larger;                                                                            \
    return 1;                                                                               \
  }                                                                                         \
  slot *name(table *t, int64_t key) {                                                       \
    if (t->size > 0) {                                                                      \
      slot *found = name##_find(t, key);                                                    \
      if (found->key == key) return found;                                                  \
    }                                                                                       \
    if (4 * (t->used + 1) > 3 * t->size && !name##_grow(t)) return NULL;                    \
    slot *made = name##_find(t, key);                                                       \
    made->key = key;                                                                        \
    t->used++;                                                                              \
    return made;                                                                            \
  }

TABLE(rw_peer_of, rw_peers, rw_peer)
TABLE(rw_collective_of, rw_collectives, rw_collective_calls)

static uint64_t ticks_of(const rw_thread *thread) {
  uint64_t ticks = 0;
  for (int f = 0; f < RW_COUNT; f++) ticks += thread->functions[f].ticks;
  return ticks;
}

rw_thread *rw_sum_of_threads(uint64_t *most_ticks) {
  rw_thread *sum = rw_own != NULL ? rw_own : rw_thread_begin();
  *most_ticks = 0;
  if (sum == NULL) return NULL;
  *most_ticks = ticks_of(sum);
  for (rw_thread *t = all; t != NULL; t = t->next) {
    if (t == sum) continue;
    if (ticks_of(t) > *most_ticks) *most_ticks = ticks_of(t);
    for (int f = 0; f < RW_COUNT; f++) {
      sum->functions[f].calls += t->functions[f].calls;
      sum->functions[f].bytes += t->functions[f].bytes;
      sum->functions[f].ticks += t->functions[f].ticks;
    }
    sum->reorders += t->reorders;
    for (int c = 0; c < RW_CLASSES; c++) {
      sum->messages[c] += t->messages[c];
      sum->message_bytes[c] += t->message_bytes[c];
    }
    for (size_t i = 0; i < t->peers.size; i++) {
      const rw_peer *from = &t->peers.slots[i];
      rw_peer *to = from->key == 0 ? NULL : rw_peer_of(&sum->peers, from->key);
      if (to == NULL) continue;
      to->messages += from->messages;
      to->message_bytes += from->message_bytes;
      to->blocks += from->blocks;
      to->block_bytes += from->block_bytes;
    }
    for (size_t i = 0; i < t->collectives.size; i++) {
      const rw_collective_calls *from = &t->collectives.slots[i];
      rw_collective_calls *to = from->key == 0 ? NULL : rw_collective_of(&sum->collectives, from->key);
      if (to == NULL) continue;
      to->calls += from->calls;
      to->bytes += from->bytes;
      to->zeros += from->zeros;
      to->counts += from->counts;
      to->ticks += from->ticks;
    }
  }
  return sum;
}

static int64_t size_of(MPI_Datatype type) {
  MPI_Count size;
  return PMPI_Type_size_x(type, &size) == MPI_SUCCESS && size > 0 ? (int64_t)size : 0;
}

int64_t rw_bytes(int count, MPI_Datatype type) { return count <= 0 ? 0 : count * size_of(type); }

static int class_of(int64_t bytes) { return bytes <= 0 ? 0 : 64 - __builtin_clzll((unsigned long long)bytes); }

int rw_is_root(MPI_Comm comm, int root) {
  int rank = MPI_PROC_NULL, is_inter = 0;
  if (root == MPI_ROOT) return 1;
  PMPI_Comm_test_inter(comm, &is_inter);
  PMPI_Comm_rank(comm, &rank);
  return !is_inter && rank == root;
}

static void add_message(rw_call *call, int world, int64_t bytes) {
  rw_thread *thread = call->thread;
  int class = class_of(bytes);
  thread->functions[call->function].bytes += bytes;
  thread->messages[class]++;
  thread->message_bytes[class] += bytes;
  rw_peer *peer = world < 0 ? NULL : rw_peer_of(&thread->peers, (int64_t)world + 1);
  if (peer == NULL) return;
  peer->messages++;
  peer->message_bytes += bytes;
}

static void add_block(rw_call *call, int world, int64_t bytes) {
  call->thread->functions[call->function].bytes += bytes;
  rw_peer *peer = world < 0 || bytes <= 0 ? NULL : rw_peer_of(&call->thread->peers, (int64_t)world + 1);
  if (peer == NULL) return;
  peer->blocks++;
  peer->block_bytes += bytes;
}

/* `bytes` are those of a block; `zeros` of `counts` counts are zero. */
static void add_collective(rw_call *call, int ranks, int64_t bytes, int64_t zeros, int64_t counts) {
  int64_t key = (int64_t)(call->function + 1) << 40 | (int64_t)class_of(bytes) << 32 | (int64_t)ranks;
  rw_collective_calls *found = rw_collective_of(&call->thread->collectives, key);
  if (found == NULL) return;
  found->calls++;
  found->bytes += bytes;
  found->zeros += zeros;
  found->counts += counts;
  found->ticks += call->ticks;
}

void rw_sent(rw_call *call, MPI_Comm comm, int rank, int count, MPI_Datatype type) {
  if (rank == MPI_PROC_NULL) return;
  const rw_communicator *c = rw_communicator_of(call->thread, comm);
  if (c != NULL) add_message(call, rw_world_rank(call->thread, c, rank), rw_bytes(count, type));
}

/* Persistent sends by their handles. A handle is overwritten when MPI hands it out again for another such request. */
typedef struct kept {
  struct kept *after;
  MPI_Request handle;
  int world; /* -2: the request sends no message to one rank */
  int64_t bytes;
} kept;

enum { BUCKETS = 1024, NO_SEND = -2 };
static kept *buckets[BUCKETS];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static kept **kept_at(MPI_Request handle) {
  uint64_t bits = 0;
  memcpy(&bits, &handle, sizeof handle);
  kept **at = &buckets[hash((int64_t)bits) % BUCKETS];
  while (*at != NULL && (*at)->handle != handle) at = &(*at)->after;
  return at;
}

static void keep(MPI_Request handle, int world, int64_t bytes) {
  pthread_mutex_lock(&kept_lock);
  kept **at = kept_at(handle);
  if (*at == NULL && world != NO_SEND && (*at = calloc(1, sizeof **at)) != NULL) (*at)->handle = handle;
  if (*at != NULL) {
    (*at)->world = world;
    (*at)->bytes = bytes;
  }
  pthread_mutex_unlock(&kept_lock);
}

void rw_kept(rw_call *call, MPI_Request request, MPI_Comm comm, int rank, int count, MPI_Datatype type) {
  if (rank == MPI_PROC_NULL) return rw_forgotten(request);
  const rw_communicator *c = rw_communicator_of(call->thread, comm);
  if (c != NULL) keep(request, rw_world_rank(call->thread, c, rank), rw_bytes(count, type));
}

void rw_forgotten(MPI_Request request) { keep(request, NO_SEND, 0); }

void rw_started(rw_call *call, MPI_Request request) {
  pthread_mutex_lock(&kept_lock);
  const kept *k = *kept_at(request);
  int world = k == NULL ? NO_SEND : k->world;
  int64_t bytes = k == NULL ? 0 : k->bytes;
  pthread_mutex_unlock(&kept_lock);
  if (world != NO_SEND) add_message(call, world, bytes);
}

void rw_collective(rw_call *call, MPI_Comm comm, int64_t bytes) {
  const rw_communicator *c = rw_communicator_of(call->thread, comm);
  call->thread->functions[call->function].bytes += bytes;
  if (c != NULL) add_collective(call, c->size, bytes, 0, 0);
}

static MPI_Datatype type_at(rw_types types, int i) {
  return types.c != NULL ? types.c[i] : MPI_Type_f2c(types.fortran[i]);
}

/*
 * Counts a collective by the mean of its counts that are not zero. Blocks go to `worlds`, or to the ranks of the
 * communicator where that is NULL and they go to all.
 */
static void add_counts(rw_call *call, const rw_communicator *c, const int *counts, int length, const rw_types *types,
                       MPI_Datatype type, const int *worlds, int goes_to_all) {
  int64_t sum = 0, zeros = 0, nowhere = 0, size = types == NULL ? size_of(type) : 0;
  for (int i = 0; i < length; i++) {
    if (worlds != NULL && worlds[i] < 0) {
      nowhere++;
      continue;
    }
    int64_t bytes = counts[i] <= 0 ? 0 : counts[i] * (types == NULL ? size : size_of(type_at(*types, i)));
    sum += bytes;
    zeros += bytes == 0;
    if (bytes == 0) continue;
    if (worlds != NULL) add_block(call, worlds[i], bytes);
    else if (goes_to_all) add_block(call, rw_world_rank(call->thread, c, i), bytes);
    else call->thread->functions[call->function].bytes += bytes;
  }
  int64_t counted = length - nowhere;
  add_collective(call, c->size, zeros < counted ? sum / (counted - zeros) : 0, zeros, counted);
}

void rw_counted(rw_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type) {
  const rw_communicator *c = rw_communicator_of(call->thread, comm);
  if (c != NULL) add_counts(call, c, counts, c->size, NULL, type, NULL, 0);
}

void rw_scattered(rw_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type) {
  int ranks = 0;
  const rw_communicator *c = rw_communicator_of(call->thread, comm);
  PMPI_Comm_size(comm, &ranks);
  if (c != NULL) add_counts(call, c, counts, ranks, NULL, type, NULL, 0);
}

void rw_gathered(rw_call *call, MPI_Comm comm, int root, const int *counts, MPI_Datatype type, int count,
                 MPI_Datatype own) {
  if (rw_is_root(comm, root)) rw_counted(call, comm, counts, type);
  else if (root != MPI_PROC_NULL) rw_collective(call, comm, rw_bytes(count, own));
}

void rw_exchanged(rw_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type) {
  const rw_communicator *c = rw_communicator_of(call->thread, comm);
  if (c != NULL) add_counts(call, c, counts, c->size, NULL, type, NULL, 1);
}

void rw_exchanged_of_types(rw_call *call, MPI_Comm comm, const int *counts, rw_types types) {
  const rw_communicator *c = rw_communicator_of(call->thread, comm);
  if (c != NULL) add_counts(call, c, counts, c->size, &types, MPI_DATATYPE_NULL, NULL, 1);
}

static rw_communicator *with_neighbors(rw_call *call, MPI_Comm comm) {
  rw_communicator *c = rw_communicator_of(call->thread, comm);
  return c != NULL && rw_read_neighbors(c, comm) ? c : NULL;
}

void rw_to_neighbors(rw_call *call, MPI_Comm comm, int count, MPI_Datatype type) {
  const rw_communicator *c = with_neighbors(call, comm);
  if (c == NULL) return;
  int64_t bytes = c->destinations == 0 ? 0 : rw_bytes(count, type);
  for (int i = 0; i < c->destinations; i++)
    if (c->neighbors[i] >= 0) add_block(call, c->neighbors[i], bytes);
  add_collective(call, c->size, bytes, 0, 0);
}

void rw_counts_to_neighbors(rw_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type) {
  const rw_communicator *c = with_neighbors(call, comm);
  if (c != NULL) add_counts(call, c, counts, c->destinations, NULL, c->destinations == 0 ? MPI_BYTE : type, c->neighbors, 0);
}

void rw_types_to_neighbors(rw_call *call, MPI_Comm comm, const int *counts, rw_types types) {
  const rw_communicator *c = with_neighbors(call, comm);
  if (c != NULL) add_counts(call, c, counts, c->destinations, &types, MPI_DATATYPE_NULL, c->neighbors, 0);
}
