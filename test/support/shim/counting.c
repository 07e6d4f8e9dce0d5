/*
 * Another tool with MPI's profiling interface, to be preloaded: the first rank prints at the end how many
 * calls of a neighborhood collective it saw.
 */
#include <mpi.h>
#include <stdio.h>

static int calls, waits;

int MPI_Neighbor_allgather(const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                           MPI_Datatype receive_type, MPI_Comm comm) {
  calls++;
  return PMPI_Neighbor_allgather(from, sent, send_type, to, received, receive_type, comm);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  waits++;
  return PMPI_Wait(request, status);
}

int MPI_Start(MPI_Request *request) { return PMPI_Start(request); }

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  return PMPI_Request_get_status(request, flag, status);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("counted %d allgathers\n", calls);
  return PMPI_Finalize();
}
