/*
 * A program that sends by every form of point-to-point calls and exchanges of all, so often and so much that a test
 * knows the counts. Every rank sends to the next one, and on another communicator to the one before. With an argument
 * it calls no neighborhood collective.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 7, THREADS = 3, MESSAGES = 20, MOST_RANKS = 16 };

static int rank, ranks, next, before;
static char out[4096], in[4096];

static MPI_Request expect(int bytes) {
  MPI_Request request;
  MPI_Irecv(in, bytes, MPI_BYTE, before, TAG, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD); /* a ready send needs a posted receive */
  return request;
}

/* One message of 8 bytes by the blocking form, one of 16 by the non-blocking, two of 32 by the persistent one. */
#define MODE(Name, nonblocking)                                                              \
  do {                                                                                       \
    MPI_Request to, from = expect(8);                                                        \
    MPI_##Name(out, 8, MPI_BYTE, next, TAG, MPI_COMM_WORLD);                                 \
    MPI_Wait(&from, MPI_STATUS_IGNORE);                                                      \
    from = expect(16);                                                                       \
    MPI_I##nonblocking(out, 2, MPI_DOUBLE, next, TAG, MPI_COMM_WORLD, &to);                  \
    MPI_Wait(&from, MPI_STATUS_IGNORE);                                                      \
    MPI_Wait(&to, MPI_STATUS_IGNORE);                                                        \
    MPI_##Name##_init(out, 32, MPI_BYTE, next, TAG, MPI_COMM_WORLD, &to);                    \
    from = expect(32);                                                                       \
    MPI_Start(&to);                                                                          \
    MPI_Wait(&from, MPI_STATUS_IGNORE);                                                      \
    MPI_Wait(&to, MPI_STATUS_IGNORE);                                                        \
    from = expect(32);                                                                       \
    MPI_Startall(1, &to);                                                                    \
    MPI_Wait(&from, MPI_STATUS_IGNORE);                                                      \
    MPI_Wait(&to, MPI_STATUS_IGNORE);                                                        \
    MPI_Request_free(&to);                                                                   \
  } while (0)

static void in_pairs(void) {
  static char attached[1 << 16];
  int size;
  void *detached;
  MPI_Buffer_attach(attached, sizeof attached);
  MODE(Send, send);
  MODE(Bsend, bsend);
  MODE(Ssend, ssend);
  MODE(Rsend, rsend);
  MPI_Buffer_detach(&detached, &size);
  MPI_Sendrecv(out, 100, MPI_BYTE, next, TAG, in, 100, MPI_BYTE, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(out, 200, MPI_BYTE, next, TAG, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 0, MPI_BYTE, next, TAG, in, 0, MPI_BYTE, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(out, 1000, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
}

/* On communicators of all ranks in reversed order; the second may have the handle of the first, with other ranks. */
static void on_others(void) {
  MPI_Comm reversed, pairs;
  int own, others;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_rank(reversed, &own);
  MPI_Sendrecv(out, 300, MPI_BYTE, (own + 1) % ranks, TAG, in, 300, MPI_BYTE, (own + ranks - 1) % ranks, TAG, reversed,
               MPI_STATUS_IGNORE);
  MPI_Comm_free(&reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pairs);
  MPI_Comm_size(pairs, &others);
  MPI_Comm_rank(pairs, &own);
  if (others == 2)
    MPI_Sendrecv(out, 400, MPI_BYTE, 1 - own, TAG, in, 400, MPI_BYTE, 1 - own, TAG, pairs, MPI_STATUS_IGNORE);
  MPI_Comm_free(&pairs);
}

static void *by_thread(void *number) {
  char byte;
  MPI_Request to;
  int tag = 100 + *(int *)number;
  for (int i = 0; i < MESSAGES; i++) {
    MPI_Isend(out, 1, MPI_BYTE, next, tag, MPI_COMM_WORLD, &to);
    MPI_Recv(&byte, 1, MPI_BYTE, before, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&to, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void in_threads(void) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int t = 0; t < THREADS; t++) {
    numbers[t] = t;
    pthread_create(&threads[t], NULL, by_thread, &numbers[t]);
  }
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
}

/* Ten doubles to the next rank, none to others. */
static void exchanges(void) {
  int counts[MOST_RANKS] = {0}, from[MOST_RANKS] = {0}, bytes[MOST_RANKS] = {0}, places[MOST_RANKS] = {0};
  MPI_Datatype types[MOST_RANKS];
  MPI_Request request;
  for (int r = 0; r < ranks; r++) types[r] = MPI_DOUBLE;
  counts[next] = from[before] = 10;
  MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, from, places, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Ialltoallv(out, counts, places, MPI_DOUBLE, in, from, places, MPI_DOUBLE, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Alltoallw(out, counts, places, types, in, from, bytes, types, MPI_COMM_WORLD);
}

static void to_neighbors(void) {
  MPI_Comm ring;
  MPI_Request request;
  int count = 5, place = 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &ring);
  MPI_Neighbor_allgather(out, 5, MPI_INT, in, 5, MPI_INT, ring);
  MPI_Ineighbor_alltoallv(out, &count, &place, MPI_INT, in, &count, &place, MPI_INT, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&ring);
}

static void collectives(void) {
  double values[4] = {0}, sums[4];
  for (int i = 0; i < 3; i++) MPI_Allreduce(values, sums, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(values, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(values, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allgather(values, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Gather(values, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  before = (rank + ranks - 1) % ranks;
  in_pairs();
  on_others();
  if (provided == MPI_THREAD_MULTIPLE) in_threads();
  exchanges();
  if (argc == 1) to_neighbors();
  collectives();
  MPI_Finalize();
  return 0;
}
