/*
 * The mode `matching:FOLDER`: each process records the calls by which messages and receives are matched. Part of
 * shim.h. `rankweave record --matching` makes traces of the records of all processes.
 */
#ifndef RANKWEAVE_MATCHING_H
#define RANKWEAVE_MATCHING_H

/*
 * What a record says. A file is an array of records in the order of the machine, and ends at its end or at the
 * first record of kind 0: a process may be killed at any time.
 */
enum {
  RW_MATCHING_HEADER = 1,   /* value: ns by which this clock is before that of rank 0; communicator: the version of
                               the format; peer: world rank; tag: ranks of the world */
  RW_MATCHING_COMMUNICATOR, /* time: a digest of the members; value: which communicator of these members; peer: own
                               rank; tag: ranks */
  RW_MATCHING_SEND,         /* before the call; peer: destination; value: bytes */
  RW_MATCHING_POST,         /* before the call; peer: source, or -1; tag, or -1; value: bytes of room */
  RW_MATCHING_DONE,         /* after the call; value: which post, from 0; peer and tag: of its message, or peer -2: cancelled */
  RW_MATCHING_PROBE,        /* after the call; as a post; value: source and tag of what was found in the upper and lower 32
                               bits, or -1 */
  RW_MATCHING_MPROBE,       /* the same, of MPI_Improbe */
  RW_MATCHING_CANCEL,       /* before the call; value: which post, from 0 */
  RW_MATCHING_BOUND,        /* no more operations are recorded */
  RW_MATCHING_END,          /* in MPI_Finalize; value: as of the header; peer: operations on communicators without a
                               number, which are left out */
  RW_MATCHING_RUN           /* after the header; value: a number that all processes of a run have, and no other run */
};
enum { RW_MATCHING_VERSION = 2, RW_MATCHING_ANY = -1, RW_MATCHING_CANCELLED = -2 };

typedef struct {
  int64_t time; /* ns of CLOCK_MONOTONIC */
  int64_t value;
  int32_t kind, communicator, peer, tag;
} rw_matching_record;

/*
 * --- matching.c
 */

/* Without it calls are handed on at once. */
extern int rw_matching_is_on;
/* In MPI_Init of all processes: after the agreement on settings. Collective. */
void rw_matching_begin(void);
int64_t rw_matching_now(void);
void rw_matching_send(MPI_Comm comm, int destination, int tag, int count, MPI_Datatype type);
/* Which post it is; -1: it is not recorded. */
int64_t rw_matching_post(MPI_Comm comm, int source, int tag, int count, MPI_Datatype type);
/* After a receive that has returned. */
void rw_matching_done(int64_t post, int code, const MPI_Status *status);
/* After a probe that has returned. */
void rw_matching_probe(int kind, MPI_Comm comm, int source, int tag, int is_found, const MPI_Status *status);
void rw_matching_add(int kind, int64_t time, int communicator, int peer, int tag, int64_t value);
/* As a post, of what a persistent request was made with. */
int64_t rw_matching_add_post(int communicator, int source, int tag, int64_t bytes);
int64_t rw_matching_bytes(int count, MPI_Datatype type);
/* An operation that is left out. */
void rw_matching_leave_out(void);

/*
 * --- matching-clocks.c
 */

/* ns by which the clock of this process is before that of rank 0. Collective. */
int64_t rw_matching_offset(void);
/* A number of this run that rank 0 draws. Collective. */
int64_t rw_matching_run(void);
/* ns that tests add to clocks. */
int64_t rw_matching_skew(void);

/*
 * --- matching-communicators.c
 */

/* The number of a communicator in this file; -1: it has none. */
int rw_matching_communicator(MPI_Comm comm);
/* After the creation of a communicator: those of the same members are numbered in this order. */
void rw_matching_created(int code, const MPI_Comm *comm);

/*
 * --- matching-requests.c
 */

/* The request of a receive. */
void rw_matching_request(int code, MPI_Request request, int64_t post);
/* The request of something else: a receive whose request it was is over. */
void rw_matching_forget(int code, MPI_Request request);
/* A persistent request. */
void rw_matching_persistent(int code, MPI_Request request, int is_receive, MPI_Comm comm, int peer, int tag, int count,
                            MPI_Datatype type);
/* Before a persistent request is started. */
void rw_matching_start(MPI_Request request);
void rw_matching_cancel(MPI_Request request);

/* Requests of a call that may complete some. */
typedef struct {
  MPI_Request request;
  int64_t post; /* -1: no receive that is in progress */
} rw_awaited;

enum { RW_AWAITED = 32 };

typedef struct {
  rw_awaited few[RW_AWAITED], *all; /* NULL: nothing of the call is recorded */
  MPI_Status own[RW_AWAITED], *statuses; /* what the call is given */
  int is_given;
} rw_completion;

/* Whether there is a receive whose completion is to be recorded. */
int rw_matching_awaits(void);
/* `statuses`: NULL if the program ignores them. */
void rw_completion_begin(rw_completion *c, int count, const MPI_Request *requests, MPI_Status *statuses);
/* Request `i` is complete, with this status. */
void rw_completion_note(const rw_completion *c, int i, const MPI_Status *status);
void rw_completion_end(rw_completion *c);

/*
 * --- matching-queues.c
 */

/* In MPI_Init: samples lengths of queues, where MPI offers them. */
void rw_matching_queues_begin(void);
/* A communicator with its number in the file. */
void rw_matching_queues_add(MPI_Comm comm, int number);
void rw_matching_queues_remove(int number);
/* In any call. */
void rw_matching_queues_sample(int64_t time);
/* Writes the samples. */
void rw_matching_queues_end(const char *folder, int rank);

#endif
