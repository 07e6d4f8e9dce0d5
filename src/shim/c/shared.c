/*
 * Values move through memory that all ranks of a communicator share: a rank writes its own, and those that
 * are to have them read them there.
 *
 * A rank's part of the memory is a counter of the calls in which it has written, then its values of even and
 * of odd calls. A rank that has begun a call is done with reading in the call before; so values of a call may
 * be overwritten two calls later, when all that read them have begun the call between. Sources have, because
 * their values of that call were read.
 */
#include "shim.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/*
 * Bytes of a cache line, and of what is before the values; of the name of the memory; polls with and between
 * calls of MPI.
 */
enum { LINE = 64, COUNTER = 8, NAME = 64, SPINS = 256, PROGRESS = 16 };

struct rw_shared {
  char *memory;
  size_t bytes;
  MPI_Comm comm;
  uint64_t calls; /* of 64 bits, so that no program comes to the first again */
  int spins; /* polls before the core is given to others */
  uint64_t *own_counter;
  char *own[2];
  int slots, readers;
  const uint64_t **counter, **reader; /* of the source of each slot; of destinations that are not sources */
  const char *(*value)[2];            /* of each slot, in even and in odd calls */
};

void rw_shared_free(rw_shared *shared) {
  if (shared == NULL) return;
  if (shared->memory != NULL) munmap(shared->memory, shared->bytes);
  free(shared->counter);
  free(shared->reader);
  free(shared->value);
  free(shared);
}

static rw_shared *allocate(const rw_part *part, const rw_lists *lists, MPI_Comm comm) {
  rw_shared *shared = calloc(1, sizeof *shared);
  if (shared == NULL) return NULL;
  size_t slots = (size_t)part->program.slots + 1, readers = (size_t)part->edges + 1;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  shared->comm = comm;
  shared->spins = lists->ranks <= cores ? SPINS : 0;
  shared->slots = part->program.slots;
  shared->counter = malloc(sizeof *shared->counter * slots);
  shared->reader = malloc(sizeof *shared->reader * readers);
  shared->value = malloc(sizeof *shared->value * slots);
  if (shared->counter && shared->reader && shared->value) return shared;
  rw_shared_free(shared);
  return NULL;
}

/* A new name that nothing else has; -1 if there is no memory. */
static int create_memory(char name[NAME], size_t bytes) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(name, NAME, "/rankweave-%ld-%lld-%ld", (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
  int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (file >= 0 && ftruncate(file, (off_t)bytes) == 0) return file;
  if (file >= 0) {
    close(file);
    shm_unlink(name);
  }
  name[0] = '\0';
  return -1;
}

/*
 * The name is removed as soon as all have the memory. Every rank reserves its own part, near to its core.
 * Collective.
 */
static int map_memory(rw_shared *shared, int rank, size_t from, size_t to) {
  char name[NAME] = "";
  int file = rank == 0 ? create_memory(name, shared->bytes) : -1;
  int code = PMPI_Bcast(name, NAME, MPI_CHAR, 0, shared->comm);
  if (rank != 0 && code == MPI_SUCCESS && name[0] != '\0') file = shm_open(name, O_RDWR, 0);
  if (file >= 0) {
    if (posix_fallocate(file, (off_t)from, (off_t)(to - from)) == 0)
      shared->memory = mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared->memory == MAP_FAILED) shared->memory = NULL;
    close(file);
  }
  if (code == MPI_SUCCESS) code = rw_agree_on_memory(shared->comm, shared->memory != NULL);
  if (rank == 0 && name[0] != '\0') shm_unlink(name);
  return code;
}

static const uint64_t *counter_of(const rw_shared *shared, const int64_t *start, int rank) {
  return (const uint64_t *)(void *)(shared->memory + start[rank]);
}

/* Where everything is. `own` has the blocks of every rank. */
static int find_values(rw_shared *shared, const rw_part *part, const rw_lists *lists, const int64_t *start, size_t stride) {
  char *is_source = calloc((size_t)lists->ranks, 1);
  if (is_source == NULL) return 0;
  for (int s = 0; s < shared->slots; s++) {
    int source = part->source[s];
    size_t part_bytes = (size_t)(start[source + 1] - start[source]);
    const char *values = shared->memory + start[source] + COUNTER;
    is_source[source] = 1;
    shared->counter[s] = counter_of(shared, start, source);
    for (int odd = 0; odd < 2; odd++)
      shared->value[s][odd] = values + (odd ? part_bytes / 2 : 0) + (size_t)part->source_block[s] * stride;
  }
  for (int e = 0; e < part->edges; e++)
    if (!is_source[part->destination[e]]) shared->reader[shared->readers++] = counter_of(shared, start, part->destination[e]);
  free(is_source);
  shared->own_counter = (uint64_t *)(void *)(shared->memory + start[lists->rank]);
  shared->own[0] = shared->memory + start[lists->rank] + COUNTER;
  shared->own[1] = shared->own[0] + (start[lists->rank + 1] - start[lists->rank]) / 2;
  return 1;
}

rw_shared *rw_shared_make(const rw_part *part, const rw_lists *lists, MPI_Comm comm, size_t stride) {
  rw_shared *shared = allocate(part, lists, comm);
  int64_t *start = calloc((size_t)lists->ranks + 1, sizeof *start);
  int code = rw_agree_on_memory(comm, shared != NULL && start != NULL), is_found = 0;
  if (code == MPI_SUCCESS) {
    /* Halves of whole 8 bytes, parts of whole lines; the counter of a short block is in its line. */
    int64_t half = (COUNTER + (int64_t)(part->program.own * stride) + 7) / 8 * 8;
    int64_t bytes = (2 * half + LINE - 1) / LINE * LINE;
    code = PMPI_Allgather(&bytes, 1, MPI_INT64_T, start + 1, 1, MPI_INT64_T, comm);
  }
  if (code == MPI_SUCCESS) {
    for (int r = 0; r < lists->ranks; r++) start[r + 1] += start[r];
    shared->bytes = (size_t)start[lists->ranks];
    code = map_memory(shared, lists->rank, (size_t)start[lists->rank], (size_t)start[lists->rank + 1]);
  }
  if (code == MPI_SUCCESS) is_found = find_values(shared, part, lists, start, stride);
  free(start);
  if (is_found) return shared;
  rw_shared_free(shared);
  return NULL;
}

/*
 * Until all have begun so many calls. MPI gets to work now and then: what this process has begun there,
 * others may wait for before they come here.
 */
static int wait_for(const rw_shared *shared, const uint64_t *const *counter, int count, uint64_t calls) {
  int polls = 0;
  for (int i = 0; i < count;) {
    if (__atomic_load_n(counter[i], __ATOMIC_ACQUIRE) >= calls) {
      i++;
      continue;
    }
    if (++polls <= shared->spins) continue;
    if (polls % PROGRESS != 0) {
      sched_yield();
      continue;
    }
    polls -= PROGRESS; /* a count that grew as long as the wait would overflow */
    int is_there;
    MPI_Status status;
    int code = PMPI_Iprobe(MPI_ANY_SOURCE, RW_DIRECT_TAG, shared->comm, &is_there, &status);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int rw_shared_begin(rw_shared *shared, char **own) {
  *own = shared->own[shared->calls % 2];
  return shared->calls < 2 ? MPI_SUCCESS : wait_for(shared, shared->reader, shared->readers, shared->calls);
}

int rw_shared_exchange(rw_shared *shared) {
  __atomic_store_n(shared->own_counter, ++shared->calls, __ATOMIC_RELEASE);
  return wait_for(shared, shared->counter, shared->slots, shared->calls);
}

const char *rw_shared_value(const rw_shared *shared, int slot) { return shared->value[slot][(shared->calls - 1) % 2]; }
