/*
 * This file finds out how MPI pairs the blocks of an alltoall with slots where a rank lists another one twice. MPI
 * libraries differ in that, MPICH 4.0 even between functions. Both ends of parallel edges know how many there are, so
 * they pair blocks as MPI does without an agreement. A process that lists itself twice shows how MPI does it.
 */
#include "shim.h"

enum { TWICE = 2 };

static int is_reversed[RW_FUNCTIONS];

int rw_pairing_try(rw_function function, const int *from, int *to, MPI_Comm comm) {
  static const int one[TWICE] = {1, 1}, place[TWICE] = {0, 1};
  static const MPI_Aint address[TWICE] = {0, sizeof(int)};
  const MPI_Datatype type[TWICE] = {MPI_INT, MPI_INT};
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  switch (function) {
    case RW_NEIGHBOR_ALLTOALL: return PMPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm);
    case RW_NEIGHBOR_ALLTOALLV: return PMPI_Neighbor_alltoallv(from, one, place, MPI_INT, to, one, place, MPI_INT, comm);
    case RW_NEIGHBOR_ALLTOALLW: return PMPI_Neighbor_alltoallw(from, one, address, type, to, one, address, type, comm);
    case RW_INEIGHBOR_ALLTOALL: code = PMPI_Ineighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm, &request); break;
    case RW_INEIGHBOR_ALLTOALLV:
      code = PMPI_Ineighbor_alltoallv(from, one, place, MPI_INT, to, one, place, MPI_INT, comm, &request);
      break;
    default: code = PMPI_Ineighbor_alltoallw(from, one, address, type, to, one, address, type, comm, &request);
  }
  return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

void rw_pairing_find(void) {
  static int is_found;
  static const int self[TWICE] = {0, 0}, weights[TWICE] = {1, 1}, numbers[TWICE] = {0, 1};
  static const rw_function functions[] = {RW_NEIGHBOR_ALLTOALL, RW_NEIGHBOR_ALLTOALLV, RW_INEIGHBOR_ALLTOALL,
                                          RW_INEIGHBOR_ALLTOALLV};
  MPI_Comm comm;
  if (is_found) return;
  is_found = 1;
  int code = PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, TWICE, self, weights, TWICE, self, weights, MPI_INFO_NULL, 0, &comm);
  if (code != MPI_SUCCESS) return;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    int to[TWICE] = {0, 0};
    is_reversed[functions[i]] = rw_pairing_try(functions[i], numbers, to, comm) == MPI_SUCCESS && to[0] == numbers[1];
  }
  is_reversed[RW_NEIGHBOR_ALLTOALL_INIT] = is_reversed[RW_INEIGHBOR_ALLTOALL];
  is_reversed[RW_NEIGHBOR_ALLTOALLV_INIT] = is_reversed[RW_INEIGHBOR_ALLTOALLV];
  PMPI_Comm_free(&comm);
}

int rw_pairing_is_reversed(rw_function function) { return is_reversed[function]; }
