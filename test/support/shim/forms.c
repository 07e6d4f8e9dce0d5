/*
 * Calls all forms of neighborhood collectives on a ring: blocking, non-blocking and, where MPI has them,
 * persistent ones. Argument: how often. Ends with an error unless all data are right.
 */
#include "cases.h"

enum { DEGREE = 2 };

static int wrong;
static int sent[DEGREE], received[DEGREE], peers[DEGREE];
static const int ones[DEGREE] = {1, 1}, places[DEGREE] = {0, 1};

/* An allgather sends the first element; the one of an alltoall for its slot of the other. */
static void check(int is_alltoall) {
  for (int i = 0; i < DEGREE; i++) {
    int expected = peers[i] * DEGREE + (is_alltoall ? 1 - i : 0);
    if (received[i] != expected) wrong++;
    received[i] = -1;
  }
}

static void finish(MPI_Request *request, int is_alltoall) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  check(is_alltoall);
}

static void call_all(MPI_Comm ring) {
  MPI_Datatype types[DEGREE] = {MPI_INT, MPI_INT};
  MPI_Aint bytes[DEGREE] = {0, sizeof(int)};
  MPI_Request request;
  MPI_Neighbor_allgather(sent, 1, MPI_INT, received, 1, MPI_INT, ring);
  check(0);
  MPI_Neighbor_allgatherv(sent, 1, MPI_INT, received, ones, places, MPI_INT, ring);
  check(0);
  MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, ring);
  check(1);
  MPI_Neighbor_alltoallv(sent, ones, places, MPI_INT, received, ones, places, MPI_INT, ring);
  check(1);
  MPI_Neighbor_alltoallw(sent, ones, bytes, types, received, ones, bytes, types, ring);
  check(1);
  MPI_Ineighbor_allgather(sent, 1, MPI_INT, received, 1, MPI_INT, ring, &request);
  finish(&request, 0);
  MPI_Ineighbor_allgatherv(sent, 1, MPI_INT, received, ones, places, MPI_INT, ring, &request);
  finish(&request, 0);
  MPI_Ineighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, ring, &request);
  finish(&request, 1);
  MPI_Ineighbor_alltoallv(sent, ones, places, MPI_INT, received, ones, places, MPI_INT, ring, &request);
  finish(&request, 1);
  MPI_Ineighbor_alltoallw(sent, ones, bytes, types, received, ones, bytes, types, ring, &request);
  finish(&request, 1);
}

#if MPI_VERSION >= 4
static void call_persistent(MPI_Comm ring, int times) {
  MPI_Request requests[2];
  MPI_Neighbor_allgather_init(sent, 1, MPI_INT, received, 1, MPI_INT, ring, MPI_INFO_NULL, &requests[0]);
  MPI_Neighbor_alltoall_init(sent, 1, MPI_INT, received, 1, MPI_INT, ring, MPI_INFO_NULL, &requests[1]);
  for (int i = 0; i < times; i++) {
    MPI_Start(&requests[0]);
    finish(&requests[0], 0);
    MPI_Startall(1, &requests[1]);
    finish(&requests[1], 1);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}
#else
static void call_persistent(MPI_Comm ring, int times) {
  (void)ring;
  (void)times;
}
#endif

int forms(int words, char **word) {
  if (words != 2) return 1;
  int times = atoi(word[1]);
  MPI_Comm ring, copy;
  MPI_Request request;
  wrong = 0;
  peers[0] = (rank + ranks - 1) % ranks;
  peers[1] = (rank + 1) % ranks;
  for (int i = 0; i < DEGREE; i++) sent[i] = rank * DEGREE + i;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, DEGREE, peers, MPI_UNWEIGHTED, DEGREE, peers, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  for (int i = 0; i < times; i++) call_all(ring);
  call_persistent(ring, times);
  /* Its creation is not intercepted. */
  MPI_Comm_idup(ring, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  call_all(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&ring);
  return wrong;
}
