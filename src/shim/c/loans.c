/*
 * Long blocks of a call, which readers copy from the memory of the program. A place has the address of the block
 * and counts its readers; its sender ends the call when all have read.
 */
#include "publish.h"

#include <stdlib.h>
#include <string.h>

/* The data of a place whose block is lent. */
typedef struct {
  uint32_t reads; /* count of reads, the only field that readers write */
  char address[sizeof(uint64_t)];
} loan;

static loan *loan_of(const rw_place *place) { return (loan *)(uintptr_t)place->data; }

int rw_loan_make(rw_exchange *x, const rw_buffer *from, int block, char *packed, char *data) {
  char *at = from->is_contiguous ? rw_buffer_at(from, block) : packed;
  uint64_t address = (uint64_t)(uintptr_t)at;
  loan made = {0};
  memcpy(made.address, &address, sizeof address);
  memcpy(data, &made, sizeof made);
  x->loans++;
  return from->is_contiguous ? MPI_SUCCESS : rw_buffer_read(from, block, packed, rw_arena_of_process()->comm);
}

static int fetch(const rw_end *source, const rw_place *place, char *to) {
  uint64_t address;
  memcpy(&address, loan_of(place)->address, sizeof address);
  return rw_arena_fetch(source->process, address, to, place->length);
}

static int fetch_into(const rw_buffer *to, int slot, const rw_end *source, const rw_place *place) {
  if ((int64_t)place->length > rw_buffer_bytes(to, slot)) return MPI_ERR_TRUNCATE;
  if (to->is_contiguous) return fetch(source, place, rw_buffer_at(to, slot));
  char *data = malloc(place->length);
  int code = data != NULL ? fetch(source, place, data) : MPI_ERR_NO_MEM;
  if (code == MPI_SUCCESS)
    code = rw_buffer_write(to, slot, data, (int)place->length, rw_arena_of_process()->comm);
  free(data);
  return code;
}

int rw_loan_read(const rw_exchange *x, const rw_end *source, const rw_place *place) {
  int code = fetch_into(&x->to, rw_slot(x, source), source, place);
  __atomic_fetch_add(&loan_of(place)->reads, 1, __ATOMIC_RELEASE);
  return code;
}

int rw_loans_are_read(rw_exchange *x) {
  const rw_publisher *p = x->publisher;
  int places = p->collective == RW_ALLGATHER ? 1 : p->readers;
  uint32_t reads = p->collective == RW_ALLGATHER ? (uint32_t)p->readers : 1;
  for (int i = 0; x->loans > 0 && i < places; i++) {
    const rw_place *place = rw_publisher_place_of(p, i, x->call);
    /* A place that holds a later call has been read by all. */
    if (place->calls != x->call + 1 || place->length <= p->limit) continue;
    if (__atomic_load_n(&loan_of(place)->reads, __ATOMIC_ACQUIRE) < reads) return 0;
  }
  x->loans = 0;
  return 1;
}
