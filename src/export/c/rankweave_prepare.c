/* This file makes requests of programs: see rankweave_program.h. */
#include "rankweave_request.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns the bringer of a value: a receive, `receives + c` for combination c, or the number of bringers for an
 * own block.
 */
static int32_t bringer_of(const rw_request *r, const int32_t *receive_of, int32_t value) {
  const struct rw_program *p = r->program;
  if (value < p->own) return r->bringers;
  if (value < rw_arrivals_end(p)) return receive_of[value - p->own];
  return p->receives + value - rw_arrivals_end(p);
}

/* Notes that a task waits for a bringer: counts the use, or writes it to the place that `next` gives. */
static void add_use(rw_request *r, int32_t task, int32_t bringer, int32_t *next) {
  if (next == NULL) {
    r->needs[task]++;
    r->use_start[bringer + 1]++;
  } else {
    r->use[next[bringer]++] = task;
  }
}

/* Finds the uses of gates: a gate waits for the gate before it and for the messages that it adds. */
static void find_gate_uses(rw_request *r, int32_t *next) {
  const struct rw_program *p = r->program;
  int32_t gates = p->sends + p->combinations, opened = p->receives + p->combinations, j = 0, i = 0;
  for (int32_t g = 0; g < p->gates; g++) {
    if (g > 0) add_use(r, gates + g, opened + g - 1, next);
    for (; j < p->gate_sends[g]; j++) add_use(r, gates + g, opened + p->gates + j, next);
    for (; i < p->gate_receives[g]; i++) add_use(r, gates + g, i, next);
  }
  for (j = 0; p->gates > 0 && j < p->sends; j++)
    if (p->send_gate[j] >= 0) add_use(r, j, opened + p->send_gate[j], next);
  for (i = 0; p->gates > 0 && i < p->receives; i++)
    if (p->receive_gate[i] >= 0) add_use(r, gates + p->gates + i, opened + p->receive_gate[i], next);
}

/*
 * Visits each pair of a task and a bringer that it waits for once. The first pass counts, the second writes.
 */
static void find_uses(rw_request *r, const int32_t *receive_of, int32_t *marked, int32_t *next) {
  const struct rw_program *p = r->program;
  for (int32_t b = 0; b < r->bringers; b++) marked[b] = -1;
  for (int32_t t = 0; t < p->sends + p->combinations; t++) {
    int32_t c = t - p->sends;
    const int32_t operands[2] = {c < 0 ? 0 : p->left[c], c < 0 ? 0 : p->right[c]};
    const int32_t *value = c < 0 ? p->send_value + p->send_start[t] : operands;
    int32_t count = c < 0 ? p->send_start[t + 1] - p->send_start[t] : 2;
    for (int32_t i = 0; i < count; i++) {
      int32_t b = bringer_of(r, receive_of, value[i]);
      if (b == r->bringers || marked[b] == t) continue;
      marked[b] = t;
      add_use(r, t, b, next);
    }
  }
  find_gate_uses(r, next);
}

/* Allocates zeroed memory; returns NULL only if memory is exhausted. */
static void *zeroed(size_t count, size_t size) { return calloc(count == 0 ? 1 : count, size); }

static int find_dependencies(rw_request *r) {
  const struct rw_program *p = r->program;
  int32_t bringers = r->bringers, code = MPI_ERR_NO_MEM;
  int32_t *receive_of = zeroed((size_t)(rw_arrivals_end(p) - p->own), sizeof *receive_of);
  int32_t *marked = zeroed((size_t)bringers, sizeof *marked), *next = zeroed((size_t)bringers + 1, sizeof *next);
  if (receive_of == NULL || marked == NULL || next == NULL) goto end;
  for (int32_t i = 0; i < p->receives; i++)
    for (int32_t v = p->receive_start[i]; v < p->receive_start[i + 1]; v++) receive_of[v - p->own] = i;

  find_uses(r, receive_of, marked, NULL);
  for (int32_t b = 0; b < bringers; b++) r->use_start[b + 1] += r->use_start[b];
  r->use = zeroed((size_t)r->use_start[bringers], sizeof *r->use);
  if (r->use == NULL) goto end;
  memcpy(next, r->use_start, (size_t)bringers * sizeof *next);
  find_uses(r, receive_of, marked, next);

  for (int32_t s = 0; s < p->slots; s++) r->fill_start[bringer_of(r, receive_of, p->slot_value[s]) + 1]++;
  for (int32_t b = 0; b <= bringers; b++) r->fill_start[b + 1] += r->fill_start[b];
  memcpy(next, r->fill_start, ((size_t)bringers + 1) * sizeof *next);
  for (int32_t s = 0; s < p->slots; s++) r->fill[next[bringer_of(r, receive_of, p->slot_value[s])]++] = s;

  for (int32_t i = 0; i < p->receives; i++)
    if (p->gates > 0 || r->use_start[i + 1] > r->use_start[i]) r->order[r->awaited++] = i;
  for (int32_t i = 0, k = r->awaited; k < p->receives; i++)
    if (r->use_start[i + 1] == r->use_start[i]) r->order[k++] = i;
  r->watched = p->gates > 0 ? p->receives + p->sends : r->awaited;
  code = MPI_SUCCESS;
end:
  free(receive_of);
  free(marked);
  free(next);
  return code;
}

/* Finds the first slot of every value, -1 if it fills none. */
static void find_first_slots(const struct rw_program *p, int32_t values, int32_t *first_slot) {
  for (int32_t v = 0; v < values; v++) first_slot[v] = -1;
  for (int32_t s = p->slots - 1; s >= 0; s--) first_slot[p->slot_value[s]] = s;
}

/*
 * Returns whether the first slots of values are one run of the receive buffer; *bytes becomes their total
 * length.
 */
static int are_run_of_slots(const rw_request *r, const int32_t *first_slot, int32_t value, int32_t end, size_t *bytes) {
  *bytes = 0;
  for (int32_t v = value; v < end; v++) {
    if (first_slot[v] < 0) return 0;
    if (v > value && r->slot_at[first_slot[v]] != r->slot_at[first_slot[v - 1]] + (MPI_Aint)r->bytes[v - 1]) return 0;
    *bytes += r->bytes[v];
  }
  return 1;
}

static void place_in_slot(rw_request *r, const int32_t *first_slot, int32_t value) {
  r->area[value] = in_receive_buffer;
  r->at[value] = r->slot_at[first_slot[value]];
}

/*
 * Places long values in the caller's buffers. Own values stay in the send buffer, or in their slot if they
 * are sent with others. Values of one message that belong to adjacent slots, and results, go to their slots.
 */
static void place_long_values(rw_request *r, const int32_t *first_slot) {
  const struct rw_program *p = r->program;
  size_t bytes;
  for (int32_t v = 0; v < p->own; v++)
    if (r->bytes[v] >= RW_DIRECT_BYTES) r->area[v] = in_send_buffer;
  for (int32_t j = 0; j < p->sends; j++) {
    if (p->send_start[j + 1] - p->send_start[j] < 2) continue;
    for (int32_t k = p->send_start[j]; k < p->send_start[j + 1]; k++) {
      int32_t v = p->send_value[k];
      if (v < p->own && r->area[v] == in_send_buffer && first_slot[v] >= 0) place_in_slot(r, first_slot, v);
    }
  }
  for (int32_t i = 0; i < p->receives; i++) {
    if (!are_run_of_slots(r, first_slot, p->receive_start[i], p->receive_start[i + 1], &bytes)) continue;
    if (bytes < RW_DIRECT_BYTES) continue;
    for (int32_t v = p->receive_start[i]; v < p->receive_start[i + 1]; v++) place_in_slot(r, first_slot, v);
  }
  for (int32_t v = rw_arrivals_end(p); v < r->values; v++)
    if (r->bytes[v] >= RW_DIRECT_BYTES && first_slot[v] >= 0) place_in_slot(r, first_slot, v);
}

static int place_values(rw_request *r, const struct rw_blocks *blocks) {
  const struct rw_program *p = r->program;
  size_t end = 0;
  for (int32_t v = 0; v < r->values; v++) {
    r->bytes[v] = blocks->value_bytes == NULL ? blocks->bytes : blocks->value_bytes[v];
  }
  MPI_Aint next = 0;
  for (int32_t i = 0; i < p->own; i++) {
    r->own_at[i] = blocks->own_at == NULL ? next : blocks->own_at[i];
    next += (MPI_Aint)r->bytes[i];
  }
  next = 0;
  for (int32_t s = 0; s < p->slots; s++) {
    r->slot_at[s] = blocks->slot_at == NULL ? next : blocks->slot_at[s];
    next += (MPI_Aint)r->bytes[p->slot_value[s]];
  }
  int32_t *first_slot = zeroed((size_t)r->values, sizeof *first_slot);
  if (first_slot == NULL) return MPI_ERR_NO_MEM;
  find_first_slots(p, r->values, first_slot);
  place_long_values(r, first_slot);
  free(first_slot);
  for (int32_t v = 0; v < r->values; v++) {
    if (r->area[v] == in_send_buffer) r->at[v] = r->own_at[v];
    if (r->area[v] != in_store) continue;
    if (r->bytes[v] > (size_t)PTRDIFF_MAX - end) return MPI_ERR_NO_MEM;
    r->at[v] = (MPI_Aint)end;
    end += r->bytes[v];
  }
  int is_run = blocks->own_at == NULL;
  size_t run = 0;
  for (int32_t v = 0; v < p->own; v++) {
    if (r->area[v] != in_store) is_run = 0;
    run += r->bytes[v];
  }
  r->own_run = is_run ? run : 0;
  r->store = r->base[in_store] = zeroed(end, 1);
  return r->store == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/* Returns the bytes of values, -1 if a message cannot hold them. */
static int message_bytes(const rw_request *r, const int32_t *value, int32_t count) {
  size_t bytes = 0;
  for (int32_t i = 0; i < count; i++) {
    if (r->bytes[value[i]] > (size_t)INT_MAX - bytes) return -1;
    bytes += r->bytes[value[i]];
  }
  return (int)bytes;
}

/* Returns whether values lie one after the other. */
static int are_run(const rw_request *r, const int32_t *value, int32_t count) {
  for (int32_t i = 1; i < count; i++) {
    if (r->area[value[i]] != r->area[value[0]]) return 0;
    if (r->at[value[i]] != r->at[value[i - 1]] + (MPI_Aint)r->bytes[value[i - 1]]) return 0;
  }
  return 1;
}

static int prepare_sends(rw_request *r) {
  const struct rw_program *p = r->program;
  size_t packed = 0;
  for (int32_t j = 0; j < p->sends; j++) {
    const int32_t *value = p->send_value + p->send_start[j];
    int32_t count = p->send_start[j + 1] - p->send_start[j];
    r->send_bytes[j] = message_bytes(r, value, count);
    if (r->send_bytes[j] < 0) return MPI_ERR_COUNT;
    r->is_packed[j] = !are_run(r, value, count);
    if (r->is_packed[j]) packed += (size_t)r->send_bytes[j];
  }
  r->packed = zeroed(packed, 1);
  if (r->packed == NULL) return MPI_ERR_NO_MEM;
  packed = 0;
  for (int32_t j = 0; j < p->sends; j++) {
    const int32_t *value = p->send_value + p->send_start[j];
    int32_t count = p->send_start[j + 1] - p->send_start[j];
    if (r->is_packed[j]) {
      r->send_from[j] = r->packed + packed;
      packed += (size_t)r->send_bytes[j];
    } else if (count == 0) {
      r->send_from[j] = r->store;
    } else if (r->area[value[0]] == in_store) {
      r->send_from[j] = r->store + r->at[value[0]];
    }
  }
  return MPI_SUCCESS;
}

static int prepare_receives(rw_request *r) {
  const struct rw_program *p = r->program;
  r->all_persistent = 1;
  for (int32_t k = 0; k < p->receives; k++) {
    int32_t i = r->order[k], first = p->receive_start[i];
    size_t bytes = 0;
    for (int32_t v = first; v < p->receive_start[i + 1]; v++) {
      if (r->bytes[v] > (size_t)INT_MAX - bytes) return MPI_ERR_COUNT;
      bytes += r->bytes[v];
    }
    r->receive_bytes[i] = (int)bytes;
    if (first < p->receive_start[i + 1] && r->area[first] == in_receive_buffer) {
      r->all_persistent = 0;
      continue;
    }
    unsigned char *into = first < p->receive_start[i + 1] ? r->store + r->at[first] : r->store;
    int code = RW_MPI(Recv_init)(into, r->receive_bytes[i], MPI_BYTE, p->receive_peer[i], r->receive_tag[i], r->comm,
                                 &r->requests[k]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

static int allocate(rw_request *r) {
  const struct rw_program *p = r->program;
  size_t values = (size_t)r->values, tasks = (size_t)r->tasks, bringers = (size_t)r->bringers;
  size_t sends = (size_t)p->sends, receives = (size_t)p->receives;
  r->area = zeroed(values, sizeof *r->area), r->bytes = zeroed(values, sizeof *r->bytes);
  r->at = zeroed(values, sizeof *r->at);
  r->own_at = zeroed((size_t)p->own, sizeof *r->own_at), r->slot_at = zeroed((size_t)p->slots, sizeof *r->slot_at);
  r->needs = zeroed(tasks, sizeof *r->needs), r->missing = zeroed(tasks, sizeof *r->missing);
  r->ready = zeroed(tasks, sizeof *r->ready), r->use_start = zeroed(bringers + 1, sizeof *r->use_start);
  r->fill_start = zeroed(bringers + 2, sizeof *r->fill_start);
  r->fill = zeroed((size_t)p->slots, sizeof *r->fill), r->order = zeroed(receives, sizeof *r->order);
  r->send_tag = zeroed(sends, sizeof *r->send_tag), r->receive_tag = zeroed(receives, sizeof *r->receive_tag);
  r->send_bytes = zeroed(sends, sizeof *r->send_bytes);
  r->receive_bytes = zeroed(receives, sizeof *r->receive_bytes);
  r->send_from = zeroed(sends, sizeof *r->send_from), r->is_packed = zeroed(sends, sizeof *r->is_packed);
  r->requests = zeroed(sends + receives, sizeof *r->requests), r->indices = zeroed(sends + receives, sizeof *r->indices);
  r->statuses = zeroed(sends + receives, sizeof *r->statuses);
  if (r->requests != NULL)
    for (size_t i = 0; i < sends + receives; i++) r->requests[i] = MPI_REQUEST_NULL;
  const void *all[] = {r->area,     r->bytes,       r->at,       r->own_at,        r->slot_at,   r->needs,    r->missing,
                       r->ready,    r->use_start,   r->fill_start, r->fill,        r->order,     r->send_tag, r->receive_tag,
                       r->send_bytes, r->receive_bytes, r->send_from, r->is_packed, r->requests, r->indices, r->statuses};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] == NULL) return MPI_ERR_NO_MEM;
  return MPI_SUCCESS;
}

static int check_communicator(const struct rw_program *p, MPI_Comm comm, int tag, int32_t tags) {
  int size, rank, found, *upper, code;
  if ((code = RW_MPI(Comm_size)(comm, &size)) != MPI_SUCCESS) return code;
  if ((code = RW_MPI(Comm_rank)(comm, &rank)) != MPI_SUCCESS) return code;
  if (size != p->ranks || rank != p->rank) return MPI_ERR_COMM;
  if ((code = RW_MPI(Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &found)) != MPI_SUCCESS) return code;
  if (tags < 0) return MPI_ERR_NO_MEM;
  return tag < 0 || (tags > 0 && tag > (found ? *upper : 32767) - (tags - 1)) ? MPI_ERR_TAG : MPI_SUCCESS;
}

static int prepare(rw_request *r, const struct rw_blocks *blocks) {
  const struct rw_program *p = r->program;
  int code = check_communicator(p, r->comm, r->tag, rw_tags(p));
  if (code != MPI_SUCCESS) return code;
  if (p->combinations > 0 && blocks->combine == NULL) return MPI_ERR_OP;
  if ((code = allocate(r)) != MPI_SUCCESS) return code;
  if (rw_number_messages(p, p->send_peer, p->sends, r->tag, r->send_tag) < 0) return MPI_ERR_NO_MEM;
  if (rw_number_messages(p, p->receive_peer, p->receives, r->tag, r->receive_tag) < 0) return MPI_ERR_NO_MEM;
  if ((code = find_dependencies(r)) != MPI_SUCCESS) return code;
  if ((code = place_values(r, blocks)) != MPI_SUCCESS) return code;
  if ((code = prepare_receives(r)) != MPI_SUCCESS) return code;
  return prepare_sends(r);
}

int rw_request_create(const struct rw_program *program, MPI_Comm comm, int tag, const struct rw_blocks *blocks,
                      rw_request **request) {
  rw_request *r = zeroed(1, sizeof *r);
  *request = NULL;
  if (r == NULL) return MPI_ERR_NO_MEM;
  r->program = program, r->comm = comm, r->tag = tag, r->combine = blocks->combine, r->context = blocks->context;
  r->values = rw_values(program), r->tasks = program->sends + program->combinations;
  r->bringers = program->receives + program->combinations;
  if (program->gates > 0) {
    r->tasks += program->gates + program->receives;
    r->bringers += program->gates + program->sends;
  }
  int code = prepare(r, blocks);
  if (code == MPI_SUCCESS) *request = r;
  else rw_request_free(&r);
  return code;
}

int rw_request_free(rw_request **request) {
  rw_request *r = *request;
  int code = MPI_SUCCESS;
  if (r == NULL) return MPI_SUCCESS;
  if (r->is_active && !r->is_broken) return MPI_ERR_REQUEST;
  *request = NULL;
  for (int32_t i = 0; r->requests != NULL && i < r->program->sends + r->program->receives; i++) {
    if (r->requests[i] == MPI_REQUEST_NULL) continue;
    int freed = RW_MPI(Request_free)(&r->requests[i]);
    if (code == MPI_SUCCESS) code = freed;
  }
  void *all[] = {r->area,     r->bytes,         r->at,         r->own_at,   r->slot_at,     r->needs,    r->missing, r->ready,
                 r->use_start, r->use,          r->fill_start, r->fill,     r->order,       r->send_tag, r->receive_tag,
                 r->send_bytes, r->receive_bytes, r->send_from, r->is_packed, r->requests, r->indices, r->statuses, r->store,   r->packed};
  /* After an error MPI may still write to this memory, so it is not freed. */
  if (!r->is_broken) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(r);
  }
  return code;
}
