/*
 * Requests of receives that are in progress, and persistent ones. Completions of requests of other kinds are not
 * seen, so a new request makes the library forget an older one with the same handle.
 */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 16 };

typedef struct request {
  struct request *after;
  MPI_Request handle;
  int64_t post; /* -1: not started */
  int is_persistent, is_receive, communicator, peer, tag;
  int64_t bytes;
} request;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static request *buckets[BUCKETS], *unused;
static int64_t live;

static request **bucket_of(MPI_Request handle) {
  uint64_t bits = 0;
  memcpy(&bits, &handle, sizeof handle);
  return &buckets[(bits * 0x9E3779B97F4A7C15u) >> 48 & (BUCKETS - 1)];
}

/* Finds the request of a handle. The caller holds the lock. */
static request **find(MPI_Request handle) {
  request **at = bucket_of(handle);
  while (*at != NULL && (*at)->handle != handle) at = &(*at)->after;
  return at;
}

static void take_out(request **at) {
  request *r = *at;
  if (r == NULL) return;
  *at = r->after;
  r->after = unused;
  unused = r;
  live--;
}

/* If there is no memory, the completion is not recorded. */
static request *put_in(MPI_Request handle) {
  take_out(find(handle));
  request *r = unused != NULL ? unused : malloc(sizeof *r);
  if (r == NULL) return NULL;
  if (r == unused) unused = r->after;
  request **first = bucket_of(handle);
  *r = (request){.after = *first, .handle = handle, .post = -1};
  *first = r;
  live++;
  return r;
}

void rw_matching_request(int code, MPI_Request handle, int64_t post) {
  if (post < 0) return rw_matching_forget(code, handle);
  if (code != MPI_SUCCESS) return;
  pthread_mutex_lock(&lock);
  request *r = put_in(handle);
  if (r != NULL) r->post = post;
  pthread_mutex_unlock(&lock);
}

void rw_matching_forget(int code, MPI_Request handle) {
  if (code != MPI_SUCCESS || __atomic_load_n(&live, __ATOMIC_RELAXED) == 0) return;
  pthread_mutex_lock(&lock);
  take_out(find(handle));
  pthread_mutex_unlock(&lock);
}

void rw_matching_persistent(int code, MPI_Request handle, int is_receive, MPI_Comm comm, int peer, int tag, int count,
                            MPI_Datatype type) {
  if (code != MPI_SUCCESS || peer == MPI_PROC_NULL) return;
  int communicator = rw_matching_communicator(comm);
  pthread_mutex_lock(&lock);
  request *r = put_in(handle);
  if (r != NULL) {
    r->is_persistent = 1;
    r->is_receive = is_receive;
    r->communicator = communicator;
    r->peer = is_receive && peer == MPI_ANY_SOURCE ? RW_MATCHING_ANY : peer;
    r->tag = is_receive && tag == MPI_ANY_TAG ? RW_MATCHING_ANY : tag;
    r->bytes = rw_matching_bytes(count, type);
  }
  pthread_mutex_unlock(&lock);
}

void rw_matching_start(MPI_Request handle) {
  int64_t time = rw_matching_now();
  if (__atomic_load_n(&live, __ATOMIC_RELAXED) == 0) return;
  pthread_mutex_lock(&lock);
  request *r = *find(handle);
  if (r != NULL && r->is_persistent) {
    if (r->communicator < 0) rw_matching_leave_out();
    else if (r->is_receive) r->post = rw_matching_add_post(r->communicator, r->peer, r->tag, r->bytes);
    else rw_matching_add(RW_MATCHING_SEND, time, r->communicator, r->peer, r->tag, r->bytes);
  }
  pthread_mutex_unlock(&lock);
}

void rw_matching_cancel(MPI_Request handle) {
  pthread_mutex_lock(&lock);
  const request *r = *find(handle);
  int64_t post = r == NULL ? -1 : r->post;
  pthread_mutex_unlock(&lock);
  if (post >= 0) rw_matching_add(RW_MATCHING_CANCEL, rw_matching_now(), 0, 0, 0, post);
}

int rw_matching_awaits(void) { return __atomic_load_n(&live, __ATOMIC_RELAXED) > 0; }

void rw_completion_begin(rw_completion *c, int count, const MPI_Request *requests, MPI_Status *statuses) {
  int is_large = count > RW_AWAITED;
  c->is_given = statuses != NULL;
  c->all = is_large ? malloc(sizeof *c->all * (size_t)count) : c->few;
  if (statuses == NULL) statuses = is_large ? malloc(sizeof *statuses * (size_t)count) : c->own;
  c->statuses = statuses;
  if (c->statuses == NULL) {
    if (is_large) free(c->all);
    c->all = NULL;
    c->statuses = MPI_STATUSES_IGNORE;
  }
  pthread_mutex_lock(&lock);
  for (int i = 0; c->all != NULL && i < count; i++) {
    const request *r = requests[i] == MPI_REQUEST_NULL ? NULL : *find(requests[i]);
    c->all[i] = (rw_awaited){requests[i], r == NULL ? -1 : r->post};
  }
  pthread_mutex_unlock(&lock);
}

void rw_completion_note(const rw_completion *c, int i, const MPI_Status *status) {
  if (c->all == NULL || c->all[i].post < 0) return;
  rw_matching_done(c->all[i].post, MPI_SUCCESS, status);
  pthread_mutex_lock(&lock);
  request **at = find(c->all[i].request);
  /* Another thread may have got the handle already. */
  if (*at != NULL && (*at)->post == c->all[i].post) {
    if ((*at)->is_persistent) (*at)->post = -1;
    else take_out(at);
  }
  pthread_mutex_unlock(&lock);
}

void rw_completion_end(rw_completion *c) {
  if (c->all == NULL || c->all == c->few) return;
  free(c->all);
  if (!c->is_given) free(c->statuses);
}
