/*
 * Transposes a matrix whose rows are divided among the processes, again and again: each process has a block for every
 * other one (MPI_Alltoall). Prints `right` and the seconds, or `wrong` and ends with 1.
 *
 *   mpicc -O2 -o transposition transposition.c
 *   mpirun -n 16 ./transposition [ROWS] [TRANSPOSITIONS]
 *
 * ROWS: of a process, default 16; a block has 8 bytes times its square. TRANSPOSITIONS: default 100.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, rows;

/* Returns an element of the matrix at the start. */
static double element(long row, long column) { return (double)row * rows * ranks + (double)column; }

/* Cuts rows into blocks: that of a process has its columns of these rows, transposed. */
static void cut(const double *matrix, double *blocks) {
  size_t columns = (size_t)rows * (size_t)ranks, n = (size_t)rows;
  for (size_t r = 0; r < (size_t)ranks; r++)
    for (size_t column = 0; column < n; column++)
      for (size_t row = 0; row < n; row++) blocks[(r * n + column) * n + row] = matrix[row * columns + r * n + column];
}

static void join(const double *blocks, double *matrix) {
  size_t columns = (size_t)rows * (size_t)ranks, n = (size_t)rows;
  for (size_t r = 0; r < (size_t)ranks; r++)
    for (size_t row = 0; row < n; row++)
      for (size_t column = 0; column < n; column++)
        matrix[row * columns + r * n + column] = blocks[(r * n + row) * n + column];
}

static void transpose(double *matrix, double *from, double *to) {
  cut(matrix, from);
  MPI_Alltoall(from, rows * rows, MPI_DOUBLE, to, rows * rows, MPI_DOUBLE, MPI_COMM_WORLD);
  join(to, matrix);
}

/* Whether all processes have the matrix, or its transposition. */
static int is_right(const double *matrix, int is_transposed) {
  long columns = (long)rows * ranks;
  int ok = 1;
  for (long row = 0; row < rows; row++)
    for (long column = 0; column < columns; column++) {
      long whole = (long)rank * rows + row;
      double expected = is_transposed ? element(column, whole) : element(whole, column);
      ok &= matrix[row * columns + column] == expected;
    }
  MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return ok;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rows = argc > 1 ? atoi(argv[1]) : 16;
  int transpositions = argc > 2 ? atoi(argv[2]) : 100;
  if (rows < 1 || rows > 16384 || transpositions < 1) {
    if (rank == 0) fprintf(stderr, "usage: transposition [ROWS] [TRANSPOSITIONS], ROWS from 1 to 16384\n");
    MPI_Finalize();
    return 2;
  }
  size_t size = (size_t)rows * (size_t)rows * (size_t)ranks;
  double *matrix = malloc(3 * size * sizeof *matrix);
  if (matrix == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (long row = 0; row < rows; row++)
    for (long column = 0; column < (long)rows * ranks; column++)
      matrix[row * rows * ranks + column] = element((long)rank * rows + row, column);
  double begin = MPI_Wtime();
  int ok = 1;
  for (int i = 0; i < transpositions; i++) {
    transpose(matrix, matrix + size, matrix + 2 * size);
    /* The first one too: two of them undo each other. */
    if (i == 0) ok = is_right(matrix, 1);
  }
  double seconds = MPI_Wtime() - begin;
  ok &= is_right(matrix, transpositions % 2);
  if (rank == 0) printf("%s: %d transpositions, %.3f s\n", ok ? "right" : "wrong", transpositions, seconds);
  free(matrix);
  MPI_Finalize();
  return ok ? 0 : 1;
}
