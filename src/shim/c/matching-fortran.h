/*
 * Entry points of Fortran of the calls that are recorded. Open MPI's own call `PMPI_` functions, so those of C are
 * not seen; those of MPICH call functions of C.
 */
#ifndef RANKWEAVE_MATCHING_FORTRAN_H
#define RANKWEAVE_MATCHING_FORTRAN_H

#include "shim.h"

/* An entry point with additional work: `library()` is MPI's own call. */
#define RW_ENTRY(name, parameters, arguments, body)             \
  RW_EXPORT void name parameters;                               \
  void name parameters {                                        \
    static void(*library) parameters;                           \
    if (library == NULL) rw_fortran_find(&library, #name);      \
    if (library == NULL) {                                      \
      *code = MPI_ERR_INTERN;                                   \
      return;                                                   \
    }                                                           \
    body                                                        \
  }

/* The entry points have the name of `mpif.h` and `use mpi`, and that behind `use mpi_f08`. */
#define RW_ENTRIES(name, parameters, arguments, body)           \
  RW_ENTRY(mpi_##name##_, parameters, arguments, body)          \
  RW_ENTRY(ompi_##name##_f, parameters, arguments, body)

/* If there are logical arguments, the names behind `use mpi_f08` call another entry point. */
#define RW_LOGICAL_ENTRIES(name, parameters, arguments, body)   \
  RW_ENTRY(pmpi_##name##_, parameters, arguments, body)         \
  RW_ENTRIES(name, parameters, arguments, body)

enum { RW_FORTRAN_STATUS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

/* Returns whether an address stands for no status, or for no statuses. */
int rw_fortran_ignores(const MPI_Fint *status);

#endif
