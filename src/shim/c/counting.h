/* Counts of calls by function and outcome. Part of shim.h. */
#ifndef RANKWEAVE_COUNTING_H
#define RANKWEAVE_COUNTING_H

/* report.c implements the declarations below. */

/* The functions whose calls are counted. Large counts (`_c`) count as the function. */
typedef enum {
  RW_NEIGHBOR_ALLGATHER,
  RW_NEIGHBOR_ALLGATHERV,
  RW_NEIGHBOR_ALLTOALL,
  RW_NEIGHBOR_ALLTOALLV,
  RW_NEIGHBOR_ALLTOALLW,
  RW_INEIGHBOR_ALLGATHER,
  RW_INEIGHBOR_ALLGATHERV,
  RW_INEIGHBOR_ALLTOALL,
  RW_INEIGHBOR_ALLTOALLV,
  RW_INEIGHBOR_ALLTOALLW,
  RW_NEIGHBOR_ALLGATHER_INIT, /* the initialization counts as a call */
  RW_NEIGHBOR_ALLGATHERV_INIT,
  RW_NEIGHBOR_ALLTOALL_INIT,
  RW_NEIGHBOR_ALLTOALLV_INIT,
  RW_NEIGHBOR_ALLTOALLW_INIT,
  RW_ALLTOALLV,
  RW_ALLTOALLW,
  RW_IALLTOALLV,
  RW_FUNCTIONS
} rw_function;

/* The outcomes of calls, with the words of the report. The first two are served; the others are left to MPI. */
#define RW_ALL_OUTCOMES(X)                                                          \
  X(RW_BY_PLAN, "by plan")                                                          \
  X(RW_SENT_DIRECTLY, "sent directly")                                              \
  X(RW_TOO_EARLY, "too few calls yet for a plan to pay")                            \
  X(RW_IN_TRIAL, "measured in a trial")                                             \
  X(RW_LOST_TRIAL, "the last trial did not show the plan to be faster")             \
  X(RW_NOT_WORTH, "no plan is estimated to be faster")                              \
  X(RW_NO_PLAN, "a plan could not be made on this or another rank")                 \
  X(RW_LONG_BLOCKS, "blocks are longer than the limit")                             \
  X(RW_PARALLEL_EDGES, "a rank is listed twice as a neighbor")                      \
  X(RW_DEVICE, "buffers are in the memory of a device")                             \
  X(RW_FORM, "the library has no plans for this function")                          \
  X(RW_NO_MEMORY, "processes share no memory")                                      \
  X(RW_OTHER_TOOL, "another tool intercepts functions that complete requests")      \
  X(RW_UNKNOWN, "no plan is known for the communicator")                            \
  X(RW_DENSE, "more than half of the counts are not zero")                          \
  X(RW_SKIPPED, "MPI itself sends nothing for counts of zero")                      \
  X(RW_ALL_IN_PLACE, "blocks are exchanged in place")                               \
  X(RW_BETWEEN_GROUPS, "the communicator has one rank or two groups")               \
  X(RW_WRONG, "MPI refuses the arguments")                                          \
  X(RW_RECORDING, "calls are recorded")                                             \
  X(RW_INFO_OFF, "rankweave=off in the communicator's info")                        \
  X(RW_OFF, "the library is off")

#define RW_NAME_OF(outcome, text) outcome,
typedef enum { RW_ALL_OUTCOMES(RW_NAME_OF) RW_OUTCOMES } rw_outcome;
/* Outcomes before this one were served: the library itself sent the blocks. */
enum { RW_SERVED = RW_TOO_EARLY };

typedef struct rw_state rw_state;
typedef struct rw_plan rw_plan;

/*
 * Counts a call of a function, once; the state is NULL for communicators that have none. For a persistent form, the
 * initialization counts as the call.
 */
void rw_count(rw_state *state, rw_function function, rw_outcome outcome);
/* Returns why all calls on a communicator are left to MPI; 0 if they are not. */
rw_outcome rw_why_left(const rw_state *state);
/* Prints the lines of a communicator, when it is freed or at the end. */
void rw_report_state(const rw_state *state);
/* Adds the line of a plan with this name. */
void rw_report_plan(const char *communicator, const char *collective, const char *name, const rw_plan *plan);
/* Adds the lines of a communicator whose calls of these functions are counted. */
void rw_report_functions(const char *communicator, const uint64_t counts[RW_FUNCTIONS][RW_OUTCOMES]);
/* Reports a plan file that is not used. */
void rw_report_refused(const char *path, const char *reason);
/* Adds a line to the report. */
void rw_report_line(const char *text);
void rw_report_print(void);
const char *rw_function_name(rw_function function);

/* record.c implements the declarations below. */

/* The record of a function: its calls, the number of its first call among all, and the bytes of blocks. */
typedef struct {
  unsigned calls, first_call;
  int has_blocks;
  double shortest, longest;
} rw_recorded;

/* Gathers the graph on rank 0. Collective. */
int rw_record_gather(MPI_Comm comm, rw_state *state);
void rw_record_call(rw_state *state, rw_function function);
/* Records a call of a function and the blocks that this rank sends in it. */
void rw_record(rw_state *state, rw_function function, int collective, const rw_call *call);
/* Records a block that this rank sends in a call, or in every start of a persistent request. */
void rw_record_block(rw_state *state, rw_function function, double bytes);
/* Records a persistent request of MPI: its starts are calls from now on, until it is freed. */
void rw_record_request(MPI_Request request, rw_state *state, rw_function function);
void rw_record_start(MPI_Request request);
void rw_record_forget(MPI_Request request);
/* Writes the graph, and forgets the requests of the communicator. */
void rw_record_write(const rw_state *state);

#endif
