/*
 * Measures the collectives of an MPI library, setting by setting, in one job. Process 0 reads orders, a line each, and
 * answers each by a line. The command that starts the job decides what is measured, and how often.
 *
 *   describe NAME             answers: enum 0=ignore 1=linear ... | none       the named values of a control variable
 *   read NAME                 answers: value TEXT | none       the value of a control variable in every process
 *   spread RANK RANK ...      the processes that make calls, in the order of their ranks; answers: ok
 *   call COLLECTIVE TYPE N    answers: ok        N bytes, of which TYPE is float64, int32 or byte
 *   setting ID NAME=N ...     answers: ok        a communicator that is made with these control variables
 *   verify ID                 answers: right | wrong | refused
 *   time ID REPETITIONS       answers: times US ... US ...     of the call and a barrier after it, then of the barrier alone
 *   done                      answers: ok        frees the settings of the call
 *   eager RANK                answers: eager LIMIT        between processes 0 and RANK: the bytes of the longest message
 *                             that is sent before its receiver is ready, -1 if there is no limit up to 4 MiB
 *   messages RANK RUNS        answers: messages NS ...     between processes 0 and RANK, for every run: a message of 8
 *                             bytes from end to end, a byte more, one message of many, the sender's part of it, the
 *                             receiver's part
 *   memory RUNS               answers: memory NS ...       of process 0, for every run: a block of 8 bytes copied, a byte
 *                             more, a byte of a sum of float64
 *   end
 *
 * First it prints `rankweave-measure TEXT` with the name of the library, and `nodes N N ...`: for every process the
 * lowest one on its node. It answers an impossible order by `failed TEXT`, and ends the job.
 */
#ifndef RANKWEAVE_MEASURE_H
#define RANKWEAVE_MEASURE_H

#include <mpi.h>
#include <stddef.h>

/* A call with its data on the ranks of a communicator. */
typedef struct {
  int collective;
  MPI_Datatype type;
  int count; /* the elements of the unit that the call describes */
  int rank, size;
  void *send, *receive, *expected;
  int *counts;
  size_t receive_bytes; /* 0 if this rank has no result */
} rw_measured_call;

/* Returns whether the words name a call that can be made. */
int rw_measured_make(rw_measured_call *call, const char *collective, const char *type, long bytes, int rank, int size);
void rw_measured_free(rw_measured_call *call);
/* Makes the call and returns an error class of MPI. */
int rw_measured_run(const rw_measured_call *call, MPI_Comm comm);
void rw_measured_clear(const rw_measured_call *call);
int rw_measured_is_right(const rw_measured_call *call);

/* The figures of a run of both orders below, nanoseconds. */
enum { RW_MESSAGE_FIGURES = 5, RW_MEMORY_FIGURES = 3 };
/* Measures between processes 0 and `second`. Collective over all processes. */
long rw_measured_eager_limit(int own, int second);
/* Fills the figures of every run in process 0. Only processes 0 and `second` take part. */
void rw_measured_messages(int own, int second, int runs, double *figures);
void rw_measured_memory(int runs, double *figures);

/* Ends the job with a message. */
void rw_measure_fail(const char *format, ...);

#endif
