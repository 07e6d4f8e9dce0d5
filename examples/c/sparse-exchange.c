/*
 * Sends particles to the few processes that they move to, again and again: MPI_Alltoallv, whose counts are mostly zero
 * and change in every step. Prints `right` and the time of a step, or `wrong` and ends with 1.
 *
 *   mpicc -O2 -o sparse-exchange sparse-exchange.c
 *   mpirun -n 16 ./sparse-exchange [PARTICLES] [STEPS]
 *
 * PARTICLES: that a process sends to each of three others, default 4. STEPS: default 1000.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTNERS = 3 };

typedef struct {
  double position[3], from, step;
} particle;

static int rank, ranks, particles;
/* Counts and places of all processes, in bytes; the particles lie one behind the other. */
static int *sent, *send_places, *received, *places;
static particle *outgoing, *incoming;

/* The distance to a partner, which every process knows: else they would exchange counts by MPI_Alltoall. */
static int distance(int step, int partner) { return (1 + partner * (step % 5 + 2)) % ranks; }

static void pack(int step) {
  memset(sent, 0, (size_t)ranks * sizeof *sent);
  memset(received, 0, (size_t)ranks * sizeof *received);
  for (int i = 0; i < PARTNERS; i++) {
    sent[(rank + distance(step, i)) % ranks] = particles * (int)sizeof(particle);
    received[(rank - distance(step, i) + ranks) % ranks] = particles * (int)sizeof(particle);
  }
  for (int r = 0, out = 0, in = 0; r < ranks; out += sent[r], in += received[r], r++) {
    send_places[r] = out;
    places[r] = in;
  }
  for (int i = 0; i < PARTNERS * particles; i++)
    outgoing[i] = (particle){{i, rank, step}, rank, step};
  memset(incoming, 0, (size_t)(PARTNERS * particles) * sizeof *incoming);
}

static int is_right(int step) {
  int ok = 1;
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < received[r] / (int)sizeof(particle); i++) {
      const particle *p = incoming + places[r] / (int)sizeof(particle) + i;
      ok &= p->from == r && p->step == step && p->position[1] == r;
    }
  return ok;
}

int main(int argc, char **argv) {
  int ok = 1, all_ok;
  double seconds = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  particles = argc > 1 ? atoi(argv[1]) : 4;
  int steps = argc > 2 ? atoi(argv[2]) : 1000;
  if (particles < 1 || particles > 1000000 || steps < 1) {
    if (rank == 0) fprintf(stderr, "usage: sparse-exchange [PARTICLES] [STEPS], PARTICLES from 1 to 1000000\n");
    MPI_Finalize();
    return 2;
  }
  int *arrays = malloc(4 * (size_t)ranks * sizeof *arrays);
  outgoing = malloc(2 * (size_t)(PARTNERS * particles) * sizeof *outgoing);
  if (arrays == NULL || outgoing == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  incoming = outgoing + PARTNERS * particles;
  sent = arrays;
  send_places = arrays + ranks;
  received = arrays + 2 * ranks;
  places = arrays + 3 * ranks;
  for (int step = 0; step < steps; step++) {
    pack(step);
    double begin = MPI_Wtime();
    MPI_Alltoallv(outgoing, sent, send_places, MPI_BYTE, incoming, received, places, MPI_BYTE, MPI_COMM_WORLD);
    seconds += MPI_Wtime() - begin;
    ok &= is_right(step);
  }
  MPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d steps, %.1f us each\n", all_ok ? "right" : "wrong", steps, seconds / steps * 1e6);
  free(outgoing);
  free(arrays);
  MPI_Finalize();
  return all_ok ? 0 : 1;
}
