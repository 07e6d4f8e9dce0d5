/*
 * Allgathers of buffers on a device, which the library of the first argument stands for and which is loaded
 * after MPI_Init; before the second argument's number of calls buffers are in ordinary memory. Ends with an
 * error unless all data are right.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 40 };

static void find(void *function, void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) exit(3);
  memcpy(function, &found, sizeof found);
}

int main(int argc, char **argv) {
  char *(*allocate)(void);
  void (*copy)(void *, const void *, size_t);
  int rank, ranks, wrong = 0, neighbors[2], received[2];
  MPI_Comm ring;
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  neighbors[0] = (rank + ranks - 1) % ranks;
  neighbors[1] = (rank + 1) % ranks;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbors, MPI_UNWEIGHTED, 2, neighbors, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  void *library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) return 4;
  find(&allocate, library, "fake_device_allocate");
  find(&copy, library, "fake_device_copy");
  int *device = (int *)(void *)allocate();
  for (int i = 0; i < CALLS; i++) {
    /* Odd ranks have their buffers in ordinary memory. */
    int is_on_device = i >= atoi(argv[2]) && rank % 2 == 0, sent = rank + i, none[2] = {-1, -1};
    if (is_on_device) {
      copy(device, &sent, sizeof sent);
      copy(device + 1, none, sizeof none);
      MPI_Neighbor_allgather(device, 1, MPI_INT, device + 1, 1, MPI_INT, ring);
      copy(received, device + 1, sizeof received);
    } else MPI_Neighbor_allgather(&sent, 1, MPI_INT, received, 1, MPI_INT, ring);
    wrong += received[0] != neighbors[0] + i || received[1] != neighbors[1] + i;
  }
  MPI_Comm_free(&ring);
  if (rank == 0) printf("%s: %d wrong calls\n", wrong == 0 ? "right" : "wrong", wrong);
  MPI_Finalize();
  return wrong != 0;
}
