/* Preloaded besides: plans of messages take longer than MPI, which starts no persistent requests of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

int PMPI_Startall(int count, MPI_Request requests[]) {
  int (*next)(int, MPI_Request[]);
  void *found = dlsym(RTLD_NEXT, "PMPI_Startall");
  memcpy(&next, &found, sizeof found);
  usleep(2000);
  return next(count, requests);
}
