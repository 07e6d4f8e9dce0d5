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
  double patience;     /* planning may take the time of the calls before, divided by this */
  double records;      /* 1: graphs are gathered and written */
  double is_simple;    /* 1: no rank has a neighbor twice */
  double region;       /* bytes of memory that a process shares with those of its node */
  double lends;        /* 1: long blocks may be read in their sender's own memory */
  double tunes;        /* 1: a tuning file is named */
  double matches;      /* 1: calls by which messages are matched are recorded */
  double matching_operations, matching_sample_ms; /* recorded of a process at most; between two samples of queues */
  double matching_skew; /* us by which clocks of nodes differ, for tests */
  double reorders;     /* RW_REORDER_BY_GRAPH, RW_REORDER_BY_FILE; 0: ranks are MPI's */
  double tune_after;   /* calls of a setting before it has a shadow communicator */
  double tune_per_communicator, tune_per_process; /* shadow communicators at most */
} rw_settings;

enum { RW_FILES = 8 };
/* Where ranks of graphs are: as this library maps them, or as a file says. */
enum { RW_REORDER_BY_GRAPH = 1, RW_REORDER_BY_FILE };

const rw_settings *rw_own_settings(void);
/* Once, after MPI_Init of all processes. Collective. */
void rw_settings_share(void);
/*
 * What all processes of the world set of `enabled`, `always`, `records`, `reorders`, `cores` and `matches`, and whether one of them
 * set `tunes`; NULL if they have not shared it.
 */
const rw_settings *rw_world_settings(void);
int rw_wants_report(void);
/* What is wrong with the settings, a line each: the first process that has any says so once, when all have shared theirs. */
__attribute__((format(printf, 1, 2))) void rw_complain(const char *format, ...);
/* The file of the mode `record:FILE`, or NULL. */
const char *rw_record_path(void);
/* The file of the word `tune:FILE`, or NULL. */
const char *rw_tune_path(void);
/* The file of the word `reorder:FILE`, or NULL. */
const char *rw_reorder_path(void);
/* The folder of the word `matching:FOLDER`, or NULL. */
const char *rw_matching_path(void);
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
  int is_ambiguous, is_grid;
} rw_lists;

/* The rank, the ranks and the lengths of the lists; allocates nothing. */
int rw_lists_count(MPI_Comm comm, rw_lists *lists);
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
 * `hierarchical`.
 */
typedef struct {
  int ranks;
  rw_digits between, inside;
  const rw_layout *layout;
} rw_route;

/*
 * `routed:radices=4.4` or `hierarchical:between=4,inside=2.2`, as `rankweave export --strategy` spells them. 0 if the
 * text is neither. Missing radices are the last one again.
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
} rw_part;

/* NULL if the moves are not a plan for these lists. */
rw_part *rw_part_make(const rw_lists *lists, int collective, const rw_moves *sends, const rw_moves *receives);
/*
 * A part with a program from elsewhere, whose slots have the sources `slot_source`: the same as the lists
 * have, in any order.
 */
rw_part *rw_part_of_program(const rw_lists *lists, const struct rw_program *program, const int32_t *slot_source);
void rw_part_free(rw_part *part);

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
  int64_t size;      /* bytes of an element */
  int is_contiguous; /* elements are bytes one after the other, which the processor can read */
  int is_on_device;  /* only MPI reads and writes it */
} rw_buffer;

int rw_buffer_set(rw_buffer *buffer, const void *start, int count, const int *counts, const int *displacements,
                  MPI_Datatype type);
char *rw_buffer_at(const rw_buffer *buffer, int block);
int rw_buffer_count(const rw_buffer *buffer, int block);
int64_t rw_buffer_bytes(const rw_buffer *buffer, int block);
/* The bytes of a block; a block that is too long for its place is MPI_ERR_TRUNCATE. */
int rw_buffer_read(const rw_buffer *buffer, int block, char *data, MPI_Comm comm);
int rw_buffer_write(const rw_buffer *buffer, int block, const char *data, int length, MPI_Comm comm);

/*
 * --- calls.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* A call as the user made it, so that it can be handed on. */
typedef struct {
  const void *from;
  void *to;
  int send_count, receive_count;
  const int *send_counts, *send_displacements, *receive_counts, *receive_displacements;
  MPI_Datatype send_type, receive_type;
  MPI_Comm comm;
} rw_call;

/* What the library refuses, it refuses itself. */
int rw_call_is_wrong(const rw_call *call, const rw_lists *lists, int is_v_send, int is_v_receive);
int rw_call_buffers(const rw_call *call, rw_buffer *from, rw_buffer *to);

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
/* Whether a block of this rank was sent directly in the last call. */
int rw_run_was_direct(const rw_runner *runner);
/* In how many calls that was so since the question before. */
unsigned rw_direct_calls(rw_runner *runner);

/*
 * --- arena.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* Bytes of a cache line. */
enum { RW_LINE = 64 };

/* Memory of a node, and what all processes of the world agreed on in MPI_Init. */
typedef struct {
  int is_there;
  MPI_Comm comm; /* of the world, for messages */
  MPI_Group world, node;
  int process, processes; /* of the node */
  int is_crowded;         /* more processes than cores */
  int is_threaded;        /* MPI_THREAD_MULTIPLE somewhere */
  int has_route;          /* rank 0 names another strategy than shared memory */
  int lends;              /* processes of a node may read each other's own memory, on all nodes */
  size_t region, limit;   /* bytes of a process; of the longest block that is copied for one reader */
  char *memory;
} rw_arena;

/* What a process has of a communicator, for readers and for those whose blocks it reads; by collective. */
typedef struct {
  /* Calls up to the last one that has blocks sent for want of a place, or blocks too long to be published. */
  uint64_t direct[RW_COLLECTIVES], apart[RW_COLLECTIVES];
  uint64_t ring[RW_COLLECTIVES]; /* the first line of its places; 0: it has none */
} rw_entry;

/* Once, in MPI_Init of all processes: after the agreement on settings. Collective. */
void rw_arena_make(void);
/* NULL: no process uses it. */
const rw_arena *rw_arena_of_process(void);
/*
 * The number of a child of `old`, equal on its ranks; -1: none has one. Of MPI_COMM_WORLD also where the child
 * is MPI_COMM_NULL. Collective on the child unless `old` is MPI_COMM_WORLD.
 */
int rw_arena_number(MPI_Comm old, MPI_Comm comm);
int rw_arena_tag(int number, int collective, int is_apart);
/* The own entry; NULL: no room. Numbers of a kind come in order. */
rw_entry *rw_entry_make(int number);
void rw_entry_remove(int number);
/* That of a process of the node; NULL: not made, refused or removed. */
rw_entry *rw_entry_find(int process, int number);
/* Whether the process has had to make one; whether it may have got none. */
int rw_entry_is_known(int process, int number);
int rw_entry_may_be_refused(int process, int number);
/* Calls whose blocks the process of an entry has all read. */
uint64_t *rw_entry_consumed(const rw_entry *entry, int collective);
/* Copies from the own memory of a process of the node. Returns a code of MPI. */
int rw_arena_fetch(int process, uint64_t address, char *to, size_t bytes);
/* Lines of the own region, in a row by number; 0: there are not so many. */
size_t rw_lines_take(size_t count);
void rw_lines_give(size_t first, size_t count);
char *rw_line_of(int process, size_t line);
/* Space of the own region, in units of a line; 0: there is not so much. */
size_t rw_space_take(size_t units);
void rw_space_give(size_t first, size_t units);
char *rw_space_of(int process, size_t unit);

/*
 * --- publish.c
 * -------------------------------------------------------------------------------------------------------
 */

/*
 * Blocks that neighbors of a node read in memory, and messages to all others: one per communicator and
 * collective.
 */
typedef struct rw_publisher rw_publisher;
/* Those of a communicator. They outlive it until all readers are done. */
typedef struct rw_publishers rw_publishers;
/* A call that was started. */
typedef struct rw_exchange rw_exchange;

struct rw_state;

/* NULL: no memory. */
rw_publishers *rw_publishers_allocate(const rw_lists *lists);
/* Of a communicator with this number; -1: it has no publishers. */
void rw_publishers_open(rw_publishers *all, MPI_Comm comm, int number);
void rw_publishers_close(rw_publishers *all);
/* The same one in every call. NULL, on all ranks alike: leave the calls to MPI. Local. */
rw_publisher *rw_publisher_make(const struct rw_state *state, int collective);
/* All ranks of the communicator share memory; equal on all of them. */
int rw_publisher_is_shared(const rw_publisher *publisher);
/* Whether a block of this rank was sent as a message in the call that was begun last. */
int rw_publisher_was_direct(const rw_publisher *publisher);
/* Bytes of the longest block that a blocking call publishes; equal on all ranks. */
double rw_publisher_limit(const rw_publisher *publisher);

/*
 * --- exchange.c
 * ------------------------------------------------------------------------------------------------------
 */

/* Never blocks. Displacements, counts and the memory of `to` must remain until the end. */
int rw_exchange_start(rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to, rw_exchange **started);
/* Never blocks. Returns the error of the call once it is done. */
int rw_exchange_advance(rw_exchange *exchange, int *is_done);
int rw_exchange_wait(rw_exchange *exchange);
/* One that is done. */
void rw_exchange_free(rw_exchange *exchange);
/* A start and its wait, without an allocation. */
int rw_exchange_run(rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to);

#include "counting.h"
#include "matching.h"
#include "reorder.h"
#include "tune.h"
#include "online.h"

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

/*
 * A trial: pairs of a turn of the plan and one of the library; calls of a turn; pairs that one agreement
 * judges, and most pairs.
 */
enum { RW_NODES = 256 };

enum { RW_TURN = 6, RW_BATCH = 3, RW_PAIRS = 24, RW_PAIR = 2 * RW_TURN };
/* Of a pair: us of a call of the plan, of the library, and the logarithm of their ratio. */
enum { RW_BY_PLAN_US, RW_BY_LIBRARY_US, RW_LOG_RATIO, RW_FIGURES };

/* The times of a trial, in us per call. What is agreed is equal on all ranks. */
typedef struct {
  int tried, wanted;                /* calls of the batch so far; pairs of the batch */
  int pairs, is_odd;                /* agreed so far; whether the first turn of the batch is the library's */
  double turn[RW_TURN - 1];         /* own, of the turn in progress */
  double own[RW_BATCH][RW_FIGURES]; /* own, of the batch */
  double pair[RW_PAIRS][RW_FIGURES]; /* agreed, the last ones */
} rw_trial;

enum { RW_MORE, RW_WON, RW_LOST };

/* What calls of a plan do. Equal on all ranks, as counts of calls are. */
enum {
  RW_PHASE_EARLY,   /* by the library: too few calls to plan */
  RW_PHASE_TRIAL,   /* in turn */
  RW_PHASE_PLAN,    /* by the plan */
  RW_PHASE_LIBRARY, /* by the library: the plan lost */
  RW_PHASE_REST,    /* by the library: blocks are too long for the plan */
  RW_PHASE_NEVER    /* by the library: there is no plan */
};

/* Calls before an agreement that are timed. */
enum { RW_WATCH = 8 };

/* A plan of a communicator. */
struct rw_plan {
  int phase;
  uint64_t left; /* calls before the next agreement */
  int is_shared; /* a publisher instead of a part and its runner */
  rw_publisher *publisher;
  rw_part *part;
  rw_runner *runner;
  double limit, most; /* bytes of a block that travels by the plan; what memory permits */
  char name[RW_NAME];
  unsigned calls, planned_calls;
  double calls_before;             /* on communicators of the same graph that are freed */
  rw_trial trial;
  int is_incumbent, checks;        /* the plan is in use; agreements since its last sample */
  uint64_t pause;                  /* calls between a lost trial and the next */
  double seen_us;                  /* in calls so far, estimated */
  double watched_us[RW_WATCH];     /* own, of calls before an agreement */
  double watched_longest;          /* bytes of a block of these calls */
  double making_us;
  int why; /* an rw_outcome: without a part, why there is none */
};

/* What hangs on a communicator. */
struct rw_state {
  rw_state *before, *after; /* of this process */
  MPI_Comm comm, shadow; /* the shadow is MPI_COMM_NULL until there is a plan */
  rw_settings settings;
  int is_agreed; /* settings are the same on all ranks */
  rw_lists lists;
  int number; /* of the communicator, in the order of creation */
  rw_publishers *publishers;
  double id;  /* equal on all ranks, of the graph; 0: it is not remembered */
  MPI_Group group; /* of the ranks, if there is an id */
  rw_plan plans[RW_COLLECTIVES];
  unsigned nonblocking_calls[RW_COLLECTIVES];
  int left; /* an rw_outcome: every call is MPI's, and why; 0 otherwise */
  uint64_t counts[RW_FUNCTIONS][RW_OUTCOMES]; /* calls */
  rw_recorded recorded[RW_FUNCTIONS];
  int *graph_starts, *graph; /* recorded, on rank 0: destinations of every rank */
  char nodes[RW_NODES];      /* recorded, on rank 0: nodes and the ranks of each, `2x16+8`; empty: not known, or longer */
};

/*
 * After the creation of a topology communicator, or of none, from `old`; `is_off`: leave it to MPI. Local, unless graphs
 * are recorded or `old` is not MPI_COMM_WORLD.
 */
int rw_state_attach(MPI_Comm old, MPI_Comm comm, int is_off);
/* Whether all ranks are processes of the world, which share its settings: alike on all of them. Local. */
int rw_is_of_world(MPI_Comm comm);
/* NULL: calls are left to MPI. */
rw_state *rw_state_of(MPI_Comm comm);
/* If all ranks of the communicator share memory, alike on all of them; else NULL. Local. */
rw_publisher *rw_state_publisher(const rw_state *state, int collective);
/* So that the report is printed at the end. Local. */
int rw_state_make_keys(void);
/* Makes the plan of a collective. Collective. */
int rw_state_plan(rw_state *state, int collective);
/*
 * Which blocks are short enough for the plan: as long as the longest on any rank and some more, if memory
 * permits. There is no plan if a rank has blocks of RW_ON_DEVICE bytes. Collective.
 */
int rw_state_limit(rw_state *state, int collective, double longest);
/* Hands an error to the communicator's handler. */
int rw_raise(MPI_Comm comm, int code);

/*
 * --- memory.c
 * --------------------------------------------------------------------------------------------------------
 */

/* A state of zeros. NULL: there is no memory. */
rw_state *rw_state_allocate(void);
void rw_state_free(rw_state *state);
/* Of a communicator that is freed: remembered with its plans for the next one of the same graph, or freed. */
void rw_state_remember(rw_state *state);
/* A number that this process has not used; 0: it remembers no more graphs. */
double rw_graph_propose(void);
/* That all ranks take this number. */
void rw_graph_number(rw_state *state, double id);
/* The number of the same graph of the same processes, remembered; 0: none. Reads lists. */
double rw_graph_find(rw_state *state);
/* Plans and what was learned of them go to the state. */
void rw_graph_take(rw_state *state, double id);
/* In MPI_Finalize. */
void rw_graphs_forget(void);

/*
 * --- requests.c
 * ------------------------------------------------------------------------------------------------------
 */

/* Whether MPI advances requests of this library in whatever call the program completes them. */
int rw_requests_work(void);
/* Starts an exchange and hands out the request that completes with it. */
int rw_request_start(MPI_Comm comm, rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to,
                     MPI_Request *request);
/*
 * Whether MPI also advances them while it waits for something else, such as a receive. So an exchange may complete a
 * request of another kind: `complete` is called, with the code, in any call of MPI.
 */
int rw_requests_have_progress(void);
int rw_requests_start_receive(rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to,
                              void (*complete)(void *, int), void *with);
/* Advances what is in progress, as MPI does. */
void rw_requests_advance(void);
void rw_requests_end(void);

/*
 * --- trial.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* Another batch of so many pairs; the first one forgets what was agreed before. */
void rw_trial_begin(rw_trial *trial);
void rw_trial_batch(rw_trial *trial, int pairs);
/* Whether the next call of the batch runs the plan. */
int rw_trial_runs_plan(const rw_trial *trial);
/* The own time of that call. */
void rw_trial_note(rw_trial *trial, double us);
/* The times of the batch: averages over all ranks. */
void rw_trial_agree(rw_trial *trial, double batch[RW_BATCH][RW_FIGURES]);
/* `affordable`: us that the trial may cost. */
int rw_trial_verdict(const rw_trial *trial, int is_incumbent, double affordable);
/* Whether the plan was not faster in the last pair. */
int rw_trial_lost_last(const rw_trial *trial);
/*
 * What the verdict goes by: the time of a call by the plan over that by MPI, median and 95% interval. 0 without enough
 * pairs.
 */
int rw_trial_ratio(const rw_trial *trial, double *low, double *middle, double *high);
/* The plan is used if the interval of the ratio is below this. */
#define RW_MARGIN 0.97
/* What a call by the plan saves, in us: median and 95% interval. 0 without enough pairs. */
int rw_trial_saving(const rw_trial *trial, double *low, double *middle, double *high);

/*
 * --- fortran.c
 * -------------------------------------------------------------------------------------------------------
 */

/* A buffer, or the constant of C that its address stands for. */
void *rw_fortran_buffer(void *given);
/* The library's function of a name; `function` is the address of a pointer to it. */
void rw_fortran_find(void *function, const char *name);

/*
 * --- pace.c
 * ----------------------------------------------------------------------------------------------------------
 */

/* Without one every call falls through. */
int rw_plan_exists(const rw_plan *plan);
void rw_pace_begin(rw_plan *plan, int is_at_once);
/* To be called before every call; the longest block of this rank. Collective in some calls, in all ranks alike. */
int rw_pace_call(rw_state *state, int collective, double longest);
/* Whether the call that follows has to be timed. */
int rw_pace_watches(const rw_plan *plan);
int rw_pace_runs_plan(const rw_plan *plan);
/* The time of the call, and its longest block. */
void rw_pace_note(rw_plan *plan, double us, double longest);

#endif
