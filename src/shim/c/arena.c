/*
 * Memory that the processes of a node share: each process has a region, in which it alone allocates and writes. A
 * region has lines and space behind them. Lines of one number are adjacent for all processes. They mostly serve the
 * same communicator, so the lines that a process polls share few pages. The memory is made once, in MPI_Init. After
 * that a process publishes without an agreement: it makes an entry for a communicator in its first call, and others
 * find it by the communicator's number. An entry's memory never holds anything else. So a process may read an entry that belongs
 * to another communicator by now, and it checks the key again afterwards.
 */
#include "shim.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NAME = 64, BUCKET = 8, BUCKETS = 32, STEP = 1 << 16, TAGS = 4, FIRST_TAG = 4 };
/* The bits that count those that have left an entry; the number of its communicator is above them. */
enum { LEFT = 32 };
/* The layout of lines by number: a bucket of keys each, entries; then the lines that can be taken. */
enum { ENTRY = 1 + RW_COLLECTIVES, FIRST_ENTRY = BUCKETS, FIRST_FREE = FIRST_ENTRY + BUCKETS * BUCKET * ENTRY };

/* The units taken of the own region, and the units reserved of the file. */
typedef struct {
  unsigned char *is_taken; /* units of 64 bytes */
  size_t units, reserved;
} part;

static rw_arena arena;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static part lines, space;
static int file = -1;
static uint64_t next_number[2];
static int most_number, world_rank, world_ranks;
static int64_t *ids; /* the system's ids of the node's processes */

const rw_arena *rw_arena_of_process(void) { return arena.is_there ? &arena : NULL; }

char *rw_line_of(int process, size_t line) {
  return arena.memory + (line * (size_t)arena.processes + (size_t)process) * RW_LINE;
}

static char *space_of_process(int process) {
  return rw_line_of(0, lines.units) + (size_t)process * space.units * RW_LINE;
}

/* Reserves memory of the own part up to a unit. Lines are those of all processes. */
static int reserve(part *of, size_t end) {
  size_t each = of == &lines ? (size_t)arena.processes * RW_LINE : RW_LINE;
  size_t start = of == &lines ? 0 : (size_t)(space_of_process(arena.process) - arena.memory);
  if (end <= of->reserved) return 1;
  end = (end * each + STEP - 1) / STEP * STEP / each;
  if (end > of->units) end = of->units;
  size_t from = start + of->reserved * each;
  if (posix_fallocate(file, (off_t)from, (off_t)((end - of->reserved) * each)) != 0) return 0;
  of->reserved = end;
  return 1;
}

/* Creates memory under a new unique name; returns -1 if there is none. */
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

/*
 * Maps the memory, and finds whether all processes of the world have their region. The name is removed as soon as
 * they do. Collective.
 */
static int map_memory(MPI_Comm node, int *is_there) {
  char name[NAME] = "";
  size_t bytes = arena.region * (size_t)arena.processes;
  lines.units = arena.region / 4 / RW_LINE;
  space.units = arena.region / RW_LINE - lines.units;
  lines.is_taken = calloc(lines.units, 1);
  space.is_taken = calloc(space.units, 1);
  if (arena.process == 0) file = create_memory(name, bytes);
  int code = PMPI_Bcast(name, NAME, MPI_CHAR, 0, node);
  if (arena.process != 0 && code == MPI_SUCCESS && name[0] != '\0') file = shm_open(name, O_RDWR, 0);
  if (file >= 0 && lines.is_taken != NULL && space.is_taken != NULL) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) arena.memory = memory;
  }
  *is_there = arena.memory != NULL && reserve(&lines, FIRST_FREE);
  if (*is_there) memset(lines.is_taken, 1, FIRST_FREE);
  if (code == MPI_SUCCESS) code = PMPI_Allreduce(MPI_IN_PLACE, is_there, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (arena.process == 0 && name[0] != '\0') shm_unlink(name);
  return code;
}

int rw_arena_fetch(int process, uint64_t address, char *to, size_t bytes) {
  if (process == arena.process) {
    memmove(to, (const char *)(uintptr_t)address, bytes);
    return MPI_SUCCESS;
  }
  while (bytes > 0) {
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
    ssize_t copied = process_vm_readv((pid_t)ids[process], &here, 1, &there, 1, 0);
    if (copied <= 0) return MPI_ERR_OTHER;
    to += copied;
    address += (uint64_t)copied;
    bytes -= (size_t)copied;
  }
  return MPI_SUCCESS;
}

/*
 * Finds whether every process can read the next one of its node. The system may forbid it, or number processes
 * separately in containers that share memory. So they look for a number that only the right process has.
 * Collective.
 */
static int try_lending(MPI_Comm node, int is_wanted) {
  static uint64_t number;
  uint64_t found = 0, own[] = {(uint64_t)getpid(), (uint64_t)(uintptr_t)&number, 0}, *all;
  all = malloc(sizeof own * (size_t)arena.processes);
  ids = malloc(sizeof *ids * (size_t)arena.processes);
  number = own[2] = own[0] << 32 ^ own[1] ^ (uint64_t)arena.process;
  arena.lends = is_wanted && all != NULL && ids != NULL;
  int code = PMPI_Allreduce(MPI_IN_PLACE, &arena.lends, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (code == MPI_SUCCESS && arena.lends) code = PMPI_Allgather(own, 3, MPI_UINT64_T, all, 3, MPI_UINT64_T, node);
  if (code == MPI_SUCCESS && arena.lends) {
    for (int i = 0; i < arena.processes; i++) ids[i] = (int64_t)all[3 * i];
    const uint64_t *next = all + 3 * ((arena.process + 1) % arena.processes);
    int is_read = rw_arena_fetch((arena.process + 1) % arena.processes, next[1], (char *)&found, sizeof found) == MPI_SUCCESS;
    arena.lends = is_read && found == next[2];
    code = PMPI_Allreduce(MPI_IN_PLACE, &arena.lends, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  free(all);
  return code;
}

/* Determines the ranks of a node as MPI reports them, or, for tests, so many in a row. */
static int make_node(int rank, int cores, int lends) {
  MPI_Comm node;
  int code = cores > 0 ? PMPI_Comm_split(MPI_COMM_WORLD, rank / cores, rank, &node)
                       : PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int is_there = 0;
  if (code == MPI_SUCCESS) code = PMPI_Comm_rank(node, &arena.process);
  if (code == MPI_SUCCESS) code = PMPI_Comm_size(node, &arena.processes);
  if (code == MPI_SUCCESS) code = PMPI_Comm_group(node, &arena.node);
  if (code == MPI_SUCCESS) code = map_memory(node, &is_there);
  if (code == MPI_SUCCESS && is_there) code = try_lending(node, lends);
  if (code == MPI_SUCCESS) code = PMPI_Comm_free(&node);
  if (code == MPI_SUCCESS && !is_there) code = MPI_ERR_NO_MEM;
  return code;
}

static void read_tags(void) {
  int *most, is_there = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &is_there);
  most_number = ((is_there ? *most : 32767) - FIRST_TAG) / TAGS;
}

/* Agrees on the least of each value over all processes: threads and a named route are negative. */
static int agree(int rank, double values[7]) {
  const rw_settings *own = rw_own_settings();
  int threads = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&threads);
  values[0] = own->enabled;
  values[1] = own->block_limit;
  values[2] = own->cores;
  values[3] = own->region;
  values[4] = -threads;
  values[5] = rank > 0 || rw_strategy() == NULL || strcmp(rw_strategy(), "shared") == 0 ? 0 : -1;
  values[6] = own->lends;
  return PMPI_Allreduce(MPI_IN_PLACE, values, 7, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
}

void rw_arena_make(void) {
  static int is_made;
  double values[7];
  int code;
  if (is_made) return;
  is_made = 1;
  rw_settings_share();
  rw_matching_begin();
  rw_tune_share();
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  if (agree(world_rank, values) != MPI_SUCCESS || values[0] == 0) return;
  arena.region = (size_t)values[3] / STEP * STEP;
  if (arena.region < 4 * FIRST_FREE * RW_LINE) return;
  arena.limit = (size_t)(values[1] < (double)arena.region / 16 ? values[1] : (double)arena.region / 16);
  arena.is_threaded = values[4] == -MPI_THREAD_MULTIPLE;
  arena.has_route = values[5] < 0;
  code = rw_messages_comm(MPI_COMM_WORLD, &arena.comm);
  if (code == MPI_SUCCESS) code = PMPI_Comm_group(MPI_COMM_WORLD, &arena.world);
  if (code == MPI_SUCCESS) code = make_node(world_rank, (int)values[2], values[6] > 0);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  arena.is_crowded = arena.processes > cores;
  read_tags();
  arena.is_there = code == MPI_SUCCESS;
  /* Threads that make communicators might wait for each other. */
  if (arena.is_there && arena.is_threaded) rw_pairing_find();
  if (!arena.is_there && arena.memory != NULL) munmap(arena.memory, arena.region * (size_t)arena.processes);
}

static uint64_t take_number(int is_child_of_world) {
  pthread_mutex_lock(&lock);
  uint64_t next = next_number[is_child_of_world]++;
  pthread_mutex_unlock(&lock);
  return next;
}

/*
 * Numbers communicators. Calls on MPI_COMM_WORLD have one order, so all processes count its children alike, also
 * processes that get none. Children of others have odd numbers. The first rank of each counts those that it has
 * numbered, in any thread, so no two have the same. A process of another world may have an arena where this one has
 * none.
 */
int rw_arena_number(MPI_Comm old, MPI_Comm comm) {
  uint64_t number;
  int rank;
  if (old == MPI_COMM_WORLD) number = 2 * take_number(1);
  else {
    if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return -1;
    if (rank == 0)
      number = arena.is_there ? 2 * (take_number(0) * (uint64_t)world_ranks + (uint64_t)world_rank) + 1 : UINT64_MAX;
    if (PMPI_Bcast(&number, 1, MPI_UINT64_T, 0, comm) != MPI_SUCCESS) return -1;
  }
  return arena.is_there && number <= (uint64_t)most_number ? (int)number : -1;
}

int rw_arena_tag(int number, int collective, int is_apart) {
  return FIRST_TAG + number * TAGS + collective * 2 + is_apart;
}

/* Children of the world fill all buckets in turn, and so do those that a process numbers. */
static int bucket_of(int number) {
  int place = number / 2;
  return (number % 2 == 0 ? place : place / world_ranks + place % world_ranks) % BUCKETS;
}

static uint64_t *keys_of(int process, int bucket) { return (uint64_t *)(void *)rw_line_of(process, (size_t)bucket); }

static rw_entry *entry_of(int process, int number, int i) {
  return (rw_entry *)(void *)rw_line_of(process, (size_t)(FIRST_ENTRY + (bucket_of(number) * BUCKET + i) * ENTRY));
}

uint64_t *rw_entry_consumed(const rw_entry *entry, int collective) {
  return (uint64_t *)(uintptr_t)((const char *)entry + (size_t)(1 + collective) * (size_t)arena.processes * RW_LINE);
}

rw_entry *rw_entry_make(int number) {
  uint64_t *key = keys_of(arena.process, bucket_of(number));
  rw_entry *made = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; made == NULL && i < BUCKET; i++) {
    if (key[i] != 0) continue;
    made = entry_of(arena.process, number, i);
    memset(made, 0, sizeof *made);
    for (int c = 0; c < RW_COLLECTIVES; c++) *rw_entry_consumed(made, c) = 0;
    made->left = (uint64_t)number << LEFT;
    __atomic_store_n(&key[i], (uint64_t)number + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
  return made;
}

static uint64_t *key_of(int process, int number) {
  uint64_t *key = keys_of(process, bucket_of(number));
  for (int i = 0; i < BUCKET; i++)
    if (__atomic_load_n(&key[i], __ATOMIC_ACQUIRE) == (uint64_t)number + 1) return &key[i];
  return NULL;
}

rw_entry *rw_entry_find(int process, int number) {
  const uint64_t *key = key_of(process, number);
  return key == NULL ? NULL : entry_of(process, number, (int)(key - keys_of(process, bucket_of(number))));
}

/* Readers must see that the key is gone before other data is stored in the entry. */
void rw_entry_remove(int number) {
  uint64_t *key = key_of(arena.process, number);
  if (key == NULL) return;
  __atomic_store_n(key, 0, __ATOMIC_RELEASE);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The memory may meanwhile hold the entry of another communicator, whose number differs. */
void rw_entry_leave(int process, int number) {
  rw_entry *entry = rw_entry_find(process, number);
  uint64_t left = entry == NULL ? 0 : __atomic_load_n(&entry->left, __ATOMIC_RELAXED);
  while (entry != NULL && left >> LEFT == (uint64_t)number &&
         !__atomic_compare_exchange_n(&entry->left, &left, left + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
}

unsigned rw_entry_left(const rw_entry *entry) { return (unsigned)__atomic_load_n(&entry->left, __ATOMIC_ACQUIRE); }

char *rw_space_of(int process, size_t unit) { return space_of_process(process) + unit * RW_LINE; }

/* Takes the first place that is large enough. */
static size_t take(part *of, size_t wanted) {
  size_t found = 0, at = of == &lines ? FIRST_FREE : 1; /* unit 0 stands for failure */
  pthread_mutex_lock(&lock);
  while (at < of->units && found < wanted) found = of->is_taken[at++] ? 0 : found + 1;
  int ok = found == wanted && wanted > 0 && reserve(of, at);
  if (ok) memset(of->is_taken + at - wanted, 1, wanted);
  pthread_mutex_unlock(&lock);
  return ok ? at - wanted : 0;
}

static void give(part *of, size_t first, size_t count) {
  pthread_mutex_lock(&lock);
  memset(of->is_taken + first, 0, count);
  pthread_mutex_unlock(&lock);
}

size_t rw_lines_take(size_t count) { return take(&lines, count); }

void rw_lines_give(size_t first, size_t count) { give(&lines, first, count); }

size_t rw_space_take(size_t units) { return take(&space, units); }

void rw_space_give(size_t first, size_t units) { give(&space, first, units); }
