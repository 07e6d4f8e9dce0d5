/*
 * Starts as many processes, and calls collectives on a communicator of both halves. They have the preloaded library with
 * the argument `both`, and do not have it otherwise. Prints `right` if the results are. Run on two or more processes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* More than the calls after which ranks would agree on a plan. */
enum { CALLS = 100 };

/* Assigns a variable of this process to the spawned ones, which get the launcher's environment. */
static char *assignment(const char *name, char *room, int bytes) {
  const char *value = getenv(name);
  snprintf(room, (size_t)bytes, "%s=%s", name, value == NULL ? "" : value);
  return room;
}

static MPI_Comm spawn(char *program, int is_both) {
  static char preloaded[4096], mode[4096];
  char *without[] = {"-u", "LD_PRELOAD", program, NULL};
  char *with[] = {assignment("LD_PRELOAD", preloaded, sizeof preloaded), assignment("RANKWEAVE_SHIM", mode, sizeof mode), program,
                  "both", NULL};
  int ranks;
  MPI_Comm between;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_spawn("env", is_both ? with : without, ranks, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  return between;
}

/* Returns how much is wrong of the sums over ranks of a communicator. */
static int sums_are_wrong(MPI_Comm comm) {
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int call = 0; call < CALLS; call++) {
    double own = rank + call + 0.5, sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    wrong += sum != ranks * (double)ranks / 2 + ranks * call;
  }
  return wrong;
}

int main(int argc, char **argv) {
  MPI_Comm between, both, ring, mixed;
  int rank, ranks, got = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&between);
  int is_child = between != MPI_COMM_NULL;
  if (!is_child) between = spawn(argv[0], argc > 1);
  MPI_Intercomm_merge(between, is_child, &both);
  MPI_Comm_rank(both, &rank);
  MPI_Comm_size(both, &ranks);
  MPI_Comm_split(both, rank % 2, rank, &mixed);
  int wrong = sums_are_wrong(both) + sums_are_wrong(mixed) + sums_are_wrong(MPI_COMM_WORLD);
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Dist_graph_create_adjacent(both, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  for (int call = 0; call < CALLS; call++) MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, ring);
  wrong += got != left;
  for (int i = 0; i < 2; i++) {
    int sent = rank == 0 ? i + 7 : -1;
    MPI_Bcast(&sent, 1, MPI_INT, 0, ring);
    wrong += sent != i + 7;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, both);
  if (rank == 0) printf(wrong == 0 ? "right\n" : "%d wrong\n", wrong);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&mixed);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return wrong != 0;
}
