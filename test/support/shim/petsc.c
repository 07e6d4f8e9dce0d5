/*
 * Products of PETSc with the matrix of a nine-point grid with some far entries, which exchanges by
 * MPI_Ineighbor_alltoallv where it is told `-sf_type neighbor`. The first rank prints the norm of the last product.
 */
#include <petscmat.h>

enum { EXTENT = 64, ROWS = EXTENT * EXTENT, CALLS = 200, FAR = 37 };

static void set_row(Mat matrix, PetscInt row) {
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      PetscInt y = row / EXTENT + dy, x = row % EXTENT + dx;
      if (y < 0 || x < 0 || y >= EXTENT || x >= EXTENT) continue;
      MatSetValue(matrix, row, y * EXTENT + x, dx || dy ? -1.0 : 8.5, INSERT_VALUES);
    }
  if (row % FAR == 0) MatSetValue(matrix, row, (row * 7 + 1001) % ROWS, 0.25, INSERT_VALUES);
}

int main(int argc, char **argv) {
  Mat matrix;
  Vec from, to;
  PetscInt first, end;
  PetscReal norm;
  PetscInitialize(&argc, &argv, NULL, NULL);
  MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS, 12, NULL, 12, NULL, &matrix);
  MatSetOption(matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  MatGetOwnershipRange(matrix, &first, &end);
  for (PetscInt row = first; row < end; row++) set_row(matrix, row);
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
  MatCreateVecs(matrix, &from, &to);
  for (PetscInt call = 0; call < CALLS; call++) {
    for (PetscInt row = first; row < end; row++) VecSetValue(from, row, (PetscScalar)((row + call) % 11), INSERT_VALUES);
    VecAssemblyBegin(from);
    VecAssemblyEnd(from);
    MatMult(matrix, from, to);
  }
  VecNorm(to, NORM_2, &norm);
  PetscPrintf(PETSC_COMM_WORLD, "norm %.9g\n", (double)norm);
  MatDestroy(&matrix);
  VecDestroy(&from);
  VecDestroy(&to);
  return PetscFinalize();
}
