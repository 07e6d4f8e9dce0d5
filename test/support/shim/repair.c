/*
 * Runs a form of neighborhood collectives where MPI libraries have defects: `grid` wraps over one or two processes,
 * `graph` has MPI_PROC_NULL between its neighbors. One rank makes a call before that MPI refuses. Any even number of
 * ranks. `far` is a grid of one process whose blocks begin more than 2^31 elements behind the first.
 */
#define _DEFAULT_SOURCE
#include "cases.h"

#include <sys/mman.h>

enum { SLOTS = 6, GRAPH_SLOTS = 3, UNTOUCHED = -7, FORMS = 5 };

/* The neighbors of the communicator, in whose slots their blocks arrive. */
static int neighbor[SLOTS], slots, is_grid;

static void make_grid(MPI_Comm *comm) {
  const int extents[] = {ranks / 2, 2, 1}, periods[] = {0, 1, 1};
  MPI_Cart_create(MPI_COMM_WORLD, SLOTS / 2, extents, periods, 0, comm);
  for (int d = 0; d < SLOTS / 2; d++) MPI_Cart_shift(*comm, d, 1, &neighbor[2 * d], &neighbor[2 * d + 1]);
  slots = SLOTS;
}

static void make_graph(MPI_Comm *comm) {
  const int list[GRAPH_SLOTS] = {(rank + ranks - 1) % ranks, MPI_PROC_NULL, (rank + 1) % ranks};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, GRAPH_SLOTS, list, MPI_UNWEIGHTED, GRAPH_SLOTS, list, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, comm);
  memcpy(neighbor, list, sizeof list);
  slots = GRAPH_SLOTS;
}

/* The forms without a wait, then those that start: allgather, allgatherv, alltoall, alltoallv, alltoallw. */
static void call(int form, const int *from, int *to, MPI_Comm comm) {
  int one[SLOTS], place[SLOTS];
  MPI_Aint address[SLOTS];
  MPI_Datatype type[SLOTS];
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < SLOTS; i++) {
    one[i] = 1;
    place[i] = i;
    address[i] = (MPI_Aint)sizeof(int) * i;
    type[i] = MPI_INT;
  }
  switch (form) {
    case 0: MPI_Neighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, comm); break;
    case 1: MPI_Neighbor_allgatherv(from, 1, MPI_INT, to, one, place, MPI_INT, comm); break;
    case 2: MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm); break;
    case 3: MPI_Neighbor_alltoallv(from, one, place, MPI_INT, to, one, place, MPI_INT, comm); break;
    case 4: MPI_Neighbor_alltoallw(from, one, address, type, to, one, address, type, comm); break;
    case 5: MPI_Ineighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, comm, &request); break;
    case 6: MPI_Ineighbor_allgatherv(from, 1, MPI_INT, to, one, place, MPI_INT, comm, &request); break;
    case 7: MPI_Ineighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm, &request); break;
    case 8: MPI_Ineighbor_alltoallv(from, one, place, MPI_INT, to, one, place, MPI_INT, comm, &request); break;
    default: MPI_Ineighbor_alltoallw(from, one, address, type, to, one, address, type, comm, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The slot of the sender whose block arrives in a slot: that to the other side. */
static int sent(int slot) { return is_grid ? slot ^ 1 : GRAPH_SLOTS - 1 - slot; }

/* One rank alone makes a call that MPI refuses. Returns whether there was no error. */
static int is_accepted(MPI_Comm comm) {
  int from[1], to[SLOTS];
  if (rank > 0) return 0;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int code = MPI_Neighbor_allgather(from, -1, MPI_INT, to, 1, MPI_INT, comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  return code == MPI_SUCCESS;
}

/* All blocks but the last two are of MPI_PROC_NULL, so that no memory but theirs is touched. */
static int far_blocks(int form) {
  enum { DIMENSIONS = 100, FAR_SLOTS = 2 * DIMENSIONS, LENGTH = 11 << 20 };
  const size_t bytes = (size_t)FAR_SLOTS * LENGTH, last = bytes - LENGTH, before = last - LENGTH;
  int extents[DIMENSIONS], periods[DIMENSIONS] = {0};
  MPI_Comm comm;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int d = 0; d < DIMENSIONS; d++) extents[d] = 1;
  periods[DIMENSIONS - 1] = 1;
  char *from = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (from == MAP_FAILED) return 1;
  char *to = from + bytes;
  memset(from + before, 1, LENGTH);
  memset(from + last, 2, LENGTH);
  MPI_Cart_create(MPI_COMM_SELF, DIMENSIONS, extents, periods, 0, &comm);
  if (form < FORMS) MPI_Neighbor_alltoall(from, LENGTH, MPI_BYTE, to, LENGTH, MPI_BYTE, comm);
  else MPI_Ineighbor_alltoall(from, LENGTH, MPI_BYTE, to, LENGTH, MPI_BYTE, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int wrong = memcmp(to + before, from + last, LENGTH) != 0 || memcmp(to + last, from + before, LENGTH) != 0;
  MPI_Comm_free(&comm);
  munmap(from, 2 * bytes);
  return wrong;
}

int repair(int words, char **word) {
  MPI_Comm made, comm;
  int wrong;
  if (words != 3) return 1;
  int form = atoi(word[2]);
  if (strcmp(word[1], "far") == 0) return far_blocks(form);
  is_grid = strcmp(word[1], "grid") == 0;
  if (is_grid) make_grid(&made);
  else make_graph(&made);
  MPI_Comm_dup(made, &comm);
  MPI_Comm_free(&made);
  wrong = is_accepted(comm);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 2; round++) {
    int from[SLOTS], to[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
      from[i] = (rank * 10 + i) * 10 + round;
      to[i] = UNTOUCHED;
    }
    call(form, from, to, comm);
    for (int i = 0; i < slots; i++) {
      int block = form % FORMS < 2 ? 0 : sent(i);
      int expected = neighbor[i] == MPI_PROC_NULL ? UNTOUCHED : (neighbor[i] * 10 + block) * 10 + round;
      wrong += to[i] != expected;
    }
  }
  MPI_Comm_free(&comm);
  return wrong;
}
