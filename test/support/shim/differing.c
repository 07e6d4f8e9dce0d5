/*
 * Collectives whose arguments differ between ranks, as MPI permits. Arguments: what differs, and rounds.
 *
 *   in-place   which ranks of MPI_Reduce_scatter give their data in place
 *   types      datatypes that describe equal data; a third argument names one collective
 *   ignored    arguments that MPI does not read, which are not valid
 *   sums       nothing: reductions of many lengths on the first 2, 3, ... ranks
 */
#include "cases.h"

#include <stdint.h>

/* The longest blocks have more than 16 MiB. */
enum { FORMS = 6, LONGEST = 5000000 };

static int wrong;

static void expect(int is_right, const char *what, int count) {
  if (is_right || wrong++ > 5) return;
  fprintf(stderr, "wrong: %s of %d integers on rank %d\n", what, count, rank);
}

/* Of a block that belongs to two ranks. */
static int value(int from, int to, int place) { return from * 1000003 + to * 1009 + place; }

/*
 * --- Data in several forms
 * -------------------------------------------------------------------------------------------------------
 */

/* `count` integers; `elements` of the datatype are one block. */
typedef struct {
  int form, count, elements;
  MPI_Datatype type;
} block;

/* Whether integers of the form have as many between them. */
static int has_gaps(int form) { return form == 2 || form == 4; }

/* An even number of integers in one of the forms. */
static block block_of(int form, int count) {
  static const int one_each[] = {1, 1}, swapped[] = {1, 0};
  block b = {form, count, form == 1 || form == 4 ? 1 : form == 3 || form == 5 ? count / 2 : count, MPI_INT};
  MPI_Datatype inner;
  switch (form) {
    case 1: MPI_Type_contiguous(count, MPI_INT, &b.type); break;
    case 2: MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &b.type); break;
    case 3: MPI_Type_indexed(2, one_each, swapped, MPI_INT, &b.type); break;
    case 4:
      MPI_Type_vector(count, 1, 2, MPI_INT, &inner);
      MPI_Type_create_resized(inner, 0, 2 * (MPI_Aint)sizeof(int) * count, &b.type);
      MPI_Type_free(&inner);
      break;
    case 5:
      MPI_Type_dup(MPI_INT, &inner);
      MPI_Type_contiguous(2, inner, &b.type);
      MPI_Type_free(&inner);
      break;
    default: return b;
  }
  MPI_Type_commit(&b.type);
  return b;
}

static void release(block *b) {
  if (b->type != MPI_INT) MPI_Type_free(&b->type);
}

/* Where integer i of a buffer lies. */
static size_t place(const block *b, int i) { return has_gaps(b->form) ? 2 * (size_t)i : b->form == 3 ? (size_t)(i ^ 1) : (size_t)i; }

static size_t room(const block *b, int blocks) { return (size_t)b->count * (size_t)blocks * (has_gaps(b->form) ? 2 : 1); }

/* All of it -1. */
static int *empty(const block *b, int blocks) {
  int *data = malloc(room(b, blocks) * sizeof *data);
  memset(data, 0xff, room(b, blocks) * sizeof *data);
  return data;
}

/* Blocks that one rank sends. */
static int *filled(const block *b, int blocks) {
  int *data = empty(b, blocks);
  for (int to = 0; to < blocks; to++)
    for (int i = 0; i < b->count; i++) data[place(b, to * b->count + i)] = value(rank, to, i);
  return data;
}

/* Blocks from ranks, the first one from `first`, and the gaps as they were. */
static void check(const block *b, int blocks, const int *data, int first, int to, const char *what) {
  int ok = 1;
  for (int from = 0; from < blocks; from++)
    for (int i = 0; i < b->count; i++) {
      size_t at = place(b, from * b->count + i);
      ok &= data[at] == value(first + from, to, i);
      if (has_gaps(b->form)) ok &= data[at + 1] == -1;
    }
  expect(ok, what, b->count);
}

static void bcast(const block *b, int root) {
  int *data = rank == root ? filled(b, 1) : empty(b, 1);
  MPI_Bcast(data, b->elements, b->type, root, MPI_COMM_WORLD);
  check(b, 1, data, root, 0, "bcast");
  free(data);
}

static void gather(const block *sent, const block *received, int root, int is_in_place) {
  int *from = filled(sent, 1), *to = rank == root ? empty(received, ranks) : NULL, at_root = rank == root;
  is_in_place &= at_root;
  for (int i = 0; is_in_place && i < received->count; i++) to[place(received, root * received->count + i)] = value(rank, 0, i);
  MPI_Gather(is_in_place ? MPI_IN_PLACE : (void *)from, sent->elements, sent->type, to, received->elements, received->type, root,
             MPI_COMM_WORLD);
  if (at_root) check(received, ranks, to, 0, 0, is_in_place ? "gather in place" : "gather");
  free(from);
  free(to);
}

static void scatter(const block *sent, const block *received, int root) {
  int *from = rank == root ? filled(sent, ranks) : NULL, *to = empty(received, 1);
  MPI_Scatter(from, sent->elements, sent->type, to, received->elements, received->type, root, MPI_COMM_WORLD);
  check(received, 1, to, root, rank, "scatter");
  free(from);
  free(to);
}

static void allgather(const block *sent, const block *received) {
  int *from = filled(sent, 1), *to = empty(received, ranks);
  MPI_Allgather(from, sent->elements, sent->type, to, received->elements, received->type, MPI_COMM_WORLD);
  check(received, ranks, to, 0, 0, "allgather");
  free(from);
  free(to);
}

static void alltoall(const block *sent, const block *received) {
  int *from = filled(sent, ranks), *to = empty(received, ranks);
  MPI_Alltoall(from, sent->elements, sent->type, to, received->elements, received->type, MPI_COMM_WORLD);
  check(received, ranks, to, 0, rank, "alltoall");
  free(from);
  free(to);
}

static void types(int rounds, const char *only) {
  static const int counts[] = {2, 30, 1000, 20000, LONGEST};
  for (int round = 0; round < rounds; round++)
    for (int c = 0; c < 5; c++) {
      /* Of the longest, only what has one block. */
      int is_short = counts[c] < LONGEST, root = round % ranks;
      block sent = block_of((rank + round) % FORMS, counts[c]), received = block_of((rank * 5 + round + c) % FORMS, counts[c]);
#define RUN(name, call) \
  if (only == NULL || strcmp(only, name) == 0) call
      RUN("bcast", bcast(&sent, root));
      if (is_short) {
        RUN("gather", gather(&sent, &received, root, round % 2));
        RUN("scatter", scatter(&sent, &received, root));
        RUN("allgather", allgather(&sent, &received));
        RUN("alltoall", alltoall(&sent, &received));
      }
      release(&sent);
      release(&received);
    }
}

/*
 * --- Reductions
 * -------------------------------------------------------------------------------------------------------
 */

static int sum_of(int members, int block, int i) {
  int all = 0;
  for (int r = 0; r < members; r++) all += value(r, block, i);
  return all;
}

/* A vector of blocks with room for a copy behind it. */
static int *vector_of(int blocks, int count) {
  int *data = malloc(sizeof *data * (size_t)(2 * blocks * count + 1));
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < count; i++) data[b * count + i] = value(rank, b, i);
  return data;
}

static void check_sum(const int *data, int members, int block, int count, const char *what) {
  int ok = 1;
  for (int i = 0; i < count; i++) ok &= data[i] == sum_of(members, block, i);
  expect(ok, what, count);
}

static void reduce_scatter(int count, int is_in_place) {
  int *counts = malloc(sizeof(int) * (size_t)ranks), *from = vector_of(ranks, count), *to = from + ranks * count;
  for (int r = 0; r < ranks; r++) counts[r] = count;
  MPI_Reduce_scatter(is_in_place ? MPI_IN_PLACE : (void *)from, is_in_place ? from : to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_sum(is_in_place ? from : to, ranks, rank, count, "reduce_scatter");
  free(from);
  free(counts);
}

static void in_place(int rounds) {
  static const int counts[] = {1, 2, 30, 1000, 20000};
  for (int round = 0; round < rounds; round++)
    for (int c = 0; c < 5; c++) reduce_scatter(counts[c], (rank + round) % 3 == 0);
}

/* Elements with a gap at their end: the least of all ranks, and where it is. */
static void least_on(MPI_Comm comm, int members, int count) {
  typedef struct {
    double value;
    int rank;
  } pair;
  pair *from = malloc(sizeof(pair) * (size_t)(members * count)), *to = malloc(sizeof(pair) * (size_t)count);
  int ok = 1, least = members - 1;
  for (int i = 0; i < members * count; i++) from[i] = (pair){1000.0 * i - rank, rank};
  MPI_Reduce_scatter_block(from, to, count, MPI_DOUBLE_INT, MPI_MINLOC, comm);
  for (int i = 0; i < count; i++) ok &= to[i].rank == least && to[i].value == 1000.0 * (rank * count + i) - least;
  expect(ok, "reduce_scatter_block of pairs", count);
  free(from);
  free(to);
}

static void sums_on(MPI_Comm comm, int members, int count) {
  int *counts = malloc(sizeof(int) * (size_t)members), *from = vector_of(members, count), *to = from + members * count;
  for (int r = 0; r < members; r++) counts[r] = count;
  MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
  check_sum(to, members, rank, count, "reduce_scatter");
  MPI_Reduce_scatter_block(from, to, count, MPI_INT, MPI_SUM, comm);
  check_sum(to, members, rank, count, "reduce_scatter_block");
  MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, comm);
  check_sum(to, members, 0, count, "allreduce");
  MPI_Reduce(from, to, count, MPI_INT, MPI_SUM, members - 1, comm);
  if (rank == members - 1) check_sum(to, members, 0, count, "reduce");
  least_on(comm, members, count);
  MPI_Scan(from, to, count, MPI_INT, MPI_SUM, comm);
  check_sum(to, rank + 1, 0, count, "scan");
  MPI_Exscan(from, to, count, MPI_INT, MPI_SUM, comm);
  if (rank > 0) check_sum(to, rank, 0, count, "exscan");
  free(from);
  free(counts);
}

static void sums(int rounds) {
  static const int counts[] = {1, 2, 3, 5, 7, 100, 1000, 30000};
  for (int members = 2; members <= ranks; members++) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    for (int round = 0; round < rounds; round++)
      for (int c = 0; c < 8; c++) sums_on(comm, members, counts[c]);
    MPI_Comm_free(&comm);
  }
}

/*
 * --- Ignored arguments
 * -------------------------------------------------------------------------------------------------------
 */

/*
 * A root of one group with the arguments of all others ignored in its group. Both libraries of MPI refuse some
 * that are not valid: those of bcast and reduce are valid, and differ.
 */
static void ignored_between_groups(MPI_Comm inter, int is_first, int many) {
  MPI_Datatype none = (MPI_Datatype)(intptr_t)8;
  int root = !is_first ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, given = 7, taken[64] = {0};
  int is_ignored = root == MPI_PROC_NULL, others;
  MPI_Datatype type = is_ignored ? none : MPI_INT;
  int one = is_ignored ? many : 1;
  MPI_Comm_remote_size(inter, &others);
  MPI_Bcast(&given, is_ignored ? 5 : 1, is_ignored ? MPI_DOUBLE : MPI_INT, root, inter);
  /* Only one side of these is read on each of the two groups. */
  if (is_first) MPI_Gather((void *)8, many, none, taken, one, type, root, inter);
  else MPI_Gather(&given, 1, MPI_INT, (void *)8, many, none, root, inter);
  for (int i = 0; root == MPI_ROOT && i < others; i++) expect(taken[i] == 7, "gather between groups", 1);
  if (is_first) MPI_Scatter(taken, one, type, (void *)8, many, none, root, inter);
  else MPI_Scatter((void *)8, many, none, &given, 1, MPI_INT, root, inter);
  expect(given == 7, "scatter between groups", 1);
  MPI_Reduce(is_first ? (void *)8 : (void *)&given, is_first ? (void *)taken : (void *)8, is_ignored ? 5 : 1,
             is_ignored ? MPI_DOUBLE : MPI_INT, is_ignored ? MPI_MAX : MPI_SUM, root, inter);
  if (root == MPI_ROOT) expect(taken[0] == 7 * others, "reduce between groups", 1);
}

static void ignored(int rounds) {
  MPI_Datatype none = (MPI_Datatype)(intptr_t)8;
  MPI_Comm half, inter;
  int given, taken[64], is_first = rank % 2 == 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 9, &inter);
  for (int round = 0; round < rounds; round++) {
    int root = round % ranks, many = round % 2 == 0 ? 5 : -5, ok = 1;
    given = rank;
    if (rank == root) MPI_Gather(&given, 1, MPI_INT, taken, 1, MPI_INT, root, MPI_COMM_WORLD);
    else MPI_Gather(&given, 1, MPI_INT, (void *)8, many, none, root, MPI_COMM_WORLD);
    for (int r = 0; rank == root && r < ranks; r++) ok &= taken[r] == r;
    expect(ok, "gather", 1);
    if (rank == root) MPI_Gather(MPI_IN_PLACE, many, none, taken, 1, MPI_INT, root, MPI_COMM_WORLD);
    else MPI_Gather(&given, 1, MPI_INT, (void *)8, many, none, root, MPI_COMM_WORLD);
    if (rank == root) MPI_Scatter(taken, 1, MPI_INT, MPI_IN_PLACE, many, none, root, MPI_COMM_WORLD);
    else MPI_Scatter((void *)8, many, none, &given, 1, MPI_INT, root, MPI_COMM_WORLD);
    expect(given == rank, "scatter", 1);
    for (int r = 0; r < ranks; r++) taken[r] = r == rank ? rank : -1;
    MPI_Allgather(MPI_IN_PLACE, rank * 1000 + many, none, taken, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) ok &= taken[r] == r;
    expect(ok, "allgather in place", 1);
    for (int r = 0; r < ranks; r++) taken[r] = value(rank, r, 0);
    MPI_Alltoall(MPI_IN_PLACE, rank * 1000 + many, none, taken, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) ok &= taken[r] == value(r, rank, 0);
    expect(ok, "alltoall in place", 1);
    ignored_between_groups(inter, is_first, many);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int differing(int words, char **word) {
  const char *what = words > 1 ? word[1] : "";
  int rounds = words > 2 ? atoi(word[2]) : 1;
  wrong = 0;
  if (strcmp(what, "in-place") == 0) in_place(rounds);
  else if (strcmp(what, "types") == 0) types(rounds, words > 3 ? word[3] : NULL);
  else if (strcmp(what, "ignored") == 0) ignored(rounds);
  else if (strcmp(what, "sums") == 0) sums(rounds);
  return wrong;
}
