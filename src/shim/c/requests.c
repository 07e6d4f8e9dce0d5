/*
 * Requests of non-blocking calls that this library performs. They are generalized requests, so handles, arrays of
 * requests of any kind, statuses and threads are MPI's own. MPI itself advances them wherever they are completed,
 * in whatever language and by whatever tool. Open MPI does so by its progress engine, which calls registered
 * functions, MPICH by the poll function of a generalized request. No call that completes a request has to be
 * intercepted, so none can be missed. Only MPICH's MPI_Request_get_status does not poll.
 */
#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The unsuccessful polls of MPICH in a row before the core is yielded, and between calls that let MPI progress. */
enum { SPINS = 16, PROGRESS = 16 };

/* A request that is not complete is in a list, in the order of starts. */
typedef struct pending {
  struct pending *after;
  rw_task task;
  MPI_Request request; /* MPI_REQUEST_NULL: `complete` ends the request */
  void (*complete)(void *, int);
  void *with;
  int code;
  int users; /* the list and MPI; the last one frees it */
} pending;

/* The types belong to an extension of ROMIO, for MPICH and its derivatives; they are not part of MPI. */
typedef int poll_function(void *, MPI_Status *);
typedef int wait_function(int, void **, double, MPI_Status *);
typedef int start_polled(MPI_Grequest_query_function *, MPI_Grequest_free_function *, MPI_Grequest_cancel_function *,
                         poll_function *, wait_function *, void *, MPI_Request *);
typedef int progress_function(void);
typedef int (*register_progress)(progress_function *);

static start_polled *polled;
static register_progress add_progress, remove_progress;
static int is_registered;
static pthread_once_t looked_up = PTHREAD_ONCE_INIT;

/*
 * MPI may call the functions below at any time, also while this thread has the lock, so they only try to take it.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pending *first, **last = &first;

static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  memcpy(function, &found, sizeof found);
}

static void look_up(void) {
  find(&add_progress, "opal_progress_register");
  find(&remove_progress, "opal_progress_unregister");
  find(&polled, "PMPIX_Grequest_start");
  if (!rw_is_first("MPI_Request_get_status")) polled = NULL;
}

int rw_requests_have_progress(void) {
  pthread_once(&looked_up, look_up);
  return add_progress != NULL && remove_progress != NULL;
}

int rw_requests_work(void) { return rw_requests_have_progress() || polled != NULL; }

static void release(pending *p) {
  if (__atomic_sub_fetch(&p->users, 1, __ATOMIC_ACQ_REL) == 0) free(p);
}

/*
 * Takes completed requests out of the list. Once a request is complete another thread may free it, so its task is
 * freed before.
 */
static pending *take_done(void) {
  pending *done = NULL, **end_of_done = &done;
  for (pending **at = &first; *at != NULL;) {
    pending *p = *at;
    int is_done = 0;
    p->code = p->task.advance(p->task.of, &is_done);
    if (!is_done && p->code == MPI_SUCCESS) {
      at = &p->after;
      continue;
    }
    *at = p->after;
    if (p->after == NULL) last = at;
    p->after = NULL;
    *end_of_done = p;
    end_of_done = &p->after;
  }
  return done;
}

static int complete(pending *done) {
  int count = 0;
  while (done != NULL) {
    pending *p = done;
    done = p->after;
    p->task.free(p->task.of);
    if (p->complete != NULL) p->complete(p->with, p->code);
    else PMPI_Grequest_complete(p->request);
    release(p);
    count++;
  }
  return count;
}

/* Returns the requests completed; 0 also if another thread, or this one further up, is in here. */
static int advance(void) {
  if (__atomic_load_n(&first, __ATOMIC_RELAXED) == NULL || pthread_mutex_trylock(&lock) != 0) return 0;
  pending *done = take_done();
  pthread_mutex_unlock(&lock);
  return complete(done);
}

void rw_requests_advance(void) { (void)advance(); }

/* Polls once. MPICH's MPI_Wait only polls: others may wait for this process's messages before they come here. */
static int poll_once(void *given, MPI_Status *status) {
  static unsigned vain;
  (void)given;
  (void)status;
  if (advance() > 0) {
    __atomic_store_n(&vain, 0, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
  }
  unsigned polls = __atomic_add_fetch(&vain, 1, __ATOMIC_RELAXED);
  int is_there;
  if (polls % PROGRESS == 0) PMPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE);
  if (polls > SPINS) sched_yield();
  return MPI_SUCCESS;
}

static int wait_once(int count, void **given, double timeout, MPI_Status *statuses) {
  (void)timeout;
  return count > 0 ? poll_once(given[0], statuses) : MPI_SUCCESS;
}

/* An error goes to the handler that MPI has for generalized requests. */
static int query(void *given, MPI_Status *status) {
  pending *p = given;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  return p->code;
}

static int drop(void *given) {
  release(given);
  return MPI_SUCCESS;
}

static int cancel(void *given, int is_complete) {
  (void)given;
  (void)is_complete;
  return MPI_SUCCESS;
}

/* Registers the function for the first request; it remains, since others may be calling it. */
static int register_once(void) {
  if (!is_registered && add_progress(advance) != 0) return MPI_ERR_INTERN;
  is_registered = 1;
  return MPI_SUCCESS;
}

static int make_request(pending *p) {
  if (add_progress == NULL) return polled(query, drop, cancel, poll_once, wait_once, p, &p->request);
  int code = register_once();
  return code == MPI_SUCCESS ? PMPI_Grequest_start(query, drop, cancel, p, &p->request) : code;
}


static void append(pending *p) {
  *last = p;
  last = &p->after;
}

int rw_request_make(rw_task task, MPI_Request *request) {
  pending *p = calloc(1, sizeof *p);
  if (p == NULL) return 0;
  p->users = 2;
  p->task = task;
  pthread_mutex_lock(&lock);
  int is_kept = make_request(p) == MPI_SUCCESS;
  if (is_kept) {
    *request = p->request;
    append(p);
  }
  pthread_mutex_unlock(&lock);
  if (!is_kept) free(p);
  return is_kept;
}

/*
 * Ends an exchange that is complete at its start, or gets no request and is waited for. MPI has one complete
 * request for all receives from no process.
 */
static int end_at_start(rw_exchange *exchange, MPI_Request *request) {
  int code = rw_exchange_wait(exchange);
  rw_exchange_free(exchange);
  return code == MPI_SUCCESS ? PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request) : code;
}

static int advance_exchange(void *exchange, int *is_done) { return rw_exchange_advance(exchange, is_done); }

static void free_exchange(void *exchange) { rw_exchange_free(exchange); }

static rw_task task_of(rw_exchange *exchange) { return (rw_task){advance_exchange, free_exchange, exchange}; }

int rw_request_start(MPI_Comm comm, rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to,
                     MPI_Request *request) {
  rw_exchange *exchange;
  int is_done, code = rw_exchange_start(publisher, from, to, &exchange);
  if (code != MPI_SUCCESS) return rw_raise_alone(comm, code);
  (void)rw_exchange_advance(exchange, &is_done);
  if (!is_done && rw_request_make(task_of(exchange), request)) return MPI_SUCCESS;
  code = end_at_start(exchange, request);
  return code == MPI_SUCCESS ? code : rw_raise(comm, code);
}

int rw_requests_start_receive(rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to,
                              void (*complete)(void *, int), void *with) {
  pending *p = calloc(1, sizeof *p);
  rw_exchange *exchange;
  if (p == NULL) return MPI_ERR_NO_MEM;
  p->request = MPI_REQUEST_NULL;
  p->users = 1;
  p->complete = complete;
  p->with = with;
  pthread_mutex_lock(&lock);
  int code = register_once();
  if (code == MPI_SUCCESS) code = rw_exchange_start(publisher, from, to, &exchange);
  if (code == MPI_SUCCESS) {
    p->task = task_of(exchange);
    append(p);
  }
  pthread_mutex_unlock(&lock);
  if (code != MPI_SUCCESS) free(p);
  return code;
}

void rw_requests_end(void) {
  if (is_registered) remove_progress(advance);
  is_registered = 0;
}

RW_EXPORT int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  rw_requests_advance();
  return PMPI_Request_get_status(request, flag, status);
}
