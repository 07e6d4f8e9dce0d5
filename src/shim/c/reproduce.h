/* Sums and products whose bits depend on the contributions and their ranks only. Part of shim.h. */
#ifndef RANKWEAVE_REPRODUCE_H
#define RANKWEAVE_REPRODUCE_H

/* reproduce.c implements the declarations below. */

/* A call of a reduction as the user made it. */
typedef struct {
  int function; /* RW_TUNE_REDUCE and others */
  const void *from;
  void *to;
  int count;
  const int *counts; /* NULL, except in MPI_Reduce_scatter */
  MPI_Datatype type;
  MPI_Op op;
  int root;
  MPI_Comm comm;
} rw_reduction;

/* Returns whether reductions are reproducible; alike on all processes. */
int rw_reproduces(void);
/*
 * Performs a call by the fixed tree, and sets its code. 0, on all ranks alike: the call is MPI's, whose result does
 * not depend on the order, or it cannot be served.
 */
int rw_reproduce(const rw_reduction *call, int *code);
/* Begins a function of a reduction, which ends with `code` if `made`, an expression of `reduction`, is not 0. */
#define RW_REDUCED(function, count, counts, root, made)                               \
  rw_reduction reduction = {function, from, to, count, counts, type, op, root, comm}; \
  int code;                                                                           \
  if (rw_reproduces() && made) return code
/* Adds lines on reductions to the report. */
void rw_reproduce_report(void);

/* The outcomes of calls, with the words of the report. */
#define RW_REPRODUCED(X)                                                       \
  X(RW_BY_TREE, "by the fixed tree")                                           \
  X(RW_EXACT, "left to MPI: exact in any order")                               \
  X(RW_TWO_GROUPS, "left to MPI: a communicator of two groups")                \
  X(RW_OTHER_WORLD, "left to MPI: a communicator with processes of another world") \
  X(RW_ODD_TYPE, "left to MPI: a datatype without extent, or with interleaved elements") \
  X(RW_MANY_ELEMENTS, "left to MPI: more than 2147483647 elements")            \
  X(RW_OWN_OPERATION, "left to MPI: an operation of the program, not waited for") \
  X(RW_LARGE_COUNTS, "left to MPI: counts of the type MPI_Count")              \
  X(RW_PERSISTENT_REQUEST, "left to MPI: a persistent request")                \
  X(RW_NOT_ADVANCED, "left to MPI: another tool intercepts functions that complete requests") \
  X(RW_REFUSED, "left to MPI: MPI refuses the arguments, or there is no data")
#define RW_NAME_OF_REPRODUCED(outcome, text) outcome,
typedef enum { RW_REPRODUCED(RW_NAME_OF_REPRODUCED) RW_REPRODUCE_OUTCOMES } rw_reproduce_outcome;
/* The forms of a function. The first two may follow the tree. */
enum { RW_CALLED, RW_STARTED, RW_LARGE, RW_LARGE_STARTED, RW_PERSISTENT, RW_LARGE_PERSISTENT, RW_REPRODUCE_FORMS };

/* Counts a call of another form than the first two, which is MPI's. */
void rw_reproduce_leave(int function, int form, MPI_Op op, MPI_Datatype type);

/* Starts a call by the fixed tree, as rw_reproduce. Local. */
int rw_reproduce_start(const rw_reduction *call, MPI_Request *request, int *code);

/* reproduce-tree.c implements the declarations below. */

typedef void rw_combine_elements(const void *left, void *right, size_t count);

/* The values of consecutive ranks, each of so many elements, `stride` bytes apart. */
typedef struct {
  rw_combine_elements *combine; /* NULL: MPI combines elements */
  MPI_Op op;
  MPI_Datatype type;
  char *first;
  size_t stride;
  int count;
} rw_leaves;

/*
 * Finds how elements are combined: RW_BY_TREE if the operation has to have a fixed order. The same on all ranks, as
 * operation and datatype are.
 */
rw_reproduce_outcome rw_leaves_operation(rw_leaves *leaves, MPI_Op op, MPI_Datatype type);
/* Combines the values of ranks, of which it overwrites some; returns where the result is. */
char *rw_leaves_fold(const rw_leaves *leaves, int first, int ranks);
/* Combines the values before a rank, and its own if it is included. Overwrites some. NULL: there are none. */
char *rw_leaves_prefix(const rw_leaves *leaves, int rank, int is_included);

/* reproduce-started.c implements the declarations below. */

/* A reduction that does not wait. */
typedef struct rw_started rw_started;
/* Makes one, for a rank of so many. Returns a code of MPI. */
int rw_started_make(const rw_reduction *call, const rw_leaves *leaves, int rank, int ranks, rw_started **made);
/* Starts to move contributions. */
int rw_started_begin(rw_started *started);
/* Combines contributions once they are there. A task of a request has these functions. */
int rw_started_advance(void *started, int *is_done);
void rw_started_free(void *started);

#endif
