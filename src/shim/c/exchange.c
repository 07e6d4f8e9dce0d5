/*
 * Calls of a neighborhood collective by a publisher. Both ends of an edge know the bytes of its block. On a node a
 * block up to the limit is published, or sent as a message if there is no place for it. A longer one is lent: its
 * readers copy it from the memory of the program. If readers do not read in every call of MPI, only short blocks
 * are published. All other blocks, and every block for another node, are sent from the buffer of the program into
 * that of its neighbor, as MPI would. So no call needs an agreement.
 */
#include "publish.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>

/* The polls before the core is yielded to others, and between calls of MPI. */
enum { SPINS = 256, PROGRESS = 16 };
/* The bytes of a message that MPI sends without waiting for its receiver. */
enum { EAGER = 1024 };

static int block_of(const rw_publisher *p, const rw_end *reader) { return p->collective == RW_ALLGATHER ? 0 : reader->slot; }

/*
 * Returns the bytes of the longest block that readers fetch, in place or, for want of a place, as a message without
 * a posted receive. A reader that starts calls and waits for something else may never come, so that message must
 * not wait for its receiver.
 */
static int64_t longest_of(const rw_publisher *p, int do_readers_come) {
  const rw_arena *arena = rw_arena_of_process();
  if (!do_readers_come) return arena->limit < EAGER ? (int64_t)arena->limit : EAGER;
  return arena->lends ? INT_MAX : (int64_t)p->limit;
}

static void enter(rw_publisher *p) { pthread_mutex_lock(&p->lock); }

/* MPI also advances requests in calls that are made in here; if the lock is taken, it tries again later. */
static int try_to_enter(rw_publisher *p) { return pthread_mutex_trylock(&p->lock) == 0; }

static void leave(rw_publisher *p) { pthread_mutex_unlock(&p->lock); }

/*
 * Posts receives for blocks that do not come through memory. Another rank may wait for the rest of a call that
 * failed.
 */
static int receive_apart(rw_exchange *x) {
  rw_publisher *p = x->publisher;
  int tag = rw_arena_tag(p->number, p->collective, 1), code = MPI_SUCCESS;
  for (int i = 0; i < p->all_sources; i++) {
    const rw_end *source = &p->source[i];
    int slot = rw_slot(x, source);
    if (i < p->sources && !rw_is_apart(x, &x->to, slot)) continue;
    code = rw_first_error(code, rw_post_receive(rw_buffer_at(&x->to, slot), rw_buffer_count(&x->to, slot), x->to.type,
                                                source->rank, tag, rw_arena_of_process()->comm, &x->request[x->requests++]));
  }
  x->receives = x->requests;
  return code;
}

/*
 * Sends a block as a message. For want of a place it is announced, and received in its turn; else its receive is
 * posted.
 */
static int send_apart(rw_exchange *x, const rw_buffer *from, const rw_end *reader, int is_announced) {
  rw_publisher *p = x->publisher;
  int block = block_of(p, reader), tag = rw_arena_tag(p->number, p->collective, !is_announced);
  return rw_post_send(rw_buffer_at(from, block), rw_buffer_count(from, block), from->type, reader->rank, tag,
                      rw_arena_of_process()->comm, &x->request[x->requests++]);
}

static int publish(rw_exchange *x, const rw_buffer *from, int reader, char **packed) {
  rw_publisher *p = x->publisher;
  char *data;
  int block = block_of(p, &p->reader[reader]), code = MPI_SUCCESS;
  int64_t bytes = rw_buffer_bytes(from, block);
  rw_place *place = rw_publisher_place(p, reader, x->call, bytes, &data);
  place->length = (uint32_t)bytes;
  if (bytes > (int64_t)p->limit) {
    code = rw_loan_make(x, from, block, *packed, data);
    *packed += from->is_contiguous ? 0 : bytes;
  } else if (bytes > 0) code = rw_buffer_read(from, block, data, rw_arena_of_process()->comm);
  __atomic_store_n(&place->calls, x->call + 1, __ATOMIC_RELEASE);
  return code;
}

/* Measures the bytes of the longest block of the call that is copied, and of all that are lent. */
static int64_t measure(const rw_exchange *x, const rw_buffer *from, int64_t *lent) {
  const rw_publisher *p = x->publisher;
  int64_t longest = 0, limit = (int64_t)p->limit;
  *lent = 0;
  for (int i = 0; i < (p->collective == RW_ALLGATHER ? 1 : p->readers); i++) {
    int block = block_of(p, &p->reader[i]);
    int64_t bytes = rw_buffer_bytes(from, block);
    if (rw_is_apart(x, from, block)) continue;
    if (bytes > limit) *lent += bytes;
    else if (bytes > longest) longest = bytes;
  }
  return longest;
}

/* Finds whether there is a place for the blocks of the call, and memory for those that have to be packed. */
static int has_place(rw_exchange *x, const rw_buffer *from) {
  int64_t lent, longest = measure(x, from, &lent);
  if (!rw_publisher_has_place(x->publisher, x->call, longest)) return 0;
  if (lent > 0 && !from->is_contiguous) x->packed = malloc((size_t)lent);
  return lent == 0 || from->is_contiguous || x->packed != NULL;
}

static int send_on_node(rw_exchange *x, const rw_buffer *from) {
  rw_publisher *p = x->publisher;
  int is_published = -1, code = MPI_SUCCESS, is_direct = 0, has_apart = 0;
  char *packed = NULL;
  for (int i = 0; i < p->readers; i++) {
    int block = block_of(p, &p->reader[i]);
    if (rw_is_apart(x, from, block)) {
      code = rw_first_error(code, send_apart(x, from, &p->reader[i], 0));
      has_apart = 1;
      continue;
    }
    if (is_published < 0) {
      is_published = has_place(x, from);
      packed = x->packed;
    }
    if (is_published) {
      code = rw_first_error(code, publish(x, from, i, &packed));
      if (p->collective == RW_ALLGATHER) break;
      continue;
    }
    code = rw_first_error(code, send_apart(x, from, &p->reader[i], 1));
    is_direct = 1;
  }
  p->was_direct = is_direct || has_apart;
  if (is_direct && p->entry != NULL) __atomic_store_n(&p->entry->direct[p->collective], x->call + 1, __ATOMIC_RELEASE);
  if (has_apart && p->entry != NULL) __atomic_store_n(&p->entry->apart[p->collective], x->call + 1, __ATOMIC_RELEASE);
  return code;
}

/* Begins a call. Requests have to suffice for a message to or from every end. */
static void begin(rw_exchange *x, rw_publisher *p, const rw_buffer *from, const rw_buffer *to, int do_readers_come) {
  x->publisher = p;
  x->longest = longest_of(p, do_readers_come);
  x->loans = 0;
  x->packed = NULL;
  x->after = NULL;
  x->call = p->started++;
  x->to = *to;
  x->own_type = MPI_DATATYPE_NULL;
  x->receives = x->requests = x->is_read = x->is_done = 0;
  rw_reading_begin(x);
  __atomic_add_fetch(&p->all->users, 1, __ATOMIC_RELAXED);
  x->code = receive_apart(x);
  x->code = rw_first_error(x->code, send_on_node(x, from));
  for (int i = p->readers; i < p->all_readers; i++)
    x->code = rw_first_error(x->code, send_apart(x, from, &p->reader[i], 0));
  p->was_direct |= p->readers < p->all_readers;
  if (p->last != NULL) p->last->after = x;
  else p->first = x;
  p->last = x;
}

/* Every test lets MPI make progress, so the first incomplete request ends the loop. */
int rw_exchange_test_all(rw_exchange *x, int first, int end) {
  int is_done = 1;
  for (int i = first; is_done && i < end; i++) {
    if (x->request[i] == MPI_REQUEST_NULL) continue;
    int code = PMPI_Test(&x->request[i], &is_done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) continue;
    x->code = rw_first_error(x->code, code);
    x->request[i] = MPI_REQUEST_NULL;
    is_done = 1;
  }
  return is_done;
}

static int advance(rw_exchange *x) {
  if (!x->is_read) rw_reading_advance(x->publisher);
  if (!x->is_read || !rw_loans_are_read(x)) return 0;
  int is_sent = rw_exchange_test_all(x, x->receives, x->requests);
  if (is_sent && x->own_type != MPI_DATATYPE_NULL) PMPI_Type_free(&x->own_type);
  if (is_sent) free(x->packed);
  return x->is_done = is_sent;
}

int rw_exchange_advance(rw_exchange *x, int *is_done) {
  rw_publisher *p = x->publisher;
  if (x->is_done) {
    *is_done = 1;
    return x->code;
  }
  *is_done = 0;
  if (!try_to_enter(p)) return MPI_SUCCESS;
  *is_done = advance(x);
  leave(p);
  if (!*is_done) return MPI_SUCCESS;
  rw_publishers_leave(p->all);
  return x->code;
}

/* MPI makes progress now and then, because others may wait for messages that this process has begun. */
int rw_exchange_wait(rw_exchange *x) {
  const rw_arena *arena = rw_arena_of_process();
  int is_done, polls = 0, spins = arena->is_crowded ? 0 : SPINS;
  for (;;) {
    int code = rw_exchange_advance(x, &is_done);
    if (is_done) return code;
    if (++polls <= spins) continue;
    if (polls % PROGRESS != 0) {
      sched_yield();
      continue;
    }
    polls -= PROGRESS; /* a count that grew as long as the wait would overflow */
    int is_there;
    MPI_Status status;
    code = PMPI_Iprobe(MPI_ANY_SOURCE, 0, arena->comm, &is_there, &status);
    if (code != MPI_SUCCESS) return code;
  }
}

int rw_exchange_start(rw_publisher *p, const rw_buffer *from, const rw_buffer *to, rw_exchange **started) {
  /* Each end has one message at most. */
  size_t requests = (size_t)(p->all_sources + p->all_readers);
  rw_exchange *x = malloc(sizeof *x + sizeof *x->request * requests + (size_t)p->sources);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int code = x != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  if (code == MPI_SUCCESS && !to->is_contiguous && p->sources > 0) code = rw_type_keep(to->type, &type);
  if (code != MPI_SUCCESS) {
    free(x);
    return code;
  }
  x->request = (MPI_Request *)(void *)(x + 1);
  x->has_read = (unsigned char *)(void *)(x->request + requests);
  enter(p);
  begin(x, p, from, to, rw_requests_have_progress());
  x->own_type = type;
  if (type != MPI_DATATYPE_NULL) x->to.type = type;
  leave(p);
  *started = x;
  return code;
}

void rw_exchange_free(rw_exchange *x) { free(x); }

int rw_exchange_run(rw_publisher *p, const rw_buffer *from, const rw_buffer *to) {
  rw_exchange *x = &p->own;
  x->request = p->own_request;
  x->has_read = p->own_has_read;
  enter(p);
  begin(x, p, from, to, 1);
  leave(p);
  return rw_exchange_wait(x);
}
