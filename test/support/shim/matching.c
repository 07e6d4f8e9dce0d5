/*
 * Messages between two processes in an order that barriers fix: what the trace of rank 0 must have. The first argument
 * says which.
 */
#include "cases.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { MESSAGES = 8, TALKS = 200, THREADS = 3 };

static int value;

/* What follows is recorded later by more than clocks of nodes are mistaken on a busy machine. */
static void all_here(void) {
  struct timespec pause = {0, 30000000};
  MPI_Barrier(MPI_COMM_WORLD);
  nanosleep(&pause, NULL);
}

static void send_all(MPI_Comm comm, int first_tag) {
  for (int i = 0; i < MESSAGES; i++) MPI_Send(&i, 1, MPI_INT, 0, first_tag + i, comm);
}

/* Unexpected messages, then posted receives, each in reverse. */
static void order(void) {
  MPI_Request requests[MESSAGES];
  MPI_Status statuses[MESSAGES];
  int values[MESSAGES];
  if (rank == 1) send_all(MPI_COMM_WORLD, 0);
  all_here();
  for (int i = MESSAGES - 1; rank == 0 && i >= 0; i--) MPI_Recv(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; rank == 0 && i < MESSAGES; i++)
    MPI_Irecv(&values[i], 1, MPI_INT, 1, 2 * MESSAGES - 1 - i, MPI_COMM_WORLD, &requests[i]);
  all_here();
  if (rank == 1) send_all(MPI_COMM_WORLD, MESSAGES);
  if (rank == 0) MPI_Waitall(MESSAGES, requests, statuses);
}

/* Completed in every way: each receive has its message when the next one is sent. */
static void completions(void) {
  MPI_Request requests[MESSAGES];
  MPI_Status statuses[MESSAGES];
  int values[MESSAGES], index, flag = 0, done = 0, indices[MESSAGES], left = MESSAGES;
  for (int i = 0; rank == 0 && i < MESSAGES; i++)
    MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
  all_here();
  if (rank == 1) send_all(MPI_COMM_WORLD, 0);
  if (rank == 1) return;
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  while (!flag) MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
  MPI_Waitany(MESSAGES, requests, &index, &statuses[0]);
  for (flag = 0; !flag;) MPI_Testany(MESSAGES, requests, &index, &flag, &statuses[0]);
  MPI_Waitsome(MESSAGES, requests, &done, indices, statuses);
  for (int i = 0; i < MESSAGES; i++) left -= requests[i] == MPI_REQUEST_NULL;
  if (left > 0) MPI_Testsome(MESSAGES, requests, &done, indices, statuses);
  for (flag = 0; !flag;) MPI_Testall(MESSAGES, requests, &flag, statuses);
}

static void probes(void) {
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  int flag;
  if (rank == 1) send_all(MPI_COMM_WORLD, 0);
  all_here();
  if (rank == 1) return;
  MPI_Iprobe(1, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Iprobe(1, 99, MPI_COMM_WORLD, &flag, &status);
  MPI_Mprobe(1, 2, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
  MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  if (flag) {
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Irecv(&value, 1, MPI_INT, 1, 100, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int tag = 0; tag < MESSAGES; tag++)
    if (tag != 1 && tag != 2) MPI_Recv(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Communicators of the same members, and of one; persistent requests and both at once. */
static void communicators(void) {
  MPI_Comm twins[2], alone;
  MPI_Request requests[2];
  int other = 1 - rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &twins[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &twins[1]); /* rank 0 is the last */
  for (int twin = 1; rank == 1 && twin >= 0; twin--) MPI_Send(&value, 1, MPI_INT, twin == 1 ? 1 : 0, twin, twins[twin]);
  all_here();
  for (int twin = 0; rank == 0 && twin < 2; twin++) MPI_Recv(&value, 1, MPI_INT, twin == 1 ? 0 : 1, twin, twins[twin], MPI_STATUS_IGNORE);
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 5, &value, 1, MPI_INT, 0, 5, alone, MPI_STATUS_IGNORE);
  MPI_Recv_init(&value, 1, MPI_INT, 0, 6, alone, &requests[0]);
  MPI_Send_init(&rank, 1, MPI_INT, 0, 6, alone, &requests[1]);
  for (int i = 0; i < 2; i++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2; i++) MPI_Start(&requests[i]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]);
  all_here();
  MPI_Sendrecv_replace(&value, 1, MPI_INT, other, 7, MPI_PROC_NULL, 7, twins[0], MPI_STATUS_IGNORE);
  all_here();
  MPI_Recv(&value, 1, MPI_INT, other, 7, twins[0], MPI_STATUS_IGNORE);
  MPI_Comm_free(&twins[0]);
  MPI_Comm_free(&twins[1]);
  MPI_Comm_free(&alone);
}

/* Each thread has its communicator. */
static void *talk(void *with) {
  MPI_Comm comm = *(MPI_Comm *)with;
  int own;
  for (int i = 0; i < TALKS; i++) {
    MPI_Request request;
    MPI_Irecv(&own, 1, MPI_INT, 1 - rank, MPI_ANY_TAG, comm, &request);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, i, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void threads(void) {
  MPI_Comm comms[THREADS];
  pthread_t started[THREADS];
  for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < THREADS; i++) pthread_create(&started[i], NULL, talk, &comms[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(started[i], NULL);
  for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
}

int matching(int words, char **word) {
  const char *kind = words > 1 ? word[1] : "";
  if (strcmp(kind, "order") == 0) order();
  if (strcmp(kind, "completions") == 0) completions();
  if (strcmp(kind, "probes") == 0) probes();
  if (strcmp(kind, "communicators") == 0) communicators();
  if (strcmp(kind, "threads") == 0) threads();
  if (strcmp(kind, "killed") == 0 || strcmp(kind, "aborted") == 0) {
    order();
    all_here();
    if (rank == 1 && strcmp(kind, "killed") == 0) raise(SIGKILL);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Recv(&value, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return 0;
}
