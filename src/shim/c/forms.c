/* Forms without plans are counted and recorded, and left to MPI. */
#include "shim.h"

/* The blocks that a rank sends in a call. Counts and types are NULL if blocks are equal. */
typedef struct {
  rw_function function;
  int count;
  const int *counts;
  MPI_Datatype type;
  const MPI_Datatype *types;
} sent;

static int is_allgather(rw_function function) { return function % RW_INEIGHBOR_ALLGATHER <= RW_NEIGHBOR_ALLGATHERV; }

static void record_blocks(rw_state *state, const sent *s) {
  int blocks = is_allgather(s->function) ? 1 : state->lists.out_count;
  for (int i = 0; i < blocks; i++) {
    MPI_Datatype type = s->types == NULL ? s->type : s->types[i];
    int size;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS) continue;
    rw_record_block(state, s->function, (double)size * (s->counts == NULL ? s->count : s->counts[i]));
  }
}

/* Counts a call, and returns the state if calls on the communicator are recorded. */
static rw_state *count(MPI_Comm comm, const sent *s) {
  rw_state *state = rw_state_of(comm);
  rw_outcome why = rw_why_left(state);
  rw_count(state, s->function, why == RW_BY_PLAN ? RW_FORM : why);
  if (state == NULL || state->settings.records < 1) return NULL;
  record_blocks(state, s);
  return state;
}

static void count_call(MPI_Comm comm, const sent *s) {
  rw_state *state = count(comm, s);
  if (state != NULL) rw_record_call(state, s->function);
}

#define ALLTOALLW_PARAMETERS const void *from, const int send_counts[], const MPI_Aint send_places[],             \
                             const MPI_Datatype send_types[], void *to, const int receive_counts[],               \
                             const MPI_Aint places[], const MPI_Datatype receive_types[], MPI_Comm comm
#define ALLTOALLW_VALUES from, send_counts, send_places, send_types, to, receive_counts, places, receive_types, comm
#define ALLTOALLW_SENT(function) {function, 0, send_counts, MPI_DATATYPE_NULL, send_types}

#define ALLTOALLW_RECEIVED r.counts, r.places, r.types
#define ALLTOALLW_REPAIRED from, send_counts, send_places, send_types, to, ALLTOALLW_RECEIVED, comm

RW_EXPORT int MPI_Neighbor_alltoallw(ALLTOALLW_PARAMETERS) {
  sent s = ALLTOALLW_SENT(RW_NEIGHBOR_ALLTOALLW);
  rw_received r = {receive_counts, places, receive_types};
  MPI_Request request;
  count_call(comm, &s);
  int repair = RW_REPAIR_NOTHING, code = rw_repairs() ? rw_repair_received(comm, s.function, &r, &repair) : MPI_SUCCESS;
  if (code != MPI_SUCCESS) return code;
  if (repair == RW_REPAIR_NOTHING) return rw_next.Neighbor_alltoallw(ALLTOALLW_REPAIRED);
  code = rw_next.Ineighbor_alltoallw(ALLTOALLW_VALUES, &request);
  return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

RW_EXPORT int MPI_Ineighbor_alltoallw(ALLTOALLW_PARAMETERS, MPI_Request *request) {
  sent s = ALLTOALLW_SENT(RW_INEIGHBOR_ALLTOALLW);
  rw_received r = {receive_counts, places, receive_types};
  int repair, code = MPI_SUCCESS;
  count_call(comm, &s);
  if (rw_repairs()) code = rw_repair_received(comm, s.function, &r, &repair);
  if (code != MPI_SUCCESS) return code;
  return rw_next.Ineighbor_alltoallw(ALLTOALLW_REPAIRED, request);
}

/* Open MPI's forms are in persistent.c. */
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
#define ALLGATHER_PARAMETERS const void *from, int send_count, MPI_Datatype send_type, void *to, int receive_count, \
                             MPI_Datatype receive_type, MPI_Comm comm
#define ALLGATHER_VALUES from, send_count, send_type, to, receive_count, receive_type, comm
#define ALLGATHER_SENT(function) {function, send_count, NULL, send_type, NULL}
#define ALLGATHERV_PARAMETERS const void *from, int send_count, MPI_Datatype send_type, void *to,                 \
                              const int receive_counts[], const int places[], MPI_Datatype receive_type, MPI_Comm comm
#define ALLGATHERV_VALUES from, send_count, send_type, to, receive_counts, places, receive_type, comm
#define ALLGATHERV_SENT(function) {function, send_count, NULL, send_type, NULL}
#define ALLTOALL_PARAMETERS ALLGATHER_PARAMETERS
#define ALLTOALL_VALUES ALLGATHER_VALUES
#define ALLTOALL_SENT(function) {function, send_count, NULL, send_type, NULL}
#define ALLTOALLV_PARAMETERS const void *from, const int send_counts[], const int send_places[],                  \
                             MPI_Datatype send_type, void *to, const int receive_counts[], const int places[],    \
                             MPI_Datatype receive_type, MPI_Comm comm
#define ALLTOALLV_VALUES from, send_counts, send_places, send_type, to, receive_counts, places, receive_type, comm
#define ALLTOALLV_SENT(function) {function, 0, send_counts, send_type, NULL}

#define PERSISTENT(name, NAME)                                                                      \
  RW_EXPORT int MPI_Neighbor_##name##_init(NAME##_PARAMETERS, MPI_Info info, MPI_Request *request) { \
    sent s = NAME##_SENT(RW_NEIGHBOR_##NAME##_INIT);                                                \
    rw_state *state = count(comm, &s);                                                              \
    int code = rw_next.Neighbor_##name##_init(NAME##_VALUES, info, request);                        \
    if (state != NULL && code == MPI_SUCCESS) rw_record_request(*request, state, s.function);       \
    return code;                                                                                    \
  }

PERSISTENT(allgather, ALLGATHER)
PERSISTENT(allgatherv, ALLGATHERV)
PERSISTENT(alltoall, ALLTOALL)
PERSISTENT(alltoallv, ALLTOALLV)
PERSISTENT(alltoallw, ALLTOALLW)

RW_EXPORT int MPI_Start(MPI_Request *request) {
  rw_record_start(*request);
  if (rw_matching_is_on) rw_matching_start(*request);
  return rw_next.Start(request);
}

RW_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; i++) rw_record_start(requests[i]);
  for (int i = 0; rw_matching_is_on && i < count; i++) rw_matching_start(requests[i]);
  return rw_next.Startall(count, requests);
}

RW_EXPORT int MPI_Request_free(MPI_Request *request) {
  rw_record_forget(*request);
  if (rw_matching_is_on) rw_matching_forget(MPI_SUCCESS, *request);
  return rw_next.Request_free(request);
}
#endif
