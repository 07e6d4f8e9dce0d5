/*
 * The fixed tree over ranks. Its node (l, i) covers the ranks from i 2^l to (i + 1) 2^l; its value is that of its left
 * half combined with that of its right one, or that of the left if no rank is in the right. So do the reductions of
 * the TypeScript library (src/calls/values/fold.ts), whose sums of doubles have the same bits. Elements are combined
 * here rather than by MPI, whose complex products differ.
 */
#include "shim.h"

/* A compiler that fuses a product and a sum would round once instead of twice. */
#if defined __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define REAL(name, real)                                                       \
  static void sum_##name(const void *left, void *right, size_t count) {        \
    const real *l = left;                                                      \
    real *r = right;                                                           \
    for (size_t i = 0; i < count; i++) r[i] = l[i] + r[i];                     \
  }                                                                            \
  static void multiply_##name(const void *left, void *right, size_t count) {   \
    const real *l = left;                                                      \
    real *r = right;                                                           \
    for (size_t i = 0; i < count; i++) r[i] = l[i] * r[i];                     \
  }

/* A complex number is its real part and its imaginary one. */
#define COMPLEX(name, real)                                                    \
  static void sum_complex_##name(const void *left, void *right, size_t count) { \
    sum_##name(left, right, 2 * count);                                        \
  }                                                                            \
  static void multiply_complex_##name(const void *left, void *right, size_t count) { \
    const real *l = left;                                                      \
    real *r = right;                                                           \
    for (size_t i = 0; i < 2 * count; i += 2) {                                \
      real ac = l[i] * r[i], bd = l[i + 1] * r[i + 1], ad = l[i] * r[i + 1], bc = l[i + 1] * r[i]; \
      r[i] = ac - bd;                                                          \
      r[i + 1] = ad + bc;                                                      \
    }                                                                          \
  }

REAL(float, float)
REAL(double, double)
REAL(long, long double)
COMPLEX(float, float)
COMPLEX(double, double)
COMPLEX(long, long double)

static int is_one_of(MPI_Datatype type, const MPI_Datatype *types, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (type == types[i]) return 1;
  return 0;
}

#define IS_ONE_OF(type, types) is_one_of(type, types, sizeof(types) / sizeof *(types))

/* The numbers of a datatype. */
typedef enum { EXACT, REFUSED, REAL_NUMBER, COMPLEX_NUMBER, LONG_REAL, LONG_COMPLEX } numbers;

static numbers numbers_of(MPI_Datatype type) {
  const MPI_Datatype real[] = {MPI_DOUBLE, MPI_FLOAT, MPI_DOUBLE_PRECISION, MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_REAL16};
  const MPI_Datatype complex[] = {MPI_C_DOUBLE_COMPLEX,   MPI_C_FLOAT_COMPLEX, MPI_C_COMPLEX,  MPI_CXX_DOUBLE_COMPLEX,
                                  MPI_CXX_FLOAT_COMPLEX,  MPI_COMPLEX,         MPI_DOUBLE_COMPLEX, MPI_COMPLEX8,
                                  MPI_COMPLEX16,          MPI_COMPLEX32};
  if (IS_ONE_OF(type, real)) return REAL_NUMBER;
  if (IS_ONE_OF(type, complex)) return COMPLEX_NUMBER;
  if (type == MPI_LONG_DOUBLE) return LONG_REAL;
  if (type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_CXX_LONG_DOUBLE_COMPLEX) return LONG_COMPLEX;
  int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_F90_REAL) return REAL_NUMBER;
  if (combiner == MPI_COMBINER_F90_COMPLEX) return COMPLEX_NUMBER;
  /* MPI refuses its operations on derived datatypes, also on duplicates of those that it has. */
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ? EXACT : REFUSED;
}

static rw_combine_elements *combine_of(numbers kind, int bytes, int is_sum) {
  switch (kind) {
    case LONG_REAL: return is_sum ? sum_long : multiply_long;
    case LONG_COMPLEX: return is_sum ? sum_complex_long : multiply_complex_long;
    case REAL_NUMBER:
      if (bytes == sizeof(double)) return is_sum ? sum_double : multiply_double;
      return bytes != sizeof(float) ? NULL : is_sum ? sum_float : multiply_float;
    default:
      if (bytes == 2 * sizeof(double)) return is_sum ? sum_complex_double : multiply_complex_double;
      return bytes != 2 * sizeof(float) ? NULL : is_sum ? sum_complex_float : multiply_complex_float;
  }
}

static int is_exact(MPI_Op op) {
  const MPI_Op exact[] = {MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC,
                          MPI_REPLACE, MPI_NO_OP};
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
    if (op == exact[i]) return 1;
  return 0;
}

rw_reproduce_outcome rw_leaves_operation(rw_leaves *leaves, MPI_Op op, MPI_Datatype type) {
  int bytes = 0, is_sum = op == MPI_SUM;
  if (op == MPI_OP_NULL || type == MPI_DATATYPE_NULL) return RW_REFUSED;
  leaves->op = op;
  leaves->type = type;
  leaves->combine = NULL;
  if (is_sum || op == MPI_PROD) {
    numbers kind = numbers_of(type);
    if (kind == EXACT || kind == REFUSED) return kind == EXACT ? RW_EXACT : RW_REFUSED;
    PMPI_Type_size(type, &bytes);
    leaves->combine = combine_of(kind, bytes, is_sum);
    return RW_BY_TREE;
  }
  return is_exact(op) ? RW_EXACT : RW_BY_TREE;
}

static void combine(const rw_leaves *leaves, const char *left, char *right) {
  if (leaves->combine != NULL) leaves->combine(left, right, (size_t)leaves->count);
  else PMPI_Reduce_local(left, right, leaves->count, leaves->type, leaves->op);
}

char *rw_leaves_fold(const rw_leaves *leaves, int first, int ranks) {
  char *value = leaves->first + (size_t)first * leaves->stride;
  if (ranks == 1) return value;
  int half = 1;
  while (2 * half < ranks) half *= 2;
  char *left = rw_leaves_fold(leaves, first, half), *right = rw_leaves_fold(leaves, first + half, ranks - half);
  combine(leaves, left, right);
  return right;
}

char *rw_leaves_prefix(const rw_leaves *leaves, int rank, int is_included) {
  char *before = NULL, *own = leaves->first + (size_t)rank * leaves->stride;
  int first = 0, most = 1;
  while (most <= rank / 2) most *= 2;
  for (int ranks = most; ranks > 0; ranks /= 2) {
    if ((rank & ranks) == 0) continue;
    char *node = rw_leaves_fold(leaves, first, ranks);
    if (before != NULL) combine(leaves, before, node);
    before = node;
    first += ranks;
  }
  if (!is_included) return before;
  if (before != NULL) combine(leaves, before, own);
  return own;
}
