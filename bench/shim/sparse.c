/*
 * MPI_Alltoallv with 6 counts of a rank that are not zero, and with none that is, on a communicator each. The first
 * rank prints two lines per case: what was called, the bytes of a block, and the time of a call in us, in the first
 * calls and in those after them. Ends with an error if data are wrong. Arguments: the first calls, and the others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTNERS = 6, MOST = 4096 };

typedef struct {
  int is_dense, bytes;
} test;

static const test tests[] = {{0, 8}, {0, 256}, {0, MOST}, {1, 8}};

static int rank, ranks, first_calls, calls;
static int *sent, *received, *places;
static char *from, *to;

/* Partners of a rank lie on its node and on others. */
static int distance(int partner) { return (1 + partner * partner * 2 + partner) % ranks; }

static char element(int source, int destination, int i) { return (char)(source * 7 + destination * 3 + i + 1); }

static void measure(const test *t) {
  MPI_Comm comm;
  double begin, us[2];
  int wrong = 0, bytes = t->bytes;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int r = 0; r < ranks; r++) {
    sent[r] = received[r] = t->is_dense ? bytes : 0;
    places[r] = r * bytes;
  }
  for (int i = 0; i < PARTNERS; i++) {
    sent[(rank + distance(i)) % ranks] = bytes;
    received[(rank - distance(i) + ranks) % ranks] = bytes;
  }
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < bytes; i++) from[r * bytes + i] = element(rank, r, i);
  memset(to, 0, (size_t)ranks * (size_t)bytes);
  for (int part = 0; part < 2; part++) {
    MPI_Barrier(comm);
    begin = MPI_Wtime();
    int count = part == 0 ? first_calls : calls;
    for (int i = 0; i < count; i++) MPI_Alltoallv(from, sent, places, MPI_BYTE, to, received, places, MPI_BYTE, comm);
    MPI_Barrier(comm);
    us[part] = (MPI_Wtime() - begin) / count * 1e6;
  }
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < bytes; i++) wrong += to[r * bytes + i] != (received[r] > 0 ? element(r, rank, i) : 0);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, comm);
  if (wrong > 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_free(&comm);
  if (rank > 0) return;
  const char *what = t->is_dense ? "all counts" : "6 counts";
  printf("%s, first %d calls\t%d\t%.3f\n%s, later\t%d\t%.3f\n", what, first_calls, bytes, us[0], what, bytes, us[1]);
  fflush(stdout);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  first_calls = atoi(argv[1]);
  calls = atoi(argv[2]);
  sent = malloc(3 * (size_t)ranks * sizeof *sent);
  from = malloc(2 * (size_t)ranks * MOST);
  if (sent == NULL || from == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  received = sent + ranks;
  places = received + ranks;
  to = from + (size_t)ranks * MOST;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) measure(&tests[i]);
  MPI_Finalize();
  return 0;
}
