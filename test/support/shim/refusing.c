/*
 * MPI refuses one message that the preloaded library posts on one rank: the first, the second and so on, until the
 * library posts fewer. That rank's all-to-all fails; no message arrives after it, and the next one is right on all
 * ranks. Arguments: the integers of a block, and `started` for a non-blocking all-to-all of neighbors, or `planned` for
 * a blocking one, whose first refused message ends the job.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 16, SECONDS = 120 };

static int posts, refused; /* the number of the refused post; 0: none */
static int rank, ranks, block, wrong, is_started, is_planned;
static int counts[RANKS], places[RANKS], all[RANKS], *from, *to;
static MPI_Comm neighbors;

static int refuses(const void *caller) {
  Dl_info place;
  if (refused == 0 || !dladdr(caller, &place) || strstr(place.dli_fname, "rankweave_shim") == NULL) return 0;
  return ++posts == refused;
}

static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

int PMPI_Irecv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  static __typeof__(&PMPI_Irecv) library;
  if (library == NULL) find(&library, "PMPI_Irecv");
  return refuses(__builtin_return_address(0)) ? MPI_ERR_OTHER : library(data, count, type, source, tag, comm, request);
}

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm, MPI_Request *request) {
  static __typeof__(&PMPI_Isend) library;
  if (library == NULL) find(&library, "PMPI_Isend");
  return refuses(__builtin_return_address(0)) ? MPI_ERR_OTHER : library(data, count, type, destination, tag, comm, request);
}

static int element(int call, int source, int destination, int i) {
  return ((call * RANKS + source) * RANKS + destination) * 7 + i;
}

static int call(int number) {
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < block; i++) from[r * block + i] = element(number, rank, r, i);
  if (is_started) {
    MPI_Request request;
    int code = MPI_Ineighbor_alltoall(from, block, MPI_INT, to, block, MPI_INT, neighbors, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
  if (is_planned) return MPI_Neighbor_alltoall(from, block, MPI_INT, to, block, MPI_INT, neighbors);
  return MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  alarm(SECONDS); /* a rank that waits without end */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  block = argc > 1 ? atoi(argv[1]) : 1;
  size_t bytes = sizeof(int) * (size_t)block * (size_t)ranks;
  from = malloc(bytes);
  to = malloc(bytes);
  for (int r = 0; r < ranks; r++) {
    counts[r] = block;
    places[r] = r * block;
    all[r] = r;
  }
  is_started = argc > 2 && strcmp(argv[2], "started") == 0;
  is_planned = argc > 2 && !is_started;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all, MPI_UNWEIGHTED, ranks, all, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &neighbors);
  wrong += call(0) != MPI_SUCCESS;
  refused = is_planned && rank == 1;
  for (int n = 1; is_planned && n <= 2; n++) (void)call(n);
  if (is_planned) printf("rank %d goes on\n", rank);
  int failures = 0;
  for (int n = 1, most = 1; n <= most; n++) {
    posts = 0;
    refused = rank == n % ranks ? n : 0;
    int code = call(2 * n);
    wrong += posts >= n && refused > 0 && code == MPI_SUCCESS;
    failures += posts >= n && refused > 0;
    refused = 0;
    memset(to, -1, bytes);
    MPI_Allreduce(&posts, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * block; i++) wrong += to[i] != -1;
    wrong += call(2 * n + 1) != MPI_SUCCESS;
    for (int r = 0; r < ranks; r++)
      for (int i = 0; i < block; i++) wrong += to[r * block + i] != element(2 * n + 1, r, rank, i);
  }
  int sums[2] = {failures, wrong};
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d wrong after %d failures\n", sums[1] == 0 ? "right" : "wrong", sums[1], sums[0]);
  MPI_Comm_free(&neighbors);
  free(from);
  free(to);
  MPI_Finalize();
  return sums[1] != 0;
}
