/*
 * Memory that the processes of a node share: a region for each, in which it alone allocates and writes.
 *
 * It is made once, in MPI_Init. After that a process publishes without an agreement: it makes an entry for a
 * communicator, and others find it by the communicator's number. Entries never become anything else, so a
 * process may read one that belongs to another communicator by now; it looks at the key again afterwards.
 */
#include "shim.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { NAME = 64, BUCKET = 8, BUCKETS = 32, REFUSED = 122, STEP = 1 << 16, TAGS = 4, FIRST_TAG = 4 };

/* The start of a region. */
typedef struct {
  /* The last number of either kind for which the process has an entry or was refused one, and one more. */
  uint64_t known[2];
  uint64_t refusals; /* and the numbers of the first ones */
  uint64_t refused[REFUSED + 3];
  uint64_t key[BUCKETS * BUCKET]; /* a number and one more; 0 if free */
  rw_entry entry[BUCKETS * BUCKET];
} head;

static rw_arena arena;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *is_taken; /* lines of the own region */
static int file = -1;
static size_t reserved; /* bytes of the own region that have memory */
static uint64_t next_number[2];
static int most_number;

const rw_arena *rw_arena_of_process(void) { return arena.is_there ? &arena : NULL; }

static head *head_of(int process) { return (head *)(void *)(arena.memory + (size_t)process * arena.region); }

/* Memory of the own region up to a place; near to the core of this process. */
static int reserve(size_t end) {
  if (end <= reserved) return 1;
  end = (end + STEP - 1) / STEP * STEP;
  if (end > arena.region) end = arena.region;
  off_t from = (off_t)((size_t)arena.process * arena.region + reserved);
  if (posix_fallocate(file, from, (off_t)(end - reserved)) != 0) return 0;
  reserved = end;
  return 1;
}

/* A new name that nothing else has; -1 if there is no memory. */
static int create_memory(char name[NAME], size_t bytes) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(name, NAME, "/rankweave-%ld-%lld-%ld", (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
  int made = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (made >= 0 && ftruncate(made, (off_t)bytes) == 0) return made;
  if (made >= 0) {
    close(made);
    shm_unlink(name);
  }
  name[0] = '\0';
  return -1;
}

/* Whether all processes of the world have their region. The name is removed as soon as they do. Collective. */
static int map_memory(MPI_Comm node, int *is_there) {
  char name[NAME] = "";
  size_t bytes = arena.region * (size_t)arena.processes;
  is_taken = calloc(arena.region / RW_LINE, 1);
  if (arena.process == 0) file = create_memory(name, bytes);
  int code = PMPI_Bcast(name, NAME, MPI_CHAR, 0, node);
  if (arena.process != 0 && code == MPI_SUCCESS && name[0] != '\0') file = shm_open(name, O_RDWR, 0);
  if (file >= 0 && is_taken != NULL) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) arena.memory = memory;
  }
  *is_there = arena.memory != NULL && reserve(sizeof(head));
  if (*is_there) memset(is_taken, 1, (sizeof(head) + RW_LINE - 1) / RW_LINE);
  if (code == MPI_SUCCESS) code = PMPI_Allreduce(MPI_IN_PLACE, is_there, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (arena.process == 0 && name[0] != '\0') shm_unlink(name);
  return code;
}

/* Ranks of a node: as MPI says, or for tests so many in a row. */
static int make_node(int rank, int cores) {
  MPI_Comm node;
  int code = cores > 0 ? PMPI_Comm_split(MPI_COMM_WORLD, rank / cores, rank, &node)
                       : PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int is_there = 0;
  if (code == MPI_SUCCESS) code = PMPI_Comm_rank(node, &arena.process);
  if (code == MPI_SUCCESS) code = PMPI_Comm_size(node, &arena.processes);
  if (code == MPI_SUCCESS) code = PMPI_Comm_group(node, &arena.node);
  if (code == MPI_SUCCESS) code = map_memory(node, &is_there);
  if (code == MPI_SUCCESS) code = PMPI_Comm_free(&node);
  if (code == MPI_SUCCESS && !is_there) code = MPI_ERR_NO_MEM;
  return code;
}

static void read_tags(void) {
  int *most, is_there = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &is_there);
  most_number = ((is_there ? *most : 32767) - FIRST_TAG) / TAGS;
}

/* What all processes have to agree on, the least of each: threads and a route that is named are negative. */
static int agree(int rank, double values[6]) {
  const rw_settings *own = rw_own_settings();
  int threads = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&threads);
  values[0] = own->enabled;
  values[1] = own->block_limit;
  values[2] = own->cores;
  values[3] = own->region;
  values[4] = -threads;
  values[5] = rank > 0 || rw_strategy() == NULL || strcmp(rw_strategy(), "shared") == 0 ? 0 : -1;
  return PMPI_Allreduce(MPI_IN_PLACE, values, 6, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
}

void rw_arena_make(void) {
  static int is_made;
  double values[6];
  int rank, code;
  if (is_made) return;
  is_made = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (agree(rank, values) != MPI_SUCCESS || values[0] == 0 || values[3] < sizeof(head)) return;
  arena.region = (size_t)values[3] / STEP * STEP;
  if (arena.region < sizeof(head)) arena.region = STEP * (sizeof(head) / STEP + 1);
  arena.limit = (size_t)(values[1] < (double)arena.region / 16 ? values[1] : (double)arena.region / 16);
  arena.is_threaded = values[4] == -MPI_THREAD_MULTIPLE;
  arena.has_route = values[5] < 0;
  code = PMPI_Comm_dup(MPI_COMM_WORLD, &arena.comm);
  if (code == MPI_SUCCESS) code = PMPI_Comm_set_errhandler(arena.comm, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = PMPI_Comm_group(MPI_COMM_WORLD, &arena.world);
  if (code == MPI_SUCCESS) code = make_node(rank, (int)values[2]);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  arena.is_crowded = arena.processes > cores;
  read_tags();
  arena.is_there = code == MPI_SUCCESS;
  if (!arena.is_there && arena.memory != NULL) munmap(arena.memory, arena.region * (size_t)arena.processes);
}

/*
 * Calls on MPI_COMM_WORLD have one order, so all processes count its children alike, also those that get
 * none. Children of others have odd numbers: the highest that is free in all its processes. Several threads
 * might take the same one.
 */
int rw_arena_number(MPI_Comm old, MPI_Comm comm) {
  if (!arena.is_there) return -1;
  uint64_t number = 2 * next_number[0];
  if (old == MPI_COMM_WORLD) next_number[0]++;
  else {
    if (comm == MPI_COMM_NULL || arena.is_threaded) return -1;
    uint64_t next = next_number[1];
    if (PMPI_Allreduce(MPI_IN_PLACE, &next, 1, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS) return -1;
    next_number[1] = next + 1;
    number = 2 * next + 1;
  }
  return number <= (uint64_t)most_number ? (int)number : -1;
}

int rw_arena_tag(int number, int collective, int is_apart) {
  return FIRST_TAG + number * TAGS + collective * 2 + is_apart;
}

/* The first key of a number's bucket: children of the world and others fill all of them in turn. */
static int bucket_of(int number) { return number / 2 % BUCKETS * BUCKET; }

rw_entry *rw_entry_make(int number) {
  head *own = head_of(arena.process);
  uint64_t *key = &own->key[bucket_of(number)];
  rw_entry *made = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; made == NULL && i < BUCKET; i++) {
    if (key[i] != 0) continue;
    made = &own->entry[bucket_of(number) + i];
    memset(made, 0, sizeof *made);
    __atomic_store_n(&key[i], (uint64_t)number + 1, __ATOMIC_RELEASE);
  }
  if (made == NULL) {
    if (own->refusals < REFUSED) own->refused[own->refusals] = (uint64_t)number;
    __atomic_store_n(&own->refusals, own->refusals + 1, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&own->known[number % 2], (uint64_t)number + 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return made;
}

static uint64_t *key_of(int process, int number) {
  uint64_t *key = &head_of(process)->key[bucket_of(number)];
  for (int i = 0; i < BUCKET; i++)
    if (__atomic_load_n(&key[i], __ATOMIC_ACQUIRE) == (uint64_t)number + 1) return &key[i];
  return NULL;
}

rw_entry *rw_entry_find(int process, int number) {
  head *theirs = head_of(process);
  uint64_t *key = key_of(process, number);
  return key == NULL ? NULL : &theirs->entry[key - theirs->key];
}

/* What is stored where the entry was must not be seen before its key is gone. */
void rw_entry_remove(int number) {
  uint64_t *key = key_of(arena.process, number);
  if (key == NULL) return;
  __atomic_store_n(key, 0, __ATOMIC_RELEASE);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

int rw_entry_is_known(int process, int number) {
  return __atomic_load_n(&head_of(process)->known[number % 2], __ATOMIC_ACQUIRE) > (uint64_t)number;
}

int rw_entry_may_be_refused(int process, int number) {
  const head *theirs = head_of(process);
  uint64_t refusals = __atomic_load_n(&theirs->refusals, __ATOMIC_ACQUIRE);
  if (refusals > REFUSED) return 1;
  while (refusals > 0 && theirs->refused[refusals - 1] != (uint64_t)number) refusals--;
  return refusals > 0;
}

char *rw_region_of(int process) { return arena.memory + (size_t)process * arena.region; }

/* The first place that is large enough. */
size_t rw_region_take(size_t bytes) {
  size_t lines = arena.region / RW_LINE, wanted = (bytes + RW_LINE - 1) / RW_LINE, free_lines = 0, at = 0;
  pthread_mutex_lock(&lock);
  while (at < lines && free_lines < wanted) free_lines = is_taken[at++] ? 0 : free_lines + 1;
  size_t first = at - free_lines;
  int ok = free_lines == wanted && wanted > 0 && reserve(at * RW_LINE);
  if (ok) memset(is_taken + first, 1, wanted);
  pthread_mutex_unlock(&lock);
  return ok ? first * RW_LINE : 0;
}

void rw_region_give(size_t offset, size_t bytes) {
  pthread_mutex_lock(&lock);
  memset(is_taken + offset / RW_LINE, 0, (bytes + RW_LINE - 1) / RW_LINE);
  pthread_mutex_unlock(&lock);
}
