/* Collectives of MPI in the settings of a tuning file. Part of shim.h. */
#ifndef RANKWEAVE_TUNE_H
#define RANKWEAVE_TUNE_H

/* packed.c implements the declarations below. */

/* The head of a file in packed form, which src/shim/packed-files.ts defines. */
typedef struct {
  char kind[8];
  uint32_t version, word;
  uint64_t bytes; /* length of the whole file */
  uint64_t sum;   /* FNV-1a of what follows the head */
} rw_packed;

/*
 * Reads the packed form beside a file, `PATH.packed`, of a kind and of so many bytes at least; the caller frees it.
 * NULL: `wrong` says why.
 */
rw_packed *rw_packed_read(const char *path, const char *kind, size_t least, char *wrong, size_t room);
/* Writes into `wrong` why the packed form is refused. */
void rw_packed_refuse(const char *why, char *wrong, size_t room);

/* tune-decisions.c implements the declarations below. */

/* The collectives with decisions; each has at least one function of MPI. */
enum {
  RW_TUNE_BARRIER, RW_TUNE_BCAST, RW_TUNE_SCATTER, RW_TUNE_GATHER, RW_TUNE_ALLGATHER, RW_TUNE_REDUCE, RW_TUNE_ALLREDUCE,
  RW_TUNE_REDUCE_SCATTER, RW_TUNE_ALLTOALL, RW_TUNE_SCAN, RW_TUNE_EXSCAN, RW_TUNE_COLLECTIVES
};
/* MPI_Reduce_scatter with equal counts is the collective of MPI_Reduce_scatter_block. */
enum { RW_TUNE_REDUCE_SCATTER_BLOCK = RW_TUNE_COLLECTIVES, RW_TUNE_FUNCTIONS };

/* The attributes of tests, in the order of `allAttributes` in src/tuning/settings/tuning-call.ts. */
enum {
  RW_TEST_NODES, RW_TEST_PER_NODE, RW_TEST_PROCESSES, RW_TEST_BYTES, RW_TEST_TOTAL, RW_TEST_NODE_BYTES,
  RW_TEST_DISTRIBUTED, RW_TEST_COLLECTIVE, RW_TEST_OPERATION, RW_TEST_ORDER, RW_TEST_SHARED, RW_TEST_EVEN,
  RW_TEST_POWER, RW_TESTS
};

/* The words of calls, as numbers. No call has RW_WORD_NONE. */
enum { RW_WORD_NONE = -1, RW_WORD_UNSTATED = 0, RW_WORD_NO = 1, RW_WORD_YES = 2, RW_ORDER_ANY = 3 };

typedef struct {
  double value;    /* bound of a number, or the word to equal */
  int32_t attribute;
  int32_t yes, no; /* the next test, counted from the first of the tree; ~setting of a leaf */
} rw_tune_test;

typedef struct {
  int32_t first, root; /* first and root of its tests; below its settings, all among those of the file */
  int32_t first_setting, settings;
} rw_tree;

/* The decisions of all collectives: one block of memory. */
typedef struct {
  rw_tree trees[RW_TUNE_COLLECTIVES]; /* a tree without settings is missing in the file */
  double cores;                       /* taken from the settings of rank 0 */
  double after, per_communicator, per_process;
  int32_t tests, settings;
} rw_tuning;

enum { RW_TUNE_NAME = 65, RW_TUNE_PARAMETER = 33, RW_TUNE_PARAMETERS = 8 };

typedef struct {
  int64_t values[RW_TUNE_PARAMETERS];
  int32_t collective, parameters;
  char algorithm[RW_TUNE_NAME], names[RW_TUNE_PARAMETERS][RW_TUNE_PARAMETER];
} rw_tune_setting;

/* A call as decisions see it. */
typedef struct {
  double nodes, per_node, processes, bytes;
  int is_even, is_power, is_shared, collective; /* words */
  int operation, order;
} rw_tune_call;

/* Returns the bytes of the block. */
size_t rw_tuning_bytes(const rw_tuning *tuning);
const rw_tune_test *rw_tuning_tests(const rw_tuning *tuning);
const rw_tune_setting *rw_tuning_settings(const rw_tuning *tuning);
/* Returns the setting among all of the file. Allocates nothing. */
int rw_tune_decide(const rw_tuning *tuning, const rw_tune_call *call);
/* Marks the settings that calls of any length and operation take. */
void rw_tune_reach(const rw_tuning *tuning, const rw_tune_call *call, char *is_reached);
/* Writes a setting as `pipeline:segment=8192`. */
void rw_tune_setting_name(const rw_tune_setting *setting, char *name, size_t room);
const char *rw_tune_collective_name(int collective);
int rw_tune_is_same(const rw_tune_setting *a, const rw_tune_setting *b);
int rw_tune_operation(MPI_Op op);

/* The axes by which a call is looked up in a grid. */
enum { RW_GRID_BYTES, RW_GRID_NODES, RW_GRID_PER_NODE, RW_GRID_AXES };

/* The decisions of a collective as cells, as src/tuning/models/decision-grid.ts has them: one block of memory. */
typedef struct {
  int32_t edges[RW_GRID_AXES]; /* along each axis: cells begin there */
  int32_t settings, is_trained, has_performances;
} rw_grid;

/* Returns the bytes of the block. */
size_t rw_grid_bytes(const rw_grid *grid);
int rw_grid_cells(const rw_grid *grid);
const double *rw_grid_edges(const rw_grid *grid, int axis);
/* Returns the number of the best setting by cell, bytes varying fastest, then nodes: from 1; 0: none. */
const int32_t *rw_grid_best(const rw_grid *grid);
/* Returns the performances by cell and setting: 0 to 1. NULL: the grid has none. */
const float *rw_grid_performances(const rw_grid *grid);
/* Returns, by setting, 1 for those that are never chosen. */
const char *rw_grid_excluded(const rw_grid *grid);
/* Returns the last edge that is not above the value, or the first edge if all are above it. */
int rw_grid_interval(const rw_grid *grid, int axis, double value);

/* tune-file.c implements the declarations below. */

/* The bytes of a checksum, of a name of a machine, and of such names in the file. */
enum { RW_TUNE_CHECKSUM = 17, RW_TUNE_MACHINE = 801, RW_TUNE_TEXT = 808 };

/* The content of a tuning file other than its decisions as tests. */
typedef struct {
  rw_grid *grids[RW_TUNE_COLLECTIVES]; /* NULL: a tree, or nothing */
  char machine[RW_TUNE_MACHINE], checksum[RW_TUNE_CHECKSUM];
} rw_tune_model;

/*
 * Reads the packed form of a tuning file for the running library. NULL: `wrong` says why. The caller owns the grids
 * of `model`; without one, grids are tests only.
 */
rw_tuning *rw_tune_read(const char *path, rw_tune_model *model, char *wrong, size_t room);
void rw_tune_model_free(rw_tune_model *model);

/* tune-library.c implements the declarations below. */

/* Writes the name of the running library: `Open MPI 4.1.4`. */
void rw_tune_library_name(char *name, size_t room);
/* Prepares variables before MPI_Init. */
void rw_tune_library_before(void);
/* Leaves the environment of the program after MPI_Init as it was. */
void rw_tune_library_after(void);
/* Begins; called before all others, and once more without effect. Returns NULL, or why the library cannot be tuned. */
const char *rw_tune_library_begin(int is_threaded);
/* Writes the name of an algorithm of the library for a collective, from 0; 0: that was the last one. */
int rw_tune_library_algorithm(int collective, int i, char *name, size_t room);
/* Returns whether the library has the setting for its collective. */
int rw_tune_library_has(const rw_tune_setting *setting);
/* Looks up what the library needs for the settings. 0: there is no memory. */
int rw_tune_library_resolve(const rw_tuning *tuning);
/* Returns a number that differs where settings resolve to other values. */
uint32_t rw_tune_library_sum(void);
/* Returns whether a function has the setting, for so many ranks. */
int rw_tune_library_knows(int setting, int function, int ranks);
/*
 * Returns whether it serves a call of so many bytes, and elements of the type in reductions, else
 * MPI_DATATYPE_NULL.
 */
int rw_tune_library_takes(int setting, int64_t bytes, MPI_Datatype type);
/* Returns whether it cuts the data of each rank by the datatype there. */
int rw_tune_library_cuts(int setting);
/* Returns whether communicators have settings from their creation on; else calls have them. */
int rw_tune_library_needs_shadows(void);
/* Gives communicators that are made until the reset a setting. 0: the library refuses. */
int rw_tune_library_set(int setting);
int rw_tune_library_reset(int setting);
/* Sets what the library reads in each call, until the reset. */
int rw_tune_library_set_call(int setting, int function);
int rw_tune_library_reset_call(int setting, int function);

/* tune.c implements the declarations below. */

/* A call by a setting, with the communicator on which it runs. */
typedef struct {
  MPI_Comm user, comm;
  int setting, function;
  int place;  /* place among records of online tuning; -1: none */
  int is_own; /* it is the user's own call, without a setting */
} rw_turn;

/* The result of rw_tune_begin for a user's own call that must be ended, too. */
enum { RW_TURN_OWN = 2 };

/* The bytes of calls that are left to MPI whatever the file says. */
enum { RW_BYTES_WRONG = -1, RW_BYTES_IN_PLACE = -2, RW_BYTES_UNEQUAL = -3 };

/* Shares the settings once, in MPI_Init of all processes, after the agreement on settings. Collective. */
void rw_tune_share(void);
int rw_tune_is_on(void);
/*
 * Returns whether calls of a function on a communicator may have a setting: else their arguments must not be read.
 * Negative: there is no memory. Local.
 */
int rw_tune_serves(MPI_Comm comm, int function);
/* Returns whether calls may be tuned, which remains the same until the process ends. */
int rw_tune_is_used(void);
/*
 * Begins a call that is served. 1: the call of so many bytes runs on `turn->comm`, and ends. RW_TURN_OWN: it is
 * MPI's, and ends. 0: it is MPI's. Negative: there is no memory. For functions without an operation, `op` is
 * MPI_OP_NULL, and the type MPI_DATATYPE_NULL. Collective in some calls, in all ranks alike.
 */
int rw_tune_begin(rw_turn *turn, MPI_Comm comm, int function, int64_t bytes, MPI_Op op, MPI_Datatype type);
/* Ends a call, and hands an error to the handler of the user's communicator. Returns the code. */
int rw_tune_end(const rw_turn *turn, int code);
/*
 * Notes that all members of `old` have made a communicator from it, with the code of that, or MPI_COMM_NULL.
 * Returns the code. Local.
 */
int rw_tune_created(MPI_Comm old, int code, MPI_Comm comm);
void rw_tune_stop(void);

/* tune-share.c implements the declarations below. */

/*
 * Spreads the tuning of rank 0 as the same block to all ranks; NULL if rank 0 has none, or a rank has no memory.
 * Collective.
 */
rw_tuning *rw_tune_spread(int rank, rw_tuning *read);
/* Returns the reason of the first process that has one, or NULL. Collective. */
const char *rw_tune_first_reason(const char *own);

/* tune-report.c implements the declarations below. */

/* The outcomes of calls that are to have a setting. Those behind RW_TUNE_BY_SETTING are left to MPI. */
typedef enum {
  RW_TUNE_BY_SETTING, RW_TUNE_BY_DEFAULT, RW_TUNE_EARLY, RW_TUNE_UNKNOWN, RW_TUNE_LIMIT, RW_TUNE_FAILED, RW_TUNE_OUTCOMES
} rw_tune_outcome;

/* The reasons why a function's calls are left to MPI before a setting is chosen. */
typedef enum {
  RW_LEFT_WRONG, RW_LEFT_IN_PLACE, RW_LEFT_UNEQUAL, RW_LEFT_EMPTY, RW_LEFT_IN_ORDER, RW_LEFT_COMMUNICATOR,
  RW_LEFT_THREADS, RW_LEFT_REASONS
} rw_tune_reason;

/* Begins the report; 0: no memory. */
int rw_tune_report_begin(const rw_tuning *tuning, int is_online);
void rw_tune_count(int setting, rw_tune_outcome outcome);
void rw_tune_count_left(int function, rw_tune_reason reason);
/* Prints the lines of the report. */
void rw_tune_report(void);

/* tune-bytes.c implements the declarations below. */

/* Makes calls by a setting, whose datatypes may differ between ranks. Return the code. */
int rw_tune_bcast(const rw_turn *turn, void *data, int count, MPI_Datatype type, int root);
int rw_tune_gather(const rw_turn *turn, const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                   MPI_Datatype receive_type, int root);

#endif
