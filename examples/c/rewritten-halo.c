/*
 * rewritten-halo.c: a halo exchange on a periodic grid of processes, by messages and by one neighborhood collective.
 * Prints `right` and the times of both, or `wrong` and ends with 1.
 *
 *   mpicc -O2 -o rewritten-halo rewritten-halo.c
 *   mpirun -n 16 ./rewritten-halo [WIDTH] [STEPS]
 *
 * WIDTH: the doubles that two processes side by side exchange, default 16; across a corner it is one. STEPS: default
 * 2000.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

/*
 * Halo i comes from sources[i], and destinations[i] is the neighbor on the other side, to which the process is source i.
 * Both have as many doubles at the same place. A rank may be a neighbor more than once.
 */
static int n, sources[MOST], destinations[MOST], counts[MOST], places[MOST];
static double *sent, *received;
static MPI_Comm comm = MPI_COMM_WORLD, graph;

static void by_messages(void) {
  MPI_Request requests[2 * MOST];
  for (int i = 0; i < n; i++)
    MPI_Irecv(received + places[i], counts[i], MPI_DOUBLE, sources[i], i, comm, &requests[i]);
  for (int i = 0; i < n; i++)
    MPI_Isend(sent + places[i], counts[i], MPI_DOUBLE, destinations[i], i, comm, &requests[n + i]);
  MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
}

static void by_neighbors(void) {
  MPI_Neighbor_alltoallv(sent, counts, places, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, graph);
}

/* A double says who sends it, for which halo, in which step, and its place. */
static double value(int from, int halo, int step, int k) { return ((from * 10.0 + halo) * 1e4 + step) * 1e3 + k; }

static int run(void (*exchange)(void), int rank, int steps, double *us) {
  int ok = 1;
  double seconds = 0;
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++)
      for (int k = 0; k < counts[i]; k++) sent[places[i] + k] = value(rank, i, step, k);
    memset(received, 0, (size_t)(places[n - 1] + counts[n - 1]) * sizeof *received);
    const double begin = MPI_Wtime();
    exchange();
    seconds += MPI_Wtime() - begin;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < counts[i]; k++) ok &= received[places[i] + k] == value(sources[i], i, step, k);
  }
  seconds *= 1e6 / steps;
  MPI_Reduce(&seconds, us, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
  return ok;
}

int main(int argc, char **argv) {
  int rank, size, dims[2] = {0, 0}, all_ok;
  double messages_us = 0, neighbors_us = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int width = argc > 1 ? atoi(argv[1]) : 16, steps = argc > 2 ? atoi(argv[2]) : 2000;
  if (width < 1 || width > 1000000 || steps < 1) {
    if (rank == 0) fprintf(stderr, "usage: rewritten-halo [WIDTH] [STEPS], WIDTH from 1 to 1000000\n");
    MPI_Finalize();
    return 2;
  }
  MPI_Dims_create(size, 2, dims);
  const int x = rank / dims[1], y = rank % dims[1];
  for (int dx = -1, at = 0; dx <= 1; dx++)
    for (int dy = -1; dy <= 1; dy++) {
      if (dx == 0 && dy == 0) continue;
      sources[n] = (x + dx + dims[0]) % dims[0] * dims[1] + (y + dy + dims[1]) % dims[1];
      destinations[n] = (x - dx + dims[0]) % dims[0] * dims[1] + (y - dy + dims[1]) % dims[1];
      counts[n] = dx != 0 && dy != 0 ? 1 : width;
      places[n] = at;
      at += counts[n++];
    }
  sent = malloc(2 * (size_t)MOST * (size_t)width * sizeof *sent);
  if (sent == NULL) MPI_Abort(comm, 1);
  received = sent + (size_t)MOST * (size_t)width;
  MPI_Dist_graph_create_adjacent(comm, n, sources, MPI_UNWEIGHTED, n, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);

  int ok = run(by_messages, rank, steps, &messages_us);
  ok &= run(by_neighbors, rank, steps, &neighbors_us);
  MPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, comm);
  if (rank == 0)
    printf("%s: %.1f us by messages, %.1f us by a neighborhood collective\n", all_ok ? "right" : "wrong", messages_us,
           neighbors_us);
  free(sent);
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return all_ok ? 0 : 1;
}
