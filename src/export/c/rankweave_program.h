/*
 * Runs one rank's program of a schedule on MPI (C99, MPI-3).
 *
 * A schedule, planned by Rankweave, is lowered to one program per rank: which messages it sends and receives,
 * and of which blocks. This file executes one program, again and again, by point-to-point messages.
 *
 *   struct rw_program program;      the tables; rw_program_of_words reads them, or fill them in by arithmetic
 *   rw_request *request;
 *   rw_request_create(&program, comm, tag, &blocks, &request);     once: allocates, makes persistent receives
 *   rw_start(request, send_buffer, receive_buffer);                never blocks
 *   rw_test(request, &done);  or  rw_wait(request);
 *   rw_request_free(&request);
 *
 * Calls return MPI_SUCCESS or an MPI error code, that of the MPI call that failed where one did; comm must
 * have an error handler that returns (MPI_ERRORS_RETURN) for that. After an error a request can only be
 * freed.
 *
 * Collective. All ranks of comm must create matching requests: of the same schedule, with the same tag, and
 * with blocks that agree in length. They must start them equally often. Creation sends nothing and may fail
 * in one rank alone: agree on the outcome before the first start.
 *
 * Communicator and tags. comm carries nothing else with the tags of the request; use a duplicate. A request
 * uses the tags `tag` to `tag + rw_tags(program) - 1`: the k-th message of a pair of ranks has tag `tag + k`.
 * Two requests that may be active at once need ranges that do not overlap in any rank. The messages of
 * successive starts of one request match by order.
 *
 * Progress is made in rw_start, rw_test and rw_wait only: what a rank forwards leaves while it is in one of
 * them. A program that starts a request and then blocks in other calls can hold up other ranks.
 *
 * Threads. Calls on one request must not overlap.
 *
 * RW_MPI(name) is the MPI function that is called: define it as PMPI_##name to go past a profiling layer.
 */
#ifndef RANKWEAVE_PROGRAM_H
#define RANKWEAVE_PROGRAM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifndef RW_MPI
#define RW_MPI(name) MPI_##name
#endif

/*
 * The least length of a block that is sent from the caller's send buffer and received in its receive buffer.
 * Its message must hold nothing else. Shorter blocks travel through memory of the request. Ranks may use
 * different lengths.
 */
#ifndef RW_DIRECT_BYTES
#define RW_DIRECT_BYTES 16384
#endif

/*
 * The program of one rank. Values are numbered and never change once they exist:
 *
 *   0 .. own - 1                   the blocks of its send buffer, in order
 *   own .. receive_start[receives] - 1
 *                                  received values: message i brings those from receive_start[i] up to
 *                                  receive_start[i + 1], in the order in which its sender lists them
 *   receive_start[receives] + c    the result of combination c: left[c] op right[c], both of lower number
 *
 * Message j to send goes to send_peer[j] and holds the values send_value[send_start[j]] up to
 * send_start[j + 1] in this order. It leaves as soon as all of them exist. Messages that depend on nothing
 * leave at the start, in the order of the table. The k-th message to a peer is the peer's k-th from this rank.
 * A rank sends nothing to itself, because it has the value already. Slot s of the receive buffer gets the value
 * slot_value[s]; several slots may get the same.
 *
 * Most programs have no gates. Gate g opens when the first gate_sends[g] messages to send are sent and the
 * first gate_receives[g] messages have been received; neither descends. Message j to send then leaves, and
 * message i is received, no sooner than gate send_gate[j] or receive_gate[i] is open; -1: it waits for none.
 * A gate waits for no message that waits for it or for a later one.
 *
 * The tables are read while requests live, never written. Arrays named _start have one element more than they
 * count.
 */
struct rw_program {
  int32_t ranks, rank;
  int32_t own, slots, sends, receives, combinations;
  const int32_t *send_peer, *send_start, *send_value;
  const int32_t *receive_peer, *receive_start;
  const int32_t *slot_value;
  const int32_t *left, *right;
  int32_t gates;
  const int32_t *gate_sends, *gate_receives, *send_gate, *receive_gate; /* unused without gates */
};

/*
 * Reads a program from one array of words: ranks, rank, own, slots, sends, receives, combinations, the number
 * of values sent; then send_peer, send_start, send_value, receive_peer, receive_start, slot_value, left, right,
 * one after the other. With gates follow their number, gate_sends, gate_receives, send_gate and receive_gate.
 * The program points into the words. Returns NULL or the reason why they are invalid. Everything is checked,
 * also as rw_program_check does.
 */
const char *rw_program_of_words(const int32_t *words, size_t count, struct rw_program *program);

/* Returns NULL if the tables are in range and can run to the end when the peers' programs fit; else the reason. */
const char *rw_program_check(const struct rw_program *program);

/* Returns the number of values: own blocks, received values and combinations. */
int32_t rw_values(const struct rw_program *program);

/* Returns the number of tags that a request of the program uses in this rank. */
int32_t rw_tags(const struct rw_program *program);

/* Sets into = left op right, each `bytes` long; into is neither of them. */
typedef void rw_combine(void *into, const void *left, const void *right, size_t bytes, void *context);

/*
 * The lengths of blocks and their places in the caller's buffers. Arrays are copied. A message of more than
 * INT_MAX bytes is refused with MPI_ERR_COUNT.
 */
struct rw_blocks {
  size_t bytes;              /* length of every value, if value_bytes is NULL */
  const size_t *value_bytes; /* length of each value, by number (rw_value_bytes finds those of messages) */
  const MPI_Aint *own_at;    /* offset of each own block in the send buffer, in bytes; NULL: contiguous */
  const MPI_Aint *slot_at;   /* offset of each slot in the receive buffer, in bytes; NULL: contiguous */
  rw_combine *combine;       /* NULL if the program has no combinations */
  void *context;             /* passed to combine */
};

typedef struct rw_request rw_request;

/*
 * `comm` must have the size and this process the rank of the program, which must have passed
 * rw_program_check.
 */
int rw_request_create(const struct rw_program *program, MPI_Comm comm, int tag, const struct rw_blocks *blocks,
                      rw_request **request);

/*
 * Posts all receives and sends the messages that depend on nothing. Until the request is complete, the send
 * buffer must not be written and the receive buffer must not be accessed. Each start may pass other buffers.
 * A request must be complete before its next start.
 */
int rw_start(rw_request *request, const void *send_buffer, void *receive_buffer);

/*
 * Makes one round of progress. *done becomes 1 when the receive buffer is filled and everything is sent, and
 * for an inactive request.
 */
int rw_test(rw_request *request, int *done);

/* Returns when the request is complete. */
int rw_wait(rw_request *request);

/* Frees an inactive request and sets *request to NULL; an active one returns MPI_ERR_REQUEST. */
int rw_request_free(rw_request **request);

/*
 * Finds the length of every value if blocks differ in length. Each rank contributes the lengths of its own
 * blocks, and the lengths travel as the blocks will. Collective, blocking; value_bytes has rw_values(program)
 * elements.
 */
int rw_value_bytes(const struct rw_program *program, MPI_Comm comm, int tag, const size_t *own_bytes,
                   size_t *value_bytes);

#endif
