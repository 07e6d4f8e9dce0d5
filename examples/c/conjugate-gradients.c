/*
 * Conjugate gradients: several systems of equations at once, whose unknowns are divided among the processes. Every
 * iteration sums two scalar products of each system over all processes (MPI_Allreduce) and exchanges one unknown of each
 * with both neighbors. Prints `right` and the seconds of the solution, or `wrong` and ends with 1.
 *
 *   mpicc -O2 -o conjugate-gradients conjugate-gradients.c -lm
 *   mpirun -n 16 ./conjugate-gradients [ROWS] [SYSTEMS] [SOLUTIONS]
 *
 * ROWS: unknowns of a process, default 1000. SYSTEMS: default 1; the sums have 8 bytes for each. SOLUTIONS: how often the
 * systems are solved, default 10.
 *
 * The matrix is that of a chain of springs, each point held by another one: 3 on the diagonal, -1 beside it. So
 * the number of iterations hardly depends on the number of unknowns, and the solution is known.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-10;
enum { MOST_ITERATIONS = 1000 };

static int rank, ranks, rows, systems;

/* Unknown `row` of a system at [(row + 1) * systems + system]: those of the neighbors are before and behind. */
static double *vector(void) {
  double *made = calloc((size_t)(rows + 2) * (size_t)systems, sizeof *made);
  if (made == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return made;
}

/* Returns a system's solution at a row of all processes, which differs between systems. */
static double solution(long row, int system) { return sin(0.01 * (double)row + system); }

static void exchange(double *x) {
  int before = rank > 0 ? rank - 1 : MPI_PROC_NULL, after = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  double *last = x + (size_t)rows * (size_t)systems, *behind = last + systems;
  MPI_Sendrecv(last, systems, MPI_DOUBLE, after, 0, x, systems, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(x + systems, systems, MPI_DOUBLE, before, 1, behind, systems, MPI_DOUBLE, after, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void multiply(double *x, double *product) {
  size_t first = (size_t)systems, end = (size_t)(rows + 1) * (size_t)systems;
  exchange(x);
  for (size_t i = first; i < end; i++) product[i] = 3 * x[i] - x[i - (size_t)systems] - x[i + (size_t)systems];
}

/* Scalar products of each system over all processes. */
static void products(const double *x, const double *y, double *sums) {
  memset(sums, 0, (size_t)systems * sizeof *sums);
  for (int row = 1; row <= rows; row++)
    for (int s = 0; s < systems; s++) {
      size_t i = (size_t)row * (size_t)systems + (size_t)s;
      sums[s] += x[i] * y[i];
    }
  MPI_Allreduce(MPI_IN_PLACE, sums, systems, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static double largest(const double *sums) {
  double most = 0;
  for (int s = 0; s < systems; s++) most = sums[s] > most ? sums[s] : most;
  return most;
}

/* The iterations that it took. */
static int solve(const double *b, double *x) {
  size_t bytes = (size_t)(rows + 2) * (size_t)systems * sizeof(double);
  double *rest = vector(), *direction = vector(), *product = vector();
  double *squares = malloc((size_t)systems * 2 * sizeof *squares), *sums = squares + systems;
  int iteration = 0;
  memset(x, 0, bytes);
  memcpy(rest, b, bytes);
  memcpy(direction, b, bytes);
  products(rest, rest, squares);
  /* Sums are the same on all processes, so all end alike. */
  for (; iteration < MOST_ITERATIONS && largest(squares) > tolerance * tolerance; iteration++) {
    multiply(direction, product);
    products(direction, product, sums);
    for (int s = 0; s < systems; s++) sums[s] = sums[s] > 0 ? squares[s] / sums[s] : 0;
    for (int row = 1; row <= rows; row++)
      for (int s = 0; s < systems; s++) {
        size_t i = (size_t)row * (size_t)systems + (size_t)s;
        x[i] += sums[s] * direction[i];
        rest[i] -= sums[s] * product[i];
      }
    products(rest, rest, sums);
    for (int row = 1; row <= rows; row++)
      for (int s = 0; s < systems; s++) {
        size_t i = (size_t)row * (size_t)systems + (size_t)s;
        direction[i] = rest[i] + (squares[s] > 0 ? sums[s] / squares[s] : 0) * direction[i];
      }
    memcpy(squares, sums, (size_t)systems * sizeof *sums);
  }
  free(rest);
  free(direction);
  free(product);
  free(squares);
  return iteration;
}

/* The greatest difference of any process from the known solution. */
static double difference(const double *x) {
  double most = 0;
  for (int row = 0; row < rows; row++)
    for (int s = 0; s < systems; s++) {
      double own = fabs(x[(size_t)(row + 1) * (size_t)systems + (size_t)s] - solution((long)rank * rows + row, s));
      most = own > most ? own : most;
    }
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

int main(int argc, char **argv) {
  int iterations = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rows = argc > 1 ? atoi(argv[1]) : 1000;
  systems = argc > 2 ? atoi(argv[2]) : 1;
  int solutions = argc > 3 ? atoi(argv[3]) : 10;
  if (rows < 1 || systems < 1 || solutions < 1) {
    if (rank == 0) fprintf(stderr, "usage: conjugate-gradients [ROWS] [SYSTEMS] [SOLUTIONS], each at least 1\n");
    MPI_Finalize();
    return 2;
  }
  double *x = vector(), *b = vector();
  for (int row = 0; row < rows; row++)
    for (int s = 0; s < systems; s++)
      x[(size_t)(row + 1) * (size_t)systems + (size_t)s] = solution((long)rank * rows + row, s);
  multiply(x, b);
  double begin = MPI_Wtime();
  for (int i = 0; i < solutions; i++) iterations += solve(b, x);
  double seconds = MPI_Wtime() - begin, far = difference(x);
  int is_right = far < 1e-8;
  if (rank == 0)
    printf("%s: %d iterations, largest difference %.1e, %.3f s\n", is_right ? "right" : "wrong", iterations, far, seconds);
  free(x);
  free(b);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
