/* The non-blocking neighborhood collectives: by MPI at first, then by exchanges that publish blocks. */
#include "shim.h"

/* Calls on a communicator that MPI performs before anything is spent on it. */
enum { FIRST_CALL = 32 };

typedef int library(const rw_call *given, MPI_Request *request);

static int library_allgather(const rw_call *c, MPI_Request *request) {
  return PMPI_Ineighbor_allgather(c->from, c->send_count, c->send_type, c->to, c->receive_count, c->receive_type, c->comm,
                                  request);
}

static int library_allgatherv(const rw_call *c, MPI_Request *request) {
  return PMPI_Ineighbor_allgatherv(c->from, c->send_count, c->send_type, c->to, c->receive_counts,
                                   c->receive_displacements, c->receive_type, c->comm, request);
}

static int library_alltoall(const rw_call *c, MPI_Request *request) {
  return PMPI_Ineighbor_alltoall(c->from, c->send_count, c->send_type, c->to, c->receive_count, c->receive_type, c->comm,
                                 request);
}

static int library_alltoallv(const rw_call *c, MPI_Request *request) {
  return PMPI_Ineighbor_alltoallv(c->from, c->send_counts, c->send_displacements, c->send_type, c->to, c->receive_counts,
                                  c->receive_displacements, c->receive_type, c->comm, request);
}

/* Counts of calls are equal on all ranks, so all of them come to their first exchange in the same call. */
static rw_publisher *publisher_of(rw_state *state, int collective) {
  unsigned *calls = &state->nonblocking_calls[collective];
  if (!rw_requests_work()) return NULL;
  if (*calls >= FIRST_CALL || (rw_world_settings() != NULL && rw_world_settings()->always > 0)) return rw_publisher_make(state, collective);
  ++*calls;
  return NULL;
}

/*
 * No rank of the communicator has a neighbor twice, and all know it: from a grid, or from an agreement in a
 * blocking call. A start cannot agree.
 */
static int is_simple(const rw_state *state) {
  return !state->lists.is_ambiguous && (state->is_agreed || state->lists.is_grid);
}

static int start(const rw_call *c, MPI_Request *request, int collective, int is_v_send, int is_v_receive,
                 library *by_library) {
  rw_state *state = rw_state_of(c->comm);
  if (state == NULL || rw_call_is_wrong(c, &state->lists, is_v_send, is_v_receive)) return by_library(c, request);
  if (collective == RW_ALLTOALL && !is_simple(state)) return by_library(c, request);
  rw_publisher *publisher = publisher_of(state, collective);
  /* Others publish, and cannot know that this rank has no memory to read. */
  if (state->publishers == NULL && rw_arena_of_process() != NULL) return rw_raise(c->comm, MPI_ERR_NO_MEM);
  if (publisher == NULL) return by_library(c, request);
  rw_buffer from, to;
  int code = rw_call_buffers(c, &from, &to);
  return code == MPI_SUCCESS ? rw_request_start(c->comm, publisher, &from, &to, request) : rw_raise(c->comm, code);
}

RW_EXPORT int MPI_Ineighbor_allgather(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                      int receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                      MPI_Request *request) {
  rw_call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};
  return start(&given, request, RW_ALLGATHER, 0, 0, library_allgather);
}

RW_EXPORT int MPI_Ineighbor_allgatherv(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                       const int receive_counts[], const int displacements[], MPI_Datatype receive_type,
                                       MPI_Comm comm, MPI_Request *request) {
  rw_call given = {from, to, send_count, 0, NULL, NULL, receive_counts, displacements, send_type, receive_type, comm};
  return start(&given, request, RW_ALLGATHER, 0, 1, library_allgatherv);
}

RW_EXPORT int MPI_Ineighbor_alltoall(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                     int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request) {
  rw_call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};
  return start(&given, request, RW_ALLTOALL, 0, 0, library_alltoall);
}

RW_EXPORT int MPI_Ineighbor_alltoallv(const void *from, const int send_counts[], const int send_displacements[],
                                      MPI_Datatype send_type, void *to, const int receive_counts[],
                                      const int receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                                      MPI_Request *request) {
  rw_call given = {from, to, 0, 0, send_counts, send_displacements, receive_counts, receive_displacements,
                   send_type, receive_type, comm};
  return start(&given, request, RW_ALLTOALL, 1, 1, library_alltoallv);
}
