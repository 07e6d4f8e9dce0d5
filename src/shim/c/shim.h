/*
 * The common declarations of the preloaded library. Each process is one rank: everything here is that rank's own
 * part.
 */
#ifndef RANKWEAVE_SHIM_H
#define RANKWEAVE_SHIM_H

#include "rankweave_program.h"
#include "tools.h"

#define RW_EXPORT __attribute__((visibility("default")))

/* The collectives for which plans exist: every rank contributes one block, or one per destination. */
enum { RW_ALLGATHER, RW_ALLTOALL, RW_COLLECTIVES };

enum { RW_NAME = 256 };

/* settings.c implements the declarations below. */

/* The settings of a user; after rw_agree they are the same on all ranks of a communicator. */
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
  double is_simple;    /* 1: no edges are parallel */
  double region;       /* bytes of memory that a process shares with those of its node */
  double lends;        /* 1: long blocks may be read in their sender's own memory */
  double tunes;        /* 1: a tuning file is named */
  double matches;      /* 1: calls by which messages are matched are recorded */
  double repairs;      /* 1: calls that run into a defect of MPI are put right */
  double reproduces;   /* 1: reductions follow the fixed tree */
  double matching_operations, matching_sample_ms; /* most operations of a process; ms between samples */
  double matching_skew; /* us by which clocks of nodes differ, for tests */
  double reorders;     /* RW_REORDER_BY_GRAPH, RW_REORDER_BY_FILE; 0: ranks are MPI's */
  double tune_after;   /* calls of a setting before it has a shadow communicator */
  double tune_per_communicator, tune_per_process; /* shadow communicators at most */
} rw_settings;

enum { RW_FILES = 8 };
/* The sources of mappings of graphs: this library, or a file. */
enum { RW_REORDER_BY_GRAPH = 1, RW_REORDER_BY_FILE };

const rw_settings *rw_own_settings(void);
/* Shares settings once, after MPI_Init of all processes. Collective. */
void rw_settings_share(void);
/*
 * Returns the settings that all processes share: `enabled`, `always`, `records`, `reorders`, `cores`, `matches`,
 * `repairs` and `reproduces`, and whether one of them set `tunes`. NULL if they have not shared them.
 */
const rw_settings *rw_world_settings(void);
int rw_wants_report(void);
/*
 * Notes an error of the settings as a line. The first process that has any prints them once, when all have shared
 * theirs.
 */
__attribute__((format(printf, 1, 2))) void rw_complain(const char *format, ...);
/* Returns the file of the mode `record:FILE`, or NULL. */
const char *rw_record_path(void);
/* Returns the file of the word `tune:FILE`, or NULL. */
const char *rw_tune_path(void);
/* Returns the file of the word `reorder:FILE`, or NULL. */
const char *rw_reorder_path(void);
/* Returns the folder of the word `matching:FOLDER`, or NULL. */
const char *rw_matching_path(void);
/* Returns a file of RANKWEAVE_SHIM_PLAN, which lists them separated by colons, or NULL. */
const char *rw_plan_path(int file);
/* Returns the route of RANKWEAVE_SHIM_STRATEGY, or NULL. */
const char *rw_strategy(void);
/*
 * Gives all ranks the least of every setting. `is_ready` becomes 0 unless it is 1 everywhere. `names`, of the plans
 * of the files that fit, become 0 unless they are equal everywhere. Collective.
 */
int rw_agree(MPI_Comm comm, rw_settings *settings, double *is_ready, double names[RW_FILES]);
/*
 * Returns MPI_ERR_NO_MEM on all ranks unless all have memory, so that none waits for another afterwards.
 * Collective.
 */
int rw_agree_on_memory(MPI_Comm comm, int has_memory);

/* attribute.c implements the declarations below. */

/* The values of a kind on communicators. Each is destroyed with its communicator, and not copied with it. */
typedef struct {
  void (*destroy)(void *value);
  int key; /* MPI_KEYVAL_INVALID until the first value is set */
} rw_attribute;
#define RW_ATTRIBUTE(destroy) {destroy, MPI_KEYVAL_INVALID}

/* Returns the value of a communicator; NULL: there is none, or `code` is an error of MPI. */
void *rw_attribute_get(const rw_attribute *attribute, MPI_Comm comm, int *code);
/* Hands a value to a communicator. Returns a code of MPI; if it is an error, the value remains the caller's. */
int rw_attribute_set(rw_attribute *attribute, MPI_Comm comm, void *value);

/* lists.c implements the declarations below. */

/* The sources and destinations of a rank, in the order of its buffers. MPI_PROC_NULL at edges of a grid. */
typedef struct {
  int rank, ranks;
  int in_count, out_count;
  int *in, *out;
  /* Whether edges are parallel: a neighbor is listed twice, here or, once ranks have agreed, elsewhere. */
  int is_parallel, is_grid;
} rw_lists;

/* Reads the rank, the ranks and the lengths of the lists; allocates nothing. */
int rw_lists_count(MPI_Comm comm, rw_lists *lists);
int rw_lists_read(MPI_Comm comm, rw_lists *lists);
void rw_lists_free(rw_lists *lists);
/*
 * Returns whether a grid wraps over one or two ranks, so that a rank is its neighbor in both directions. Equal on all
 * ranks.
 */
static inline int rw_lists_wrap(const rw_lists *lists) { return lists->is_grid && lists->is_parallel; }

/* routes.c implements the declarations below. */

enum { RW_MAX_STEPS = 32 };

/* The digits of a mixed-radix notation, corrected one by one, lowest first. */
typedef struct {
  int steps;
  int are_missing; /* fewer radices were given than needed, so the last one repeats */
  int radices[RW_MAX_STEPS], weights[RW_MAX_STEPS + 1];
} rw_digits;

/* The ranks by node: equal on all ranks. */
typedef struct {
  int nodes, largest;
  int *node, *local, *start, *ranks;
} rw_layout;

/*
 * A route, which determines the ranks of a block from source to destination: `routed` if layout is NULL, else
 * `hierarchical`.
 */
typedef struct {
  int ranks;
  rw_digits between, inside;
  const rw_layout *layout;
} rw_route;

/*
 * Parses `routed:radices=4.4` or `hierarchical:between=4,inside=2.2`, as `rankweave export --strategy` spells them.
 * 0 if the text is neither. Missing radices repeat the last one.
 */
int rw_route_parse(const char *text, int ranks, const rw_layout *layout, rw_route *route);
/* Returns whether the text had all radices, as `rankweave export` demands. */
int rw_route_is_whole(const rw_route *route);
/* Writes the route as text, with all radices. */
void rw_route_name(const rw_route *route, char *name, size_t room);
int rw_digits_step(const rw_digits *digits, int step, int from, int to, int count);
int rw_route_hops(const rw_route *route);
int rw_route_hop(const rw_route *route, int h, int source, int destination);
/* Finds the ranks of every node. Collective. */
int rw_layout_make(MPI_Comm comm, int cores, rw_layout *layout);
void rw_layout_free(rw_layout *layout);

/* moves.c implements the declarations below. */

/*
 * A move of block `part` of rank `source` between this rank and `peer` in a hop. `is_last`, for alltoalls: the
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

/* Finds the ways of a rank's own blocks to their destinations. 0 if there is no memory. */
int rw_own_moves_find(const rw_lists *lists, const rw_route *route, int collective, rw_own_moves *moves);
/*
 * Tells every move to both ends: moves in the order of hop, peer (counted from the rank on), source, part.
 * Collective.
 */
int rw_moves_tell(MPI_Comm comm, const rw_lists *lists, const rw_own_moves *own, rw_moves *sends, rw_moves *receives);

/* part.c implements the declarations below. */

/* The part of one rank in a plan: the tables that the runtime executes, and what the shim needs in addition. */
typedef struct {
  struct rw_program program;
  int32_t *words; /* the tables */
  int *slot;      /* the place in the receive buffer of every slot of the program: those of MPI_PROC_NULL have none */
  /* The lists of direct sends: the block and destination of every edge. */
  int edges;
  int *block, *destination;
} rw_part;

/* Makes a part; NULL if the moves are not a plan for these lists. */
rw_part *rw_part_make(const rw_lists *lists, int collective, const rw_moves *sends, const rw_moves *receives);
/*
 * Makes a part with a program from elsewhere, whose slots have the sources `slot_source`: the same as the lists
 * have, in any order.
 */
rw_part *rw_part_of_program(const rw_lists *lists, const struct rw_program *program, const int32_t *slot_source);
void rw_part_free(rw_part *part);

/* plan-file.c implements the declarations below. */

/* Reads this rank's part of a file, and returns the name of the plan; 0 if it does not fit. */
uint32_t rw_plan_file_read(const char *path, const rw_lists *lists, rw_part **part);

/* buffers.c implements the declarations below. */

/*
 * The buffer of a user, with blocks of one datatype. If displacements are NULL, block i is i counts of the first
 * count behind the start.
 */
typedef struct {
  char *start;
  int count;
  const int *counts, *displacements;
  MPI_Datatype type;
  MPI_Aint extent;
  int64_t size;      /* bytes of an element */
  int is_contiguous; /* elements are bytes one after the other, which the processor can read */
  int is_on_device;  /* its memory is left to MPI */
  int is_reversed;   /* the first block of parallel edges belongs to the last slot */
} rw_buffer;

int rw_buffer_set(rw_buffer *buffer, const void *start, int count, const int *counts, const int *displacements,
                  MPI_Datatype type);
char *rw_buffer_at(const rw_buffer *buffer, int block);
int rw_buffer_count(const rw_buffer *buffer, int block);
int64_t rw_buffer_bytes(const rw_buffer *buffer, int block);
/* Reads the bytes of a block; a block that is too long for its place is MPI_ERR_TRUNCATE. */
int rw_buffer_read(const rw_buffer *buffer, int block, char *data, MPI_Comm comm);
int rw_buffer_write(const rw_buffer *buffer, int block, const char *data, int length, MPI_Comm comm);
/*
 * Makes the same type, which remains if the program frees its own. A duplicate would copy the attributes of the
 * program, which would see that.
 */
int rw_type_keep(MPI_Datatype type, MPI_Datatype *kept);

/* calls.c implements the declarations below. */

/* A call as the user made it, so that it can be handed on. */
typedef struct {
  const void *from;
  void *to;
  int send_count, receive_count;
  const int *send_counts, *send_displacements, *receive_counts, *receive_displacements;
  MPI_Datatype send_type, receive_type;
  MPI_Comm comm;
} rw_call;
/* The arguments of a call whose blocks are equal, received by counts, or sent and received by counts. */
#define RW_EQUAL_VALUES(c) (c)->from, (c)->send_count, (c)->send_type, (c)->to, (c)->receive_count, (c)->receive_type, (c)->comm
#define RW_GATHERV_VALUES(c)                                                                            \
  (c)->from, (c)->send_count, (c)->send_type, (c)->to, (c)->receive_counts, (c)->receive_displacements, \
      (c)->receive_type, (c)->comm
#define RW_ALLTOALLV_VALUES(c)                                                                             \
  (c)->from, (c)->send_counts, (c)->send_displacements, (c)->send_type, (c)->to, (c)->receive_counts, \
      (c)->receive_displacements, (c)->receive_type, (c)->comm

#include "counting.h"

/* Hands a blocking call to MPI. */
int rw_call_by_mpi(const rw_call *call, rw_function function);
/* Returns whether the library has to refuse the arguments itself. */
int rw_call_is_wrong(const rw_call *call, const rw_lists *lists, int is_v_send, int is_v_receive);
int rw_call_buffers(const rw_call *call, rw_function function, rw_buffer *from, rw_buffer *to);

/* nonblocking.c implements the declaration below. */

/* Starts a call by MPI, also if its function is the blocking one. */
int rw_start_by_mpi(const rw_call *call, rw_function function, MPI_Request *request);

/* pairing.c implements the declarations below. */

/* Finds out how MPI pairs the blocks of parallel edges, once. Makes a communicator of this process alone. */
void rw_pairing_find(void);
/* Returns whether the first block that a function sends along parallel edges arrives in the last slot. Local. */
int rw_pairing_is_reversed(rw_function function);
/* Exchanges two numbers of a process that is its own neighbor twice. Returns a code of MPI. */
int rw_pairing_try(rw_function function, const int *from, int *to, MPI_Comm comm);

/* repair.c implements the declarations below. */

/* Returns whether calls that run into a defect of MPI are put right; alike on all processes. */
int rw_repairs(void);
/* Hands a blocking call to MPI, around its defects. Collective in the first call on a communicator. */
int rw_repair_call(const rw_call *call, rw_function function);
/* Starts a call by MPI, around its defects. Local. */
int rw_repair_start(const rw_call *call, rw_function function, MPI_Request *request);
/* The received blocks of a call with a datatype for each. */
typedef struct {
  const int *counts;
  const MPI_Aint *places;
  const MPI_Datatype *types;
} rw_received;
/* The caller makes the call, or starts it and waits for it. */
enum { RW_REPAIR_NOTHING, RW_REPAIR_BY_START };
/*
 * Orders the blocks that a form of MPI_Neighbor_alltoallw receives so that MPI pairs them right. Collective in the
 * first blocking call on a communicator. Returns a code of MPI, which has been raised.
 */
int rw_repair_received(MPI_Comm comm, rw_function function, rw_received *received, int *how);
/* Adds lines on calls that were put right to the report. */
void rw_repair_report(void);

/* device.c implements the declarations below. */

int rw_is_on_device(const void *pointer);
/* A number of bytes that no block has: this rank's buffers are in the memory of a device. */
#define RW_ON_DEVICE 1e18

/* info.c implements the declarations below. */

int rw_info_is_off(MPI_Info info);
/* Agrees on the info after MPI_Comm_set_info. Collective. */
int rw_info_change(MPI_Comm comm, MPI_Info info);

/* messages.c implements the declarations below. */

static inline int rw_first_error(int first, int second) { return first == MPI_SUCCESS ? second : first; }
/*
 * Makes a communicator of the same ranks for messages, which returns errors. A duplicate would copy the attributes of
 * the program, which would see that. Collective.
 */
int rw_messages_comm(MPI_Comm comm, MPI_Comm *made);
/* Posts a message. If MPI refuses it, bytes without use take its place for the peer. Returns MPI's code. */
int rw_post_receive(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request);
int rw_post_send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
/* Completes all requests, whichever of them fail. Returns the first error. */
int rw_complete(int count, MPI_Request requests[], MPI_Status statuses[]);

/* run.c implements the declarations below. */

/* The memory and requests in which a plan runs, one call at a time. */
typedef struct rw_runner rw_runner;

/* The tag of blocks that their source sends itself; messages of a plan have other tags. */
enum { RW_DIRECT_TAG = 0 };

/*
 * Makes a runner; `limit` is the bytes of the longest block that travels by the plan, equal on all ranks. NULL if
 * there is no memory. Collective.
 */
rw_runner *rw_runner_make(const rw_part *part, const rw_lists *lists, MPI_Comm comm, int limit);
void rw_runner_free(rw_runner *runner);
/* Runs a call, and waits for other ranks as MPI's own collectives may. Returns a code of MPI. */
int rw_run(rw_runner *runner, const rw_buffer *from, const rw_buffer *to);
/* Returns whether a message of the plan has failed, for which other ranks wait. */
int rw_run_is_broken(const rw_runner *runner);
/* Returns whether a block of this rank was sent directly in the last call. */
int rw_run_was_direct(const rw_runner *runner);
/* Returns the number of such calls since the last query. */
unsigned rw_direct_calls(rw_runner *runner);

/* init.c implements the declaration below. */

/* Prepares this library once MPI has begun, with the code of MPI_Init, which it returns. Collective. */
int rw_begun(int code);

/* arena.c implements the declarations below. */

/* The bytes of a cache line. */
enum { RW_LINE = 64 };

/* The memory of a node, and what all processes of the world agreed on in MPI_Init. */
typedef struct {
  int is_there;
  MPI_Comm comm; /* the world's, for messages */
  MPI_Group world, node;
  int process, processes; /* number in the node, and processes of it */
  int is_crowded;         /* more processes than cores */
  int is_threaded;        /* some process has MPI_THREAD_MULTIPLE */
  int has_route;          /* rank 0 names another strategy than shared memory */
  int lends;              /* processes may read each other's own memory, on all nodes */
  size_t region, limit;   /* bytes of a process; of the longest block that is copied for one reader */
  char *memory;
} rw_arena;

/* An entry of a process for a communicator, for readers and for those whose blocks it reads; by collective. */
typedef struct {
  /* The calls up to the last one that has blocks sent for want of a place, or blocks too long to be published. */
  uint64_t direct[RW_COLLECTIVES], apart[RW_COLLECTIVES];
  uint64_t ring[RW_COLLECTIVES]; /* the first line of its places; 0: it has none */
  uint64_t left; /* number of ends of edges that are done with it: the only field that others write */
} rw_entry;

/* Makes the arena once, in MPI_Init of all processes, after the agreement on settings. Collective. */
void rw_arena_make(void);
/* Returns the arena; NULL: no process uses it. */
const rw_arena *rw_arena_of_process(void);
/*
 * Returns the number of a child of `old`, equal on its ranks; -1: none has one. Called for children of
 * MPI_COMM_WORLD also where the child is MPI_COMM_NULL. Collective on the child unless `old` is MPI_COMM_WORLD.
 */
int rw_arena_number(MPI_Comm old, MPI_Comm comm);
int rw_arena_tag(int number, int collective, int is_apart);
/* Makes the own entry; NULL: no room. */
rw_entry *rw_entry_make(int number);
void rw_entry_remove(int number);
/* Finds the entry of a process of the node; NULL: not made, refused or removed. */
rw_entry *rw_entry_find(int process, int number);
/* Tells a process that this one is done with its entry, once for each edge from it, after removing the own entry. */
void rw_entry_leave(int process, int number);
unsigned rw_entry_left(const rw_entry *entry);
/* Returns the count of calls whose blocks the process of an entry has all read. */
uint64_t *rw_entry_consumed(const rw_entry *entry, int collective);
/* Copies from the own memory of a process of the node. Returns a code of MPI. */
int rw_arena_fetch(int process, uint64_t address, char *to, size_t bytes);
/* Takes consecutive lines of the own region; 0: there are not so many. */
size_t rw_lines_take(size_t count);
void rw_lines_give(size_t first, size_t count);
char *rw_line_of(int process, size_t line);
/* Takes space of the own region, in units of a line; 0: there is not so much. */
size_t rw_space_take(size_t units);
void rw_space_give(size_t first, size_t units);
char *rw_space_of(int process, size_t unit);

/* publish.c implements the declarations below. */

/*
 * Publishes blocks that neighbors of a node read in memory, and sends messages to all others: one per communicator
 * and collective.
 */
typedef struct rw_publisher rw_publisher;
/* The publishers of a communicator. They outlive it until all readers are done. */
typedef struct rw_publishers rw_publishers;
/* A call that was started. */
typedef struct rw_exchange rw_exchange;

struct rw_state;

/* Allocates publishers; NULL: no memory. */
rw_publishers *rw_publishers_allocate(const rw_lists *lists);
/* Opens the publishers of a communicator with this number; -1: it has none. */
void rw_publishers_open(rw_publishers *all, MPI_Comm comm, int number);
void rw_publishers_close(rw_publishers *all);
/* Returns the same publisher in every call. NULL, on all ranks alike: leave the calls to MPI. Local. */
rw_publisher *rw_publisher_make(const struct rw_state *state, int collective);
/* Returns why no rank has a publisher. */
rw_outcome rw_why_unpublished(void);
/* Returns whether all ranks of the communicator share memory; equal on all of them. */
int rw_publisher_is_shared(const rw_publisher *publisher);
/* Returns whether a block of this rank was sent as a message in the last call that began. */
int rw_publisher_was_direct(const rw_publisher *publisher);
/* Returns the bytes of the longest block that a blocking call publishes; equal on all ranks. */
double rw_publisher_limit(const rw_publisher *publisher);

/* exchange.c implements the declarations below. */

/* Starts an exchange without blocking. Displacements, counts and the memory of `to` must remain until the end. */
int rw_exchange_start(rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to, rw_exchange **started);
/* Advances without blocking. Returns the error of the call once it is done. */
int rw_exchange_advance(rw_exchange *exchange, int *is_done);
int rw_exchange_wait(rw_exchange *exchange);
/* Frees an exchange that is done. */
void rw_exchange_free(rw_exchange *exchange);
/* Starts and waits, without an allocation. */
int rw_exchange_run(rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to);

#include "matching.h"
#include "reorder.h"
#include "tune.h"
#include "online.h"
#include "reproduce.h"

/* choose.c implements the declarations below. */

/*
 * Chooses the cheapest route for a few bytes, as text too; it is not worth it if direct sends are cheaper.
 * Collective.
 */
int rw_choose(MPI_Comm comm, const rw_lists *lists, int collective, const rw_settings *settings, rw_layout *layout,
              rw_route *route, char name[RW_NAME], int *is_worth);

/* state.c implements the declarations below. */

/*
 * The sizes of a trial: pairs of a turn of the plan and one of the library; calls of a turn; pairs that one
 * agreement judges, and most pairs.
 */
enum { RW_NODES = 256 };

enum { RW_TURN = 6, RW_BATCH = 3, RW_PAIRS = 24, RW_PAIR = 2 * RW_TURN };
/* The figures of a pair: us of a call of the plan, of the library, and the logarithm of their ratio. */
enum { RW_BY_PLAN_US, RW_BY_LIBRARY_US, RW_LOG_RATIO, RW_FIGURES };

/* The times of a trial, in us per call. Agreed figures are equal on all ranks. */
typedef struct {
  int tried, wanted;                /* calls of the batch so far; pairs of the batch */
  int pairs, is_odd;                /* agreed so far; whether the first turn of the batch is the library's */
  double turn[RW_TURN - 1];         /* own, of the turn in progress */
  double own[RW_BATCH][RW_FIGURES]; /* own, of the batch */
  double pair[RW_PAIRS][RW_FIGURES]; /* agreed, the last ones */
} rw_trial;

enum { RW_MORE, RW_WON, RW_LOST };

/* The phases of a plan. They are equal on all ranks, as counts of calls are. */
enum {
  RW_PHASE_EARLY,   /* the library performs calls: too few to plan */
  RW_PHASE_TRIAL,   /* plan and library take turns */
  RW_PHASE_PLAN,    /* the plan performs calls */
  RW_PHASE_LIBRARY, /* the library does: the plan lost */
  RW_PHASE_REST,    /* the library does: blocks are too long for the plan */
  RW_PHASE_NEVER    /* the library does: there is no plan */
};

/* The calls before an agreement that are timed. */
enum { RW_WATCH = 8 };
/* The calls of a collective before these, of which nothing but their number is noted. */
enum { RW_EARLY = 24 };

/* A plan of a communicator. */
struct rw_plan {
  int phase;
  uint64_t left; /* calls before the next agreement */
  int is_shared; /* a publisher replaces the part and its runner */
  rw_publisher *publisher;
  rw_part *part;
  rw_runner *runner;
  double limit, most; /* bytes of a block that travels by the plan; what memory permits */
  char name[RW_NAME];
  unsigned calls, planned_calls;
  double calls_before;             /* calls on freed communicators of the same graph */
  rw_trial trial;
  int is_incumbent, checks;        /* the plan is in use; agreements since its last sample */
  uint64_t pause;                  /* calls between a lost trial and the next */
  double seen_us;                  /* in calls so far, estimated */
  double watched_us[RW_WATCH];     /* own, of calls before an agreement */
  double watched_longest;          /* bytes of a block of these calls */
  double making_us;
  int why; /* an rw_outcome: without a part, why there is none */
};

/* The state of a communicator. */
struct rw_state {
  rw_state *before, *after; /* neighbors in the list of this process */
  MPI_Comm comm, shadow; /* the shadow is MPI_COMM_NULL until there is a plan */
  rw_settings settings;
  int is_agreed; /* settings are the same on all ranks */
  int is_read;    /* whether lists and publishers were read and made; before, `lists` only has counts */
  rw_lists lists;
  int number;       /* number of the communicator, in the order of creation */
  int arena_number; /* number by which processes find each other's entries; -1: there is none */
  rw_publishers *publishers;
  double id;  /* equal on all ranks, of the graph; 0: it is not remembered */
  MPI_Group group; /* group of the ranks, if there is an id */
  rw_plan plans[RW_COLLECTIVES];
  unsigned nonblocking_calls[RW_COLLECTIVES];
  int left; /* an rw_outcome: every call is MPI's, and why; 0 otherwise */
  uint64_t counts[RW_FUNCTIONS][RW_OUTCOMES]; /* calls */
  rw_recorded recorded[RW_FUNCTIONS];
  int *graph_starts, *graph; /* recorded, on rank 0: destinations of every rank */
  char nodes[RW_NODES];      /* recorded, on rank 0: nodes and the ranks of each, `2x16+8`; empty: not known, or longer */
};

/*
 * Attaches a state after the creation of a topology communicator, or of none, from `old`; `is_off`: leave it to
 * MPI. Local, unless graphs are recorded or `old` is not MPI_COMM_WORLD.
 */
int rw_state_attach(MPI_Comm old, MPI_Comm comm, int is_off);
/* Returns whether all ranks are processes of the world, which share its settings: alike on all of them. Local. */
int rw_is_of_world(MPI_Comm comm);
/* Returns the state, which is made if the communicator had few calls so far; NULL: calls are left to MPI. */
rw_state *rw_state_of(MPI_Comm comm);
/* Returns whether there is a state, or will be one. */
int rw_state_is_there(MPI_Comm comm);
/*
 * Returns whether a blocking call is one of the first of its collective on a communicator without a state, and counts it:
 * MPI carries it out. Local.
 */
int rw_state_is_early(const rw_call *call, int collective, rw_function function);
/*
 * Reads the lists and makes publishers, unless that is done: a communicator of few calls needs neither. If memory is
 * missing, the first agreement finds out. Local.
 */
void rw_state_read(rw_state *state);
/* Returns the publisher if all ranks of the communicator share memory, alike on all of them; else NULL. Local. */
rw_publisher *rw_state_publisher(const rw_state *state, int collective);
/* Has the work of the end done in MPI_Finalize, such as printing the report. Local. */
int rw_watch_end(void);
/* Makes the plan of a collective. Collective. */
int rw_state_plan(rw_state *state, int collective);
/*
 * Sets the limit of blocks for the plan: the longest on any rank and some more, if memory permits. There is no plan
 * if a rank has blocks of RW_ON_DEVICE bytes. Collective.
 */
int rw_state_limit(rw_state *state, int collective, double longest);
/* Hands an error to the communicator's handler. */
int rw_raise(MPI_Comm comm, int code);
/* Does so where other ranks would wait for this one without end: ends the job if the handler returns. */
int rw_raise_alone(MPI_Comm comm, int code);

/* memory.c implements the declarations below. */

/* Allocates a state of zeros. NULL: there is no memory. */
rw_state *rw_state_allocate(void);
void rw_state_free(rw_state *state);
/* Remembers the state of a freed communicator with its plans for the next one of the same graph, or frees it. */
void rw_state_remember(rw_state *state);
/* Returns a number that this process has not used; 0: it remembers no further graphs. */
double rw_graph_propose(void);
/* Sets the number that all ranks have agreed on. */
void rw_graph_number(rw_state *state, double id);
/* Finds the remembered number of the same graph of the same processes; 0: none. Reads lists. */
double rw_graph_find(rw_state *state);
/* Moves plans and what was learned of them to the state. */
void rw_graph_take(rw_state *state, double id);
/* Frees all remembered graphs in MPI_Finalize. */
void rw_graphs_forget(void);

/* requests.c implements the declarations below. */

/* Returns whether MPI advances requests of this library in whatever call the program completes them. */
int rw_requests_work(void);
/* The work of a request. It advances without blocking, maybe in any call of MPI, and is freed once it is done. */
typedef struct {
  int (*advance)(void *of, int *is_done);
  void (*free)(void *of);
  void *of;
} rw_task;
/* Makes the request that completes with a task; 0: there is no memory for it, and the task is the caller's. */
int rw_request_make(rw_task task, MPI_Request *request);
/* Starts an exchange and hands out the request that completes with it. */
int rw_request_start(MPI_Comm comm, rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to,
                     MPI_Request *request);
/*
 * Returns whether MPI also advances them while it waits for something else, such as a receive. So an exchange may
 * complete a request of another kind: `complete` is called, with the code, in any call of MPI.
 */
int rw_requests_have_progress(void);
int rw_requests_start_receive(rw_publisher *publisher, const rw_buffer *from, const rw_buffer *to,
                              void (*complete)(void *, int), void *with);
/* Advances exchanges in progress, as MPI does. */
void rw_requests_advance(void);
void rw_requests_end(void);

/* trial.c implements the declarations below. */

/* Begins a batch of so many pairs; the first one forgets what was agreed before. */
void rw_trial_begin(rw_trial *trial);
void rw_trial_batch(rw_trial *trial, int pairs);
/* Returns whether the next call of the batch runs the plan. */
int rw_trial_runs_plan(const rw_trial *trial);
/* Notes the own time of that call. */
void rw_trial_note(rw_trial *trial, double us);
/* Agrees on the times of the batch: averages over all ranks. */
void rw_trial_agree(rw_trial *trial, double batch[RW_BATCH][RW_FIGURES]);
/* Judges a trial; `affordable` is the us that it may cost. */
int rw_trial_verdict(const rw_trial *trial, int is_incumbent, double affordable);
/* Returns whether the plan was not faster in the last pair. */
int rw_trial_lost_last(const rw_trial *trial);
/*
 * Computes the ratio that determines the verdict: the time of a call by the plan over that by MPI, median and 95%
 * interval. 0 without enough pairs.
 */
int rw_trial_ratio(const rw_trial *trial, double *low, double *middle, double *high);
/* The bound of the ratio: the plan is used if the interval is below it. */
#define RW_MARGIN 0.97
/* Computes the us that a call by the plan saves: median and 95% interval. 0 without enough pairs. */
int rw_trial_saving(const rw_trial *trial, double *low, double *middle, double *high);

/* pace.c implements the declarations below. */

/* Returns whether there is a plan; without one every call falls through. */
int rw_plan_exists(const rw_plan *plan);
void rw_pace_begin(rw_plan *plan, int is_at_once);
/*
 * Prepares a call, given the longest block of this rank; called before every call. Collective in some calls, in all
 * ranks alike.
 */
int rw_pace_call(rw_state *state, int collective, double longest);
/* Returns whether the call that follows has to be timed. */
int rw_pace_watches(const rw_plan *plan);
int rw_pace_runs_plan(const rw_plan *plan);
/* Notes the time of the call, and its longest block. */
void rw_pace_note(rw_plan *plan, double us, double longest);
/* Enters a phase that so many calls follow before the next agreement. */
void rw_pace_enter(rw_plan *plan, int phase, uint64_t left);
/* Begins a trial. */
void rw_pace_try(rw_plan *plan);
/*
 * Judges a batch of a trial at its end. Blocks that are too long cost more by the plan, so they are checked first.
 * Collective.
 */
int rw_pace_judge(rw_plan *plan, MPI_Comm comm, int ranks);
/* Keeps a plan in use, and now and then compares it again. */
void rw_pace_keep(rw_plan *plan, int is_always);

#include "sparse.h"

#endif
