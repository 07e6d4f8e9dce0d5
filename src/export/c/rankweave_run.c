/* This file runs requests of programs: see rankweave_program.h. */
#include "rankweave_request.h"

#include <stdlib.h>
#include <string.h>

/* Copies bytes. The compiler knows common lengths as constants. */
static void copy(unsigned char *to, const unsigned char *from, size_t bytes) {
  if (bytes == 4) memcpy(to, from, 4);
  else if (bytes == 8) memcpy(to, from, 8);
  else if (bytes > 0) memcpy(to, from, bytes);
}

static unsigned char *address(const rw_request *r, int32_t value) { return r->base[r->area[value]] + r->at[value]; }

/* Fills the slots of what a bringer brought, except data that were received in their slot. */
static void fill_slots(rw_request *r, int32_t bringer) {
  for (int32_t f = r->fill_start[bringer]; f < r->fill_start[bringer + 1]; f++) {
    int32_t slot = r->fill[f], value = r->program->slot_value[slot];
    unsigned char *to = r->base[in_receive_buffer] + r->slot_at[slot], *from = address(r, value);
    if (to != from) copy(to, from, r->bytes[value]);
  }
}

/*
 * Sends message j by MPI_Isend, not by a persistent request: Open MPI completes a short MPI_Isend at once,
 * without a request, but not MPI_Start.
 */
static int send_message(rw_request *r, int32_t j) {
  const struct rw_program *p = r->program;
  const int32_t *value = p->send_value + p->send_start[j];
  unsigned char *from = r->send_from[j] == NULL ? address(r, value[0]) : r->send_from[j];
  if (r->is_packed[j]) {
    unsigned char *to = from;
    int32_t count = p->send_start[j + 1] - p->send_start[j];
    for (int32_t i = 0; i < count; to += r->bytes[value[i++]]) copy(to, address(r, value[i]), r->bytes[value[i]]);
  }
  return RW_MPI(Isend)(from, r->send_bytes[j], MPI_BYTE, p->send_peer[j], r->send_tag[j], r->comm,
                       &r->requests[p->receives + j]);
}

/* Posts receive request k; `order` names its message. */
static int post_receive(rw_request *r, int32_t k) {
  const struct rw_program *p = r->program;
  int32_t i = r->order[k], v = p->receive_start[i];
  int is_direct = v < p->receive_start[i + 1] && r->area[v] == in_receive_buffer;
  return is_direct ? RW_MPI(Irecv)(address(r, v), r->receive_bytes[i], MPI_BYTE, p->receive_peer[i], r->receive_tag[i],
                                   r->comm, &r->requests[k])
                   : RW_MPI(Start)(&r->requests[k]);
}

/*
 * Runs a task and those that thereby become ready. The results of combinations and gates are available at
 * once.
 */
static int run_task(rw_request *r, int32_t first) {
  const struct rw_program *p = r->program;
  int32_t done = 0, count = 0, first_post = p->combinations + p->gates;
  r->ready[count++] = first;
  while (done < count) {
    int32_t task = r->ready[done++], c = task - p->sends;
    if (c < 0 || c >= first_post) {
      /* With gates, receives are in the order of the program. */
      int code = c < 0 ? send_message(r, task) : post_receive(r, c - first_post);
      if (code != MPI_SUCCESS) return code;
      continue;
    }
    int32_t bringer = p->receives + c;
    if (c < p->combinations) {
      int32_t made = rw_arrivals_end(p) + c;
      r->combine(address(r, made), address(r, p->left[c]), address(r, p->right[c]), r->bytes[made], r->context);
      fill_slots(r, bringer);
    }
    for (int32_t u = r->use_start[bringer]; u < r->use_start[bringer + 1]; u++)
      if (--r->missing[r->use[u]] == 0) r->ready[count++] = r->use[u];
  }
  return MPI_SUCCESS;
}

/* Handles a message that has arrived or, with gates, has been sent. */
static int settle(rw_request *r, int32_t bringer) {
  fill_slots(r, bringer);
  for (int32_t u = r->use_start[bringer]; u < r->use_start[bringer + 1]; u++) {
    if (--r->missing[r->use[u]] > 0) continue;
    int code = run_task(r, r->use[u]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

static int post_receives(rw_request *r) {
  const struct rw_program *p = r->program;
  if (r->all_persistent && p->gates == 0) return p->receives == 0 ? MPI_SUCCESS : RW_MPI(Startall)(p->receives, r->requests);
  for (int32_t k = 0; k < p->receives; k++) {
    if (p->gates > 0 && p->receive_gate[k] >= 0) continue;
    int code = post_receive(r, k);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

static int begin(rw_request *r) {
  const struct rw_program *p = r->program;
  int code = post_receives(r);
  if (code != MPI_SUCCESS) return code;
  if (r->own_run > 0) copy(r->store, r->base[in_send_buffer], r->own_run);
  else
    for (int32_t v = 0; v < p->own; v++)
      if (r->area[v] != in_send_buffer) copy(address(r, v), r->base[in_send_buffer] + r->own_at[v], r->bytes[v]);
  memcpy(r->missing, r->needs, (size_t)r->tasks * sizeof *r->missing);
  r->watched_left = r->watched;
  for (int32_t t = 0; t < p->sends + p->combinations; t++)
    if (r->needs[t] == 0 && (code = run_task(r, t)) != MPI_SUCCESS) return code;
  fill_slots(r, r->bringers);
  return MPI_SUCCESS;
}

/* Returns the error itself if MPI has put it in the status of one of the requests. */
static int cause(const rw_request *r, int code, int statuses) {
  for (int i = 0; code == MPI_ERR_IN_STATUS && i < statuses; i++) {
    int error = r->statuses[i].MPI_ERROR;
    if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) return error;
  }
  return code;
}

/* Notes an error. A failed request stays active, because MPI may still use its memory. */
static int outcome(rw_request *r, int code) {
  if (code != MPI_SUCCESS) r->is_broken = 1;
  return code;
}

int rw_start(rw_request *r, const void *send_buffer, void *receive_buffer) {
  if (r->is_active) return MPI_ERR_REQUEST;
  r->is_active = 1;
  /* The send buffer is only read; the table of bases serves both directions. */
  r->base[in_send_buffer] = (unsigned char *)(uintptr_t)send_buffer;
  r->base[in_receive_buffer] = receive_buffer;
  return outcome(r, begin(r));
}

static int requests_complete(rw_request *r, int count) {
  const struct rw_program *p = r->program;
  /* No MPI request is active, so a gate would never open; the check of the program excludes this. */
  if (count == MPI_UNDEFINED) return MPI_ERR_REQUEST;
  for (int n = 0; n < count; n++) {
    int32_t k = r->indices[n];
    int code = settle(r, k < p->receives ? r->order[k] : p->combinations + p->gates + k);
    if (code != MPI_SUCCESS) return code;
  }
  r->watched_left -= count;
  return MPI_SUCCESS;
}

/*
 * Finishes when everything has been sent and received: fills the slots of messages that no task waited for.
 */
static void finish(rw_request *r) {
  for (int32_t k = r->awaited; k < r->program->receives; k++) fill_slots(r, r->order[k]);
  r->is_active = 0;
}

int rw_test(rw_request *r, int *done) {
  int32_t requests = r->program->receives + r->program->sends;
  int count = 0, code;
  *done = !r->is_active;
  if (*done) return MPI_SUCCESS;
  if (r->is_broken) return MPI_ERR_REQUEST;
  if (r->watched_left > 0) {
    code = RW_MPI(Testsome)(r->watched, r->requests, &count, r->indices, r->statuses);
    if (code == MPI_SUCCESS) code = requests_complete(r, count);
    if (code != MPI_SUCCESS) return outcome(r, cause(r, code, count));
    if (r->watched_left > 0) return MPI_SUCCESS;
  }
  code = RW_MPI(Testall)(requests, r->requests, done, r->statuses);
  if (code != MPI_SUCCESS) return outcome(r, cause(r, code, requests));
  if (*done) finish(r);
  return MPI_SUCCESS;
}

int rw_wait(rw_request *r) {
  int32_t requests = r->program->receives + r->program->sends;
  int count = 0, code;
  if (!r->is_active) return MPI_SUCCESS;
  if (r->is_broken) return MPI_ERR_REQUEST;
  while (r->watched_left > 0) {
    code = RW_MPI(Waitsome)(r->watched, r->requests, &count, r->indices, r->statuses);
    if (code == MPI_SUCCESS) code = requests_complete(r, count);
    if (code != MPI_SUCCESS) return outcome(r, cause(r, code, count));
  }
  code = RW_MPI(Waitall)(requests, r->requests, r->statuses);
  if (code != MPI_SUCCESS) return outcome(r, cause(r, code, requests));
  finish(r);
  return MPI_SUCCESS;
}

static void take_left(void *into, const void *left, const void *right, size_t bytes, void *context) {
  (void)right, (void)context;
  memcpy(into, left, bytes);
}

int rw_value_bytes(const struct rw_program *p, MPI_Comm comm, int tag, const size_t *own_bytes, size_t *value_bytes) {
  const struct rw_blocks blocks = {sizeof(uint64_t), NULL, NULL, NULL, take_left, NULL};
  uint64_t *lengths = calloc((size_t)p->own + (size_t)p->slots + 1, sizeof *lengths);
  rw_request *r = NULL;
  if (lengths == NULL) return MPI_ERR_NO_MEM;
  for (int32_t i = 0; i < p->own; i++) lengths[i] = own_bytes[i];
  int code = rw_request_create(p, comm, tag, &blocks, &r);
  if (code == MPI_SUCCESS) code = rw_start(r, lengths, lengths + p->own);
  if (code == MPI_SUCCESS) code = rw_wait(r);
  for (int32_t v = 0; code == MPI_SUCCESS && v < r->values; v++) {
    uint64_t length;
    memcpy(&length, address(r, v), sizeof length);
    value_bytes[v] = (size_t)length;
  }
  int freed = rw_request_free(&r);
  free(lengths);
  return code == MPI_SUCCESS ? freed : code;
}
