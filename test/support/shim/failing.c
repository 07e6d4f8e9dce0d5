/*
 * An allocation of the preloaded library fails on one rank: the first, the second and so on, alone or with
 * all that follow, until the library asks for no more. The program gets its data all the same; a call that fails does so
 * on all ranks, in the mode `repair` alone, and succeeds once there is memory. Arguments: calls on a communicator, and 1 where ranks may be reordered.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 3, SECONDS = 280 };

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

/* Of the library while `first_failing` is not 0. */
static int allocations, first_failing, last_failing;
static int rank, ranks, degree, calls, reorder, may_fail, wrong;

static int fails(const void *caller) {
  Dl_info place;
  if (first_failing == 0 || !dladdr(caller, &place) || strstr(place.dli_fname, "rankweave_shim") == NULL) return 0;
  allocations++;
  return allocations >= first_failing && allocations <= last_failing;
}

void *malloc(size_t bytes) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}

static void expect(int got, int wanted) { wrong += got != wanted; }

/* Returns whether a call failed, on all ranks alike. Memory is there again afterwards. */
static int has_failed(int code) {
  int codes[] = {code, -code};
  MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect(codes[0], may_fail ? -codes[1] : MPI_SUCCESS);
  if (code != MPI_SUCCESS) last_failing = 0;
  return code != MPI_SUCCESS;
}

/* Rank r sends to r + 1, r + 2 and r + 3, if there are so many others. */
static void find_neighbors(int own, int *sources, int *destinations) {
  for (int i = 0; i < degree; i++) {
    sources[i] = (own + ranks - 1 - i) % ranks;
    destinations[i] = (own + 1 + i) % ranks;
  }
}

static void run_collectives(void) {
  int sources[MOST], destinations[MOST], own[MOST], theirs[MOST], vertex;
  MPI_Comm comm;
  find_neighbors(rank, sources, destinations);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, sources, MPI_UNWEIGHTED, degree, destinations, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, reorder, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &vertex);
  find_neighbors(vertex, sources, destinations);
  for (int call = 0; call < calls; call++) {
    own[0] = vertex * 100 + call;
    memset(theirs, 0, sizeof theirs);
    while (has_failed(MPI_Neighbor_allgather(own, 1, MPI_INT, theirs, 1, MPI_INT, comm))) continue;
    for (int i = 0; i < degree; i++) expect(theirs[i], sources[i] * 100 + call);
    for (int i = 0; i < degree; i++) own[i] = (vertex * 100 + call) * degree + i;
    memset(theirs, 0, sizeof theirs);
    while (has_failed(MPI_Neighbor_alltoall(own, 1, MPI_INT, theirs, 1, MPI_INT, comm))) continue;
    for (int i = 0; i < degree; i++) expect(theirs[i], (sources[i] * 100 + call) * degree + i);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  alarm(SECONDS); /* a rank that waits without end */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  calls = argc > 1 ? atoi(argv[1]) : 2;
  reorder = argc > 2 && atoi(argv[2]) != 0;
  may_fail = strcmp(getenv("RANKWEAVE_SHIM"), "repair") == 0;
  degree = ranks <= MOST ? ranks - 1 : MOST;
  int failed = 0, most;
  for (int n = 1, is_alone = 1;;) {
    allocations = 0;
    first_failing = n;
    last_failing = rank != n % ranks ? 0 : is_alone ? n : 1 << 30;
    run_collectives();
    first_failing = 0;
    failed += rank == n % ranks && allocations >= n;
    MPI_Allreduce(&allocations, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    n = n > most ? 1 : n + 1;
    if (n == 1 && --is_alone < 0) break;
  }
  int sums[2] = {failed, wrong}, all[2];
  MPI_Allreduce(sums, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d wrong elements after %d failures\n", all[1] == 0 ? "right" : "wrong", all[1], all[0]);
  MPI_Finalize();
  return all[1] != 0;
}
