/*
 * messages.c: a halo exchange on a periodic 3-D grid by messages between ranks, as most MPI programs write it.
 *
 *   mpirun -n 16 ./messages [isend | sendrecv | persistent] [bytes of a face] [steps]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACES = 6 };

static int dims[3], ranks, rank;

/* Finds the rank behind a face: faces 2 d and 2 d + 1 are those below and above in dimension d. */
static int behind(int face) {
  int at[3] = {rank % dims[0], rank / dims[0] % dims[1], rank / dims[0] / dims[1]}, d = face / 2;
  at[d] = (at[d] + (face % 2 ? 1 : dims[d] - 1)) % dims[d];
  return (at[2] * dims[1] + at[1]) * dims[0] + at[0];
}

static void fail(const char *what) {
  fprintf(stderr, "messages: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(ranks, 3, dims);
  const char *form = argc > 1 ? argv[1] : "isend";
  const int bytes = argc > 2 ? atoi(argv[2]) : 1024, steps = argc > 3 ? atoi(argv[3]) : 1000;
  const int is_persistent = !strcmp(form, "persistent"), is_paired = !strcmp(form, "sendrecv");
  if (bytes < 1 || steps < 1 || (!is_persistent && !is_paired && strcmp(form, "isend")))
    fail("expected isend, sendrecv or persistent, bytes and steps of at least 1");

  char *out[FACES], *in[FACES];
  int neighbor[FACES];
  MPI_Request requests[2 * FACES];
  for (int f = 0; f < FACES; f++) {
    neighbor[f] = behind(f);
    out[f] = malloc((size_t)bytes);
    in[f] = malloc((size_t)bytes);
    if (out[f] == NULL || in[f] == NULL) fail("no memory");
  }
  /* A block that a rank sends through a face arrives at its neighbor's opposite face, so the face is the tag. */
  for (int f = 0; is_persistent && f < FACES; f++) {
    MPI_Recv_init(in[f], bytes, MPI_BYTE, neighbor[f], f ^ 1, MPI_COMM_WORLD, &requests[f]);
    MPI_Send_init(out[f], bytes, MPI_BYTE, neighbor[f], f, MPI_COMM_WORLD, &requests[FACES + f]);
  }
  double sum = 0, all = 0;
  for (int step = 0; step < steps; step++) {
    for (int f = 0; f < FACES; f++) memset(out[f], (rank + f + step) & 127, (size_t)bytes);
    if (is_persistent) {
      MPI_Startall(2 * FACES, requests);
      MPI_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
    } else if (is_paired) {
      for (int f = 0; f < FACES; f++)
        MPI_Sendrecv(out[f], bytes, MPI_BYTE, neighbor[f], f, in[f ^ 1], bytes, MPI_BYTE, neighbor[f ^ 1], f,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      for (int f = 0; f < FACES; f++)
        MPI_Irecv(in[f], bytes, MPI_BYTE, neighbor[f], f ^ 1, MPI_COMM_WORLD, &requests[f]);
      for (int f = 0; f < FACES; f++)
        MPI_Isend(out[f], bytes, MPI_BYTE, neighbor[f], f, MPI_COMM_WORLD, &requests[FACES + f]);
      MPI_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
    }
    for (int f = 0; f < FACES; f++) {
      const char expected = (char)((neighbor[f] + (f ^ 1) + step) & 127);
      if (in[f][0] != expected || in[f][bytes - 1] != expected) fail("a face has other data than its neighbor sent");
      sum += in[f][bytes / 2];
    }
  }
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d x %d x %d ranks, %d steps of %d bytes a face: sum %.0f\n", dims[0], dims[1], dims[2], steps, bytes, all);
  MPI_Finalize();
  return 0;
}
