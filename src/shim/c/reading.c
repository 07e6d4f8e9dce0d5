/*
 * Reads the blocks of calls: from the places of their senders, from the memory of their programs, or as messages.
 */
#include "publish.h"

#include <stdlib.h>
#include <string.h>

/* The polls between checks for messages that only a wrong program sends. */
enum { RARELY = 64 };

/* Returns whether the sender of a block may wait until this rank has read it: MPI sends short ones without waiting. */
static int may_be_awaited(const rw_exchange *x, const rw_end *source) {
  int slot = rw_slot(x, source);
  return !rw_is_apart(x, &x->to, slot) && rw_buffer_bytes(&x->to, slot) > (int64_t)rw_arena_of_process()->limit;
}

void rw_reading_begin(rw_exchange *x) {
  const rw_publisher *p = x->publisher;
  x->next = x->awaited = 0;
  x->polls = 0;
  for (int i = 0; i < p->sources; i++) {
    x->has_read[i] = 0;
    x->awaited += may_be_awaited(x, &p->source[i]);
  }
}

static int write_block(rw_exchange *x, const rw_end *source, const char *data, int length) {
  return rw_buffer_write(&x->to, rw_slot(x, source), data, length, rw_arena_of_process()->comm);
}

/*
 * Receives a block that came as a message instead. One above the limit is longer than its room. It is received
 * whole, because Open MPI 4.1 writes behind a buffer that is too short for a message of a process to itself.
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
  x->code = rw_first_error(x->code, code);
  return 1;
}

static int has_message(const rw_exchange *x, const rw_end *source) {
  int is_there = 0, tag = rw_arena_tag(x->publisher->number, x->publisher->collective, 0);
  int code = PMPI_Iprobe(source->rank, tag, rw_arena_of_process()->comm, &is_there, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS && is_there;
}

/*
 * Reads a message. A source without an entry has not come yet, or was refused one and sends only messages. It makes
 * its entry before it sends, and removes none whose blocks are not read.
 */
static int read_message(rw_exchange *x, rw_end *source) {
  rw_publisher *p = x->publisher;
  if (source->entry == NULL) {
    int is_there = has_message(x, source);
    source->entry = rw_entry_find(source->process, p->number);
    if (source->entry == NULL) return is_there && receive_message(x, source, 0);
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
  x->code = rw_first_error(x->code, code);
}

static int read_block(rw_exchange *x, rw_end *source) {
  const rw_place *place = rw_publisher_find(x->publisher, source, x->call);
  if (place == NULL) return read_message(x, source);
  read_place(x, source, place);
  return 1;
}

/*
 * A program whose room for a published block is above the limit is wrong, and its data comes by MPI. The receive is
 * then cancelled.
 */
static void read_for_long_room(rw_exchange *x) {
  rw_publisher *p = x->publisher;
  for (int i = 0, r = 0; i < p->sources; i++) {
    rw_end *source = &p->source[i];
    if (!rw_is_apart(x, &x->to, rw_slot(x, source))) continue;
    MPI_Request *request = &x->request[r++];
    if (*request == MPI_REQUEST_NULL || rw_publisher_find(p, source, x->call) == NULL) continue;
    int code = PMPI_Cancel(request);
    if (code == MPI_SUCCESS) code = PMPI_Wait(request, MPI_STATUS_IGNORE);
    x->code = rw_first_error(x->code, code);
    (void)read_block(x, source);
  }
}

static int has_received(rw_exchange *x) {
  int is_done = rw_exchange_test_all(x, 0, x->receives);
  if (!is_done && ++x->polls % RARELY == 0) read_for_long_room(x);
  return is_done;
}

/* Returns whether the block of a source is read now, or comes by a posted receive. */
static int read_now(rw_exchange *x, int source) {
  rw_end *end = &x->publisher->source[source];
  if (x->has_read[source] || rw_is_apart(x, &x->to, rw_slot(x, end))) return 1;
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
 * Reads blocks before their turn, those of a process in the order in which it sent them. The sender of a long block
 * waits until it is read. It must not wait for other sources of this rank, which may wait for it.
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
void rw_reading_advance(rw_publisher *p) {
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
