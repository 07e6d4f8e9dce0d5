/*
 * The mode `matching:FOLDER`: each process records the calls by which messages and receives are matched. Part of
 * shim.h. `rankweave record --matching` makes traces of the records of all processes.
 */
#ifndef RANKWEAVE_MATCHING_H
#define RANKWEAVE_MATCHING_H

/*
 * The kinds of records. A file is an array of records in the order of the machine. It ends at its end or at the
 * first record of kind 0, because a process may be killed at any time.
 */
enum {
  RW_MATCHING_HEADER = 1,   /* value: ns by which this clock is before that of rank 0; communicator: version of the
                               format; peer: world rank; tag: ranks of the world */
  RW_MATCHING_COMMUNICATOR, /* time: digest of the members; value: number among communicators of these members;
                               peer: own rank; tag: ranks */
  RW_MATCHING_SEND,         /* written before the call; peer: destination; value: bytes */
  RW_MATCHING_POST,         /* written before the call; peer: source, or -1; tag, or -1; value: bytes of room */
  RW_MATCHING_DONE,         /* written after the call; value: number of the post, from 0; peer and tag: of its message;
                               peer -2: cancelled */
  RW_MATCHING_PROBE,        /* written after the call, like a post; value: source and tag of the found message in the
                               upper and lower 32 bits, or -1 */
  RW_MATCHING_MPROBE,       /* written like a probe, for MPI_Improbe */
  RW_MATCHING_CANCEL,       /* written before the call; value: number of the post, from 0 */
  RW_MATCHING_BOUND,        /* no more operations are recorded */
  RW_MATCHING_END,          /* written in MPI_Finalize; value: as in the header; peer: number of operations that are
                               left out, because their communicators have no number */
  RW_MATCHING_RUN           /* written after the header; value: a number of the run, the same in all its processes */
};
enum { RW_MATCHING_VERSION = 2, RW_MATCHING_ANY = -1, RW_MATCHING_CANCELLED = -2 };

typedef struct {
  int64_t time; /* ns of CLOCK_MONOTONIC */
  int64_t value;
  int32_t kind, communicator, peer, tag;
} rw_matching_record;

/* matching.c implements the declarations below. */

/* Whether calls are recorded; otherwise they are handed on at once. */
extern int rw_matching_is_on;
/* Begins recording in MPI_Init of all processes, after the agreement on settings. Collective. */
void rw_matching_begin(void);
int64_t rw_matching_now(void);
void rw_matching_send(MPI_Comm comm, int destination, int tag, int count, MPI_Datatype type);
/* Records a post and returns its number; -1: it is not recorded. */
int64_t rw_matching_post(MPI_Comm comm, int source, int tag, int count, MPI_Datatype type);
/* Records a receive that has returned. */
void rw_matching_done(int64_t post, int code, const MPI_Status *status);
/* Records a probe that has returned. */
void rw_matching_probe(int kind, MPI_Comm comm, int source, int tag, int is_found, const MPI_Status *status);
void rw_matching_add(int kind, int64_t time, int communicator, int peer, int tag, int64_t value);
/* Records a post with the arguments of a persistent request. */
int64_t rw_matching_add_post(int communicator, int source, int tag, int64_t bytes);
int64_t rw_matching_bytes(int count, MPI_Datatype type);
/* Counts an operation that is left out. */
void rw_matching_leave_out(void);

/* matching-clocks.c implements the declarations below. */

/* Returns the ns by which the clock of this process is before that of rank 0. Collective. */
int64_t rw_matching_offset(void);
/* Returns a number of this run that rank 0 draws. Collective. */
int64_t rw_matching_run(void);
/* Returns the ns that tests add to clocks. */
int64_t rw_matching_skew(void);

/* matching-communicators.c implements the declarations below. */

/* Returns the number of a communicator in this file; -1: it has none. */
int rw_matching_communicator(MPI_Comm comm);
/* Numbers a communicator after its creation: those of the same members are numbered in this order. */
void rw_matching_created(int code, const MPI_Comm *comm);

/* matching-requests.c implements the declarations below. */

/* Notes the request of a receive. */
void rw_matching_request(int code, MPI_Request request, int64_t post);
/* Notes a request of another kind: a receive with the same handle is over. */
void rw_matching_forget(int code, MPI_Request request);
/* Notes a persistent request. */
void rw_matching_persistent(int code, MPI_Request request, int is_receive, MPI_Comm comm, int peer, int tag, int count,
                            MPI_Datatype type);
/* Notes a persistent request that is about to start. */
void rw_matching_start(MPI_Request request);
void rw_matching_cancel(MPI_Request request);

/* The requests of a call that may complete some. */
typedef struct {
  MPI_Request request;
  int64_t post; /* -1: no receive that is in progress */
} rw_awaited;

enum { RW_AWAITED = 32 };

typedef struct {
  rw_awaited few[RW_AWAITED], *all; /* NULL: nothing of the call is recorded */
  MPI_Status own[RW_AWAITED], *statuses; /* statuses that the call gets */
  int is_given;
} rw_completion;

/* Returns whether there is a receive whose completion is to be recorded. */
int rw_matching_awaits(void);
/* Begins a call that may complete requests; `statuses` is NULL if the program ignores them. */
void rw_completion_begin(rw_completion *c, int count, const MPI_Request *requests, MPI_Status *statuses);
/* Notes that request `i` is complete, with this status. */
void rw_completion_note(const rw_completion *c, int i, const MPI_Status *status);
void rw_completion_end(rw_completion *c);

/* matching-queues.c implements the declarations below. */

/* Begins to sample lengths of queues, if MPI offers them. Called in MPI_Init. */
void rw_matching_queues_begin(void);
/* Adds a communicator with its number in the file. */
void rw_matching_queues_add(MPI_Comm comm, int number);
void rw_matching_queues_remove(int number);
/* Samples the queues; called in any call. */
void rw_matching_queues_sample(int64_t time);
/* Writes the samples. */
void rw_matching_queues_end(const char *folder, int rank);

#endif
