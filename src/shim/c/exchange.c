/*
 * Calls of a neighborhood collective by a publisher.
 *
 * Both ends of an edge know the bytes of its block. On a node a block up to the limit is published, or sent
 * as a message if there is no place for it. A longer one is lent: its readers copy it from the memory of the
 * program. Where readers do not come to read in every call of MPI, only short blocks are published. All others,
 * and every block for another node, are sent from the buffer of the program into that of its neighbor, as MPI
 * would. So no call needs an agreement.
 */
#include "publish.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Polls before the core is given to others, and between calls of MPI. */
enum { SPINS = 256, PROGRESS = 16 };
/* Polls between looks for what only a wrong program sends. */
enum { RARELY = 64 };
/* Bytes of a message that MPI sends without waiting for its receiver. */
enum { EAGER = 1024 };

static int first_error(int first, int second) { return first == MPI_SUCCESS ? second : first; }

static int block_of(const rw_publisher *p, const rw_end *reader) { return p->collective == RW_ALLGATHER ? 0 : reader->slot; }

/* Whether a block on the node is sent as a message whose receive is posted. */
static int is_apart(const rw_exchange *x, const rw_buffer *buffer, int block) {
  return rw_buffer_bytes(buffer, block) > x->longest;
}

/*
 * Bytes of the longest block that readers fetch, in place or for want of one as a message without a posted receive. One
 * who starts calls and waits for something else may not come, so that message may not wait for its receiver.
 */
static int64_t longest_of(const rw_publisher *p, int do_readers_come) {
  const rw_arena *arena = rw_arena_of_process();
  if (!do_readers_come) return arena->limit < EAGER ? (int64_t)arena->limit : EAGER;
  return arena->lends ? INT_MAX : (int64_t)p->limit;
}

static void enter(rw_publisher *p) { pthread_mutex_lock(&p->lock); }

/* MPI advances requests in calls that are made in here, too; then it comes again. */
static int try_to_enter(rw_publisher *p) { return pthread_mutex_trylock(&p->lock) == 0; }

static void leave(rw_publisher *p) { pthread_mutex_unlock(&p->lock); }

/* Of blocks that do not come through memory. Another rank may wait for the rest of a call that failed. */
static int receive_apart(rw_exchange *x) {
  rw_publisher *p = x->publisher;
  int tag = rw_arena_tag(p->number, p->collective, 1), code = MPI_SUCCESS;
  for (int i = 0; i < p->all_sources; i++) {
    const rw_end *source = &p->source[i];
    if (i < p->sources && !is_apart(x, &x->to, source->slot)) continue;
    int posted = PMPI_Irecv(rw_buffer_at(&x->to, source->slot), rw_buffer_count(&x->to, source->slot), x->to.type,
                            source->rank, tag, rw_arena_of_process()->comm, &x->request[x->requests]);
    if (posted == MPI_SUCCESS) x->requests++;
    code = first_error(code, posted);
  }
  x->receives = x->requests;
  return code;
}

/* Without a place it is announced, and received in its turn; else its receive is posted. */
static int send_apart(rw_exchange *x, const rw_buffer *from, const rw_end *reader, int is_announced) {
  rw_publisher *p = x->publisher;
  int block = block_of(p, reader), tag = rw_arena_tag(p->number, p->collective, !is_announced);
  int code = PMPI_Isend(rw_buffer_at(from, block), rw_buffer_count(from, block), from->type, reader->rank, tag,
                        rw_arena_of_process()->comm, &x->request[x->requests]);
  if (code == MPI_SUCCESS) x->requests++;
  return code;
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

/* Bytes of the longest block of the call that is copied, and of all that are lent. */
static int64_t measure(const rw_exchange *x, const rw_buffer *from, int64_t *lent) {
  const rw_publisher *p = x->publisher;
  int64_t longest = 0, limit = (int64_t)p->limit;
  *lent = 0;
  for (int i = 0; i < (p->collective == RW_ALLGATHER ? 1 : p->readers); i++) {
    int block = block_of(p, &p->reader[i]);
    int64_t bytes = rw_buffer_bytes(from, block);
    if (is_apart(x, from, block)) continue;
    if (bytes > limit) *lent += bytes;
    else if (bytes > longest) longest = bytes;
  }
  return longest;
}

/* Whether there is a place for the blocks of the call, and memory for those that have to be packed. */
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
    if (is_apart(x, from, block)) {
      code = first_error(code, send_apart(x, from, &p->reader[i], 0));
      has_apart = 1;
      continue;
    }
    if (is_published < 0) {
      is_published = has_place(x, from);
      packed = x->packed;
    }
    if (is_published) {
      code = first_error(code, publish(x, from, i, &packed));
      if (p->collective == RW_ALLGATHER) break;
      continue;
    }
    code = first_error(code, send_apart(x, from, &p->reader[i], 1));
    is_direct = 1;
  }
  p->was_direct = is_direct || has_apart;
  if (is_direct && p->entry != NULL) __atomic_store_n(&p->entry->direct[p->collective], x->call + 1, __ATOMIC_RELEASE);
  if (has_apart && p->entry != NULL) __atomic_store_n(&p->entry->apart[p->collective], x->call + 1, __ATOMIC_RELEASE);
  return code;
}

/* Whether the sender of a block may wait until this rank has read it: MPI sends short ones without. */
static int may_be_awaited(const rw_exchange *x, const rw_end *source) {
  return !is_apart(x, &x->to, source->slot) && rw_buffer_bytes(&x->to, source->slot) > (int64_t)rw_arena_of_process()->limit;
}

/* Requests have to suffice for a message to or from every end. */
static void begin(rw_exchange *x, rw_publisher *p, const rw_buffer *from, const rw_buffer *to, int do_readers_come) {
  x->publisher = p;
  x->longest = longest_of(p, do_readers_come);
  x->loans = x->awaited = 0;
  x->packed = NULL;
  x->after = NULL;
  x->call = p->started++;
  x->to = *to;
  x->own_type = MPI_DATATYPE_NULL;
  x->next = x->receives = x->requests = x->is_read = x->is_done = 0;
  x->polls = 0;
  for (int i = 0; i < p->sources; i++) {
    x->has_read[i] = 0;
    x->awaited += may_be_awaited(x, &p->source[i]);
  }
  __atomic_add_fetch(&p->all->users, 1, __ATOMIC_RELAXED);
  x->code = receive_apart(x);
  x->code = first_error(x->code, send_on_node(x, from));
  for (int i = p->readers; i < p->all_readers; i++)
    x->code = first_error(x->code, send_apart(x, from, &p->reader[i], 0));
  p->was_direct |= p->readers < p->all_readers;
  if (p->last != NULL) p->last->after = x;
  else p->first = x;
  p->last = x;
}

static int write_block(rw_exchange *x, const rw_end *source, const char *data, int length) {
  return rw_buffer_write(&x->to, source->slot, data, length, rw_arena_of_process()->comm);
}

/*
 * A block that came as a message instead. One above the limit is longer than its room: it is received whole,
 * because Open MPI 4.1 writes behind a buffer that is too short for a message of a process to itself.
 */
static int receive_message(rw_exchange *x, const rw_end *source, int is_apart) {
  rw_publisher *p = x->publisher;
  const rw_arena *arena = rw_arena_of_process();
  int tag = rw_arena_tag(p->number, p->collective, is_apart), is_there = 0, length = 0;
  char *data = p->copy;
  MPI_Status status;
  int code = PMPI_Iprobe(source->rank, tag, arena->comm, &is_there, &status);
  if (code == MPI_SUCCESS && !is_there) return 0;
  if (code == MPI_SUCCESS) code = PMPI_Get_count(&status, MPI_BYTE, &length);
  if (code == MPI_SUCCESS && (size_t)length > arena->limit) data = malloc((size_t)length);
  if (data == NULL) code = MPI_ERR_NO_MEM;
  if (code == MPI_SUCCESS) code = PMPI_Recv(data, length, MPI_BYTE, source->rank, tag, arena->comm, &status);
  if (code == MPI_SUCCESS) code = write_block(x, source, data, length);
  if (data != p->copy) free(data);
  x->code = first_error(x->code, code);
  return 1;
}

/*
 * A process that is to have an entry and has none was refused one: it sends messages only, and what it has
 * sent cannot be removed before it is read.
 */
static int read_message(rw_exchange *x, rw_end *source) {
  rw_publisher *p = x->publisher;
  if (source->entry == NULL) {
    if (!rw_entry_is_known(source->process, p->number)) return 0;
    source->entry = rw_entry_find(source->process, p->number);
    if (source->entry == NULL) return receive_message(x, source, 0);
  }
  uint64_t apart = __atomic_load_n(&source->entry->apart[p->collective], __ATOMIC_ACQUIRE);
  uint64_t direct = __atomic_load_n(&source->entry->direct[p->collective], __ATOMIC_ACQUIRE);
  if (apart <= x->call && direct <= x->call) return 0;
  /* Blocks are published before messages of a later call are announced. */
  if (rw_publisher_find(p, source, x->call) != NULL) return 0;
  return receive_message(x, source, direct <= x->call);
}

static void read_place(rw_exchange *x, const rw_end *source, const rw_place *place) {
  int code = place->length > x->publisher->limit
                 ? rw_loan_read(x, source, place)
                 : write_block(x, source, rw_place_data(place, source->process), (int)place->length);
  x->code = first_error(x->code, code);
}

static int read_block(rw_exchange *x, rw_end *source) {
  const rw_place *place = rw_publisher_find(x->publisher, source, x->call);
  if (place == NULL) return read_message(x, source);
  read_place(x, source, place);
  return 1;
}

/* Every test lets MPI make progress, so the first that is not done ends this. */
static int test_all(rw_exchange *x, int first, int end) {
  int is_done = 1;
  for (int i = first; is_done && i < end; i++) {
    if (x->request[i] == MPI_REQUEST_NULL) continue;
    int code = PMPI_Test(&x->request[i], &is_done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) continue;
    x->code = first_error(x->code, code);
    x->request[i] = MPI_REQUEST_NULL;
    is_done = 1;
  }
  return is_done;
}

/*
 * A program whose room for a published block is above the limit is wrong, and MPI gets it its data. The
 * receive is cancelled then.
 */
static void read_for_long_room(rw_exchange *x) {
  rw_publisher *p = x->publisher;
  for (int i = 0, r = 0; i < p->sources; i++) {
    rw_end *source = &p->source[i];
    if (!is_apart(x, &x->to, source->slot)) continue;
    MPI_Request *request = &x->request[r++];
    if (*request == MPI_REQUEST_NULL || rw_publisher_find(p, source, x->call) == NULL) continue;
    int code = PMPI_Cancel(request);
    if (code == MPI_SUCCESS) code = PMPI_Wait(request, MPI_STATUS_IGNORE);
    x->code = first_error(x->code, code);
    (void)read_block(x, source);
  }
}

static int has_received(rw_exchange *x) {
  int is_done = test_all(x, 0, x->receives);
  if (!is_done && ++x->polls % RARELY == 0) read_for_long_room(x);
  return is_done;
}

/* Whether the block of a source is here now, or comes by a receive that is posted. */
static int read_now(rw_exchange *x, int source) {
  rw_end *end = &x->publisher->source[source];
  if (x->has_read[source] || is_apart(x, &x->to, end->slot)) return 1;
  if (!read_block(x, end)) return 0;
  x->has_read[source] = 1;
  x->awaited -= may_be_awaited(x, end);
  return 1;
}

static int has_read_all(rw_exchange *x) {
  while (x->next < x->publisher->sources && read_now(x, x->next)) x->next++;
  return x->next == x->publisher->sources && has_received(x);
}

/*
 * Reads what is there before its turn, that of a process in the order in which it was sent: who sends or lends a long
 * block waits until it is read, and is not to wait for other sources of this rank, which may wait for it.
 */
static void read_ahead(rw_publisher *p) {
  int awaited = 0;
  for (const rw_exchange *x = p->first; x != NULL; x = x->after) awaited += x->awaited;
  if (awaited == 0) return;
  memset(p->is_behind, 0, (size_t)rw_arena_of_process()->processes);
  for (rw_exchange *x = p->first; x != NULL; x = x->after)
    for (int i = x->next; i < p->sources; i++) {
      int process = p->source[i].process;
      if (!p->is_behind[process] && !read_now(x, i)) p->is_behind[process] = 1;
    }
}

/* Calls are complete in order. */
static void read_all(rw_publisher *p) {
  for (rw_exchange *x = p->first; x != NULL; x = p->first) {
    if (!has_read_all(x)) {
      read_ahead(p);
      return;
    }
    if (p->sources > 0 && p->entry != NULL)
      __atomic_store_n(rw_entry_consumed(p->entry, p->collective), x->call + 1, __ATOMIC_RELEASE);
    p->first = x->after;
    if (p->first == NULL) p->last = NULL;
    x->is_read = 1;
  }
}

static int advance(rw_exchange *x) {
  if (!x->is_read) read_all(x->publisher);
  if (!x->is_read || !rw_loans_are_read(x)) return 0;
  int is_sent = test_all(x, x->receives, x->requests);
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

/* MPI gets to work now and then: what this process has begun there, others may wait for. */
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
  /* One message at most for each end. */
  size_t requests = (size_t)(p->all_sources + p->all_readers);
  rw_exchange *x = malloc(sizeof *x + sizeof *x->request * requests + (size_t)p->sources);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int code = x != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  if (code == MPI_SUCCESS && !to->is_contiguous && p->sources > 0) code = PMPI_Type_dup(to->type, &type);
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
