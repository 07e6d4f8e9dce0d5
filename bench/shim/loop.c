/*
 * Calls MPI_Neighbor_allgather in a loop and prints the time of a call in us, the median of all.
 * Arguments: moore SIDE RADIUS BYTES CALLS, or er DENSITY SEED BYTES CALLS.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static int compare(const void *left, const void *right) {
  const double *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

static int near(int a, int b, int side, int radius) {
  int d = (a - b + side) % side;
  return d <= radius || side - d <= radius;
}

static unsigned mix(unsigned x) {
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return x ^ (x >> 16);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  int is_moore = strcmp(argv[1], "moore") == 0, bytes = atoi(argv[4]), calls = atoi(argv[5]), out = 0, in = 0;
  int *to = malloc(sizeof(int) * (size_t)ranks), *from = malloc(sizeof(int) * (size_t)ranks);
  for (int peer = 0; peer < ranks; peer++) {
    int sends, receives;
    if (is_moore) {
      int side = atoi(argv[2]), radius = atoi(argv[3]);
      sends = receives = peer != rank && near(peer / side, rank / side, ranks / side, radius) &&
                         near(peer % side, rank % side, side, radius);
    } else {
      double density = atof(argv[2]);
      unsigned seed = (unsigned)atoi(argv[3]);
      sends = peer != rank && mix(seed + (unsigned)(rank * ranks + peer)) % 1000u < density * 1000;
      receives = peer != rank && mix(seed + (unsigned)(peer * ranks + rank)) % 1000u < density * 1000;
    }
    if (sends) to[out++] = peer;
    if (receives) from[in++] = peer;
  }
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, MPI_UNWEIGHTED, out, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  char *own = malloc((size_t)bytes + 1), *all = malloc((size_t)bytes * (size_t)in + 1);
  double *times = malloc(sizeof(double) * (size_t)calls);
  memset(own, rank, (size_t)bytes);
  for (int call = 0; call < 30; call++) MPI_Neighbor_allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int call = 0; call < calls; call++) MPI_Neighbor_allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
  MPI_Barrier(MPI_COMM_WORLD);
  double mean = (MPI_Wtime() - begin) / calls * 1e6;
  int wrong = 0, all_wrong;
  for (int s = 0; s < in; s++)
    for (int i = 0; i < bytes; i++) wrong += all[s * bytes + i] != (char)from[s];
  for (int call = 0; call < calls; call++) {
    begin = MPI_Wtime();
    MPI_Neighbor_allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
    times[call] = (MPI_Wtime() - begin) * 1e6;
  }
  qsort(times, (size_t)calls, sizeof(double), compare);
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%.2f us per call, median %.2f, %d wrong\n", mean, times[calls / 2], all_wrong);
  MPI_Comm_free(&comm);
  free(own);
  free(all);
  free(times);
  free(to);
  free(from);
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
