/* Entry points of Fortran of the all-to-alls that sparse.c has. If this library is off they are those of MPI. */
#include "shim.h"

#include <stdlib.h>

#define CALL(name, parameters, arguments, own)                     \
  RW_EXPORT void name parameters;                                  \
  void name parameters {                                           \
    static void(*library) parameters;                              \
    if (rw_sparse_is_on() && sizeof(MPI_Fint) == sizeof(int)) {    \
      *code = own;                                                 \
      return;                                                      \
    }                                                              \
    if (library == NULL) rw_fortran_find(&library, #name);         \
    if (library != NULL) library arguments;                        \
    else *code = MPI_ERR_INTERN;                                   \
  }

#define COUNTS(counts) (const int *)counts
#define FROM rw_fortran_buffer(from)
#define TO rw_fortran_buffer(to)

#define ALLTOALLV(name)                                                                                              \
  CALL(name,                                                                                                         \
       (void *from, MPI_Fint *sent, MPI_Fint *send_places, MPI_Fint *send_type, void *to, MPI_Fint *received,        \
        MPI_Fint *places, MPI_Fint *type, MPI_Fint *comm, MPI_Fint *code),                                           \
       (from, sent, send_places, send_type, to, received, places, type, comm, code),                                 \
       MPI_Alltoallv(FROM, COUNTS(sent), COUNTS(send_places), MPI_Type_f2c(*send_type), TO, COUNTS(received),        \
                     COUNTS(places), MPI_Type_f2c(*type), MPI_Comm_f2c(*comm)))

/* Converts the request to Fortran's number. */
static int start(void *from, const int *sent, const int *send_places, MPI_Datatype send_type, void *to, const int *received,
                 const int *places, MPI_Datatype type, MPI_Comm comm, MPI_Fint *request) {
  MPI_Request made;
  int code = MPI_Ialltoallv(from, sent, send_places, send_type, to, received, places, type, comm, &made);
  if (code == MPI_SUCCESS) *request = MPI_Request_c2f(made);
  return code;
}

#define IALLTOALLV(name)                                                                                             \
  CALL(name,                                                                                                         \
       (void *from, MPI_Fint *sent, MPI_Fint *send_places, MPI_Fint *send_type, void *to, MPI_Fint *received,        \
        MPI_Fint *places, MPI_Fint *type, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),                        \
       (from, sent, send_places, send_type, to, received, places, type, comm, request, code),                        \
       start(FROM, COUNTS(sent), COUNTS(send_places), MPI_Type_f2c(*send_type), TO, COUNTS(received), COUNTS(places), \
             MPI_Type_f2c(*type), MPI_Comm_f2c(*comm), request))

/* Converts datatypes; those of the sender are not read in place. */
static int exchange(void *from, const int *sent, const int *send_places, const MPI_Fint *send_types, void *to,
                    const int *received, const int *places, const MPI_Fint *types, MPI_Comm comm) {
  int ranks = 0, is_inter = 0;
  int code = PMPI_Comm_test_inter(comm, &is_inter);
  if (code == MPI_SUCCESS) code = is_inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks);
  if (code != MPI_SUCCESS) return code;
  MPI_Datatype *converted = malloc(2 * (size_t)ranks * sizeof *converted);
  if (converted == NULL) return rw_raise(comm, MPI_ERR_NO_MEM);
  for (int r = 0; r < ranks; r++) {
    converted[r] = from == MPI_IN_PLACE ? MPI_DATATYPE_NULL : MPI_Type_f2c(send_types[r]);
    converted[ranks + r] = MPI_Type_f2c(types[r]);
  }
  code = MPI_Alltoallw(from, sent, send_places, converted, to, received, places, converted + ranks, comm);
  free(converted);
  return code;
}

#define ALLTOALLW(name)                                                                                              \
  CALL(name,                                                                                                         \
       (void *from, MPI_Fint *sent, MPI_Fint *send_places, MPI_Fint *send_types, void *to, MPI_Fint *received,       \
        MPI_Fint *places, MPI_Fint *types, MPI_Fint *comm, MPI_Fint *code),                                          \
       (from, sent, send_places, send_types, to, received, places, types, comm, code),                               \
       exchange(FROM, COUNTS(sent), COUNTS(send_places), send_types, TO, COUNTS(received), COUNTS(places), types,    \
                MPI_Comm_f2c(*comm)))

ALLTOALLV(mpi_alltoallv_)
ALLTOALLV(ompi_alltoallv_f)
IALLTOALLV(mpi_ialltoallv_)
IALLTOALLV(ompi_ialltoallv_f)
ALLTOALLW(mpi_alltoallw_)
ALLTOALLW(ompi_alltoallw_f)
