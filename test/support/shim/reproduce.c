/*
 * Compares reductions bit by bit with the fixed tree, which each process computes from the contributions of all.
 * Arguments: elements of a contribution, then words: `started` for the non-blocking functions, `inplace`. The first
 * process prints the bits of a sum, for others to compare. `left` only calls the forms that MPI performs.
 */
#include "cases.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif

#include <stdint.h>

typedef struct {
  double re, im;
} pair;

/* Exact in every language: 32 bits, and an exponent of them. */
static double value(int of, int i) {
  uint32_t x = (uint32_t)of * 2654435761u + (uint32_t)i * 40503u + 12345u;
  for (int k = 0; k < 4; k++) x = x * 1664525u + 1013904223u;
  double v = (double)x - 2147483648.0;
  for (uint32_t k = x >> 27; k > 0; k--) v /= 2;
  return v;
}

static void apply(int is_product, const pair *left, pair *right) {
  if (is_product) {
    double ac = left->re * right->re, bd = left->im * right->im, ad = left->re * right->im, bc = left->im * right->re;
    *right = (pair){ac - bd, ad + bc};
  } else *right = (pair){left->re + right->re, left->im + right->im};
}

/* Of ranks from `first` on: the number of an element, and its successor, as a pair. */
static pair tree(int first, int of, int i, int is_product) {
  if (of == 1) return (pair){value(first, i), value(first, i + 1)};
  int half = 1;
  while (2 * half < of) half *= 2;
  pair left = tree(first, half, i, is_product), right = tree(first + half, of - half, i, is_product);
  apply(is_product, &left, &right);
  return right;
}

/* Of the ranks before one: whole nodes of the tree, from the left. */
static pair prefix(int of, int i) {
  pair all = {0, 0};
  int first = 0;
  for (int bit = 1 << 20; bit > 0; bit /= 2) {
    if ((of & bit) == 0) continue;
    pair node = tree(first, bit, i, 0);
    if (first > 0) apply(0, &all, &node);
    all = node;
    first += bit;
  }
  return all;
}

static int wrong;

static void expect(double got, double expected) { wrong += memcmp(&got, &expected, sizeof got) != 0; }

/* An operation of the program, which is neither exact nor commutative. */
static void mean(void *in, void *inout, int *count, MPI_Datatype *type) {
  const double *left = in;
  double *right = inout;
  (void)type;
  for (int i = 0; i < *count; i++) right[i] = left[i] / 3 + right[i] / 7;
}

/* Adds columns of a matrix of four rows, whose elements interleave. */
enum { ROWS = 4 };
static void add_columns(void *in, void *inout, int *count, MPI_Datatype *type) {
  const double *left = in;
  double *right = inout;
  (void)type;
  for (int i = 0; i < *count; i++)
    for (int k = 0; k < ROWS * ROWS; k += ROWS) right[i + k] += left[i + k];
}

static void check_columns(void) {
  MPI_Datatype column, next_to_it;
  MPI_Op op;
  double from[ROWS * ROWS], sum[ROWS * ROWS];
  for (int i = 0; i < ROWS * ROWS; i++) from[i] = rank + i;
  MPI_Type_vector(ROWS, 1, ROWS, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &next_to_it);
  MPI_Type_commit(&next_to_it);
  MPI_Op_create(add_columns, 1, &op);
  MPI_Allreduce(from, sum, ROWS, next_to_it, op, MPI_COMM_WORLD);
  for (int i = 0; i < ROWS * ROWS; i++) expect(sum[i], ranks * (ranks - 1) / 2 + ranks * i);
  MPI_Op_free(&op);
  MPI_Type_free(&next_to_it);
  MPI_Type_free(&column);
}

static double mean_tree(int first, int of, int i) {
  if (of == 1) return value(first, i);
  int half = 1;
  while (2 * half < of) half *= 2;
  return mean_tree(first, half, i) / 3 + mean_tree(first + half, of - half, i) / 7;
}

static int is_started, is_in_place;

#define RUN(name, ...)                                                     \
  do {                                                                     \
    if (is_started) {                                                      \
      MPI_Request request;                                                 \
      MPI_I##name(__VA_ARGS__, MPI_COMM_WORLD, &request);                  \
      MPI_Wait(&request, MPI_STATUS_IGNORE);                               \
    } else run_##name(__VA_ARGS__);                                        \
  } while (0)
#define run_allreduce(...) MPI_Allreduce(__VA_ARGS__, MPI_COMM_WORLD)
#define run_reduce(...) MPI_Reduce(__VA_ARGS__, MPI_COMM_WORLD)
#define run_reduce_scatter(...) MPI_Reduce_scatter(__VA_ARGS__, MPI_COMM_WORLD)
#define run_reduce_scatter_block(...) MPI_Reduce_scatter_block(__VA_ARGS__, MPI_COMM_WORLD)
#define run_scan(...) MPI_Scan(__VA_ARGS__, MPI_COMM_WORLD)
#define run_exscan(...) MPI_Exscan(__VA_ARGS__, MPI_COMM_WORLD)

static double *own, *to;

/* What a call reduces, of so many elements: in place the contribution is in the result. */
static const void *contribution(int count) {
  for (int i = 0; i <= count; i++) own[i] = value(rank, i);
  memcpy(to, own, sizeof *to * (size_t)count);
  return is_in_place ? MPI_IN_PLACE : own;
}

static void check_whole(int count) {
  int root = ranks / 2;
  const void *from = contribution(count);
  RUN(allreduce, from, to, count, MPI_DOUBLE, MPI_SUM);
  for (int i = 0; i < count; i++) expect(to[i], tree(0, ranks, i, 0).re);
  if (rank == 0 && count < 4) {
    uint64_t bits;
    memcpy(&bits, to, sizeof bits);
    printf("sum of %d: %016llx\n", ranks, (unsigned long long)bits);
  }
  from = contribution(count);
  RUN(reduce, rank == root ? from : own, to, count, MPI_DOUBLE, MPI_SUM, root);
  for (int i = 0; rank == root && i < count; i++) expect(to[i], tree(0, ranks, i, 0).re);
  from = contribution(count);
  RUN(scan, from, to, count, MPI_DOUBLE, MPI_SUM);
  for (int i = 0; i < count; i++) expect(to[i], prefix(rank, i).re * (rank > 0) + value(rank, i));
  from = contribution(count);
  RUN(exscan, from, to, count, MPI_DOUBLE, MPI_SUM);
  for (int i = 0; rank > 0 && i < count; i++) expect(to[i], prefix(rank, i).re);
}

static void check_others(int count) {
  MPI_Op op;
  const void *from = contribution(2 * count);
  RUN(allreduce, from, to, count, MPI_C_DOUBLE_COMPLEX, MPI_PROD);
  for (int i = 0; i < count; i++) {
    pair product = tree(0, ranks, 2 * i, 1);
    expect(to[2 * i], product.re);
    expect(to[2 * i + 1], product.im);
  }
  if (is_started) return;
  MPI_Op_create(mean, 0, &op);
  from = contribution(count);
  RUN(allreduce, from, to, count, MPI_DOUBLE, op);
  for (int i = 0; i < count; i++) expect(to[i], mean_tree(0, ranks, i));
  MPI_Op_free(&op);
  check_columns();
}

static void check_scattered(int count) {
  int *counts = malloc(sizeof *counts * (size_t)ranks), at = 0;
  const void *from = contribution(count * ranks);
  RUN(reduce_scatter_block, from, to, count, MPI_DOUBLE, MPI_SUM);
  for (int i = 0; i < count; i++) expect(to[i], tree(0, ranks, rank * count + i, 0).re);
  for (int r = 0; r < ranks; r++) {
    counts[r] = r % 3 == 1 ? 0 : count - r % 2;
    at += r < rank ? counts[r] : 0;
  }
  from = contribution(count * ranks);
  RUN(reduce_scatter, from, to, counts, MPI_DOUBLE, MPI_SUM);
  for (int i = 0; i < counts[rank]; i++) expect(to[i], tree(0, ranks, at + i, 0).re);
  free(counts);
}

static void run(MPI_Request request) {
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

/* The numbers are integers, whose sums have the same bits in any order. */
static void expect_sum(void) {
  expect(to[0], ranks * (ranks - 1) / 2);
  to[0] = -1;
}

static void check_refused(void) {
  MPI_Datatype copy;
  MPI_Type_dup(MPI_DOUBLE, &copy);
  MPI_Type_commit(&copy);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  wrong += MPI_Allreduce(own, to, 1, copy, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Type_free(&copy);
}

static void check_left(void) {
  MPI_Request request;
  own[0] = rank;
  check_refused();
  int *ones = malloc(sizeof *ones * (size_t)ranks);
  for (int r = 0; r < ranks; r++) ones[r] = r == 0;
  INIT(Allreduce)(own, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  run(request);
  expect_sum();
  INIT(Allreduce)(own, to, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  run(request);
  expect(to[0], ranks - 1);
  INIT(Reduce)(own, to, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  run(request);
  if (rank == 0) expect_sum();
  INIT(Reduce_scatter)(own, to, ones, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  run(request);
  if (rank == 0) expect_sum();
  free(ones);
#if MPI_VERSION >= 4
  MPI_Allreduce_c(own, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect_sum();
  MPI_Iallreduce_c(own, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_sum();
  MPI_Reduce_init_c(own, to, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  run(request);
  if (rank == 0) expect_sum();
#endif
}

int reproduce(int words, char **word) {
  if (words < 2) return 1;
  int count = atoi(word[1]), is_left = 0;
  wrong = is_started = is_in_place = 0;
  for (int i = 2; i < words; i++) {
    is_started |= strcmp(word[i], "started") == 0;
    is_in_place |= strcmp(word[i], "inplace") == 0;
    is_left |= strcmp(word[i], "left") == 0;
  }
  size_t most = (size_t)count * (size_t)(ranks + 1) + 2;
  own = malloc(sizeof *own * most);
  to = malloc(sizeof *to * most);
  if (is_left) check_left();
  else {
    check_whole(count);
    check_others(count);
    check_scattered(count);
  }
  free(own);
  free(to);
  return wrong;
}
