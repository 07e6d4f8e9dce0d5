/*
 * Reproducible reductions that do not wait. MPI brings all contributions to every rank that has a result, in one
 * non-blocking call, and the last step of the request combines them. So no rank has to act between the start and the
 * end, and none is waited for while its program does something else. The memory is that of all contributions.
 */
#include "shim.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct rw_started {
  rw_reduction call;
  rw_leaves leaves;
  MPI_Request request;
  int rank, ranks;
  const void *from;
  int *sent, *sent_at, *received, *received_at; /* blocks of a reduce-scatter */
  char *memory;
};

static int is_scattered(const rw_started *s) {
  return s->call.function == RW_TUNE_REDUCE_SCATTER || s->call.function == RW_TUNE_REDUCE_SCATTER_BLOCK;
}

static int has_result(const rw_started *s) { return s->call.function != RW_TUNE_REDUCE || s->call.root == s->rank; }

void rw_started_free(void *given) {
  rw_started *s = given;
  free(s->memory);
  free(s->sent);
  free(s);
}

/* Lists the blocks of a reduce-scatter. */
static int list_blocks(rw_started *s) {
  size_t ranks = (size_t)s->ranks;
  s->sent = malloc(4 * ranks * sizeof *s->sent);
  if (s->sent == NULL) return 0;
  s->sent_at = s->sent + ranks;
  s->received = s->sent_at + ranks;
  s->received_at = s->received + ranks;
  for (int r = 0, at = 0; r < s->ranks; at += s->sent[r++]) {
    s->sent[r] = s->call.counts == NULL ? s->call.count : s->call.counts[r];
    s->sent_at[r] = at;
  }
  for (int r = 0; r < s->ranks; r++) {
    s->received[r] = s->sent[s->rank];
    s->received_at[r] = r * s->sent[s->rank];
  }
  return 1;
}

int rw_started_make(const rw_reduction *call, const rw_leaves *leaves, int rank, int ranks, rw_started **made) {
  rw_started *s = calloc(1, sizeof *s);
  int bytes = 0;
  if (s == NULL) return MPI_ERR_NO_MEM;
  s->call = *call;
  s->leaves = *leaves;
  s->rank = rank;
  s->ranks = ranks;
  s->request = MPI_REQUEST_NULL;
  int has_memory = !is_scattered(s) || list_blocks(s);
  int count = !has_memory ? 0 : is_scattered(s) ? s->sent[rank] : call->count;
  PMPI_Type_size(call->type, &bytes);
  s->leaves.count = count;
  s->leaves.stride = (size_t)count * (size_t)bytes;
  s->from = call->from == MPI_IN_PLACE && (call->function != RW_TUNE_REDUCE || call->root == rank) ? call->to : call->from;
  if (has_memory && has_result(s)) s->memory = malloc(s->leaves.stride * (size_t)ranks + 1);
  s->leaves.first = s->memory;
  if (has_memory && (s->memory != NULL || !has_result(s))) {
    *made = s;
    return MPI_SUCCESS;
  }
  rw_started_free(s);
  return MPI_ERR_NO_MEM;
}

int rw_started_begin(rw_started *s) {
  const rw_reduction *c = &s->call;
  if (is_scattered(s))
    return PMPI_Ialltoallv(s->from, s->sent, s->sent_at, c->type, s->memory, s->received, s->received_at, c->type, c->comm,
                           &s->request);
  if (c->function == RW_TUNE_REDUCE)
    return PMPI_Igather(s->from, c->count, c->type, s->memory, c->count, c->type, c->root, c->comm, &s->request);
  return PMPI_Iallgather(s->from, c->count, c->type, s->memory, c->count, c->type, c->comm, &s->request);
}

int rw_started_advance(void *given, int *is_done) {
  rw_started *s = given;
  const char *result = NULL;
  int code = PMPI_Test(&s->request, is_done, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS || !*is_done || !has_result(s) || s->leaves.stride == 0) return code;
  switch (s->call.function) {
    case RW_TUNE_SCAN: result = rw_leaves_prefix(&s->leaves, s->rank, 1); break;
    case RW_TUNE_EXSCAN: result = rw_leaves_prefix(&s->leaves, s->rank, 0); break;
    default: result = rw_leaves_fold(&s->leaves, 0, s->ranks);
  }
  if (result != NULL) memcpy(s->call.to, result, s->leaves.stride);
  return code;
}
