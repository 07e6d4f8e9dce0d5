/*
 * Entry points of Fortran. Those of Open MPI call `PMPI_` functions, so functions of C see no call of Fortran. Those of
 * MPICH call functions of C.
 */
#ifndef RANKWEAVE_FORTRAN_H
#define RANKWEAVE_FORTRAN_H

#include "shim.h"

/* An entry point with a body, in which `library` is the function of the same name behind this library. */
#define RW_ENTRY(name, parameters, ...)                         \
  RW_EXPORT void name parameters;                               \
  void name parameters {                                        \
    static void(*library) parameters;                           \
    if (library == NULL) rw_find_next(&library, #name);         \
    if (library == NULL) {                                      \
      *code = MPI_ERR_INTERN;                                   \
      return;                                                   \
    }                                                           \
    __VA_ARGS__                                                 \
  }

/* The entry points have the name of `mpif.h` and `use mpi`, and that behind `use mpi_f08`. */
#define RW_ENTRIES(name, parameters, ...)                       \
  RW_ENTRY(mpi_##name##_, parameters, __VA_ARGS__)              \
  RW_ENTRY(ompi_##name##_f, parameters, __VA_ARGS__)

/* The extensions of Open MPI have other names. */
#define RW_EXTENSION_ENTRIES(name, parameters, ...)             \
  RW_ENTRY(mpix_##name##_, parameters, __VA_ARGS__)             \
  RW_ENTRY(ompix_##name##_f, parameters, __VA_ARGS__)

/* If there are logical arguments, the names behind `use mpi_f08` call another entry point. */
#define RW_LOGICAL_ENTRIES(name, parameters, ...)               \
  RW_ENTRY(pmpi_##name##_, parameters, __VA_ARGS__)             \
  RW_ENTRIES(name, parameters, __VA_ARGS__)

/* Whether lists of integers may be handed on as those of C. */
enum { RW_FORTRAN_HAS_INTS = sizeof(MPI_Fint) == sizeof(int), RW_FORTRAN_STATUS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

#define RW_FROM rw_fortran_buffer(from)
#define RW_TO rw_fortran_buffer(to)
#define RW_TYPE(type) MPI_Type_f2c(*type)
#define RW_COMM MPI_Comm_f2c(*comm)

/* fortran.c implements the declaration below. */

/* Returns a buffer, or the constant of C that its address stands for. */
void *rw_fortran_buffer(void *given);

/* matching-fortran.c implements the declaration below. */

/* Returns whether an address stands for no status, or for no statuses. */
int rw_fortran_ignores(const MPI_Fint *status);

#endif
