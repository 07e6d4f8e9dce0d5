/* Measures the collectives of an MPI library, setting by setting, in one job. Process 0 reads orders, a line each, and
 * answers each by a line. The command that starts the job decides what is measured, and how often.
 *
 *   describe NAME             answers: enum 0=ignore 1=linear ... | text DESCRIPTION | none     of a control variable
 *   read NAME                 answers: value TEXT | none       the value of a control variable in every process
 *   spread RANK RANK ...      the processes that make calls, in the order of their ranks; answers: ok
 *   call COLLECTIVE TYPE N    answers: ok        N bytes, of which TYPE is float64, int32 or byte
 *   setting ID NAME=N ...     answers: ok        a communicator that is made with these control variables
 *   verify ID                 answers: right | wrong | refused
 *   time ID REPETITIONS       answers: times US ... US ...     of the call and a barrier after it, then of the barrier alone
 *   done                      answers: ok        frees the settings of the call
 *   end
 *
 * First it prints `rankweave-measure TEXT` with the name of the library, and `nodes N N ...`: for every process the
 * lowest one on its node. It answers an impossible order by `failed TEXT`, and ends the job. */
#ifndef RW_MEASURE_H
#define RW_MEASURE_H

#include <mpi.h>
#include <stddef.h>

enum { mostVariables = 16, nameLength = 128 };

typedef struct {
    char name[nameLength];
    int value;
} Variable;

/* The control variables to be set, of any integer type. */
typedef struct {
    Variable variables[mostVariables];
    int count;
} Variables;

void openVariables(void);
/* Writes the answer to `describe` into a text of that length. */
void describeVariable(const char *name, char *answer, int length);
/* Writes the answer to `read` into a text of that length. */
void readVariable(const char *name, char *answer, int length);
/* Sets variables and keeps their former values in the same list. Ends the job if the library does not take a value. */
void exchangeVariables(Variables *variables);

/* A call with its data on the ranks of a communicator. */
typedef struct {
    int collective;
    MPI_Datatype type;
    int count; /* the elements of the unit that the call describes */
    int rank, size;
    void *send, *receive, *expected;
    int *counts;
    size_t receiveBytes; /* 0 if this rank has no result */
} Call;

/* Returns whether the words name a call that can be made. */
int makeCall(Call *call, const char *collective, const char *type, long bytes, int rank, int size);
void freeCall(Call *call);
/* Makes the call and returns an error class of MPI. */
int runCall(const Call *call, MPI_Comm comm);
void clearResult(const Call *call);
int isResultRight(const Call *call);

/* Ends the job with a message. */
void fail(const char *format, ...);

#endif
