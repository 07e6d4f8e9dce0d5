/*
 * What the parts of the preloaded library share. One process, one rank: everything here is that rank's own
 * part.
 */
#ifndef RANKWEAVE_SHIM_H
#define RANKWEAVE_SHIM_H

#include "rankweave_program.h"
#include "tools.h"

#define RW_EXPORT __attribute__((visibility("default")))

/* Which collective a plan is for: every rank contributes one block, or one per destination. */
enum { RW_ALLGATHER, RW_ALLTOALL, RW_COLLECTIVES };

enum { RW_NAME = 256 };

/*
 * --- settings.c
 * ------------------------------------------------------------------------------------------------------
 */

/* What a user sets; after rw_agree it is the same on all ranks of a communicator. */
typedef struct {
  double enabled;      /* 0: every call falls through */
  double always;       /* 1: no trial against the library */
  double block_limit;  /* bytes; longer blocks are sent directly */
  double latency;      /* us, of a message between processes */
  double overhead;     /* us, of a sender or receiver, per message */
  double gap;          /* us per byte */
  double cores;        /* ranks per node for tests; 0: as MPI says */
  double records;      /* 1: graphs are gathered and written */
  double is_wanted;    /* 0: all calls on the communicator are left to MPI */
  double is_simple;    /* 1: no rank has a neighbor twice */
  double shares;       /* 1: unless memory cannot be shared */
} rw_settings;

enum { RW_FILES = 8 };

const rw_settings *rw_own_settings(void);
int rw_wants_report(void);
/* The file of the mode `record:FILE`, or NULL. */
const char *rw_record_path(void);
/* A file of RANKWEAVE_SHIM_PLAN, which lists them with colons between, or NULL. */
const char *rw_plan_path(int file);
/* The route of RANKWEAVE_SHIM_STRATEGY, or NULL. */
const char *rw_strategy(void);
/*
 * All ranks get the least of every setting. `is_ready` becomes 0 unless it is 1 everywhere, and `names`, of
 * the plans of the files that fit, become 0 unless they are equal everywhere. Collective.
 */
int rw_agree(MPI_Comm comm, rw_settings *settings, double *is_ready, double names[RW_FILES]);
/*
 * MPI_ERR_NO_MEM on all ranks unless all have memory, so that none waits for another in what follows.
 * Collective.
 */
int rw_agree_on_memory(MPI_Comm comm, int has_memory);

/*
 * --- lists.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* Whom a rank receives from and sends to, in the order of its buffers. MPI_PROC_NULL at edges of a grid. */
typedef struct {
  int rank, ranks;
  int in_count, out_count;
  int *in, *out;
  /*
   * A neighbor is listed twice, here or elsewhere: libraries differ in which block of an alltoall is for
   * which slot.
   */
  int is_ambiguous;
} rw_lists;

int rw_lists_read(MPI_Comm comm, rw_lists *lists);
void rw_lists_free(rw_lists *lists);

/*
 * --- routes.c
 * --------------------------------------------------------------------------------------------------------
 */

enum { RW_MAX_STEPS = 32 };

/* Digits of a mixed-radix notation, corrected one by one, lowest first. */
typedef struct {
  int steps;
  int are_missing; /* fewer radices were given than needed, so the last one repeats */
  int radices[RW_MAX_STEPS], weights[RW_MAX_STEPS + 1];
} rw_digits;

/* Ranks by node: equal on all ranks. */
typedef struct {
  int nodes, largest;
  int *node, *local, *start, *ranks;
} rw_layout;

/*
 * Where a block is on its way from a source to a destination: `routed` if layout is NULL, else
 * `hierarchical`. Or there is no way: destinations read it in memory.
 */
typedef struct {
  int ranks, is_shared;
  rw_digits between, inside;
  const rw_layout *layout;
} rw_route;

/*
 * `routed:radices=4.4` or `hierarchical:between=4,inside=2.2`, as `rankweave export --strategy` spells them;
 * or `shared`, on one node. 0 if the text is none of them. Missing radices are the last one again.
 */
int rw_route_parse(const char *text, int ranks, const rw_layout *layout, rw_route *route);
/* Whether the text had all radices, as `rankweave export` demands. */
int rw_route_is_whole(const rw_route *route);
/* The route as text, with all radices. */
void rw_route_name(const rw_route *route, char *name, size_t room);
int rw_digits_step(const rw_digits *digits, int step, int from, int to, int count);
int rw_route_hops(const rw_route *route);
int rw_route_hop(const rw_route *route, int h, int source, int destination);
/* Collective. */
int rw_layout_make(MPI_Comm comm, int cores, rw_layout *layout);
void rw_layout_free(rw_layout *layout);

/*
 * --- moves.c
 * ---------------------------------------------------------------------------------------------------------
 */

/*
 * Block `part` of rank `source` moves between this rank and `peer` in a hop. `is_last`, of alltoalls: the
 * receiver of the move is the block's destination.
 */
typedef struct {
  int hop, peer, source, part, is_last;
} rw_move;

/* A move before both ends learn it. */
typedef struct {
  int hop, from, to, part, is_last;
} rw_own_move;

typedef struct {
  rw_own_move *items;
  int count, room;
} rw_own_moves;

typedef struct {
  rw_move *items;
  int count;
} rw_moves;

/* The ways of a rank's own blocks to their destinations. 0 if there is no memory. */
int rw_own_moves_find(const rw_lists *lists, const rw_route *route, int collective, rw_own_moves *moves);
/*
 * Each end of every move learns of it: moves in the order of hop, peer (counted from the rank on), source,
 * part. Collective.
 */
int rw_moves_tell(MPI_Comm comm, const rw_lists *lists, const rw_own_moves *own, rw_moves *sends, rw_moves *receives);

/*
 * --- part.c
 * ----------------------------------------------------------------------------------------------------------
 */

/* One rank's part of a plan: the tables that the runtime executes, and what the shim needs besides. */
typedef struct {
  struct rw_program program;
  int32_t *words; /* the tables */
  int *slot;      /* the place in the receive buffer of every slot of the program: those of MPI_PROC_NULL have none */
  /* Lists of direct sends: the block and destination of every edge. */
  int edges;
  int *block, *destination;
  /*
   * Without messages: the source of every slot of the program, and which of its blocks is read. NULL
   * otherwise.
   */
  const int32_t *source, *source_block;
} rw_part;

/* Without tables and lists; `words` of memory. */
rw_part *rw_part_allocate(const rw_lists *lists, size_t words);
void rw_part_list_edges(rw_part *part, const rw_lists *lists, int collective);

/* NULL if the moves are not a plan for these lists. */
rw_part *rw_part_make(const rw_lists *lists, int collective, const rw_moves *sends, const rw_moves *receives);
/*
 * A part with a program from elsewhere, whose slots have the sources `slot_source`: the same as the lists
 * have, in any order.
 */
rw_part *rw_part_of_program(const rw_lists *lists, const struct rw_program *program, const int32_t *slot_source);
void rw_part_free(rw_part *part);

/*
 * --- readings.c
 * ------------------------------------------------------------------------------------------------------
 */

/*
 * The part of a plan whose values move through shared memory; `comm` has the lists as its topology. NULL
 * after an error. Collective.
 */
int rw_part_make_readings(MPI_Comm comm, const rw_lists *lists, int collective, rw_part **made);

/*
 * --- plan-file.c
 * -----------------------------------------------------------------------------------------------------
 */

/* The name of the plan in a file and this rank's part of it; 0 if it does not fit. */
uint32_t rw_plan_file_read(const char *path, const rw_lists *lists, rw_part **part);

/*
 * --- buffers.c
 * -------------------------------------------------------------------------------------------------------
 */

/*
 * A user's buffer of blocks of one datatype. Displacements NULL: block i is i counts of the first count
 * behind the start.
 */
typedef struct {
  char *start;
  int count;
  const int *counts, *displacements;
  MPI_Datatype type;
  MPI_Aint extent;
  int size;          /* bytes of an element */
  int is_contiguous; /* elements are bytes one after the other, which the processor can read */
  int is_on_device;  /* only MPI reads and writes it */
} rw_buffer;

int rw_buffer_set(rw_buffer *buffer, const void *start, int count, const int *counts, const int *displacements,
                  MPI_Datatype type);
char *rw_buffer_at(const rw_buffer *buffer, int block);
int rw_buffer_count(const rw_buffer *buffer, int block);
/* The bytes of a block; a block that is too long for its place is MPI_ERR_TRUNCATE. */
int rw_buffer_read(const rw_buffer *buffer, int block, char *data, MPI_Comm comm);
int rw_buffer_write(const rw_buffer *buffer, int block, const char *data, int length, MPI_Comm comm);

/*
 * --- device.c
 * --------------------------------------------------------------------------------------------------------
 */

int rw_is_on_device(const void *pointer);
/* Bytes that no block has: this rank's buffers are in the memory of a device. */
#define RW_ON_DEVICE 1e18

/*
 * --- info.c
 * ----------------------------------------------------------------------------------------------------------
 */

int rw_info_is_off(MPI_Info info);
/* After MPI_Comm_set_info. Collective. */
int rw_info_change(MPI_Comm comm, MPI_Info info);

/*
 * --- run.c
 * -----------------------------------------------------------------------------------------------------------
 */

/* The memory and requests in which a plan runs, one call at a time. */
typedef struct rw_runner rw_runner;

/* Blocks that their source sends itself; messages of a plan have other tags. */
enum { RW_DIRECT_TAG = 0 };

/*
 * `limit`: bytes of the longest block that travels by the plan; equal on all ranks. NULL if there is no
 * memory. Collective.
 */
rw_runner *rw_runner_make(const rw_part *part, const rw_lists *lists, MPI_Comm comm, int limit);
void rw_runner_free(rw_runner *runner);
/* Waits for other ranks as MPI's own collectives may. Returns a code of MPI. */
int rw_run(rw_runner *runner, const rw_buffer *from, const rw_buffer *to);
/* Bytes of the longest block that a rank sends in a call. */
double rw_longest(const rw_buffer *from, const rw_part *part);

/*
 * --- shared.c
 * --------------------------------------------------------------------------------------------------------
 */

/* Memory of all ranks of a communicator, and what this one reads in it. */
typedef struct rw_shared rw_shared;

/* Values of `stride` bytes. NULL on all ranks that have no memory, or do not share it. Collective. */
rw_shared *rw_shared_make(const rw_part *part, const rw_lists *lists, MPI_Comm comm, size_t stride);
void rw_shared_free(rw_shared *shared);
/* Where the own values of the next call go; waits until no rank reads there. */
int rw_shared_begin(rw_shared *shared, char **own);
/* Own values are there; waits for those of the sources. */
int rw_shared_exchange(rw_shared *shared);
/* The value of a slot of the program, until the next call begins. */
const char *rw_shared_value(const rw_shared *shared, int slot);

#include "counting.h"

/*
 * --- choose.c
 * --------------------------------------------------------------------------------------------------------
 */

/* The cheapest route for a few bytes, as text too; not worth it if direct sends are cheaper. Collective. */
int rw_choose(MPI_Comm comm, const rw_lists *lists, int collective, const rw_settings *settings, rw_layout *layout,
              rw_route *route, char name[RW_NAME], int *is_worth);

/*
 * --- state.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* A trial: turns of the plan and as many of the library; calls of a turn; times of each side. */
enum { RW_TURNS = 2, RW_TURN = 4, RW_TRIAL = RW_TURNS * (RW_TURN - 1) };

/* A plan of a communicator, made in the first call. */
struct rw_plan {
  int is_made;
  rw_part *part; /* NULL: every call falls through */
  rw_runner *runner;
  double limit, most; /* bytes of a block that travels by the plan; what memory permits */
  char name[RW_NAME];
  unsigned calls, planned_calls;
  /* Calls of the trial in progress, and their times in us. */
  int is_chosen, tried;
  unsigned next_trial;
  double planned[RW_TRIAL], library[RW_TRIAL];
  double planned_us, library_us;
  double making_us;
  int why; /* an rw_outcome: without a part, why there is none */
};

/* What hangs on a communicator. */
struct rw_state {
  rw_state *before, *after; /* of this process */
  MPI_Comm comm, shadow; /* the shadow is MPI_COMM_NULL until the first call */
  rw_settings settings;
  rw_lists lists;
  int number; /* of the communicator, in the order of creation */
  rw_plan plans[RW_COLLECTIVES];
  int left; /* an rw_outcome: every call is MPI's, and why; 0 otherwise */
  uint64_t counts[RW_FUNCTIONS][RW_OUTCOMES]; /* calls */
  rw_recorded recorded[RW_FUNCTIONS];
  int *graph_starts, *graph; /* recorded, on rank 0: destinations of every rank */
};

/* After the creation of a topology communicator. `is_off`: leave it to MPI. Collective. */
int rw_state_attach(MPI_Comm comm, int is_off);
/* NULL: calls are left to MPI. */
rw_state *rw_state_of(MPI_Comm comm);
/* So that the report is printed at the end. Local. */
int rw_state_make_keys(void);
/* Makes the plan of a collective. Collective. */
int rw_state_plan(rw_state *state, int collective);
/*
 * Which blocks are short enough for the plan: all that this call has on any rank, if memory permits. There is
 * no plan if a rank has blocks of RW_ON_DEVICE bytes. Collective.
 */
int rw_state_limit(rw_state *state, int collective, double longest);
/* Hands an error to the communicator's handler. */
int rw_raise(MPI_Comm comm, int code);

/*
 * --- trial.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* Whether the next call runs the plan. */
int rw_trial_runs_plan(const rw_state *state, const rw_plan *plan);
/* Whether all ranks are at a call from which a trial begins. */
int rw_trial_begins(const rw_plan *plan);
/* Whether the time of the next call has to be noted. */
int rw_trial_is_on(const rw_plan *plan);
/* The time of a call of a trial. Collective after the last one. */
int rw_trial_note(const rw_state *state, rw_plan *plan, double us);

#endif
