/* The non-blocking neighborhood collectives, by MPI at first, then by exchanges that publish blocks. */
#include "shim.h"

/* The calls on a communicator that MPI performs before the library spends anything on it. */
enum { FIRST_CALL = 32 };

int rw_start_by_mpi(const rw_call *c, rw_function function, MPI_Request *request) {
  switch (function % RW_INEIGHBOR_ALLGATHER) {
    case RW_NEIGHBOR_ALLGATHER: return rw_next.Ineighbor_allgather(RW_EQUAL_VALUES(c), request);
    case RW_NEIGHBOR_ALLGATHERV: return rw_next.Ineighbor_allgatherv(RW_GATHERV_VALUES(c), request);
    case RW_NEIGHBOR_ALLTOALL: return rw_next.Ineighbor_alltoall(RW_EQUAL_VALUES(c), request);
    default: return rw_next.Ineighbor_alltoallv(RW_ALLTOALLV_VALUES(c), request);
  }
}

/*
 * Returns why MPI performs the call, or RW_BY_PLAN. Ranks that start calls never agree, since a start may not wait.
 * All depends on what they agreed on in MPI_Init, on the communicator and on counts of calls, which are equal on all
 * ranks. So all of them reach their first exchange in the same call.
 */
static rw_outcome why_by_library(rw_state *state, int collective, rw_publisher **publisher) {
  const rw_settings *world = rw_world_settings();
  unsigned *calls = &state->nonblocking_calls[collective];
  int is_early = *calls < FIRST_CALL && (world == NULL || world->always < 1);
  if (!is_early || state->lists.is_grid) rw_state_read(state);
  if (collective == RW_ALLTOALL && rw_lists_wrap(&state->lists)) return RW_PARALLEL_EDGES;
  if (!rw_requests_work()) return RW_OTHER_TOOL;
  if (is_early) {
    ++*calls;
    return RW_TOO_EARLY;
  }
  *publisher = rw_publisher_make(state, collective);
  return *publisher != NULL ? RW_BY_PLAN : rw_why_unpublished();
}

static int leave(rw_state *state, rw_function function, rw_outcome why, const rw_call *c, MPI_Request *request) {
  rw_count(state, function, why);
  return rw_repairs() ? rw_repair_start(c, function, request) : rw_start_by_mpi(c, function, request);
}

static int start(const rw_call *c, MPI_Request *request, rw_function function) {
  rw_state *state = rw_state_of(c->comm);
  int collective = function <= RW_INEIGHBOR_ALLGATHERV ? RW_ALLGATHER : RW_ALLTOALL;
  int is_v_send = function == RW_INEIGHBOR_ALLTOALLV, is_v_receive = is_v_send || function == RW_INEIGHBOR_ALLGATHERV;
  rw_outcome why = rw_why_left(state);
  rw_publisher *publisher = NULL;
  if (state == NULL) return leave(state, function, why, c, request);
  if (rw_call_is_wrong(c, &state->lists, is_v_send, is_v_receive))
    return leave(state, function, RW_WRONG, c, request);
  if (state->settings.records > 0) rw_record(state, function, collective, c);
  if (why == RW_BY_PLAN) why = why_by_library(state, collective, &publisher);
  /* Other ranks publish, and cannot know that this rank has no memory to read. */
  if (why == RW_NO_PLAN && state->publishers == NULL) return rw_raise_alone(c->comm, MPI_ERR_NO_MEM);
  if (publisher == NULL) return leave(state, function, why, c, request);
  rw_buffer from, to;
  int code = rw_call_buffers(c, function, &from, &to);
  code = code == MPI_SUCCESS ? rw_request_start(c->comm, publisher, &from, &to, request) : rw_raise(c->comm, code);
  rw_count(state, function, rw_publisher_was_direct(publisher) ? RW_SENT_DIRECTLY : RW_BY_PLAN);
  return code;
}

RW_EXPORT int MPI_Ineighbor_allgather(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                      int receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                      MPI_Request *request) {
  rw_call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};
  return start(&given, request, RW_INEIGHBOR_ALLGATHER);
}

RW_EXPORT int MPI_Ineighbor_allgatherv(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                       const int receive_counts[], const int displacements[], MPI_Datatype receive_type,
                                       MPI_Comm comm, MPI_Request *request) {
  rw_call given = {from, to, send_count, 0, NULL, NULL, receive_counts, displacements, send_type, receive_type, comm};
  return start(&given, request, RW_INEIGHBOR_ALLGATHERV);
}

RW_EXPORT int MPI_Ineighbor_alltoall(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                     int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request) {
  rw_call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};
  return start(&given, request, RW_INEIGHBOR_ALLTOALL);
}

RW_EXPORT int MPI_Ineighbor_alltoallv(const void *from, const int send_counts[], const int send_displacements[],
                                      MPI_Datatype send_type, void *to, const int receive_counts[],
                                      const int receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                                      MPI_Request *request) {
  rw_call given = {from, to, 0, 0, send_counts, send_displacements, receive_counts, receive_displacements,
                   send_type, receive_type, comm};
  return start(&given, request, RW_INEIGHBOR_ALLTOALLV);
}
