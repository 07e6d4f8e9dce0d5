/* What each does is in collectives.h. */
#include "collectives.h"

int wrong;

void expect(int is_right, const char *what) {
  if (is_right || wrong++ > 5) return;
  fprintf(stderr, "wrong: %s\n", what);
}

side side_of(MPI_Comm comm) {
  side s = {.comm = comm};
  MPI_Comm_rank(comm, &s.rank);
  MPI_Comm_size(comm, &s.ranks);
  s.from = malloc(sizeof(int) * (size_t)(LONGEST * s.ranks));
  s.to = malloc(sizeof(int) * (size_t)(LONGEST * s.ranks));
  return s;
}

void release(side *s) {
  free(s->from);
  free(s->to);
}

/* What a rank sends in a place to another. */
static int value(int rank, int to, int place) { return rank * 1000003 + to * 1009 + place; }

static void fill(side *s, int blocks, int count) {
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < count; i++) s->from[b * count + i] = value(s->rank, b, i);
  memset(s->to, 0xff, sizeof(int) * (size_t)(count * s->ranks));
}

void bcast(side *s, int count, int root) {
  MPI_Datatype pair;
  fill(s, 1, count);
  if (s->rank == root) memcpy(s->to, s->from, sizeof(int) * (size_t)count);
  /* Ranks describe the same data by other datatypes and counts. */
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  if (count % 2 == 0 && s->rank % 2 == 1) MPI_Bcast(s->to, count / 2, pair, root, s->comm);
  else MPI_Bcast(s->to, count, MPI_INT, root, s->comm);
  MPI_Type_free(&pair);
  int ok = 1;
  for (int i = 0; i < count; i++) ok &= s->to[i] == value(root, 0, i);
  expect(ok, "bcast");
}

void gather(side *s, int count, int root, int is_in_place) {
  fill(s, 1, count);
  int at_root = s->rank == root;
  if (is_in_place && at_root) memcpy(s->to + root * count, s->from, sizeof(int) * (size_t)count);
  MPI_Gather(is_in_place && at_root ? MPI_IN_PLACE : s->from, count, MPI_INT, s->to, count, MPI_INT, root, s->comm);
  int ok = 1;
  for (int r = 0; at_root && r < s->ranks; r++)
    for (int i = 0; i < count; i++) ok &= s->to[r * count + i] == value(r, 0, i);
  expect(ok, "gather");
}

void scatter(side *s, int count, int root, int is_in_place) {
  fill(s, s->ranks, count);
  int at_root = s->rank == root;
  MPI_Scatter(s->from, count, MPI_INT, is_in_place && at_root ? MPI_IN_PLACE : (void *)s->to, count, MPI_INT, root, s->comm);
  int ok = 1;
  for (int i = 0; !(is_in_place && at_root) && i < count; i++) ok &= s->to[i] == value(root, s->rank, i);
  expect(ok, "scatter");
}

void allgather(side *s, int count, int is_in_place) {
  fill(s, 1, count);
  if (is_in_place) memcpy(s->to + s->rank * count, s->from, sizeof(int) * (size_t)count);
  MPI_Allgather(is_in_place ? MPI_IN_PLACE : s->from, count, MPI_INT, s->to, count, MPI_INT, s->comm);
  int ok = 1;
  for (int r = 0; r < s->ranks; r++)
    for (int i = 0; i < count; i++) ok &= s->to[r * count + i] == value(r, 0, i);
  expect(ok, "allgather");
}

void alltoall(side *s, int count, int is_in_place) {
  fill(s, s->ranks, count);
  if (is_in_place) memcpy(s->to, s->from, sizeof(int) * (size_t)(count * s->ranks));
  MPI_Alltoall(is_in_place ? MPI_IN_PLACE : s->from, count, MPI_INT, s->to, count, MPI_INT, s->comm);
  int ok = 1;
  for (int r = 0; r < s->ranks; r++)
    for (int i = 0; i < count; i++) ok &= s->to[r * count + i] == value(r, s->rank, i);
  expect(ok, "alltoall");
}

static int sum(const side *s, int block, int i) {
  int all = 0;
  for (int r = 0; r < s->ranks; r++) all += value(r, block, i);
  return all;
}

void reduce(side *s, int count, int root, int is_in_place) {
  fill(s, 1, count);
  int at_root = s->rank == root;
  if (is_in_place && at_root) memcpy(s->to, s->from, sizeof(int) * (size_t)count);
  MPI_Reduce(is_in_place && at_root ? MPI_IN_PLACE : s->from, s->to, count, MPI_INT, MPI_SUM, root, s->comm);
  int ok = 1;
  for (int i = 0; at_root && i < count; i++) ok &= s->to[i] == sum(s, 0, i);
  expect(ok, "reduce");
}

void allreduce(side *s, int count, int is_in_place, MPI_Op op) {
  fill(s, 1, count);
  if (is_in_place) memcpy(s->to, s->from, sizeof(int) * (size_t)count);
  MPI_Allreduce(is_in_place ? MPI_IN_PLACE : s->from, s->to, count, MPI_INT, op, s->comm);
  int ok = 1;
  for (int i = 0; i < count; i++) ok &= s->to[i] == sum(s, 0, i);
  expect(ok, "allreduce");
}

void reduce_scatter(side *s, int count, int is_equal) {
  int *counts = malloc(sizeof(int) * (size_t)s->ranks);
  fill(s, s->ranks, count);
  for (int r = 0; r < s->ranks; r++) counts[r] = count;
  /* The last rank gets less: no algorithm for equal blocks serves it. */
  if (!is_equal) counts[s->ranks - 1] = 0;
  MPI_Reduce_scatter(s->from, s->to, counts, MPI_INT, MPI_SUM, s->comm);
  int ok = 1;
  for (int i = 0; i < counts[s->rank]; i++) ok &= s->to[i] == sum(s, s->rank, i);
  expect(ok, "reduce_scatter");
  fill(s, s->ranks, count);
  MPI_Reduce_scatter_block(s->from, s->to, count, MPI_INT, MPI_SUM, s->comm);
  for (int i = 0; i < count; i++) ok &= s->to[i] == sum(s, s->rank, i);
  expect(ok, "reduce_scatter_block");
  free(counts);
}

/* The left one: not commutative. */
static void first_of(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  memcpy(inout, in, sizeof(int) * (size_t)*length);
}

void ordered(side *s, int count) {
  MPI_Op op;
  MPI_Op_create(first_of, 0, &op);
  fill(s, 1, count);
  MPI_Allreduce(s->from, s->to, count, MPI_INT, op, s->comm);
  int ok = 1;
  for (int i = 0; i < count; i++) ok &= s->to[i] == value(0, 0, i);
  expect(ok, "an operation that is not commutative");
  MPI_Op_free(&op);
}
