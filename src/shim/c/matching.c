/*
 * Records of the calls that post, match, complete and cancel receives, and of sends. They are written to a file
 * mapped into memory, so they are in the file even if the process is killed. A process records a limited number of
 * operations.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The records that are mapped at a time: 1 MiB. */
enum { WINDOW = 32768 };

int rw_matching_is_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static rw_matching_record *window;
static int64_t records, operations, most, posts, left_out, skew;
static int rank;

int64_t rw_matching_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + skew;
}

static void say(const char *what, int error) {
  fprintf(stderr, "rankweave shim: matching: rank %d stops recording: %s%s%s\n", rank, what, error ? ": " : "",
          error ? strerror(error) : "");
}

/* Space is reserved before it is mapped: without it a write would end the process. */
static int map_next(void) {
  size_t bytes = WINDOW * sizeof *window;
  off_t at = (off_t)(records / WINDOW) * (off_t)bytes;
  if (window != NULL) munmap(window, bytes);
  window = NULL;
  int error = posix_fallocate(file, at, (off_t)bytes);
  void *mapped = error == 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, at) : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    say("its file cannot grow", error == 0 ? errno : error);
    return 0;
  }
  window = mapped;
  return 1;
}

/* The kind is written last: a record without one is not read. */
static void append(int kind, int64_t time, int communicator, int peer, int tag, int64_t value) {
  if (records % WINDOW == 0 && !map_next()) {
    __atomic_store_n(&rw_matching_is_on, 0, __ATOMIC_RELAXED);
    return;
  }
  rw_matching_record *r = &window[records++ % WINDOW];
  r->time = time;
  r->value = value;
  r->communicator = communicator;
  r->peer = peer;
  r->tag = tag;
  __atomic_store_n(&r->kind, kind, __ATOMIC_RELEASE);
}

/* Returns whether there is room for an operation. The caller holds the lock. */
static int takes_more(int64_t time) {
  if (!rw_matching_is_on) return 0;
  if (operations < most) return ++operations;
  append(RW_MATCHING_BOUND, time, 0, 0, 0, 0);
  __atomic_store_n(&rw_matching_is_on, 0, __ATOMIC_RELAXED);
  return 0;
}

void rw_matching_add(int kind, int64_t time, int communicator, int peer, int tag, int64_t value) {
  pthread_mutex_lock(&lock);
  /* A completion belongs to an operation that is counted. */
  int is_counted = kind != RW_MATCHING_DONE && kind != RW_MATCHING_COMMUNICATOR;
  if (is_counted ? takes_more(time) : rw_matching_is_on) append(kind, time, communicator, peer, tag, value);
  if (is_counted) rw_matching_queues_sample(time);
  pthread_mutex_unlock(&lock);
}

int64_t rw_matching_add_post(int communicator, int source, int tag, int64_t bytes) {
  int64_t post = -1, time = rw_matching_now();
  pthread_mutex_lock(&lock);
  if (takes_more(time)) {
    append(RW_MATCHING_POST, time, communicator, source, tag, bytes);
    post = posts++;
  }
  rw_matching_queues_sample(time);
  pthread_mutex_unlock(&lock);
  return post;
}

void rw_matching_leave_out(void) {
  pthread_mutex_lock(&lock);
  left_out++;
  pthread_mutex_unlock(&lock);
}

int64_t rw_matching_bytes(int count, MPI_Datatype type) {
  MPI_Count size;
  if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return (int64_t)size * count;
}

static int is_numbered(int communicator) {
  if (communicator < 0) rw_matching_leave_out();
  return communicator >= 0;
}

void rw_matching_send(MPI_Comm comm, int destination, int tag, int count, MPI_Datatype type) {
  int64_t time = rw_matching_now();
  if (destination == MPI_PROC_NULL) return;
  int communicator = rw_matching_communicator(comm);
  if (is_numbered(communicator))
    rw_matching_add(RW_MATCHING_SEND, time, communicator, destination, tag, rw_matching_bytes(count, type));
}

static int source_of(int source) { return source == MPI_ANY_SOURCE ? RW_MATCHING_ANY : source; }

static int tag_of(int tag) { return tag == MPI_ANY_TAG ? RW_MATCHING_ANY : tag; }

int64_t rw_matching_post(MPI_Comm comm, int source, int tag, int count, MPI_Datatype type) {
  if (source == MPI_PROC_NULL) return -1;
  int communicator = rw_matching_communicator(comm);
  if (!is_numbered(communicator)) return -1;
  return rw_matching_add_post(communicator, source_of(source), tag_of(tag), rw_matching_bytes(count, type));
}

void rw_matching_done(int64_t post, int code, const MPI_Status *status) {
  int is_cancelled = 0;
  if (post < 0 || code != MPI_SUCCESS) return;
  PMPI_Test_cancelled(status, &is_cancelled);
  rw_matching_add(RW_MATCHING_DONE, rw_matching_now(), 0, is_cancelled ? RW_MATCHING_CANCELLED : status->MPI_SOURCE,
                  is_cancelled ? 0 : status->MPI_TAG, post);
}

void rw_matching_probe(int kind, MPI_Comm comm, int source, int tag, int is_found, const MPI_Status *status) {
  int64_t found = is_found ? (int64_t)status->MPI_SOURCE << 32 | status->MPI_TAG : -1;
  if (source == MPI_PROC_NULL) return;
  int communicator = rw_matching_communicator(comm);
  if (is_numbered(communicator))
    rw_matching_add(kind, rw_matching_now(), communicator, source_of(source), tag_of(tag), found);
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, in whatever language it is called. */
static void at_end(void *nothing) {
  (void)nothing;
  int64_t offset = rw_matching_offset();
  pthread_mutex_lock(&lock);
  __atomic_store_n(&rw_matching_is_on, 0, __ATOMIC_RELAXED);
  rw_matching_queues_end(rw_matching_path(), rank);
  if (window != NULL) {
    append(RW_MATCHING_END, rw_matching_now(), 0, (int)(left_out < INT32_MAX ? left_out : INT32_MAX), 0, offset);
    if (ftruncate(file, (off_t)records * (off_t)sizeof *window) != 0) say("its file cannot be cut", errno);
  }
  if (file >= 0) close(file);
  file = -1;
  pthread_mutex_unlock(&lock);
}

void rw_matching_begin(void) {
  static rw_attribute end = RW_ATTRIBUTE(at_end);
  char path[4096];
  int ranks;
  const rw_settings *world = rw_world_settings();
  if (world == NULL || world->matches < 1) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  skew = rw_matching_skew();
  int64_t offset = rw_matching_offset(), run = rw_matching_run();
  if (rw_attribute_set(&end, MPI_COMM_SELF, NULL) != MPI_SUCCESS) return say("MPI makes no attribute", 0);
  most = (int64_t)rw_own_settings()->matching_operations;
  mkdir(rw_matching_path(), 0777);
  snprintf(path, sizeof path, "%s/calls-%d.bin", rw_matching_path(), rank);
  file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return say(path, errno);
  pthread_mutex_lock(&lock);
  rw_matching_is_on = 1;
  append(RW_MATCHING_HEADER, rw_matching_now(), RW_MATCHING_VERSION, rank, ranks, offset);
  append(RW_MATCHING_RUN, rw_matching_now(), 0, 0, 0, run);
  pthread_mutex_unlock(&lock);
  rw_matching_communicator(MPI_COMM_WORLD);
  rw_matching_queues_begin();
}
