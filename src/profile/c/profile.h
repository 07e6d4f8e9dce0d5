/*
 * The profiler that is preloaded into MPI programs: it times calls of MPI and counts what they send. Each thread
 * counts in a separate block, so that calls take no lock; MPI_Finalize adds the blocks and writes one file.
 */
#ifndef RANKWEAVE_PROFILE_H
#define RANKWEAVE_PROFILE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

#include "functions.h"

#define RW_EXPORT __attribute__((visibility("default")))

#define RW_NUMBER(name, ...) RW_##name,
enum { RW_FUNCTIONS(RW_NUMBER) RW_COUNT };

/* The functions of the next tool behind this library, or MPI's. */
#define RW_NEXT(name, ...) __typeof__(&MPI_##name) name;
typedef struct {
  RW_FUNCTIONS(RW_NEXT)
} rw_next_functions;
extern rw_next_functions rw_next;

/* counts.c implements the declarations below. */

typedef struct {
  int64_t calls, bytes;
  uint64_t ticks;
} rw_tally;

/* A process to which messages of point-to-point calls or blocks of collectives go. */
typedef struct {
  int64_t key; /* the rank in MPI_COMM_WORLD plus one; 0 if the slot is free */
  int64_t messages, message_bytes, blocks, block_bytes;
} rw_peer;

/* The calls of one collective on communicators of equal size, in one class of bytes. */
typedef struct {
  int64_t key; /* 0 if the slot is free */
  int64_t calls, bytes, zeros, counts;
  uint64_t ticks;
} rw_collective_calls;

/* Hash tables with open addressing; their sizes are powers of two. */
typedef struct {
  rw_peer *slots;
  size_t size, used;
} rw_peers;
typedef struct {
  rw_collective_calls *slots;
  size_t size, used;
} rw_collectives;

/* Classes of bytes: 0 for no byte, else one more than the logarithm of base 2, rounded down. */
enum { RW_CLASSES = 65, RW_TRANSLATED = 512 };

typedef struct rw_communicator rw_communicator;

/* The counts of one thread. A block whose thread has ended is used by the next thread that begins. */
typedef struct rw_thread {
  struct rw_thread *next;
  int is_free, is_inside; /* whether the thread is inside a call that is timed */
  rw_tally functions[RW_COUNT];
  int64_t messages[RW_CLASSES], message_bytes[RW_CLASSES];
  int64_t reorders; /* communicators with a topology for which reorder = 1 was passed */
  rw_peers peers;
  rw_collectives collectives;
  /* The communicator of the last call, valid while no communicator is freed. */
  MPI_Comm last_handle;
  rw_communicator *last;
  uint64_t last_generation;
  /* Ranks of communicators in MPI_COMM_WORLD; the slot is a hash of both numbers. */
  struct {
    int64_t serial;
    int rank, world;
  } translated[RW_TRANSLATED];
} rw_thread;

/* A call that is being noted. */
typedef struct {
  rw_thread *thread;
  int function;
  uint64_t ticks;
} rw_call;

/* Whether calls are counted: from the end of MPI_Init to the beginning of MPI_Finalize, in the mode profile:FILE. */
extern int rw_is_on;
extern __thread rw_thread *rw_own __attribute__((tls_model("initial-exec")));
/* Gives the thread a block. NULL without memory: then nothing is counted. */
rw_thread *rw_thread_begin(void);
/*
 * Adds the counts of all threads to one block; `most_ticks` are those in MPI of the thread that has most. The caller is
 * the only thread that uses MPI.
 */
rw_thread *rw_sum_of_threads(uint64_t *most_ticks);
/* Returns the slot of a key, which is made if it is not there; NULL without memory. */
rw_peer *rw_peer_of(rw_peers *peers, int64_t key);
rw_collective_calls *rw_collective_of(rw_collectives *collectives, int64_t key);
#define RW_KEY_FUNCTION(key) ((int)((key) >> 40) - 1)
#define RW_KEY_CLASS(key) ((int)((key) >> 32 & 255))
#define RW_KEY_RANKS(key) ((int)((key) & 0xffffffff))

int64_t rw_bytes(int count, MPI_Datatype type);
int rw_is_root(MPI_Comm comm, int root);

/* A message to a rank of a communicator. */
void rw_sent(rw_call *call, MPI_Comm comm, int rank, int count, MPI_Datatype type);
/* A persistent send: MPI_Start sends the message. */
void rw_kept(rw_call *call, MPI_Request request, MPI_Comm comm, int rank, int count, MPI_Datatype type);
/* A persistent request that sends no message to one rank; its handle may have been that of a send before. */
void rw_forgotten(MPI_Request request);
void rw_started(rw_call *call, MPI_Request request);

/* A collective; `bytes` is the length of a block, or of the vector of a reduction. */
void rw_collective(rw_call *call, MPI_Comm comm, int64_t bytes);
/* A collective with a count for each rank: the mean of those that are not zero is its length. */
void rw_counted(rw_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type);
/* Counts the same of a reduction, whose counts are for the ranks of the own group. */
void rw_scattered(rw_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type);
/* Counts the same at the root; other ranks have one count. */
void rw_gathered(rw_call *call, MPI_Comm comm, int root, const int *counts, MPI_Datatype type, int count, MPI_Datatype own);

/* Datatypes of C, or of Fortran. */
typedef struct {
  const MPI_Datatype *c;
  const MPI_Fint *fortran;
} rw_types;

/* Blocks to every rank. */
void rw_exchanged(rw_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type);
void rw_exchanged_of_types(rw_call *call, MPI_Comm comm, const int *counts, rw_types types);
/* Blocks to the neighbors of a communicator with a topology. */
void rw_to_neighbors(rw_call *call, MPI_Comm comm, int count, MPI_Datatype type);
void rw_counts_to_neighbors(rw_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type);
void rw_types_to_neighbors(rw_call *call, MPI_Comm comm, const int *counts, rw_types types);

/* communicators.c implements the declarations below. */

struct rw_communicator {
  int64_t serial;
  int size;           /* the processes of the group to which messages go */
  int is_world;       /* its ranks are those of MPI_COMM_WORLD */
  int destinations;   /* -1: not read */
  int *neighbors;     /* the destinations as ranks of MPI_COMM_WORLD, -1 for none */
  MPI_Group group;
};

int rw_communicators_begin(void);
/* Returns what is known of a communicator, or NULL without memory. */
rw_communicator *rw_communicator_of(rw_thread *thread, MPI_Comm comm);
/* Returns the rank in MPI_COMM_WORLD; -1 if there is none, as of processes that were spawned. */
int rw_world_rank(rw_thread *thread, const rw_communicator *c, int rank);
/* Reads the destinations of a communicator with a topology once. Returns 0 if they cannot be read. */
int rw_read_neighbors(rw_communicator *c, MPI_Comm comm);

/* profile.c implements the declarations below. */

extern int rw_has_counter;

/* Returns the counter of the processor where it has an even pace, else nanoseconds. */
static inline uint64_t rw_ticks(void) {
#if defined __x86_64__
  if (__builtin_expect(rw_has_counter, 1)) return __rdtsc();
#elif defined __aarch64__
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Begins a call. NULL inside another call: MPI and other tools may call functions of MPI, which are not the program's. */
static inline rw_thread *rw_begin(void) {
  rw_thread *thread = rw_own;
  if (__builtin_expect(thread == NULL, 0)) thread = rw_thread_begin();
  if (thread == NULL || thread->is_inside) return NULL;
  thread->is_inside = 1;
  return thread;
}

static inline rw_call rw_end(rw_thread *thread, int function, uint64_t began) {
  uint64_t now = rw_ticks(), ticks = now > began ? now - began : 0;
  rw_tally *tally = &thread->functions[function];
  tally->calls++;
  tally->ticks += ticks;
  return (rw_call){thread, function, ticks};
}

/* Hooks of MPI_Init and MPI_Finalize, for both languages. */
void rw_initialized(void);
void rw_finalizing(void);

/* write.c implements the declarations below. */

/* The counts of a process, and its seconds from the end of MPI_Init. */
typedef struct {
  const rw_thread *sum;
  double seconds, in_mpi, seconds_per_tick;
} rw_process;

/* Writes the profile of all processes. Collective. */
void rw_write_profile(const char *file, const rw_process *process);
/* Writes the time of the slowest process. Collective. */
void rw_write_seconds(const char *file, double seconds);

/* fortran.c implements the declarations below. */

/* Returns MPI_IN_PLACE for the address that stands for it in Fortran, else the address. */
const void *rw_fortran_buffer(const void *given);

#endif
