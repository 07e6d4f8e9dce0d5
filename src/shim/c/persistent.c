/*
 * Persistent neighborhood collectives. The request that a program gets is a persistent receive of this process from
 * itself; a message without bytes completes it. So it is MPI's own wherever it is completed, and only starts are
 * intercepted. This requires an MPI that advances exchanges while it waits for a receive: Open MPI. Persistent
 * operations may be started in any order, so each has separate publishers.
 */
#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI

typedef struct persistent {
  struct persistent *after;
  MPI_Request request;
  MPI_Comm self; /* has the error handler of the program's communicator */
  rw_publishers *publishers;
  rw_publisher *publisher;
  rw_buffer from, to;
  MPI_Datatype types[2]; /* kept until the request is freed */
  int is_active, is_freed;
} persistent;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static persistent *all;

/* Another tool that has the starts of this process first may hand them to MPI. */
static int starts_are_seen(void) { return rw_is_first("MPI_Start") && rw_is_first("MPI_Startall"); }

static void release(persistent *p) {
  rw_publishers_close(p->publishers);
  for (int i = 0; i < 2; i++)
    if (p->types[i] != MPI_DATATYPE_NULL) PMPI_Type_free(&p->types[i]);
  if (p->self != MPI_COMM_NULL) PMPI_Comm_free(&p->self);
  free(p);
}

static int keep_type(rw_buffer *buffer, MPI_Datatype *kept) {
  int code = rw_type_keep(buffer->type, kept);
  if (code == MPI_SUCCESS) buffer->type = *kept;
  return code;
}

/* Prepares memory and a receive: everything that needs no other rank. */
static int prepare(persistent *p, const rw_call *c, rw_function function, const rw_lists *lists) {
  MPI_Errhandler handler;
  p->publishers = rw_publishers_allocate(lists);
  if (p->publishers == NULL || lists->in == NULL) return MPI_ERR_NO_MEM;
  int code = rw_call_buffers(c, function, &p->from, &p->to);
  if (code == MPI_SUCCESS) code = keep_type(&p->from, &p->types[0]);
  if (code == MPI_SUCCESS) code = keep_type(&p->to, &p->types[1]);
  if (code == MPI_SUCCESS) code = rw_messages_comm(MPI_COMM_SELF, &p->self);
  if (code == MPI_SUCCESS) code = PMPI_Comm_get_errhandler(c->comm, &handler);
  if (code == MPI_SUCCESS) {
    code = PMPI_Comm_set_errhandler(p->self, handler);
    PMPI_Errhandler_free(&handler);
  }
  return code == MPI_SUCCESS ? PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, p->self, &p->request) : code;
}

/*
 * Makes a request; NULL on all ranks alike if one of them has no memory, or the communicator has no publishers.
 * Then MPI's own request serves. Collective, as the initialization is.
 */
static persistent *make(const rw_state *state, const rw_call *c, rw_function function, int collective) {
  persistent *p = calloc(1, sizeof *p);
  int code = MPI_ERR_NO_MEM;
  if (p != NULL) {
    p->types[0] = p->types[1] = MPI_DATATYPE_NULL;
    p->self = MPI_COMM_NULL;
    p->request = MPI_REQUEST_NULL;
    code = prepare(p, c, function, &state->lists);
  }
  int agreed = rw_agree_on_memory(state->comm, code == MPI_SUCCESS);
  int number = agreed == MPI_SUCCESS ? rw_arena_number(state->comm, state->comm) : -1;
  if (p == NULL) return NULL;
  if (number >= 0) {
    rw_state own = *state;
    own.publishers = p->publishers;
    rw_publishers_open(p->publishers, state->comm, number);
    p->publisher = rw_publisher_make(&own, collective);
  }
  if (p->publisher != NULL) return p;
  if (p->request != MPI_REQUEST_NULL) PMPI_Request_free(&p->request);
  release(p);
  return NULL;
}

static persistent **find(MPI_Request request) {
  persistent **at = &all;
  while (*at != NULL && (*at)->request != request) at = &(*at)->after;
  return at;
}

/* An error is that of a message too long for the receive. The program may start it again before this returns. */
static void complete(void *with, int code) {
  persistent *p = with;
  MPI_Comm self = p->self;
  char nothing = 0;
  pthread_mutex_lock(&lock);
  int is_freed = p->is_freed;
  p->is_active = 0;
  pthread_mutex_unlock(&lock);
  PMPI_Send(&nothing, code != MPI_SUCCESS, MPI_BYTE, 0, 0, self);
  if (is_freed) release(p);
}

/* Starts the exchange after MPI has started the receive. */
static int start_exchange(MPI_Request request) {
  if (__atomic_load_n(&all, __ATOMIC_ACQUIRE) == NULL) return MPI_SUCCESS;
  pthread_mutex_lock(&lock);
  persistent *p = *find(request);
  if (p != NULL) p->is_active = 1;
  pthread_mutex_unlock(&lock);
  if (p == NULL) return MPI_SUCCESS;
  int code = rw_requests_start_receive(p->publisher, &p->from, &p->to, complete, p);
  if (code != MPI_SUCCESS) complete(p, code);
  return code == MPI_SUCCESS ? code : rw_raise_alone(p->self, code);
}

RW_EXPORT int MPI_Start(MPI_Request *request) {
  if (rw_matching_is_on) rw_matching_start(*request);
  int code = rw_next.Start(request);
  return code == MPI_SUCCESS ? start_exchange(*request) : code;
}

RW_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; rw_matching_is_on && i < count; i++) rw_matching_start(requests[i]);
  int code = rw_next.Startall(count, requests);
  for (int i = 0; code == MPI_SUCCESS && i < count; i++) code = start_exchange(requests[i]);
  return code;
}

/* An active request still completes. */
RW_EXPORT int MPI_Request_free(MPI_Request *request) {
  persistent *p = NULL;
  int is_active = 0;
  if (__atomic_load_n(&all, __ATOMIC_ACQUIRE) != NULL && *request != MPI_REQUEST_NULL) {
    pthread_mutex_lock(&lock);
    persistent **at = find(*request);
    p = *at;
    if (p != NULL) {
      *at = p->after;
      is_active = p->is_freed = p->is_active;
    }
    pthread_mutex_unlock(&lock);
  }
  if (rw_matching_is_on) rw_matching_forget(MPI_SUCCESS, *request);
  int code = rw_next.Request_free(request);
  if (p != NULL && !is_active) release(p);
  return code;
}

typedef int equal(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
typedef int uneven(const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype, MPI_Comm, MPI_Info,
                   MPI_Request *);
typedef int uneven_both(const void *, const int[], const int[], MPI_Datatype, void *, const int[], const int[],
                        MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);

/* Initializes MPI's own request. `name` may be missing: an older MPI has other names. */
static int init_by_library(const char *name, const rw_call *c, MPI_Info info, MPI_Request *request) {
  void *found = dlsym(RTLD_DEFAULT, name);
  equal *both_equal;
  uneven *received_uneven;
  uneven_both *both_uneven;
  memcpy(&both_equal, &found, sizeof found);
  memcpy(&received_uneven, &found, sizeof found);
  memcpy(&both_uneven, &found, sizeof found);
  if (found == NULL) return rw_raise(c->comm, MPI_ERR_UNSUPPORTED_OPERATION);
  if (c->send_counts != NULL) return both_uneven(RW_ALLTOALLV_VALUES(c), info, request);
  if (c->receive_counts != NULL) return received_uneven(RW_GATHERV_VALUES(c), info, request);
  return both_equal(RW_EQUAL_VALUES(c), info, request);
}

static int init(const char *name, const rw_call *c, rw_function function, MPI_Info info, MPI_Request *request) {
  rw_state *state = rw_state_of(c->comm);
  int collective = function <= RW_NEIGHBOR_ALLGATHERV_INIT ? RW_ALLGATHER : RW_ALLTOALL;
  int is_v_send = function == RW_NEIGHBOR_ALLTOALLV_INIT;
  int is_v_receive = is_v_send || function == RW_NEIGHBOR_ALLGATHERV_INIT;
  rw_outcome why = rw_why_left(state);
  persistent *p = NULL;
  if (state != NULL) rw_state_read(state);
  if (state != NULL && rw_call_is_wrong(c, &state->lists, is_v_send, is_v_receive)) why = RW_WRONG;
  else if (state != NULL && state->settings.records > 0)
    rw_record(state, function, collective, c);
  if (why == RW_BY_PLAN && (!rw_requests_have_progress() || !starts_are_seen())) why = RW_OTHER_TOOL;
  if (why == RW_BY_PLAN && collective == RW_ALLTOALL && rw_lists_wrap(&state->lists)) why = RW_PARALLEL_EDGES;
  if (why == RW_BY_PLAN) p = make(state, c, function, collective);
  if (why == RW_BY_PLAN && p == NULL) why = rw_why_unpublished();
  rw_count(state, function, why);
  if (p == NULL) return init_by_library(name, c, info, request);
  *request = p->request;
  pthread_mutex_lock(&lock);
  p->after = all;
  __atomic_store_n(&all, p, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return MPI_SUCCESS;
}

/* Open MPI 4 has these as an extension, with other names. */
#define ALL(prefix)                                                                                                      \
  RW_EXPORT equal prefix##_Neighbor_allgather_init, prefix##_Neighbor_alltoall_init;                                     \
  RW_EXPORT uneven prefix##_Neighbor_allgatherv_init;                                                                    \
  RW_EXPORT uneven_both prefix##_Neighbor_alltoallv_init;                                                                \
  int prefix##_Neighbor_allgather_init(const void *from, int send_count, MPI_Datatype send_type, void *to,               \
                                       int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,       \
                                       MPI_Request *request) {                                                           \
    rw_call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};        \
    return init("P" #prefix "_Neighbor_allgather_init", &given, RW_NEIGHBOR_ALLGATHER_INIT, info, request);              \
  }                                                                                                                      \
  int prefix##_Neighbor_allgatherv_init(const void *from, int send_count, MPI_Datatype send_type, void *to,              \
                                        const int counts[], const int places[], MPI_Datatype receive_type,               \
                                        MPI_Comm comm, MPI_Info info, MPI_Request *request) {                            \
    rw_call given = {from, to, send_count, 0, NULL, NULL, counts, places, send_type, receive_type, comm};                \
    return init("P" #prefix "_Neighbor_allgatherv_init", &given, RW_NEIGHBOR_ALLGATHERV_INIT, info, request);            \
  }                                                                                                                      \
  int prefix##_Neighbor_alltoall_init(const void *from, int send_count, MPI_Datatype send_type, void *to,                \
                                      int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,        \
                                      MPI_Request *request) {                                                            \
    rw_call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};        \
    return init("P" #prefix "_Neighbor_alltoall_init", &given, RW_NEIGHBOR_ALLTOALL_INIT, info, request);                \
  }                                                                                                                      \
  int prefix##_Neighbor_alltoallv_init(const void *from, const int send_counts[], const int send_places[],               \
                                       MPI_Datatype send_type, void *to, const int counts[], const int places[],         \
                                       MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info, MPI_Request *request) {  \
    rw_call given = {from, to, 0, 0, send_counts, send_places, counts, places, send_type, receive_type, comm};           \
    return init("P" #prefix "_Neighbor_alltoallv_init", &given, RW_NEIGHBOR_ALLTOALLV_INIT, info, request);               \
  }

ALL(MPI)
ALL(MPIX)

#endif
