/*
 * Calls that MPI permits, and whose differences between ranks a file of rules cannot see, on communicators of 2 ranks
 * and more: reductions in the order of the ranks, arguments that are ignored in place, and equal data that ranks
 * describe by different datatypes.
 */
#include "cases.h"

enum { PRIME = 10007, LONGEST = 600, MOST_RANKS = 16 };

static int wrong;
static int from[MOST_RANKS * LONGEST], to[MOST_RANKS * LONGEST];

static void expect(int is_right, const char *what, int ranks, int count) {
  if (is_right || wrong++ > 0) return;
  printf("wrong: %s of %d on %d ranks\n", what, count, ranks);
  fflush(stdout);
}

/* x -> a x + b, of which the first is applied first: not commutative. */
static void then(void *in, void *inout, int *length, MPI_Datatype *type) {
  int *a = in, *b = inout;
  (void)type;
  for (int i = 0; i < *length; i++) {
    b[2 * i + 1] = (b[2 * i] * a[2 * i + 1] + b[2 * i + 1]) % PRIME;
    b[2 * i] = a[2 * i] * b[2 * i] % PRIME;
  }
}

static void operand(int rank, int place, int *pair) {
  pair[0] = 2 + (rank * 37 + place) % 97;
  pair[1] = 1 + (rank * 11 + place * 5) % 89;
}

static int is_reduced(const int *got, int ranks, int first, int count) {
  MPI_Datatype none = MPI_DATATYPE_NULL;
  for (int i = 0, one = 1; i < count; i++) {
    int sum[2], next[2];
    operand(0, first + i, sum);
    for (int rank = 1; rank < ranks; rank++) {
      operand(rank, first + i, next);
      then(sum, next, &one, &none);
      memcpy(sum, next, sizeof sum);
    }
    if (memcmp(sum, got + 2 * i, sizeof sum) != 0) return 0;
  }
  return 1;
}

static void reductions(MPI_Comm comm, int rank, int ranks, int count, MPI_Datatype pair, MPI_Op op) {
  int counts[MOST_RANKS], total = count * ranks;
  for (int i = 0; i < total; i++) operand(rank, i, from + 2 * i);
  MPI_Allreduce(from, to, count, pair, op, comm);
  expect(is_reduced(to, ranks, 0, count), "allreduce", ranks, count);
  for (int root = 0; root < ranks; root++) {
    MPI_Reduce(from, to, count, pair, op, root, comm);
    expect(rank != root || is_reduced(to, ranks, 0, count), "reduce", ranks, count);
  }
  MPI_Reduce_scatter_block(from, to, count, pair, op, comm);
  expect(is_reduced(to, ranks, rank * count, count), "reduce-scatter of equal blocks", ranks, count);
  for (int i = 0; i < ranks; i++) counts[i] = count;
  MPI_Reduce_scatter(from, to, counts, pair, op, comm);
  expect(is_reduced(to, ranks, rank * count, count), "reduce-scatter", ranks, count);
}

static int value(int rank, int other, int place) { return rank * 1000003 + other * 1009 + place; }

/* `count` integers, in a way that depends on the rank. */
static void described(int rank, int count, MPI_Datatype pair, MPI_Datatype all, int *elements, MPI_Datatype *type) {
  *elements = rank % 3 == 0 ? count : rank % 3 == 1 ? count / 2 : 1;
  *type = rank % 3 == 0 ? MPI_INT : rank % 3 == 1 ? pair : all;
}

static void datatypes(MPI_Comm comm, int rank, int ranks, int count, MPI_Datatype pair) {
  MPI_Datatype all, type;
  int elements;
  MPI_Type_contiguous(count, MPI_INT, &all);
  MPI_Type_commit(&all);
  described(rank, count, pair, all, &elements, &type);
  for (int root = 0; root < ranks; root++) {
    for (int i = 0; i < count; i++) to[i] = rank == root ? value(root, 0, i) : -1;
    MPI_Bcast(to, elements, type, root, comm);
    for (int i = 0; i < count; i++) expect(to[i] == value(root, 0, i), "bcast", ranks, count);
    for (int i = 0; i < count; i++) from[i] = value(rank, root, i);
    MPI_Gather(from, elements, type, to, count, MPI_INT, root, comm);
    for (int i = 0; i < ranks * count && rank == root; i++)
      expect(to[i] == value(i / count, root, i % count), "gather", ranks, count);
  }
  MPI_Type_free(&all);
}

static void in_place(MPI_Comm comm, int rank, int ranks, int count) {
  int ignored = rank * count;
  for (int i = 0; i < count; i++) to[rank * count + i] = value(rank, 0, i);
  MPI_Allgather(MPI_IN_PLACE, ignored, MPI_INT, to, count, MPI_INT, comm);
  for (int i = 0; i < ranks * count; i++) expect(to[i] == value(i / count, 0, i % count), "allgather", ranks, count);
  for (int i = 0; i < ranks * count; i++) to[i] = value(rank, i / count, i % count);
  MPI_Alltoall(MPI_IN_PLACE, ignored, MPI_INT, to, count, MPI_INT, comm);
  for (int i = 0; i < ranks * count; i++) expect(to[i] == value(i / count, rank, i % count), "alltoall", ranks, count);
}

int permitted(int words, char **word) {
  static const int counts[] = {2, 18, LONGEST / 2};
  MPI_Datatype pair;
  MPI_Op op;
  wrong = 0;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(then, 0, &op);
  for (int members = 2; members <= ranks && members <= MOST_RANKS; members++) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      reductions(comm, rank, members, counts[i], pair, op);
      if (words > 1 && strcmp(word[1], "reductions") == 0) continue;
      datatypes(comm, rank, members, counts[i], pair);
      in_place(comm, rank, members, counts[i]);
      MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  return wrong;
}
