/*
 * Runs one rank's part of a plan for one call of a collective. The runtime moves values of equal length: the length
 * of a block, then its bytes up to an agreed limit. So ranks need not know what others contribute, and no call
 * needs an agreement. A source sends a longer block directly to its destinations. A mark travels along the route in
 * its place, by which a destination knows that it has to receive directly. Memory is bounded, and no receive is too
 * short.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

/* The length DIRECT stands for a block its source sends itself. */
enum { DIRECT = -1, HEAD = sizeof(int32_t), PLAN_TAG = 1 };

struct rw_runner {
  const rw_part *part;
  const int *sources; /* sources by block of the receive buffer */
  MPI_Comm comm;
  int limit;
  size_t stride;
  unsigned direct_calls;
  int was_direct; /* whether the last call sent a block directly */
  int is_broken;  /* whether a message of the plan has failed */
  char *own, *slots;
  rw_request *request;
  MPI_Request *direct; /* receives, then sends */
  MPI_Status *statuses;
};

rw_runner *rw_runner_make(const rw_part *part, const rw_lists *lists, MPI_Comm comm, int limit) {
  rw_runner *runner = calloc(1, sizeof *runner);
  if (runner == NULL) return NULL;
  const struct rw_program *program = &part->program;
  size_t stride = (HEAD + (size_t)limit + 7) / 8 * 8, direct = (size_t)(lists->in_count + part->edges + 1);
  struct rw_blocks blocks = {stride, NULL, NULL, NULL, NULL, NULL};
  runner->part = part;
  runner->sources = lists->in;
  runner->comm = comm;
  runner->limit = limit;
  runner->stride = stride;
  runner->direct = calloc(direct, sizeof *runner->direct);
  runner->statuses = calloc(direct, sizeof *runner->statuses);
  runner->own = calloc((size_t)program->own + 1, stride);
  runner->slots = calloc((size_t)program->slots + 1, stride);
  int ok = runner->direct && runner->statuses && runner->own && runner->slots;
  if (ok && rw_request_create(program, comm, PLAN_TAG, &blocks, &runner->request) == MPI_SUCCESS) return runner;
  rw_runner_free(runner);
  return NULL;
}

/* A request that failed keeps its memory, which MPI may still use. */
void rw_runner_free(rw_runner *runner) {
  if (runner == NULL) return;
  int code = runner->request == NULL ? MPI_SUCCESS : rw_request_free(&runner->request);
  if (code == MPI_SUCCESS) {
    free(runner->own);
    free(runner->slots);
    free(runner->direct);
  }
  free(runner->statuses);
  free(runner);
}

/* Returns whether the block of an edge has not occurred with an earlier edge: edges are in the order of blocks. */
static int is_first(const rw_part *part, int edge) { return edge == 0 || part->block[edge] != part->block[edge - 1]; }

int rw_run_is_broken(const rw_runner *runner) { return runner->is_broken; }

int rw_run_was_direct(const rw_runner *runner) { return runner->was_direct; }

unsigned rw_direct_calls(rw_runner *runner) {
  unsigned calls = runner->direct_calls;
  runner->direct_calls = 0;
  return calls;
}

/* Reads own blocks. MPI must not touch blocks without a destination, which keep the length 0. */
static int read_own(rw_runner *runner, const rw_buffer *from) {
  const rw_part *part = runner->part;
  int code = MPI_SUCCESS;
  for (int e = 0; e < part->edges; e++) {
    if (!is_first(part, e)) continue;
    int i = part->block[e];
    char *value = runner->own + (size_t)i * runner->stride;
    int64_t bytes = (int64_t)rw_buffer_count(from, i) * from->size;
    int32_t length = bytes > runner->limit ? DIRECT : (int32_t)bytes;
    memcpy(value, &length, HEAD);
    if (length > 0) code = rw_first_error(code, rw_buffer_read(from, i, value + HEAD, runner->comm));
  }
  return code;
}

static const char *slot_value(const rw_runner *runner, int slot) {
  return runner->slots + (size_t)slot * runner->stride;
}

static int32_t length_of(const char *value) {
  int32_t length;
  memcpy(&length, value, HEAD);
  return length;
}

/*
 * Moves blocks above the limit, edge by edge: those between the same two ranks arrive in the order of their edges.
 */
static int move_direct(rw_runner *runner, const rw_buffer *from, const rw_buffer *to) {
  const rw_part *part = runner->part;
  int code = MPI_SUCCESS, count = 0;
  for (int s = 0; s < part->program.slots; s++) {
    int slot = part->slot[s];
    if (length_of(slot_value(runner, s)) != DIRECT) continue;
    code = rw_first_error(code, rw_post_receive(rw_buffer_at(to, slot), rw_buffer_count(to, slot), to->type,
                                                runner->sources[slot], RW_DIRECT_TAG, runner->comm, &runner->direct[count++]));
  }
  for (int i = 0; i < part->edges; i++) {
    int block = part->block[i];
    if (length_of(runner->own + (size_t)block * runner->stride) != DIRECT) continue;
    code = rw_first_error(code, rw_post_send(rw_buffer_at(from, block), rw_buffer_count(from, block), from->type,
                                             part->destination[i], RW_DIRECT_TAG, runner->comm, &runner->direct[count++]));
  }
  runner->was_direct = count > 0;
  runner->direct_calls += count > 0;
  return count == 0 ? code : rw_first_error(code, rw_complete(count, runner->direct, runner->statuses));
}

/*
 * An error of this rank's own buffers keeps no message back: others wait for it, or would take it for one of the
 * next call.
 */
int rw_run(rw_runner *runner, const rw_buffer *from, const rw_buffer *to) {
  const rw_part *part = runner->part;
  int code = read_own(runner, from), moved = rw_start(runner->request, runner->own, runner->slots);
  if (moved == MPI_SUCCESS) moved = rw_wait(runner->request);
  runner->is_broken = moved != MPI_SUCCESS;
  if (runner->is_broken) return moved;
  for (int s = 0; s < part->program.slots; s++) {
    const char *value = slot_value(runner, s);
    int32_t length = length_of(value);
    if (length == DIRECT) continue;
    code = rw_first_error(code, rw_buffer_write(to, part->slot[s], value + HEAD, length, runner->comm));
  }
  return rw_first_error(code, move_direct(runner, from, to));
}
